//! Cost against storage, and how far rates may go.

use super::wishes::failure;
use super::{Format, Prepared};
use crate::exit::Failure;
use crate::human;
use crate::picture::{Axis, Plot};
use crate::progress::Watch;
use askloom_design::cost::MONTH;
use askloom_design::method::cost::{Point, Range, Study, often};
use std::fmt::Write;

/// Budgets that are tried.
const BUDGETS: usize = 24;

/// What the costs of a second are shown as: money is paid by the month.
struct Shown {
    what: String,
    times: f64,
}

impl Shown {
    fn of(unit: &str) -> Self {
        match unit {
            "$/M" => Self { what: "$ a month".to_owned(), times: MONTH },
            unit => Self { what: format!("{unit} a second"), times: 1.0 },
        }
    }
}

impl Prepared {
    /// The curve in a format.
    pub(super) fn pareto(&self, format: Format) -> Result<String, Failure> {
        let costing = self.pricing.costing();
        let watch = Watch::new(self.quiet);
        let study = Study::new(&self.model, &costing, &self.watched(&watch));
        let points = study.pareto(&self.options.wishes, BUDGETS).map_err(|unmet| failure(&unmet))?;
        let shown = Shown::of(&costing.model.unit());
        match format {
            Format::Human => {
                Ok(format!("{}\n{}", self.table(&points, &shown), self.plot(&points, &shown).text()))
            }
            Format::Json => {
                let text = serde_json::to_string_pretty(&points).unwrap_or_default();
                Ok(format!("{text}\n"))
            }
            Format::Svg => Ok(self.plot(&points, &shown).svg()),
            Format::Mermaid | Format::Dot | Format::Html => {
                Err(Failure::Call("--pareto is printed as human, json or svg".to_owned()))
            }
        }
    }

    fn table(&self, points: &[Point], shown: &Shown) -> String {
        let title = self.target.capability.title;
        let mut text = format!("{} on {title}: cost against storage\n\n", self.name);
        let _ = writeln!(text, "{:>14}{:>14}{:>14}  {:<10}", "STORED", shown.what, "COLLECTIONS", "");
        let least = points.iter().map(|point| point.storage).fold(f64::INFINITY, f64::min);
        for point in points {
            let mut proven = if point.gap <= 1e-6 {
                "proven".to_owned()
            } else {
                format!("within {:.2} %", 100.0 * point.gap)
            };
            if point.too_hot > 0 {
                let _ = write!(proven, ", without {} too hot", point.too_hot);
            }
            let (stored, cost) =
                (human::long_bytes(point.storage, least), human::short(point.cost * shown.times));
            let _ = writeln!(text, "{stored:>14}{cost:>14}{:>14}  {proven}", point.collections);
        }
        text
    }

    fn plot(&self, points: &[Point], shown: &Shown) -> Plot {
        Plot {
            title: format!("{} on {}: cost against storage", self.name, self.target.capability.title),
            x: Axis { label: "stored".to_owned(), written: human::bytes },
            y: Axis { label: shown.what.clone(), written: human::short },
            points: points.iter().map(|point| (point.storage, point.cost * shown.times)).collect(),
        }
    }

    /// Between which rates the design stays the cheapest.
    pub(super) fn sensitivity(&self, format: Format) -> Result<String, Failure> {
        let costing = self.pricing.costing();
        let watch = Watch::new(self.quiet);
        let study = Study::new(&self.model, &costing, &self.watched(&watch));
        let ranges = study.sensitivity(&self.options.wishes).map_err(|unmet| failure(&unmet))?;
        match format {
            Format::Human => Ok(self.ranges(&ranges)),
            Format::Json => {
                let text = serde_json::to_string_pretty(&ranges).unwrap_or_default();
                Ok(format!("{text}\n"))
            }
            Format::Svg | Format::Mermaid | Format::Dot | Format::Html => {
                Err(Failure::Call("--sensitivity is printed as human or json".to_owned()))
            }
        }
    }

    fn ranges(&self, ranges: &[Range]) -> String {
        let title = self.target.capability.title;
        let mut text = format!("{} on {title}: rates between which nothing else is cheaper\n\n", self.name);
        let names = ranges.iter().map(|range| range.statement.chars().count());
        let width = names.max().unwrap_or(0).clamp("STATEMENT".len(), 60);
        let _ = writeln!(text, "{:<width$}{:>9}{:>9}{:>12}", "STATEMENT", "RATE", "FROM", "TO");
        for range in ranges {
            let least = range.least.map_or_else(|| "0".to_owned(), often);
            let most = range.most.map_or_else(|| "1000 times".to_owned(), often);
            let proven = if range.proven { "" } else { " not proven" };
            let _ = writeln!(
                text,
                "{:<width$}{:>9}{least:>9}{most:>12}{proven}",
                range.statement,
                often(range.rate)
            );
        }
        text
    }
}
