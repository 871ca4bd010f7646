mod code;

use crate::args::{MethodName, PricingArgs};
use crate::exit::Exit;
use crate::limits;
use crate::progress::Watch;
use crate::screen::Screen;
use askloom::Error;
use askloom::explain::explain;
use askloom::project::Project;
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

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    match (&args.about, &args.statement) {
        (Some(file), statement) if askloom::lang::Dialect::of_path(Path::new(file)).is_some() => {
            plan(args, &Project::new(file), statement.as_deref(), screen)
        }
        (Some(other), Some(_)) => Err(Error::Call(format!("`{other}` is no model; its name ends in .loom"))),
        (about, None) | (about @ None, Some(_)) => code::run(about.as_deref(), screen),
    }
}

/// How a statement is carried out, or all of them: the plan, what a reader may see, what was assumed.
fn plan(args: &Args, project: &Project, name: Option<&str>, screen: &mut Screen) -> Result<Exit, Error> {
    let target = project.target(args.target.as_deref())?;
    let pricing = project.pricing(target, &args.pricing.choice())?;
    let method = args.method.map(MethodName::method);
    let watch = Watch::new(screen.is_quiet());
    let designed =
        project.designed(target.capability.target, &pricing.costing(), method, watch.progress())?;
    drop(watch);
    let Some(mut explanation) = explain(&designed, &pricing, name)? else {
        let file = project.file().display();
        screen.say(&format!("{file} has no statements, so there is nothing to plan"));
        return Ok(Exit::Done);
    };
    explanation.texts.extend(args.all.then(|| pricing.sources()));
    screen.print(&explanation.texts.join("\n"))?;
    let too_large = limits::say(&designed, target, screen);
    Ok(Exit::any_wrong(too_large || explanation.unanswered > 0))
}
