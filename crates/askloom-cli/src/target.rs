//! The store that is designed and planned for: from a flag, a variable or the settings.

use crate::exit::Failure;
use crate::settings::{Settings, variable};
use askloom_target::{Target, target, targets};
use std::path::Path;

/// The one that is named, else by `ASKLOOM_TARGET`, else by askloom.toml beside the model, else the embedded store.
pub(crate) fn chosen(named: Option<&str>, model: &Path) -> Result<&'static Target, Failure> {
    let named = named.map(str::to_owned).or_else(|| variable("ASKLOOM_TARGET"));
    let name = match named {
        Some(name) => name,
        None => Settings::beside(model)?.target.name().unwrap_or_else(|| "embedded".to_owned()),
    };
    target(&name).ok_or_else(|| {
        let known: Vec<&str> = targets().iter().map(|target| target.capability.target).collect();
        Failure::Call(format!("there is no store `{name}`; there are {}", known.join(", ")))
    })
}
