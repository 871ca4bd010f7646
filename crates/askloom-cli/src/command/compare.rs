use crate::args::PricingArgs;
use crate::exit::Exit;
use crate::progress::Watch;
use crate::screen::Screen;
use askloom::Error;
use askloom::designer::DesignerOptions;
use askloom::document::Document;
use askloom::picture;
use askloom::project::Project;
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

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let designer = Project::new(&args.file).designer(DesignerOptions {
        target: args.target.clone(),
        costs: args.pricing.choice(),
        workload: args.workload.clone(),
        ..DesignerOptions::default()
    })?;
    let watch = Watch::new(screen.is_quiet());
    let comparison = designer.comparison(&watch.progress());
    let proposal = designer.proposal(designer.method, &watch.progress());
    drop(watch);
    match args.format {
        Format::Human => {
            let document = Document { comparison: Some(comparison.clone()), ..designer.document(&proposal) };
            screen.print(&picture::comparison(&document, &comparison))?;
        }
        Format::Json => screen.print(&comparison.json())?,
    }
    Ok(Exit::Done)
}
