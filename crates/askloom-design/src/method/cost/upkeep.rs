//! What a write costs besides finding what it is about, by what is chosen: its aggregates, by how they are cut and by what
//! makes the write one; and what each copy adds.

use super::choice::{Choice, Event, Of};
use super::enumerate::{Over, Pick, WriteParts};
use askloom_model::CopyLevel;
use askloom_plan::cost::Spent;
use askloom_plan::planner::write::parts::{CopyPart, Parts, SupportKey, at};

/// What makes a write one.
pub(super) struct Mode<'w> {
    usual: &'w Parts,
    /// The same with one master cut in another way: which pick that is.
    others: Vec<(usize, &'w Parts)>,
    /// Whatever is chosen.
    least: CopyLevel,
    /// Picks that make it a transaction: an aggregate in several records.
    spread: Vec<usize>,
}

/// The events of a write.
#[derive(Debug, Clone, Copy)]
struct Levels {
    least: CopyLevel,
    transaction: Option<usize>,
    intents: Option<usize>,
}

impl<'w> Mode<'w> {
    pub(super) fn new(over: &Over<'_>, parts: &'w WriteParts) -> Self {
        let WriteParts { usual, others } = parts;
        let least = others.iter().map(|other| other.parts.least).fold(usual.least, CopyLevel::min);
        let mut spread = Vec::new();
        // The cut that the level depends on is that of the write's own aggregates.
        let own = others.iter().find(|other| other.parts.least != usual.least).map(|other| other.cut);
        if let Some(own) = own {
            if usual.least > least {
                spread.extend(over.pick(Pick::Cut(own, 0)));
            }
            for other in others.iter().filter(|other| other.cut == own && other.parts.least > least) {
                spread.extend(over.pick(Pick::Cut(other.cut, other.way)));
            }
        }
        let others = others
            .iter()
            .filter_map(|other| Some((over.pick(Pick::Cut(other.cut, other.way))?, &other.parts)))
            .collect();
        Self { usual, others, least, spread }
    }

    pub(super) fn charge(&self, choice: &mut Choice, over: &Over<'_>, statement: usize) {
        let copies: Vec<&CopyPart> = self.usual.steps.iter().flat_map(|step| &step.copies).collect();
        let pick = |copy: &CopyPart| over.pick(Pick::Keep(copy.collection));
        let always = copies.iter().filter(|copy| pick(copy).is_none());
        let least = always.map(|copy| copy.level).fold(self.least, CopyLevel::max);
        let at_level = |level: CopyLevel| -> Vec<usize> {
            let of = copies.iter().filter(|copy| copy.level == level).filter_map(|copy| pick(copy));
            let mut of: Vec<usize> = of.collect();
            of.sort_unstable();
            of.dedup();
            of
        };
        let mut second = at_level(CopyLevel::Transaction);
        second.extend(&self.spread);
        let third = at_level(CopyLevel::Intents);
        let intents = (least != CopyLevel::Intents && !third.is_empty())
            .then(|| choice.event(Event::Any { of: third, but: None }));
        let transaction = (least == CopyLevel::AtomicUnit && !second.is_empty())
            .then(|| choice.event(Event::Any { of: second, but: intents }));
        let levels = Levels { least, transaction, intents };
        self.own(choice, statement, levels);
        for copy in copies {
            let of = pick(copy).map(Of::Pick);
            self.copy(choice, statement, copy, of, levels);
        }
        self.support(choice, over, statement);
    }

    /// The aggregates themselves.
    fn own(&self, choice: &mut Choice, statement: usize, levels: Levels) {
        let usual = own(self.usual, levels.least);
        choice.charge(None, statement, usual);
        let further = [(levels.transaction, CopyLevel::Transaction), (levels.intents, CopyLevel::Intents)];
        for (event, level) in further {
            let Some(event) = event else { continue };
            choice.charge(Some(Of::Event(event)), statement, own(self.usual, level) - usual);
        }
        for &(pick, parts) in &self.others {
            let more = own(parts, levels.least) - usual;
            choice.charge(Some(Of::Pick(pick)), statement, more);
            for (event, level) in further {
                let Some(event) = event else { continue };
                let still = (own(parts, level) - own(self.usual, level)) - more;
                both(choice, statement, still, Of::Pick(pick), event);
            }
        }
    }

    fn copy(&self, choice: &mut Choice, statement: usize, copy: &CopyPart, of: Option<Of>, levels: Levels) {
        let more = copy.in_transaction - copy.alone;
        match levels.least {
            CopyLevel::AtomicUnit | CopyLevel::Intents => choice.charge(of, statement, copy.alone),
            CopyLevel::Transaction => choice.charge(of, statement, copy.in_transaction),
        }
        let own = of.is_some() && copy.level == CopyLevel::Transaction;
        match (levels.least, levels.intents, levels.transaction) {
            // In a transaction, unless something follows by intents.
            (CopyLevel::Transaction, Some(intents), _) => when(choice, statement, -more, of, intents),
            // It makes the transaction itself.
            (CopyLevel::AtomicUnit, intents, Some(_)) if own => {
                choice.charge(of, statement, more);
                intents.into_iter().for_each(|intents| when(choice, statement, -more, of, intents));
            }
            (CopyLevel::AtomicUnit, _, Some(transaction)) => when(choice, statement, more, of, transaction),
            (CopyLevel::AtomicUnit | CopyLevel::Transaction | CopyLevel::Intents, _, _) => {}
        }
    }

    /// Reads that copies need, each once in a step.
    fn support(&self, choice: &mut Choice, over: &Over<'_>, statement: usize) {
        for (index, step) in self.usual.steps.iter().enumerate() {
            let mut reads: Vec<(&SupportKey, Spent, Vec<Option<usize>>)> = Vec::new();
            for copy in &step.copies {
                let kept = over.pick(Pick::Keep(copy.collection));
                for (key, cost) in &copy.support {
                    match reads.iter_mut().find(|(known, _, _)| *known == key) {
                        Some((_, _, by)) => by.push(kept),
                        None => reads.push((key, *cost, vec![kept])),
                    }
                }
            }
            for (key, cost, by) in reads {
                let optional: Option<Vec<usize>> = by.into_iter().collect();
                let of = match optional.as_deref() {
                    None => None,
                    Some([only]) => Some(Of::Pick(*only)),
                    Some(several) => {
                        Some(Of::Event(choice.event(Event::Any { of: several.to_vec(), but: None })))
                    }
                };
                choice.charge(of, statement, cost);
                for &(pick, parts) in &self.others {
                    let other = parts.steps.get(index).and_then(|step| support_cost(&step.copies, key));
                    let more = other.map_or(Spent::default(), |other| other - cost);
                    match of {
                        None => choice.charge(Some(Of::Pick(pick)), statement, more),
                        Some(of) if !is_noise(more) => {
                            let event = choice.event(Event::Both(Of::Pick(pick), of));
                            choice.charge(Some(Of::Event(event)), statement, more);
                        }
                        Some(_) => {}
                    }
                }
            }
        }
    }
}

fn support_cost(copies: &[CopyPart], key: &SupportKey) -> Option<Spent> {
    copies.iter().flat_map(|copy| &copy.support).find(|(known, _)| known == key).map(|(_, cost)| *cost)
}

fn own(parts: &Parts, level: CopyLevel) -> Spent {
    parts.steps.iter().map(|step| step.own.get(at(level)).copied().unwrap_or_default()).sum()
}

/// What is paid, or saved, if something is chosen and an event happens.
fn when(choice: &mut Choice, statement: usize, cost: Spent, of: Option<Of>, event: usize) {
    match of {
        Some(of) => both(choice, statement, cost, of, event),
        None => choice.charge(Some(Of::Event(event)), statement, cost),
    }
}

/// What is less is rounding.
const NOISE: f64 = 1e-12;

fn is_noise(spent: Spent) -> bool {
    spent.cost.abs() <= NOISE && spent.takes.abs() <= NOISE
}

fn both(choice: &mut Choice, statement: usize, cost: Spent, of: Of, event: usize) {
    if !is_noise(cost) {
        let both = choice.event(Event::Both(of, Of::Event(event)));
        choice.charge(Some(Of::Event(both)), statement, cost);
    }
}
