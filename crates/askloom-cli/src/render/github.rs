//! Workflow commands: a line of log that GitHub also shows beside the line of code.

use super::Report;
use askloom::model::{Diagnostic, Severity};

pub(super) fn render(reports: &[Report]) -> String {
    let lines = reports
        .iter()
        .flat_map(|report| report.checked.diagnostics.iter().map(|diagnostic| command(report, diagnostic)));
    lines.collect()
}

fn command(report: &Report, diagnostic: &Diagnostic) -> String {
    let span = diagnostic.span();
    let range = report.range(span);
    let name = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    format!(
        "::{name} file={},line={},col={},endLine={},endColumn={},title={}::{}\n",
        property(&report.slashed(span.file)),
        range.start.line,
        range.start.column,
        range.end.line,
        range.end.column,
        diagnostic.code,
        data(&message(diagnostic)),
    )
}

fn message(diagnostic: &Diagnostic) -> String {
    match &diagnostic.hint {
        Some(hint) => format!("{}\n{hint}", diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

/// Text after the second `::` may hold anything but a line end, which `%` escapes.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// In a property the characters that separate properties are escaped as well.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn one_line_each() {
        let expected = "\
::error file=shop/shop.loom,line=4,col=13,endLine=4,endColumn=17,title=AL0201::no entity is called `Itme`
::warning file=shop/shop.loom,line=6,col=39,endLine=6,endColumn=65,title=AL0109::AND binds tighter than OR: 100%25, sure?%0Aparentheses say which is meant
::notice file=shop/stock.loom,line=1,col=8,endLine=1,endColumn=12,title=AL0208::`Item` gets%0Aa surrogate
";
        assert_eq!(render(&[sample::report()]), expected);
    }

    #[test]
    fn separators_in_a_path_are_escaped() {
        assert_eq!(property("a,b:c%\r\n"), "a%2Cb%3Ac%25%0D%0A");
    }
}
