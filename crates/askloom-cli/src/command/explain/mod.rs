mod code;
mod plan;

use super::design::MethodName;
use crate::exit::{Exit, Failure};
use crate::pricing::PricingArgs;
use crate::screen::Screen;
use std::path::Path;

/// Tell what a diagnostic means, or how a design answers a statement
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  askloom explain AL0109\n  askloom explain                  all codes\n  \
                  askloom explain game.loom        how each statement is answered\n  \
                  askloom explain game.loom lobby"
)]
pub(crate) struct Args {
    /// A code such as AL0109, or a model; without it, all codes are listed
    #[arg(value_name = "CODE or FILE")]
    about: Option<String>,

    /// With a model: the query or write to explain
    statement: Option<String>,

    /// With a model: the store to plan for. Without it ASKLOOM_TARGET,
    /// then askloom.toml beside the model, then embedded
    #[arg(long, value_name = "STORE")]
    target: Option<String>,

    /// With a model: how to design. Without it the saved design, then noam
    #[arg(long)]
    method: Option<MethodName>,

    #[command(flatten)]
    pricing: PricingArgs,

    /// With a model: also where each number comes from that costs are worked
    /// out by
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    match (&args.about, &args.statement) {
        (Some(file), statement) if askloom_lang::Dialect::of_path(Path::new(file)).is_some() => {
            let file = Path::new(file);
            let target = crate::target::chosen(args.target.as_deref(), file)?;
            let method = args.method.map(MethodName::method);
            let pricing = args.pricing.chosen(target, file)?;
            let asked = plan::Asked { file, name: statement.as_deref(), method, all: args.all };
            plan::run(&asked, &pricing, screen)
        }
        (Some(other), Some(_)) => {
            Err(Failure::Call(format!("`{other}` is no model; its name ends in .loom")))
        }
        (about, None) | (about @ None, Some(_)) => code::run(about.as_deref(), screen),
    }
}
