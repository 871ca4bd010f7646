//! Scores as a table, with their spread.

use crate::score::{Kind, Score};
use std::fmt::Write as _;

/// What a score should be within.
pub(crate) const BOUNDS: std::ops::RangeInclusive<f64> = 0.5..=2.0;
/// What the median should be within.
pub(crate) const MEDIAN: std::ops::RangeInclusive<f64> = 0.8..=1.2;

/// How scores are spread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
    /// How many are within the bounds, and of how many.
    pub(crate) within: usize,
    pub(crate) of: usize,
}

impl Spread {
    /// Nothing if there is no score.
    pub(crate) fn of(mut ratios: Vec<f64>) -> Option<Self> {
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (*ratios.first()?, *ratios.last()?);
        let within = ratios.iter().filter(|ratio| BOUNDS.contains(ratio)).count();
        Some(Self { least, median: ratios[ratios.len() / 2], most, within, of: ratios.len() })
    }
}

/// The spreads of records and of requests.
pub(crate) fn spreads(scores: &[Score], kind: Kind) -> Option<(Spread, Spread)> {
    let ratios: Vec<(f64, f64)> =
        scores.iter().filter(|score| score.kind == kind).filter_map(Score::ratios).collect();
    let (records, requests) = ratios.into_iter().unzip();
    Some((Spread::of(records)?, Spread::of(requests)?))
}

pub(crate) fn is_within(score: &Score) -> bool {
    score.ratios().is_some_and(|(records, requests)| BOUNDS.contains(&records) && BOUNDS.contains(&requests))
}

/// A line for each spread.
pub(crate) fn summary(groups: &[(&str, &[Score], Kind)]) -> String {
    let mut text = String::from(
        "| of | | statements | least | median | most | within 0.5 to 2 |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (name, scores, kind) in groups {
        let Some((records, requests)) = spreads(scores, *kind) else { continue };
        for (what, spread) in [("records", records), ("requests", requests)] {
            let Spread { least, median, most, within, of } = spread;
            writeln!(text, "| {name} | {what} | {of} | {least:.2} | {median:.2} | {most:.2} | {within} |")
                .unwrap();
        }
    }
    text
}

/// A line for each score; what is out of bounds says why.
pub(crate) fn rows<'s>(
    scores: impl IntoIterator<Item = &'s Score>,
    reason: impl Fn(&Score) -> Option<&'static str>,
) -> String {
    let mut text = String::from(
        "| model | method | statement | records predicted | counted | score | requests predicted | counted | score | |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for score in scores {
        let Score { model, method, statement, predicted, .. } = score;
        write!(text, "| {model} | {method} | {statement} | {:.1} | ", predicted.records).unwrap();
        let requests = predicted.requests;
        match (&score.counted, score.ratios()) {
            (Ok(counted), Some((a, b))) => {
                write!(
                    text,
                    "{:.1} | {a:.2} | {requests:.1} | {:.1} | {b:.2} | ",
                    counted.records, counted.requests
                )
                .unwrap();
                let why = if is_within(score) { "" } else { reason(score).unwrap_or("out of bounds") };
                writeln!(text, "{why} |").unwrap();
            }
            (counted, _) => {
                let why = counted.as_ref().err().map_or("", String::as_str);
                writeln!(text, "– | – | {requests:.1} | – | – | not run: {why} |").unwrap();
            }
        }
    }
    text
}
