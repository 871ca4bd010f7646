//! Standard output and standard error, and who gets what.

use crate::cli::Color;
use anstream::{AutoStream, ColorChoice};
use askloom::error::{Error, io_reason};
use clap::builder::styling::AnsiColor;
use std::io::{self, BufWriter, IsTerminal, Write};

/// Where a command prints. Results go to standard output, messages to standard error.
#[derive(Debug)]
pub(crate) struct Screen {
    out: BufWriter<io::Stdout>,
    /// Whoever read standard output has gone. What is left is dropped, and the exit code stays that of the
    /// work: `askloom check bad.loom | head` has still found errors.
    closed: bool,
    /// What could not be printed before a message, to be told at the end.
    failed: Option<Error>,
    style: Style,
    quiet: bool,
}

/// How results look on this standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) color: bool,
    pub(crate) width: usize,
    /// Somebody looks at it as it comes.
    pub(crate) terminal: bool,
}

impl Style {
    /// For files, pipes and tests.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { color: false, width: UNBOUNDED, terminal: false };
}

/// Lines longer than this are cut even where there is no terminal.
const UNBOUNDED: usize = 140;

impl Screen {
    pub(crate) fn new(color: Color, quiet: bool) -> Self {
        match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
        .write_global();
        let stdout = io::stdout();
        let style = Style {
            color: AutoStream::choice(&stdout) != ColorChoice::Never,
            terminal: stdout.is_terminal(),
            width: terminal_size::terminal_size_of(&stdout)
                .map_or(UNBOUNDED, |(width, _)| usize::from(width.0).clamp(60, UNBOUNDED)),
        };
        Self { out: BufWriter::new(stdout), closed: false, failed: None, style, quiet }
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A result.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Error> {
        self.print_bytes(text.as_bytes())
    }

    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.closed {
            return Ok(());
        }
        let result = self.out.write_all(bytes);
        self.settle(result)
    }

    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.closed {
            return Ok(());
        }
        let result = self.out.flush();
        self.settle(result)
    }

    /// Something worth knowing, unless the user asked for silence.
    pub(crate) fn say(&mut self, message: &str) {
        if !self.quiet {
            self.message(message);
        }
    }

    /// Something that went wrong.
    pub(crate) fn error(&mut self, message: &str) {
        let red = AnsiColor::BrightRed.on_default().bold();
        self.message(&format!("{red}error{red:#}: {message}"));
    }

    /// What was found to be wrong, already in the form that people know.
    pub(crate) fn complain(&mut self, text: &str) {
        self.message(text);
    }

    fn message(&mut self, message: &str) {
        // Results that were printed before come first when both streams are one terminal. What could not be printed
        // is told at the end; an error of the messages themselves has nobody left to be told.
        self.failed = self.flush().err();
        let _ = writeln!(anstream::stderr(), "{message}");
    }

    fn settle(&mut self, result: io::Result<()>) -> Result<(), Error> {
        match result {
            Ok(()) => Ok(()),
            Err(error) => {
                self.closed = true;
                if error.kind() == io::ErrorKind::BrokenPipe {
                    return Ok(());
                }
                Err(Error::Input(format!("cannot write the output: {}", io_reason(&error))))
            }
        }
    }
}
