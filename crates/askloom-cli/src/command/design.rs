mod changes;
mod check;
mod comparison;
mod pareto;
mod wishes;

use crate::document::{Document, Subject, schema};
use crate::exit::{Exit, Failure, words};
use crate::model::{checked, saved_path};
use crate::pricing::{Pricing, PricingArgs};
use crate::progress::Watch;
use crate::replace::replace;
use crate::screen::Screen;
use crate::{picture, target};
use askloom_design::method::cost::Wishes;
use askloom_design::method::kvmod::merge::Threshold;
use askloom_design::method::{self, Method, Options, Proposal};
use askloom_design::{ask, saved};
use askloom_lang::Sources;
use askloom_model::{Model, Share};
use askloom_target::Target;
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
pub(super) enum MethodName {
    Cost,
    Noam,
    Qodm,
    Kvmod,
    Given,
}

impl MethodName {
    pub(super) fn method(self) -> Method {
        match self {
            Self::Cost => Method::Cost,
            Self::Noam => Method::Noam,
            Self::Qodm => Method::Qodm,
            Self::Kvmod => Method::Kvmod,
            Self::Given => Method::Given,
        }
    }
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

/// What is asked for.
#[derive(Debug, Clone)]
pub(super) struct Asked<'a> {
    pub(super) file: &'a Path,
    pub(super) target: Option<&'a str>,
    pub(super) pricing: &'a PricingArgs,
    pub(super) workload: Option<&'a str>,
    pub(super) method: MethodName,
    pub(super) threshold: Option<u32>,
    pub(super) wishes: Wishes,
}

/// A model ready to be designed for.
pub(super) struct Prepared {
    name: String,
    model: Model,
    sources: Sources,
    target: &'static Target,
    pricing: Pricing,
    method: Method,
    options: Options,
    /// Whether nobody wants to see how far it has come.
    quiet: bool,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    if args.json_schema {
        screen.print(schema::TEXT)?;
        return Ok(Exit::Done);
    }
    let Some(file) = &args.file else { return Ok(Exit::Done) };
    args.threshold_is_used(screen)?;
    let asked = Asked {
        file,
        target: args.target.as_deref(),
        pricing: &args.pricing,
        workload: args.workload.as_deref(),
        method: args.method.unwrap_or(MethodName::Cost),
        threshold: args.threshold,
        wishes: args.wishes.wishes(args.method)?,
    };
    let prepared = prepared(&asked, screen)?;
    if args.check {
        return prepared.check(file, screen);
    }
    if let Some(file) = &args.wishes.dump_lp {
        prepared.dump(file, screen)?;
    }
    if args.wishes.pareto {
        screen.print(&prepared.pareto(args.format)?)?;
        return Ok(Exit::Done);
    }
    if args.wishes.sensitivity {
        let text = prepared.sensitivity(args.format)?;
        screen.print(&text)?;
        return Ok(Exit::Done);
    }
    let shown = args.method.is_none() && !args.save && !args.faithful && !args.wishes.any();
    let saved = if shown { prepared.saved(file, screen)? } else { None };
    let is_saved = saved.is_some();
    let proposal = match saved {
        Some(proposal) => proposal,
        None => prepared.asked(file, screen)?,
    };
    if args.faithful && args.method.is_none() {
        let why = "--faithful is for the methods of papers: say --method noam, qodm or kvmod".to_owned();
        return Err(Failure::Call(why));
    }
    if args.faithful {
        screen.print(&picture::paper(&proposal.paper))?;
        return Ok(Exit::Done);
    }
    if args.save {
        return prepared.save(file, &proposal, screen);
    }
    screen.print(&prepared.shown(&proposal, args.format)?)?;
    if args.format == Format::Human {
        screen.say(&prepared.next(file, is_saved));
    }
    Ok(Exit::Done)
}

impl Args {
    /// A threshold for another method is a mistake; where no method is named it may be meant for later.
    fn threshold_is_used(&self, screen: &mut Screen) -> Result<(), Failure> {
        if self.threshold.is_none() || self.method == Some(MethodName::Kvmod) {
            return Ok(());
        }
        if let Some(other) = self.method {
            let name = other.method().name();
            let why =
                format!("--threshold is for kvmod, and {name} has none; leave it out, or --method kvmod");
            return Err(Failure::Call(why));
        }
        // These compare all methods, kvmod among them.
        if !self.check && self.format != Format::Html {
            screen.say("--threshold does nothing here: it is for --method kvmod");
        }
        Ok(())
    }
}

/// Reads the model and settles what it is designed for.
pub(super) fn prepared(asked: &Asked<'_>, screen: &mut Screen) -> Result<Prepared, Failure> {
    let target = target::chosen(asked.target, asked.file)?;
    let pricing = asked.pricing.chosen(target, asked.file)?;
    let checked = checked(asked.file, screen)?;
    let mut model = checked.model;
    ask::name_ways_back(&mut model);
    if let Some(name) = asked.workload {
        rated(&mut model, name)?;
    }
    let threshold = asked.threshold.and_then(Threshold::percent).unwrap_or(Threshold::PUBLISHED);
    let name = asked.file.file_name().unwrap_or(asked.file.as_os_str()).to_string_lossy().into_owned();
    Ok(Prepared {
        name,
        model,
        sources: checked.sources,
        target,
        pricing,
        method: asked.method.method(),
        options: Options { threshold, wishes: asked.wishes.clone(), ..Options::default() },
        quiet: screen.is_quiet(),
    })
}

/// The rates of a workload in place of those of the statements; what it does not name is not done.
fn rated(model: &mut Model, name: &str) -> Result<(), Failure> {
    let Some(mix) = model.mixes.iter().find(|mix| mix.name == name) else {
        let known: Vec<&str> = model.mixes.iter().map(|mix| mix.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::Call(format!("there is no workload `{name}`; the model has {known}")));
    };
    let rate = |statement: &str| {
        let entry = mix.entries.iter().find(|entry| entry.statement == statement);
        Some(entry.map_or(0.0, |entry| match entry.share {
            Share::Weight(weight) => weight,
            Share::PerSecond(rate) => rate,
        }))
    };
    let workload = &mut model.workload;
    let queries = workload.queries.iter_mut().map(|query| &mut query.header);
    let asks = workload.asks.iter_mut().map(|ask| &mut ask.header);
    for header in queries.chain(asks).chain(workload.writes.iter_mut().map(|write| &mut write.header)) {
        header.rate = rate(&header.name);
    }
    Ok(())
}

impl Prepared {
    fn proposal(&self, method: Method) -> Proposal {
        let watch = Watch::new(self.quiet);
        method::design(method, &self.model, &self.pricing.costing(), &self.watched(&watch))
    }

    /// The options, with somebody who is told how far it has come.
    fn watched(&self, watch: &Watch) -> Options {
        Options { progress: watch.progress(), ..self.options.clone() }
    }

    /// The design in a format.
    fn shown(&self, proposal: &Proposal, format: Format) -> Result<String, Failure> {
        let subject = self.subject(proposal);
        Ok(match format {
            Format::Human => picture::design(&subject.document()),
            Format::Json => {
                let text = serde_json::to_string_pretty(&subject.document()).unwrap_or_default();
                format!("{text}\n")
            }
            Format::Mermaid => picture::mermaid(&subject.document()),
            Format::Dot => picture::dot(&subject.document()),
            Format::Svg => picture::svg(&subject.document()),
            Format::Html => {
                let comparison = Some(self.comparison()?);
                picture::html(&Document { comparison, ..subject.with_sample() })
            }
        })
    }

    /// Writes the design beside the model, unless a statement has no plan in it.
    fn save(&self, file: &Path, proposal: &Proposal, screen: &mut Screen) -> Result<Exit, Failure> {
        let missing = unanswered(&self.subject(proposal).document());
        if !missing.is_empty() {
            let why = format!("not everything has a plan:\n  {}", missing.join("\n  "));
            return Err(Failure::Input(why));
        }
        let path = saved_path(file, self.target.capability.target);
        let text = saved::to_json(&self.model, &proposal.design);
        replace(&path, &text).map_err(|error| Failure::writing(&path, &error))?;
        screen.say(&format!("the design is saved in {}", path.display()));
        Ok(Exit::Done)
    }

    fn subject<'s>(&'s self, proposal: &'s Proposal) -> Subject<'s> {
        Subject {
            file: &self.name,
            model: &self.model,
            sources: &self.sources,
            design: &proposal.design,
            decisions: &proposal.decisions,
            paper: &proposal.paper,
            target: self.target,
            pricing: &self.pricing,
        }
    }

    /// The design by the method that was asked for, with what is different from the saved one.
    fn asked(&self, file: &Path, screen: &mut Screen) -> Result<Proposal, Failure> {
        let mut proposal = self.proposal(self.method);
        wishes::met(&proposal.paper)?;
        if self.method == Method::Cost
            && let Some(saved) = self.saved(file, screen)?
        {
            // Right behind what the design is.
            let changes = self.since(&saved.design, &proposal);
            let place = proposal.decisions.len().min(1);
            proposal.decisions.splice(place..place, changes);
        }
        Ok(proposal)
    }

    pub(super) fn document(&self) -> Result<Document, Failure> {
        Ok(self.subject(&self.proposal(self.method)).document())
    }

    /// The design that is saved beside the model; nothing if there is none.
    fn saved(&self, file: &Path, screen: &mut Screen) -> Result<Option<Proposal>, Failure> {
        let path = saved_path(file, self.target.capability.target);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(Failure::Input(format!("cannot read {}: {}", path.display(), words(&error))));
            }
        };
        let design = saved::from_json(&self.model, &text)
            .map_err(|found| crate::model::misfit(&path, &text, &found, screen))?;
        Ok(Some(Proposal { design, decisions: Vec::new(), paper: method::Paper::Given }))
    }

    /// What to do next.
    fn next(&self, file: &Path, is_saved: bool) -> String {
        let file = file.display();
        let statement = self.model.workload.queries.first().map(|query| query.header.name.as_str());
        let explain = statement.map(|name| format!("askloom explain {file} {name}, "));
        let others: Vec<&str> = askloom_target::targets()
            .iter()
            .map(|target| target.capability.target)
            .filter(|name| *name != self.target.capability.target)
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

/// The statements that have no plan, each with the reason.
fn unanswered(document: &Document) -> Vec<String> {
    let missing = document.plans.iter().filter_map(|plan| Some((&plan.statement, plan.missing.as_ref()?)));
    missing.map(|(name, why)| format!("{name}: {why}")).collect()
}
