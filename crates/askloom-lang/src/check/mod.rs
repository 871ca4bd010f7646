//! Rules about a whole model. One rule, one file: what it says, why, and how it finds it.
//!
//! The order is that of the text they speak about: classes, statistics, statements, rules.

mod abstract_without_subclass;
mod deletes_trusted;
mod empty_model;
mod identifier_cycle;
mod part_cycle;
mod probable_inverse;
mod representation;
mod several_aggregates;
mod statistics;
mod unused_value;

use crate::Sources;
use askloom_model::{Diagnostics, Model};

/// What a rule can look at, and where it says what it found.
pub(crate) struct Context<'c> {
    pub(crate) model: &'c Model,
    pub(crate) sources: &'c Sources,
    pub(crate) diagnostics: &'c mut Diagnostics,
}

type Rule = fn(&mut Context<'_>);

const RULES: [Rule; 10] = [
    empty_model::check,
    part_cycle::check,
    identifier_cycle::check,
    abstract_without_subclass::check,
    unused_value::check,
    probable_inverse::check,
    statistics::check,
    several_aggregates::check,
    deletes_trusted::check,
    representation::check,
];

pub(crate) fn check(model: &Model, sources: &Sources, diagnostics: &mut Diagnostics) {
    let mut context = Context { model, sources, diagnostics };
    for rule in RULES {
        rule(&mut context);
    }
}
