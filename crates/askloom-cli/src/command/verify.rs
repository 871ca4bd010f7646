use super::designed;
use crate::args::StoreArgs;
use crate::exit::Exit;
use crate::screen::Screen;
use askloom::Error;
use askloom::embedded::database::{Finding, Verified};
use askloom::human::amount_of;
use askloom::project::Project;
use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// Compare everything in a store with what should be there
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askloom verify game.loom --store file:data/\n  \
                  askloom verify game.loom --repair\n\n\
                  Works out every copy anew from the aggregates and compares all keys; lists\n\
                  breaches, which are trusted or checked references that lead to nothing, and\n\
                  unique values that two have. Exit code 1\n\
                  if anything is wrong, repaired or not.")]
pub(crate) struct Args {
    /// The model
    file: PathBuf,

    #[command(flatten)]
    store: StoreArgs,

    /// Make right what follows from the aggregates
    #[arg(long)]
    repair: bool,

    /// How to print what is found
    #[arg(long, default_value = "human")]
    format: Form,

    /// The clock by which things have expired, for tests
    #[arg(long, hide = true)]
    now: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A line for each, for people
    Human,
    /// One JSON object
    Json,
}

/// How many findings a person is shown; all are counted.
const MOST_SHOWN: usize = 200;

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let project = Project::new(&args.file);
    let designed = designed(&project, screen)?;
    let store = args.store.url(&project)?;
    if args.repair {
        store.writable()?;
    }
    let mut database = store.open(&project, &designed)?;
    let now = args.now.unwrap_or_else(Timestamp::now);
    let most = match args.format {
        Form::Human => MOST_SHOWN,
        Form::Json => usize::MAX,
    };
    let mut found: Vec<Finding> = Vec::new();
    let mut keep = |finding| {
        if found.len() < most {
            found.push(finding);
        }
    };
    let verified =
        if args.repair { database.repair(now, &mut keep)? } else { database.verify(now, &mut keep)? };
    match args.format {
        Form::Human => told(&found, &verified, screen)?,
        Form::Json => screen.print(&format!("{}\n", json(&found, &verified)))?,
    }
    Ok(Exit::any_wrong(verified.findings > 0))
}

fn told(found: &[Finding], verified: &Verified, screen: &mut Screen) -> Result<(), Error> {
    for finding in found {
        let repaired = if finding.repaired { ", repaired" } else { "" };
        screen.print(&format!("{finding}{repaired}\n"))?;
    }
    let more = verified.findings - found.len() as u64;
    if more > 0 {
        screen.print(&format!("and {more} more\n"))?;
    }
    for name in &verified.filling {
        screen.say(&format!("{name} is still being filled and was not looked at; `askloom apply` goes on"));
    }
    screen.say(&summary(verified));
    Ok(())
}

/// What was looked at, and how much of it is wrong.
pub(super) fn summary(verified: &Verified) -> String {
    let looked = format!(
        "{} and {} of copies looked at",
        amount_of(verified.aggregates, "aggregate"),
        amount_of(verified.entries, "entry")
    );
    let result = match (verified.findings, verified.repaired) {
        (0, _) => "nothing is wrong".to_owned(),
        (wrong, 0) => format!("{wrong} wrong"),
        (wrong, repaired) => format!("{wrong} wrong, {repaired} repaired"),
    };
    format!("{looked}: {result}")
}

fn json(found: &[Finding], verified: &Verified) -> Json {
    let finding = |finding: &Finding| {
        json!({
            "fault": finding.fault.name(),
            "collection": finding.collection,
            "place": finding.place,
            "repaired": finding.repaired,
        })
    };
    json!({
        "aggregates": verified.aggregates,
        "entries": verified.entries,
        "filling": verified.filling,
        "findings": found.iter().map(finding).collect::<Vec<_>>(),
    })
}
