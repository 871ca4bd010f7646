use crate::document::{Cell, Compared, ComparedStatement, Comparison, Document, Subject, schema};
use crate::exit::{Exit, Failure, words};
use crate::model::{checked, saved_path};
use crate::replace::replace;
use crate::screen::Screen;
use crate::{human, picture, target};
use askloom_design::cost::Costing;
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
                  askloom design game.loom --save          to be reviewed and committed\n  \
                  askloom design game.loom --check         in a build"
)]
pub(crate) struct Args {
    /// The model
    #[arg(required_unless_present = "json_schema")]
    file: Option<PathBuf>,

    /// How to design. Without it the saved design is shown, if there is one,
    /// else noam's
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
    #[arg(long, value_name = "PERCENT", default_value = "80", value_parser = clap::value_parser!(u32).range(1..=100))]
    threshold: u32,

    /// One of the model's workloads instead of the rates of its statements
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,

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
    Noam,
    Qodm,
    Kvmod,
    Given,
}

impl MethodName {
    pub(super) fn method(self) -> Method {
        match self {
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
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) file: &'a Path,
    pub(super) target: Option<&'a str>,
    pub(super) workload: Option<&'a str>,
    pub(super) method: MethodName,
    pub(super) threshold: Option<u32>,
}

/// A model ready to be designed for.
pub(super) struct Prepared {
    name: String,
    model: Model,
    sources: Sources,
    target: &'static Target,
    method: Method,
    options: Options,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Failure> {
    if args.json_schema {
        screen.print(schema::TEXT)?;
        return Ok(Exit::Done);
    }
    let Some(file) = &args.file else { return Ok(Exit::Done) };
    let asked = Asked {
        file,
        target: args.target.as_deref(),
        workload: args.workload.as_deref(),
        method: args.method.unwrap_or(MethodName::Noam),
        threshold: Some(args.threshold),
    };
    let prepared = prepared(&asked, screen)?;
    if args.check {
        return prepared.check(file, screen);
    }
    let shown = args.method.is_none() && !args.save && !args.faithful;
    let saved = if shown { prepared.saved(file, screen)? } else { None };
    let is_saved = saved.is_some();
    let proposal = match saved {
        Some(proposal) => proposal,
        None => prepared.proposal(prepared.method),
    };
    if args.faithful {
        screen.print(&picture::paper(&proposal.paper))?;
        return Ok(Exit::Done);
    }
    if args.save {
        prepared.answers_all(&proposal)?;
        let path = saved_path(file, prepared.target.capability.target);
        let text = saved::to_json(&prepared.model, &proposal.design);
        replace(&path, &text).map_err(|error| Failure::writing(&path, &error))?;
        screen.say(&format!("the design is saved in {}", path.display()));
        return Ok(Exit::Done);
    }
    let subject = prepared.subject(&proposal);
    let text = match args.format {
        Format::Human => picture::design(&subject.document()),
        Format::Json => {
            let text = serde_json::to_string_pretty(&subject.document()).unwrap_or_default();
            format!("{text}\n")
        }
        Format::Mermaid => picture::mermaid(&subject.document()),
        Format::Dot => picture::dot(&subject.document()),
        Format::Svg => picture::svg(&subject.document()),
        Format::Html => {
            let comparison = Some(prepared.comparison()?);
            let document = Document { comparison, ..subject.with_sample() };
            picture::html(&document)
        }
    };
    screen.print(&text)?;
    if args.format == Format::Human {
        screen.say(&prepared.next(file, args.method.is_none(), is_saved));
    }
    Ok(Exit::Done)
}

/// Reads the model and settles what it is designed for.
pub(super) fn prepared(asked: &Asked<'_>, screen: &mut Screen) -> Result<Prepared, Failure> {
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
        target: target::chosen(asked.target, asked.file)?,
        method: asked.method.method(),
        options: Options { threshold },
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
        method::design(method, &self.model, &Costing::from(self.target), &self.options)
    }

    /// Refuses a design in which a statement has no plan.
    fn answers_all(&self, proposal: &Proposal) -> Result<(), Failure> {
        let document = self.subject(proposal).document();
        let missing =
            document.plans.iter().filter_map(|plan| Some((&plan.statement, plan.missing.as_ref()?)));
        let missing: Vec<String> = missing.map(|(name, why)| format!("{name}: {why}")).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => Err(Failure::Input(format!("not everything has a plan:\n  {}", missing.join("\n  ")))),
        }
    }

    fn subject<'s>(&'s self, proposal: &'s Proposal) -> Subject<'s> {
        Subject {
            file: &self.name,
            model: &self.model,
            sources: &self.sources,
            design: &proposal.design,
            decisions: &proposal.decisions,
            target: self.target,
        }
    }

    pub(super) fn document(&self) -> Result<Document, Failure> {
        Ok(self.subject(&self.proposal(self.method)).document())
    }

    /// Every method on this workload.
    pub(super) fn comparison(&self) -> Result<Comparison, Failure> {
        let mut comparison = Comparison { methods: Vec::new(), statements: Vec::new() };
        let mut documents = Vec::new();
        for method in Method::ALL {
            let proposal = self.proposal(method);
            documents.push((method, self.subject(&proposal).document()));
        }
        let least = documents.iter().map(|(_, document)| document.total.cost).fold(f64::INFINITY, f64::min);
        for (method, document) in &documents {
            comparison.methods.push(Compared {
                method: method.name().to_owned(),
                sentence: sentence(*method, document, least),
                total: document.total,
                collections: document.collections.len(),
                added: document.collections.iter().filter(|collection| collection.is_added()).count(),
            });
        }
        let Some((_, first)) = documents.first() else { return Ok(comparison) };
        for (index, plan) in first.plans.iter().enumerate() {
            let cells = documents.iter().filter_map(|(method, document)| {
                let plan = document.plans.get(index)?;
                Some(Cell {
                    method: method.name().to_owned(),
                    cost: plan.cost,
                    requests: plan.requests(),
                    rows: plan.rows(),
                    bytes: plan.bytes(),
                    scans: plan.scans,
                    missing: plan.missing.is_some(),
                })
            });
            comparison.statements.push(ComparedStatement {
                statement: plan.statement.clone(),
                rate: plan.rate,
                cells: cells.collect(),
            });
        }
        Ok(comparison)
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

    fn check(&self, file: &Path, screen: &mut Screen) -> Result<Exit, Failure> {
        let path = saved_path(file, self.target.capability.target);
        let Some(proposal) = self.saved(file, screen)? else {
            let why = format!("there is no {}; `askloom design --save` writes it", path.display());
            return Err(Failure::Input(why));
        };
        let document = self.subject(&proposal).document();
        let mut unanswered = Vec::new();
        for plan in &document.plans {
            if let Some(missing) = &plan.missing {
                unanswered.push(format!("{}: {missing}", plan.statement));
            }
        }
        if !unanswered.is_empty() {
            let why =
                format!("{} no longer answers the model:\n  {}", path.display(), unanswered.join("\n  "));
            return Err(Failure::Input(why));
        }
        screen.say(&format!("{} answers all of {}", path.display(), self.name));
        for method in Method::ALL {
            let proposal = self.proposal(method);
            let cost = self.subject(&proposal).document().total.cost;
            if cost < document.total.cost * 0.999 {
                let saved = 100.0 * (1.0 - cost / document.total.cost);
                screen.say(&format!("{} would cost {saved:.0} % less", method.name()));
            }
        }
        Ok(Exit::Done)
    }

    /// What to do next.
    fn next(&self, file: &Path, unsaid: bool, is_saved: bool) -> String {
        let file = file.display();
        let statement = self.model.workload.queries.first().map(|query| query.header.name.as_str());
        let explain = statement.map(|name| format!("askloom explain {file} {name}, "));
        let others: Vec<&str> = askloom_target::targets()
            .iter()
            .map(|target| target.capability.target)
            .filter(|name| *name != self.target.capability.target)
            .collect();
        let which = match (is_saved, unsaid) {
            (true, _) => "this is the saved design; --method shows another\n",
            (false, true) => "by noam until a method chooses by cost; --method names another\n",
            (false, false) => "",
        };
        format!(
            "{which}other stores: --target {}\nnext: {}\n      askloom compare {file}",
            others.join(", "),
            explain.unwrap_or_default().trim_end_matches(", "),
        )
    }
}

/// Where a method wins or loses.
fn sentence(method: Method, document: &Document, least: f64) -> String {
    let times = document.total.cost / least.max(f64::MIN_POSITIVE);
    let cost = if times <= 1.001 {
        "cheapest here".to_owned()
    } else {
        format!("{} times the cheapest", human::short(times))
    };
    let dearest = document.plans.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let most = dearest.map(|plan| format!("; {:.0} % of it is {}", plan.share * 100.0, plan.statement));
    format!("{}: {cost}{}", method.sentence(), most.unwrap_or_default())
}
