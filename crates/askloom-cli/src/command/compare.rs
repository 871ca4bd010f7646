use super::design::{Asked, MethodName, prepared};
use crate::document::Document;
use crate::exit::{Exit, Failure};
use crate::picture;
use crate::pricing::PricingArgs;
use crate::screen::Screen;
use askloom_design::method::cost::Wishes;
use clap::ValueEnum;
use std::path::PathBuf;

/// Lay the designs of all methods beside each other
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  askloom compare game.loom\n  askloom compare game.loom --target cassandra\n  \
                  askloom compare game.loom --format json"
)]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    /// The store to compare for. Without it ASKLOOM_TARGET, then askloom.toml
    /// beside the model, then embedded
    #[arg(long, value_name = "STORE")]
    target: Option<String>,

    #[command(flatten)]
    pricing: PricingArgs,

    /// One of the model's workloads instead of the rates of its statements
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,

    /// How to print it
    #[arg(long, default_value = "human")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    let asked = Asked {
        file: &args.file,
        target: args.target.as_deref(),
        pricing: &args.pricing,
        workload: args.workload.as_deref(),
        method: MethodName::Cost,
        threshold: None,
        wishes: Wishes::default(),
    };
    let prepared = prepared(&asked, screen)?;
    let comparison = prepared.comparison()?;
    let document = Document { comparison: Some(comparison.clone()), ..prepared.document()? };
    match args.format {
        Format::Human => screen.print(&picture::comparison(&document, &comparison))?,
        Format::Json => {
            let text = serde_json::to_string_pretty(&comparison).unwrap_or_default();
            screen.print(&format!("{text}\n"))?;
        }
    }
    Ok(Exit::Done)
}
