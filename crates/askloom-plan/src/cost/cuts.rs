//! What rules make of an aggregate: which kinds of entries there are, how many of each, how large.
//!
//! The rules are taken as [`partition`](crate::partition) takes them, on classes instead of aggregates, so that what
//! is priced is what is stored.

use super::Sizes;
use crate::partition::matching::{Open, enter, start};
use askloom_model::{ClassId, Collection, Contents, MAX_NESTING, Member, RelationshipKind, Rule};

/// Entries of one kind: those whose keys are the same but for ordinals.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// The members from the root to it.
    pub way: Vec<Member>,
    /// In one aggregate.
    pub entries: f64,
    /// Of all its entries together.
    pub bytes: f64,
}

impl Cut {
    pub fn bytes_of_one(&self) -> f64 {
        self.bytes / self.entries.max(f64::MIN_POSITIVE)
    }
}

/// An atom, or a part of which nothing is cut off, and the cut that it is in.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub way: Vec<Member>,
    pub cut: usize,
    /// Whether a new aggregate with empty lists has it.
    pub single: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cuts {
    pub cuts: Vec<Cut>,
    pub pieces: Vec<Piece>,
}

/// Entries of a cut that a change touches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touched<'c> {
    pub cut: &'c Cut,
    pub entries: f64,
    /// Whether the entries hold nothing but what changes.
    pub alone: bool,
}

impl Cuts {
    pub fn entries(&self) -> f64 {
        self.cuts.iter().map(|cut| cut.entries).sum()
    }

    /// Entries of an aggregate whose lists are empty: at least one, or it would not be there.
    pub fn entries_of_new(&self) -> f64 {
        let mut cuts: Vec<usize> =
            self.pieces.iter().filter(|piece| piece.single).map(|piece| piece.cut).collect();
        cuts.sort_unstable();
        cuts.dedup();
        cuts.len().max(1) as f64
    }

    /// What changes of one thing at these ways touch. Of each way is said how many such things an aggregate has: of
    /// rounds that are entries of their own, a new one touches one.
    pub fn touched(&self, changes: &[(Vec<Member>, f64)]) -> Vec<Touched<'_>> {
        let mut found: Vec<Option<(f64, bool)>> = vec![None; self.cuts.len()];
        for (way, things) in changes {
            let inside = |piece: &&Piece| piece.way.starts_with(way) || way.starts_with(&piece.way);
            for piece in self.pieces.iter().filter(inside) {
                let Some((cut, found)) = self.cuts.get(piece.cut).zip(found.get_mut(piece.cut)) else {
                    continue;
                };
                let share = cut.entries / things.max(f64::MIN_POSITIVE);
                let deeper = cut.way.len() > way.len();
                let alone = deeper || (cut.way.len() == way.len() && share >= 1.0);
                let entries = if deeper {
                    share
                } else if alone {
                    share.max(1.0)
                } else {
                    1.0
                };
                let before = found.unwrap_or((0.0, true));
                *found = Some((before.0.max(entries), before.1 && alone));
            }
        }
        let touched = self.cuts.iter().zip(found);
        touched
            .filter_map(|(cut, found)| found.map(|(entries, alone)| Touched { cut, entries, alone }))
            .collect()
    }
}

impl Sizes<'_> {
    /// The entries that the rules of a master make of an aggregate. Of a class with subclasses, the mean of those.
    pub fn cuts(&self, collection: &Collection) -> Cuts {
        let Contents::Aggregate(rules) = &collection.contents else { return Cuts::default() };
        let conceptual = self.statistics.conceptual();
        let root = collection.source.root;
        let mut cutter = Cutter { sizes: self, rules, way: Vec::new(), single: true, found: Cuts::default() };
        for (class, share) in self.kinds(root, 0) {
            let start = start(conceptual, rules, class);
            let mut cover = start.cover.map(|rule| Cover { rule, way: Vec::new(), times: share, cut: None });
            let place = Place { class, declared: root, times: share, depth: 0 };
            cutter.record(&place, &start.open, cover.as_mut());
        }
        cutter.found
    }

    /// The classes that an instance can be of, each with its share of them.
    fn kinds(&self, class: ClassId, depth: usize) -> Vec<(ClassId, f64)> {
        let subclasses = &self.statistics.conceptual().classes[class].subclasses;
        if subclasses.is_empty() || depth > MAX_NESTING {
            return vec![(class, 1.0)];
        }
        let counts: f64 = subclasses.iter().map(|&sub| self.statistics.count(sub)).sum();
        let of = |sub: ClassId| {
            let share = self.statistics.count(sub) / counts.max(1.0);
            self.kinds(sub, depth + 1).into_iter().map(move |(kind, part)| (kind, part * share))
        };
        subclasses.iter().copied().flat_map(of).collect()
    }
}

/// A rule that takes all that is below a place and that no earlier one takes.
struct Cover {
    rule: usize,
    way: Vec<Member>,
    times: f64,
    /// Where its entries are counted, once something has come there.
    cut: Option<usize>,
}

/// A record on the way down.
struct Place {
    class: ClassId,
    declared: ClassId,
    /// How often it is in an aggregate.
    times: f64,
    depth: usize,
}

/// Goes down the classes as [`split`](crate::partition::split) goes down an aggregate.
struct Cutter<'c> {
    sizes: &'c Sizes<'c>,
    rules: &'c [Rule],
    way: Vec<Member>,
    /// Whether no list is on the way.
    single: bool,
    found: Cuts,
}

impl Cutter<'_> {
    fn record(&mut self, place: &Place, open: &[Open], mut cover: Option<&mut Cover>) {
        let conceptual = self.sizes.statistics.conceptual();
        if place.depth > MAX_NESTING {
            return;
        }
        if open.is_empty() {
            let bytes = place.times * self.sizes.class_bytes(place.class, place.depth);
            return self.put(cover, bytes);
        }
        // What its members do not say of it is written at its own path.
        if place.class != place.declared || conceptual.classes[place.class].surrogate {
            let mut own = Cover { rule: usize::MAX, way: self.way.clone(), times: place.times, cut: None };
            self.put(Some(cover.as_deref_mut().unwrap_or(&mut own)), 0.0);
        }
        for member in conceptual.all_members(place.class) {
            if self.sizes.is_stored(member) {
                self.member(place, member, open, cover.as_deref_mut());
            }
        }
    }

    fn member(&mut self, place: &Place, member: Member, open: &[Open], cover: Option<&mut Cover>) {
        let conceptual = self.sizes.statistics.conceptual();
        let (is_many, part) = match member {
            Member::Attribute(id) => (conceptual.attributes[id].list, None),
            Member::End(id) => {
                let end = &conceptual.ends[id];
                let part = (end.kind == RelationshipKind::Composition).then_some(end.target);
                (end.cardinality.is_many(), part)
            }
        };
        let name = conceptual.member_name(member);
        let matches = enter(self.rules, open, cover.as_ref().map(|cover| cover.rule), name, is_many);
        let times = place.times * self.sizes.statistics.fan_out(member);
        let was_single = self.single;
        self.single &= !is_many;
        self.way.push(member);
        let whole = matches.field.map(|rule| (rule, place.times));
        let each = matches.element.map(|rule| (rule, times));
        let mut own =
            each.or(whole).map(|(rule, times)| Cover { rule, way: self.way.clone(), times, cut: None });
        let cover = own.as_mut().or(cover);
        match part {
            Some(target) => self.part(target, place.depth + 1, times, &matches.below, cover),
            None => {
                let bytes = times * self.sizes.element_bytes(member, place.depth);
                let mut atom = Cover { rule: usize::MAX, way: self.way.clone(), times, cut: None };
                self.put(if matches.atoms { Some(&mut atom) } else { cover }, bytes);
            }
        }
        self.way.pop();
        self.single = was_single;
    }

    fn part(
        &mut self,
        target: ClassId,
        depth: usize,
        times: f64,
        open: &[Open],
        mut cover: Option<&mut Cover>,
    ) {
        if open.is_empty() {
            return self.put(cover, times * self.sizes.class_bytes(target, depth));
        }
        for (class, share) in self.sizes.kinds(target, depth) {
            let place = Place { class, declared: target, times: times * share, depth };
            self.record(&place, open, cover.as_deref_mut());
        }
    }

    /// What comes to an entry. Without a rule for it, it is lost: such rules are not legal.
    fn put(&mut self, cover: Option<&mut Cover>, bytes: f64) {
        let Some(cover) = cover else { return };
        let cuts = &mut self.found.cuts;
        let index = *cover.cut.get_or_insert_with(|| {
            let known = cuts.iter().position(|cut| cut.way == cover.way);
            let index = known.unwrap_or_else(|| {
                cuts.push(Cut { way: cover.way.clone(), entries: 0.0, bytes: 0.0 });
                cuts.len() - 1
            });
            if let Some(cut) = cuts.get_mut(index) {
                cut.entries += cover.times;
            }
            index
        });
        if let Some(cut) = cuts.get_mut(index) {
            cut.bytes += bytes;
        }
        self.found.pieces.push(Piece { way: self.way.clone(), cut: index, single: self.single });
    }
}
