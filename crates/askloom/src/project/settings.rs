//! Settings of a project: `askloom.toml` beside the model. A flag wins over a variable, and a variable over the file.

use crate::error::Error;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::Path;

pub const FILE: &str = "askloom.toml";

/// What `askloom.toml` says.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The file that says what is stored and what is asked. Kept for people and editors: commands are given theirs.
    #[serde(rename = "model")]
    _model: Option<String>,
    /// The store that designs are for, and what is special about the definitions there.
    #[serde(default)]
    pub target: TargetSettings,
    /// What costs are worked out by: a name, or a file beside this one.
    #[serde(rename = "cost-model")]
    pub cost_model: Option<String>,
    #[serde(default)]
    pub store: StoreSettings,
}

/// `target = "dynamodb"`, or `[target]` with a `name`, and `[target.dynamodb]` with settings.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum TargetSettings {
    Name(String),
    Stores {
        name: Option<String>,
        #[serde(flatten)]
        stores: BTreeMap<String, Map<String, Json>>,
    },
}

impl Default for TargetSettings {
    fn default() -> Self {
        Self::Stores { name: None, stores: BTreeMap::new() }
    }
}

impl TargetSettings {
    pub fn name(self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name),
            Self::Stores { name, .. } => name,
        }
    }

    /// The settings of one store.
    pub fn of(self, target: &str) -> Map<String, Json> {
        match self {
            Self::Name(_) => Map::new(),
            Self::Stores { mut stores, .. } => stores.remove(target).unwrap_or_default(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    pub url: Option<String>,
}

impl Settings {
    /// The settings that a file says; its path goes into messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        toml::from_str(text)
            .map_err(|error| Error::Input(format!("{}: {}", path.display(), error.to_string().trim_end())))
    }
}

/// A variable of the environment that has a value.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_has_a_name_and_settings() {
        let read = |text: &str| toml::from_str::<Settings>(text).unwrap().target;
        assert_eq!(read("target = \"redis\"").name().as_deref(), Some("redis"));
        let both = "[target]\nname = \"dynamodb\"\n[target.dynamodb]\ndeletion_protection = true\n";
        assert_eq!(read(both).name().as_deref(), Some("dynamodb"));
        assert_eq!(read(both).of("dynamodb").get("deletion_protection"), Some(&Json::Bool(true)));
        assert!(read(both).of("redis").is_empty() && read("").name().is_none());
    }

    #[test]
    fn a_key_that_nobody_knows_is_told() {
        let error = toml::from_str::<Settings>("[store]\nurll = \"file:x\"\n").unwrap_err().to_string();
        assert!(error.contains("urll") && error.contains("expected `url`"), "{error}");
    }
}
