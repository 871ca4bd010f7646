//! Where the numbers come from that costs are worked out by.

use super::Pricing;
use crate::fit;
use askloom_model::{Profile, Said};
use askloom_target::targets;
use std::fmt::Write;

/// Of the names of numbers.
const NAME: usize = 26;
const VALUE: usize = 12;

impl Pricing {
    /// Every number of it, with its source.
    pub fn sources(&self) -> String {
        let own = self.target.profile;
        let title = self.target.capability.title;
        let by = match &self.model {
            Some(name) => format!("costs on {title} by {name}, in {}", self.tariff.unit),
            None => format!("costs on {title}, in {}: {}", self.tariff.unit, own.said),
        };
        let mut text = fit::lines(&by, fit::WIDTH - 4).join("\n    ") + "\n";
        for Said { about, value, said } in self.facts() {
            let lines = fit::lines(said, fit::WIDTH - 2 - NAME - VALUE - 2);
            let first = lines.first().map(String::as_str).unwrap_or_default();
            let _ = writeln!(text, "  {}{value:>VALUE$}  {first}", fit::left(about, NAME));
            for line in lines.iter().skip(1) {
                let _ = writeln!(text, "{:indent$}{line}", "", indent = 4 + NAME + VALUE);
            }
        }
        text
    }

    fn facts(&self) -> Vec<Said> {
        let own = *self.target.profile;
        let mut facts = match self.model {
            None => Profile { charging: self.tariff.charging, ..own }.facts(),
            Some(_) => Profile { charging: self.tariff.charging, storage: None, ..own }.facts(),
        };
        for fact in &mut facts {
            fact.value = short(&fact.value);
        }
        facts
    }
}

/// As many digits as are worth reading.
fn short(number: &str) -> String {
    match number.parse::<f64>() {
        Ok(number) if number != 0.0 && number.abs() < 0.001 => format!("{number:.3e}"),
        Ok(number) => {
            let text = format!("{number:.6}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Err(_) => number.to_owned(),
    }
}

/// The numbers of all stores as a page.
pub fn page() -> String {
    let mut text = "\
# Where costs come from

What each store's costs are worked out by, and where each number comes from.
`askloom explain FILE --all` prints the same for the store that is chosen;
[costs](costs.md) says how other numbers take their place.

<!-- Made by `cargo xtask bless` from the profiles of the stores: edit those instead. -->
"
    .to_owned();
    for target in targets() {
        let profile = target.profile;
        let title = target.capability.title;
        let _ = write!(
            text,
            "\n## {title}\n\n`{}`, in {}: {}.\n\n| for each | cost | source |\n| --- | ---: | --- |\n",
            profile.target, profile.unit, profile.said
        );
        for fact in profile.facts() {
            let _ = writeln!(text, "| {} | {} | {} |", fact.about, short(&fact.value), fact.said);
        }
    }
    text
}
