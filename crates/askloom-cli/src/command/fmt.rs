use crate::exit::Exit;
use crate::screen::Screen;
use askloom::error::{Error, io_reason};
use askloom::human::amount;
use askloom::lang::{Dialect, World};
use askloom::project::{Disk, drain, read_reason, replace};
use similar::TextDiff;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Write models in the canonical style
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  askloom fmt game.loom\n  askloom fmt --check models/*.loom\n  \
                  askloom fmt airline.pidm              writes airline.loom\n  \
                  askloom fmt - --stdin-name a.gdm < a.gdm\n\n\
                  A .pidm or .gdm file is converted to a .loom file beside it and stays as\n\
                  it is. What cannot be parsed stands as it was.")]
pub(crate) struct Args {
    /// Files to format; `-` is standard input, printed to standard output
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write nothing: list what would change, and exit with 1 if anything would
    #[arg(long, conflicts_with_all = ["stdout", "force"])]
    check: bool,

    /// Print the text and leave the file alone
    #[arg(long, conflicts_with = "force")]
    stdout: bool,

    /// Let a conversion overwrite a .loom file that is there already
    #[arg(long)]
    force: bool,

    /// What to call standard input; the extension says the language
    #[arg(long, value_name = "NAME", default_value = "stdin.loom")]
    stdin_name: PathBuf,
}

/// What to do with the formatted text.
#[derive(Debug, Clone, Copy)]
enum Mode {
    Write { force: bool },
    Check,
    Print,
}

/// One file and what would become of it.
struct Job {
    source: PathBuf,
    target: Target,
    text: String,
    left_broken: bool,
}

enum Target {
    /// Standard input becomes standard output.
    Stream {
        was: String,
    },
    InPlace {
        was: String,
    },
    /// A dialect's file becomes a `.loom` file beside it.
    Converted {
        to: PathBuf,
        was: Option<String>,
    },
}

#[derive(Default)]
struct Tally {
    changed: usize,
    unchanged: usize,
    failed: usize,
    /// Files with a part that could not be parsed.
    broken: usize,
}

pub(super) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, Error> {
    let mode = match (args.check, args.stdout) {
        (true, _) => Mode::Check,
        (false, true) => Mode::Print,
        (false, false) => Mode::Write { force: args.force },
    };
    let mut tally = Tally::default();
    for file in &args.files {
        match job(file, &args.stdin_name) {
            Ok(job) => finish(&job, mode, screen, &mut tally)?,
            Err(message) => {
                screen.error(&message);
                tally.failed += 1;
            }
        }
    }
    Ok(conclude(mode, &tally, screen))
}

fn conclude(mode: Mode, tally: &Tally, screen: &mut Screen) -> Exit {
    match mode {
        Mode::Check if tally.changed > 0 => {
            screen.say(&format!("{} would change", amount(tally.changed, "file")));
        }
        Mode::Check if tally.failed + tally.broken == 0 => {
            screen.say(&format!("{} already in the canonical style", amount(tally.unchanged, "file")));
        }
        Mode::Check | Mode::Print | Mode::Write { .. } => {}
    }
    let would_change = match mode {
        Mode::Check => tally.changed > 0,
        Mode::Print | Mode::Write { .. } => false,
    };
    Exit::any_wrong(tally.failed + tally.broken > 0 || would_change)
}

fn job(file: &Path, stdin_name: &Path) -> Result<Job, String> {
    let is_stream = file == Path::new("-");
    let name = if is_stream { stdin_name } else { file };
    let shown = name.display();
    let dialect = Dialect::of_path(name)
        .ok_or_else(|| format!("{shown}: the extension is none of .loom, .pidm and .gdm (AL0004)"))?;
    let bytes = if is_stream { drain(io::stdin().lock()) } else { Disk::of(file).read(file) }
        .map_err(|error| format!("{shown}: {}", read_reason(&error)))?;
    let was = String::from_utf8(bytes).map_err(|error| {
        format!("{shown}: byte {} is not UTF-8 text (AL0001)", error.utf8_error().valid_up_to())
    })?;
    let formatted = askloom::lang::format(&was, dialect);
    let target = match dialect {
        Dialect::Loom | Dialect::Pidm | Dialect::Gdm if is_stream => Target::Stream { was },
        Dialect::Loom => Target::InPlace { was },
        Dialect::Pidm | Dialect::Gdm => converted(file)?,
    };
    Ok(Job { source: name.to_owned(), target, text: formatted.text, left_broken: formatted.left_broken })
}

fn converted(file: &Path) -> Result<Target, String> {
    let to = file.with_extension(Dialect::Loom.extension());
    match fs::read(&to) {
        Ok(bytes) => Ok(Target::Converted { was: Some(String::from_utf8_lossy(&bytes).into_owned()), to }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Target::Converted { was: None, to }),
        Err(error) => Err(format!("{}: {}", to.display(), io_reason(&error))),
    }
}

impl Job {
    /// The file that changes, as messages name it.
    fn path(&self) -> &Path {
        match &self.target {
            Target::Stream { .. } | Target::InPlace { .. } => &self.source,
            Target::Converted { to, .. } => to,
        }
    }

    fn was(&self) -> Option<&str> {
        match &self.target {
            Target::Stream { was } | Target::InPlace { was } => Some(was),
            Target::Converted { was, .. } => was.as_deref(),
        }
    }
}

fn finish(job: &Job, mode: Mode, screen: &mut Screen, tally: &mut Tally) -> Result<(), Error> {
    if job.left_broken {
        screen.say(&format!(
            "{}: a part that cannot be parsed stands as it was; `askloom check` says why",
            job.source.display()
        ));
        tally.broken += 1;
    }
    if job.left_broken && matches!((&job.target, mode), (Target::Converted { .. }, Mode::Write { .. })) {
        screen.error(&format!("{}: not converted: mend it first", job.source.display()));
        tally.failed += 1;
        return Ok(());
    }
    let changes = job.was() != Some(&job.text);
    match (mode, &job.target) {
        (Mode::Check, _) if changes => list(job, screen)?,
        (Mode::Check, _) => {}
        (Mode::Print, _) | (Mode::Write { .. }, Target::Stream { .. }) => screen.print(&job.text)?,
        (Mode::Write { force }, Target::InPlace { .. } | Target::Converted { .. }) if changes => {
            match save(job, force) {
                Ok(done) => screen.say(&done),
                Err(message) => {
                    screen.error(&message);
                    tally.failed += 1;
                    return Ok(());
                }
            }
        }
        (Mode::Write { .. }, Target::InPlace { .. } | Target::Converted { .. }) => {}
    }
    *(if changes { &mut tally.changed } else { &mut tally.unchanged }) += 1;
    Ok(())
}

/// Writes the text where it belongs, and says so.
fn save(job: &Job, force: bool) -> Result<String, String> {
    let (source, path) = (job.source.display(), job.path());
    let done = match &job.target {
        Target::Stream { .. } | Target::InPlace { .. } => format!("formatted {source}"),
        Target::Converted { was: Some(_), to } if !force => {
            return Err(format!("{source}: {} exists and differs; --force overwrites it", to.display()));
        }
        Target::Converted { to, .. } => format!("wrote {} from {source}", to.display()),
    };
    replace(path, &job.text)
        .map_err(|error| format!("cannot write {}: {}", path.display(), io_reason(&error)))?;
    Ok(done)
}

fn list(job: &Job, screen: &mut Screen) -> Result<(), Error> {
    match job.was() {
        Some(was) => screen.print(&format!("{}\n{}", job.path().display(), diff(was, &job.text))),
        None => screen.print(&format!("{} (new, from {})\n", job.path().display(), job.source.display())),
    }
}

/// The first changes: enough to see what it is about.
fn diff(was: &str, text: &str) -> String {
    const SHOWN: usize = 20;
    let diff = TextDiff::configure().timeout(Duration::from_millis(500)).diff_lines(was, text);
    let unified = diff.unified_diff().context_radius(1).to_string();
    let lines: Vec<&str> = unified.lines().collect();
    let mut shown: String = lines.iter().take(SHOWN).map(|line| format!("  {line}\n")).collect();
    if lines.len() > SHOWN {
        shown.push_str(&format!("  … {}\n", amount(lines.len() - SHOWN, "more line")));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_short() {
        let expected = "  @@ -1,2 +1,2 @@\n  -a  \n  +a\n   b\n";
        assert_eq!(diff("a  \nb\n", "a\nb\n"), expected);
        let long = diff(&"x \n".repeat(1000), &"x\n".repeat(1000));
        assert_eq!(long.lines().count(), 21);
        assert!(long.ends_with("more lines\n"), "{long}");
    }
}
