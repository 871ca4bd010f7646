mod check;
mod wishes;

use crate::args::{MethodName, PricingArgs};
use crate::exit::Exit;
use crate::progress::Watch;
use crate::screen::Screen;
use askloom::Error;
use askloom::design::method::Proposal;
use askloom::designer::{Designer, DesignerOptions, as_proposal};
use askloom::document::schema;
use askloom::picture;
use askloom::project::{Project, replace};
use askloom::target::targets;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Design the collections for a model, and say why
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  askloom design game.loom\n  askloom design game.loom --method kvmod --faithful\n  \
                  askloom design game.loom --format html > game.html\n  \
                  askloom design game.loom --storage 50MB --forbid LobbyView\n  \
                  askloom design game.loom --pareto        cost against storage\n  \
                  askloom design game.loom --save          to be reviewed and committed\n  \
                  askloom design game.loom --check         in a build"
)]
pub(crate) struct Args {
    /// The model
    #[arg(required_unless_present = "json_schema")]
    file: Option<PathBuf>,

    /// How to design. Without it the saved design is shown, if there is one,
    /// else the one that costs least
    #[arg(long)]
    method: Option<MethodName>,

    /// The store to design for. Without it ASKLOOM_TARGET, then askloom.toml
    /// beside the model, then embedded
    #[arg(long, value_name = "STORE")]
    target: Option<String>,

    /// Exactly the collections of the method's paper, in the paper's form
    #[arg(long, conflicts_with = "format")]
    faithful: bool,

    /// For kvmod: how much two collections must share to become one, in percent
    /// [default: 80]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..=100))]
    threshold: Option<u32>,

    #[command(flatten)]
    pricing: PricingArgs,

    /// One of the model's workloads instead of the rates of its statements
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,

    #[command(flatten)]
    wishes: wishes::WishArgs,

    /// How to print it
    #[arg(long, default_value = "human")]
    format: Format,

    /// Write the design beside the model, as FILE.STORE.design; from then on it
    /// is the one that is used
    #[arg(long, conflicts_with_all = ["check", "faithful"])]
    save: bool,

    /// Fail if the saved design no longer answers the model; say if there is a
    /// cheaper one
    #[arg(long, conflicts_with = "faithful")]
    check: bool,

    /// Print the JSON Schema of `--format json`
    #[arg(long)]
    json_schema: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
    Mermaid,
    Dot,
    Svg,
    Html,
}

/// A model with all that designs are made by, and the project that it is of.
struct Designing {
    project: Project,
    designer: Designer,
    /// Whether nobody wants to see how far it has come.
    quiet: bool,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    if args.json_schema {
        screen.print(schema::TEXT)?;
        return Ok(Exit::Done);
    }
    let Some(file) = &args.file else { return Ok(Exit::Done) };
    args.threshold_is_used(screen)?;
    let project = Project::new(file);
    let designer = project.designer(DesignerOptions {
        target: args.target.clone(),
        costs: args.pricing.choice(),
        workload: args.workload.clone(),
        method: args.method.unwrap_or(MethodName::Cost).method(),
        threshold: args.threshold,
        wishes: args.wishes.wishes(args.method)?,
    })?;
    let designing = Designing { project, designer, quiet: screen.is_quiet() };
    if args.check {
        return designing.check(screen);
    }
    if let Some(file) = &args.wishes.dump_lp {
        designing.dump(file, screen)?;
    }
    if args.wishes.pareto {
        screen.print(&designing.pareto(args.format)?)?;
        return Ok(Exit::Done);
    }
    if args.wishes.sensitivity {
        screen.print(&designing.sensitivity(args.format)?)?;
        return Ok(Exit::Done);
    }
    let shown = args.method.is_none() && !args.save && !args.faithful && !args.wishes.any();
    let saved = if shown { designing.saved()? } else { None };
    let is_saved = saved.is_some();
    let proposal = match saved {
        Some(proposal) => proposal,
        None => designing.asked()?,
    };
    if args.faithful && args.method.is_none() {
        let why = "--faithful is for the methods of papers: say --method noam, qodm or kvmod".to_owned();
        return Err(Error::Call(why));
    }
    if args.faithful {
        screen.print(&picture::paper(&proposal.paper))?;
        return Ok(Exit::Done);
    }
    if args.save {
        return designing.save(&proposal, screen);
    }
    screen.print(&designing.shown(&proposal, args.format))?;
    if args.format == Format::Human {
        screen.say(&designing.next(is_saved));
    }
    Ok(Exit::Done)
}

impl Args {
    /// A threshold for another method is a mistake; where no method is named it may be meant for later.
    fn threshold_is_used(&self, screen: &mut Screen) -> Result<(), Error> {
        if self.threshold.is_none() || self.method == Some(MethodName::Kvmod) {
            return Ok(());
        }
        if let Some(other) = self.method {
            let name = other.method().name();
            let why =
                format!("--threshold is for kvmod, and {name} has none; leave it out, or --method kvmod");
            return Err(Error::Call(why));
        }
        // These compare all methods, kvmod among them.
        if !self.check && self.format != Format::Html {
            screen.say("--threshold does nothing here: it is for --method kvmod");
        }
        Ok(())
    }
}

impl Designing {
    /// The name of the store.
    fn target(&self) -> &'static str {
        self.designer.target.capability.target
    }

    fn watch(&self) -> Watch {
        Watch::new(self.quiet)
    }

    /// The design in a format.
    fn shown(&self, proposal: &Proposal, format: Format) -> String {
        let document = || self.designer.document(proposal);
        match format {
            Format::Human => picture::design(&document()),
            Format::Json => document().json(),
            Format::Mermaid => picture::mermaid(&document()),
            Format::Dot => picture::dot(&document()),
            Format::Svg => picture::svg(&document()),
            Format::Html => {
                let watch = self.watch();
                picture::html(&self.designer.whole_document(proposal, &watch.progress()))
            }
        }
    }

    /// Writes the design beside the model, unless a statement has no plan in it.
    fn save(&self, proposal: &Proposal, screen: &mut Screen) -> Result<Exit, Error> {
        let missing = self.designer.document(proposal).unanswered();
        if !missing.is_empty() {
            let why = format!("not everything has a plan:\n  {}", missing.join("\n  "));
            return Err(Error::Input(why));
        }
        let path = self.project.save_design(self.target(), &self.designer.model, &proposal.design)?;
        screen.say(&format!("the design is saved in {}", path.display()));
        Ok(Exit::Done)
    }

    /// The design by the method that was asked for, with what is different from the saved one.
    fn asked(&self) -> Result<Proposal, Error> {
        let watch = self.watch();
        let saved = || self.project.saved_design(self.target(), &self.designer.model);
        self.designer.asked(saved, &watch.progress())
    }

    /// The design that is saved beside the model; nothing if there is none.
    fn saved(&self) -> Result<Option<Proposal>, Error> {
        let saved = self.project.saved_design(self.target(), &self.designer.model)?;
        Ok(saved.map(as_proposal))
    }

    /// Cost against storage in a format.
    fn pareto(&self, format: Format) -> Result<String, Error> {
        let watch = self.watch();
        let curve = self.designer.pareto(&watch.progress())?;
        match format {
            Format::Human => Ok(curve.text()),
            Format::Json => Ok(curve.json()),
            Format::Svg => Ok(curve.svg()),
            Format::Mermaid | Format::Dot | Format::Html => {
                Err(Error::Call("--pareto is printed as human, json or svg".to_owned()))
            }
        }
    }

    /// Between which rates the design stays the cheapest, in a format.
    fn sensitivity(&self, format: Format) -> Result<String, Error> {
        let watch = self.watch();
        let ranges = self.designer.sensitivity(&watch.progress())?;
        match format {
            Format::Human => Ok(ranges.text()),
            Format::Json => Ok(ranges.json()),
            Format::Svg | Format::Mermaid | Format::Dot | Format::Html => {
                Err(Error::Call("--sensitivity is printed as human or json".to_owned()))
            }
        }
    }

    /// Writes the programme.
    fn dump(&self, file: &Path, screen: &mut Screen) -> Result<(), Error> {
        let watch = self.watch();
        let text = self.designer.lp(&watch.progress())?;
        drop(watch);
        replace(file, &text).map_err(|error| Error::writing(file, &error))?;
        screen.say(&format!("the programme is in {}", file.display()));
        Ok(())
    }

    /// What to do next.
    fn next(&self, is_saved: bool) -> String {
        let file = self.project.file().display();
        let statement = self.designer.model.workload.queries.first().map(|query| query.header.name.as_str());
        let explain = statement.map(|name| format!("askloom explain {file} {name}, "));
        let others: Vec<&str> = targets()
            .iter()
            .map(|target| target.capability.target)
            .filter(|name| *name != self.target())
            .collect();
        let which = match is_saved {
            true => "this is the saved design; --method shows another\n",
            false => "",
        };
        format!(
            "{which}other stores: --target {}\nnext: {}\n      askloom compare {file}",
            others.join(", "),
            explain.unwrap_or_default().trim_end_matches(", "),
        )
    }
}
