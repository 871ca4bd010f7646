//! Cost against storage, and how far rates may go.

use super::Designer;
use super::unmet::error;
use crate::document::pretty;
use crate::error::Error;
use crate::human;
use crate::picture::{Axis, Plot};
use askloom_design::method::Progress;
use askloom_design::method::cost::{Point, Range, Study, often};
use askloom_plan::cost::MONTH;
use std::fmt::Write;

/// Budgets that are tried.
const BUDGETS: usize = 24;

/// What the costs of a second are shown as: money is paid by the month.
#[derive(Debug)]
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

impl Designer {
    /// Cost against storage, from the smallest design to the cheapest.
    pub fn pareto(&self, progress: &Progress) -> Result<Curve, Error> {
        let costing = self.pricing.costing();
        let study = Study::new(&self.model, &costing, &self.watched(progress));
        let points = study.pareto(&self.options.wishes, BUDGETS).map_err(|unmet| error(&unmet))?;
        Ok(Curve { subject: self.on(), points, shown: Shown::of(&costing.model.unit()) })
    }

    /// Between which rates of each statement the design stays the cheapest.
    pub fn sensitivity(&self, progress: &Progress) -> Result<RateRanges, Error> {
        let costing = self.pricing.costing();
        let study = Study::new(&self.model, &costing, &self.watched(progress));
        let ranges = study.sensitivity(&self.options.wishes).map_err(|unmet| error(&unmet))?;
        Ok(RateRanges { subject: self.on(), ranges })
    }

    /// The model and the store by their names.
    fn on(&self) -> String {
        format!("{} on {}", self.name, self.target.capability.title)
    }
}

/// Designs from the smallest to the cheapest.
#[derive(Debug)]
pub struct Curve {
    subject: String,
    pub points: Vec<Point>,
    shown: Shown,
}

impl Curve {
    /// A table and a plot in characters.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}\n{}", self.table(), self.plot().text())
    }

    #[must_use]
    pub fn json(&self) -> String {
        pretty(&self.points)
    }

    #[must_use]
    pub fn svg(&self) -> String {
        self.plot().svg()
    }

    fn table(&self) -> String {
        let Self { subject, points, shown } = self;
        let mut text = format!("{subject}: cost against storage\n\n");
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

    fn plot(&self) -> Plot {
        let Self { subject, points, shown } = self;
        Plot {
            title: format!("{subject}: cost against storage"),
            x: Axis { label: "stored".to_owned(), written: human::bytes },
            y: Axis { label: shown.what.clone(), written: human::short },
            points: points.iter().map(|point| (point.storage, point.cost * shown.times)).collect(),
        }
    }
}

/// Rates between which a design stays the cheapest.
#[derive(Debug)]
pub struct RateRanges {
    subject: String,
    pub ranges: Vec<Range>,
}

impl RateRanges {
    #[must_use]
    pub fn json(&self) -> String {
        pretty(&self.ranges)
    }

    /// A table.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { subject, ranges } = self;
        let mut text = format!("{subject}: rates between which nothing else is cheaper\n\n");
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
