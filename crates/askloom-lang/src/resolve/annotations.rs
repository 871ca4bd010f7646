//! Annotations: one table says which there are, where they may stand and what they take.

use super::arguments::{Argument, argument, whole_of};
use super::units::{self, Unit};
use super::{Place, Resolver};
use crate::Dialect;
use crate::suggest::{Near, closest, did_you_mean, did_you_mean_text};
use crate::syntax::ast::Ident;
use crate::syntax::{NodeId, NodeKind, TokenKind, Tree};
use askloom_model::{Code, Diagnostic, Kept, Span};

/// What an annotation can describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Entity,
    Value,
    Attribute,
    ListAttribute,
    ToOne,
    ToMany,
    Query,
    Write,
    Comparison,
}

impl Target {
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Entity => "an entity",
            Self::Value => "a value object",
            Self::Attribute => "an attribute with one value",
            Self::ListAttribute => "a list",
            Self::ToOne => "a to-one relationship",
            Self::ToMany => "a to-many relationship",
            Self::Query => "a query",
            Self::Write => "a write",
            Self::Comparison => "a comparison in the WHERE of a query",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Count,
    Avg,
    Max,
    Distinct,
    Freq,
    Size,
    Skew,
    Rate,
    Latency,
    Fresh,
    Apart,
    Selects,
    Rows,
    Ttl,
    Store,
    Tree,
    Writes,
    HighlyUpdated,
}

struct Spec {
    name: &'static str,
    kind: Kind,
    targets: &'static [Target],
}

const fn spec(name: &'static str, kind: Kind, targets: &'static [Target]) -> Spec {
    Spec { name, kind, targets }
}

use Target as T;
const SPECS: &[Spec] = &[
    spec("count", Kind::Count, &[T::Entity]),
    spec("avg", Kind::Avg, &[T::ListAttribute, T::ToMany]),
    spec("max", Kind::Max, &[T::ListAttribute, T::ToMany]),
    spec("distinct", Kind::Distinct, &[T::Attribute, T::ListAttribute, T::ToOne, T::ToMany]),
    spec("freq", Kind::Freq, &[T::Attribute, T::ListAttribute, T::ToOne]),
    spec("size", Kind::Size, &[T::Attribute, T::ListAttribute]),
    spec("skew", Kind::Skew, &[T::Entity, T::Attribute, T::ListAttribute, T::ToOne, T::ToMany, T::Query]),
    spec("rate", Kind::Rate, &[T::Query, T::Write]),
    spec("latency", Kind::Latency, &[T::Query, T::Write]),
    spec("fresh", Kind::Fresh, &[T::Query]),
    spec("apart", Kind::Apart, &[T::Write]),
    spec("selects", Kind::Selects, &[T::Query, T::Comparison]),
    spec("rows", Kind::Rows, &[T::Query, T::Comparison]),
    spec("ttl", Kind::Ttl, &[T::Entity]),
    spec("store", Kind::Store, &[T::Entity]),
    spec("tree", Kind::Tree, &[T::ToOne, T::ToMany]),
    spec("writes", Kind::Writes, &[T::Entity]),
    spec(
        "highlyUpdated",
        Kind::HighlyUpdated,
        &[T::Entity, T::Attribute, T::ListAttribute, T::Query, T::Write],
    ),
];

/// What an annotation of exactly this name is; nothing if there is none.
pub(super) fn known(name: &str) -> Option<Known> {
    SPECS.iter().find(|spec| spec.name == name).map(Known)
}

/// An annotation that exists.
#[derive(Clone, Copy)]
pub(super) struct Known(&'static Spec);

impl Known {
    pub(super) fn describes(self, target: Target) -> bool {
        self.0.targets.contains(&target)
    }

    pub(super) fn is_same(self, other: Self) -> bool {
        self.0.kind == other.0.kind
    }
}

/// What the annotations of one thing say together.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    pub(super) count: Option<u64>,
    pub(super) avg: Option<f64>,
    pub(super) max: Option<u64>,
    pub(super) distinct: Option<u64>,
    pub(super) size_bytes: Option<u64>,
    pub(super) skew: Option<f64>,
    pub(super) rate: Option<f64>,
    pub(super) latency_ms: Option<f64>,
    pub(super) fresh: bool,
    pub(super) apart: bool,
    /// `@selects` and `@rows`, each with its place.
    pub(super) kept: Vec<(Kept, Span)>,
    pub(super) ttl: Option<Lifetime<'a>>,
    pub(super) store: Option<String>,
    pub(super) tree: Option<Span>,
    /// `@writes(any)`
    pub(super) any_write: bool,
    pub(super) highly_updated: bool,
    /// The value as written and its share; typed by whoever knows the attribute.
    pub(super) frequencies: Vec<(Frequency<'a>, f64)>,
}

/// `@ttl(90 days from at)`
#[derive(Debug, Clone, Copy)]
pub(super) struct Lifetime<'a> {
    pub(super) ms: u64,
    /// The attribute from which it counts; found by whoever knows the members.
    pub(super) from: Option<Ident<'a>>,
    /// The whole annotation.
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Frequency<'a> {
    pub(super) negative: bool,
    pub(super) text: &'a str,
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn annotations(&mut self, place: Place, target: Target) -> Found<'a> {
        let of_the_line_before = self.continuation(place, target);
        let tree = self.tree(place);
        let nodes = tree.children_of(place.node, NodeKind::Annotation);
        let own = nodes.filter(|node| !of_the_line_before.contains(node)).collect();
        self.read_all(tree, own, target)
    }

    pub(super) fn annotations_of(&mut self, tree: &'t Tree<'a>, node: NodeId, target: Target) -> Found<'a> {
        self.read_all(tree, tree.children_of(node, NodeKind::Annotation).collect(), target)
    }

    fn read_all(&mut self, tree: &'t Tree<'a>, nodes: Vec<NodeId>, target: Target) -> Found<'a> {
        let mut found = Found::default();
        let mut seen: Vec<(Kind, Span)> = Vec::new();
        for node in nodes {
            let Some(name) = tree.name(node) else { continue };
            let Some(spec) = self.spec(tree, node, name) else { continue };
            if !spec.targets.contains(&target) {
                self.misplaced(name, spec, target);
                continue;
            }
            if let Some((_, before)) = seen.iter().find(|(kind, _)| *kind == spec.kind) {
                let message = format!("`@{}` is given twice", spec.name);
                let diagnostic = Diagnostic::new(Code::RepeatedAnnotation, tree.span(node), message);
                self.say(diagnostic.also(*before, "first here"));
                continue;
            }
            seen.push((spec.kind, tree.span(node)));
            self.read(tree, node, spec, &mut found);
        }
        found
    }

    fn spec(&mut self, tree: &Tree<'a>, node: NodeId, name: Ident<'a>) -> Option<&'static Spec> {
        if let Some(spec) = SPECS.iter().find(|spec| spec.name == name.text) {
            return Some(spec);
        }
        if let Some(spec) = SPECS.iter().find(|spec| spec.name.eq_ignore_ascii_case(name.text)) {
            self.wrong_case(name, spec.name);
            return Some(spec);
        }
        let bare = tree.own_token(node, TokenKind::LeftParen).is_none();
        if tree.dialect != Dialect::Loom && bare {
            let message = format!("`@{}` means nothing to Askloom and is ignored", name.text);
            self.say(Diagnostic::new(Code::IgnoredAnnotation, tree.span(node), message));
            return None;
        }
        let message = format!("no annotation is called `@{}`", name.text);
        let diagnostic = Diagnostic::new(Code::UnknownAnnotation, name.span, message);
        self.say(match closest(name.text, SPECS.iter().map(|spec| spec.name)) {
            Some(near) => {
                let shown = format!("@{}", near.name);
                did_you_mean_text(diagnostic, name.span, near, &shown, near.name.to_owned())
            }
            None => {
                let all: Vec<_> = SPECS.iter().map(|spec| format!("@{}", spec.name)).collect();
                diagnostic.hint(format!("there are {}", all.join(" ")))
            }
        });
        None
    }

    fn misplaced(&mut self, name: Ident<'a>, spec: &Spec, target: Target) {
        let places: Vec<_> = spec.targets.iter().map(|target| target.describe()).collect();
        let message = format!("`@{}` does not describe {}", spec.name, target.describe());
        self.say(
            Diagnostic::new(Code::MisplacedAnnotation, name.span, message)
                .hint(format!("it describes {}", places.join(" or "))),
        );
    }

    fn read(&mut self, tree: &'t Tree<'a>, node: NodeId, spec: &Spec, found: &mut Found<'a>) {
        match spec.kind {
            Kind::Count => found.count = self.whole(tree, node, spec),
            Kind::Avg => found.avg = self.plain(tree, node, spec),
            Kind::Max => found.max = self.whole(tree, node, spec),
            Kind::Distinct => {
                found.distinct = self.whole(tree, node, spec).filter(|&n| self.positive(tree, node, n))
            }
            Kind::Size => found.size_bytes = self.with_unit(tree, node, spec, units::SIZES).map(whole_of),
            Kind::Skew => found.skew = self.plain(tree, node, spec),
            Kind::Rate => found.rate = self.rate(tree, node, spec),
            Kind::Latency => {
                found.latency_ms = self
                    .with_unit(tree, node, spec, units::DURATIONS)
                    .filter(|&n| self.above_zero(tree, node, n));
            }
            Kind::Ttl => found.ttl = self.lifetime(tree, node, spec),
            Kind::Selects => {
                found.kept.extend(self.selected_share(tree, node, spec).map(|kept| (kept, tree.span(node))));
            }
            Kind::Rows => {
                let rows = self.plain(tree, node, spec).filter(|&n| self.above_zero(tree, node, n));
                found.kept.extend(rows.map(|rows| (Kept::Rows(rows), tree.span(node))));
            }
            Kind::Fresh => found.fresh = self.nothing(tree, node, spec),
            Kind::Apart => found.apart = self.nothing(tree, node, spec),
            Kind::HighlyUpdated => found.highly_updated = self.nothing(tree, node, spec),
            Kind::Tree => found.tree = self.nothing(tree, node, spec).then(|| tree.span(node)),
            Kind::Store => found.store = self.store(tree, node, spec),
            Kind::Writes => found.any_write = self.any_write(tree, node, spec),
            Kind::Freq => self.frequencies(tree, node, spec, found),
        }
    }

    fn bad(&mut self, span: Span, spec: &Spec) {
        let example = match spec.kind {
            Kind::Count => "@count(100_000)",
            Kind::Avg => "@avg(12)",
            Kind::Max => "@max(200)",
            Kind::Distinct => "@distinct(50)",
            Kind::Freq => "@freq(waiting 0.1%)",
            Kind::Size => "@size(500 B)",
            Kind::Skew => "@skew(1.1)",
            Kind::Rate => "@rate(800/s)",
            Kind::Latency => "@latency(10 ms)",
            Kind::Ttl => "@ttl(30 days)` or `@ttl(30 days from at)",
            Kind::Selects => "@selects(1%)",
            Kind::Rows => "@rows(15)",
            Kind::Store => "@store(redis)",
            Kind::Fresh => "@fresh",
            Kind::Apart => "@apart",
            Kind::Tree => "@tree",
            Kind::Writes => "@writes(any)",
            Kind::HighlyUpdated => "@highlyUpdated",
        };
        let message = match example.contains('(') {
            true => format!("`@{}` is written `{example}`", spec.name),
            false => format!("`{example}` takes no argument"),
        };
        self.say(Diagnostic::new(Code::BadArgument, span, message));
    }

    /// The only argument, said if it is missing or not alone.
    fn only(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> Option<Argument<'a>> {
        let mut arguments = tree.children_of(node, NodeKind::AnnotationArgument);
        let (first, second) = (arguments.next(), arguments.next());
        let argument = first.filter(|_| second.is_none()).map(|node| argument(tree, node));
        let fits =
            |argument: &Argument<'_>| argument.is_simple() || (spec.kind == Kind::Ttl && !argument.dangling);
        match argument.filter(fits) {
            Some(argument) => Some(argument),
            None => {
                self.bad(tree.span(node), spec);
                None
            }
        }
    }

    fn nothing(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> bool {
        if tree.own_token(node, TokenKind::LeftParen).is_some() {
            self.bad(tree.span(node), spec);
        }
        true
    }

    fn store(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> Option<String> {
        let argument = self.only(tree, node, spec)?;
        match (argument.value, argument.number) {
            (Some(token), None) => Some(tree.ident(token).text.trim_matches(['\'', '"']).to_owned()),
            _no_name => {
                self.bad(tree.span(argument.node), spec);
                None
            }
        }
    }

    fn any_write(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> bool {
        let Some(argument) = self.only(tree, node, spec) else { return false };
        let any =
            argument.number.is_none() && argument.value.is_some_and(|token| tree.token_text(token) == "any");
        if !any {
            self.bad(tree.span(argument.node), spec);
        }
        any
    }

    /// A number that is not negative, with nothing beside it.
    fn plain(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> Option<f64> {
        let argument = self.only(tree, node, spec)?;
        let bare = argument.value.is_none() && argument.unit.is_none() && !argument.percent && !argument.per;
        let number = argument.number.filter(|_| bare).and_then(units::number);
        match number {
            None => self.bad(tree.span(argument.node), spec),
            Some(_) if argument.negative => self.negative(tree, &argument),
            Some(number) => return Some(number),
        }
        None
    }

    fn whole(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> Option<u64> {
        let number = self.plain(tree, node, spec)?;
        let text = tree.child(node, NodeKind::AnnotationArgument).map(|node| argument(tree, node));
        let whole = text.and_then(|argument| argument.number).and_then(units::whole);
        // `1e6` is whole as well.
        let whole = whole.or_else(|| (number.fract() == 0.0 && number < 1e18).then(|| whole_of(number)));
        if whole.is_none() {
            let message = format!("`@{}` takes a whole number", spec.name);
            self.say(Diagnostic::new(Code::StatisticOutOfRange, tree.span(node), message));
        }
        whole
    }

    fn negative(&mut self, tree: &Tree<'a>, argument: &Argument<'a>) {
        let span = tree.span(argument.node);
        self.say(Diagnostic::new(Code::StatisticOutOfRange, span, "a statistic is not negative"));
    }

    fn positive(&mut self, tree: &Tree<'a>, node: NodeId, number: u64) -> bool {
        self.above_zero(tree, node, number as f64)
    }

    fn above_zero(&mut self, tree: &Tree<'a>, node: NodeId, number: f64) -> bool {
        if number <= 0.0 {
            self.say(Diagnostic::new(
                Code::StatisticOutOfRange,
                tree.span(node),
                "this must be more than zero",
            ));
        }
        number > 0.0
    }

    /// A number whose unit may be left out: bare numbers are bytes, or milliseconds.
    fn with_unit(
        &mut self,
        tree: &Tree<'a>,
        node: NodeId,
        spec: &Spec,
        units: &'static [Unit],
    ) -> Option<f64> {
        let argument = self.only(tree, node, spec)?;
        let plain = argument.value.is_none() && !argument.per && !argument.percent;
        let Some(number) = argument.number.filter(|_| plain).and_then(units::number) else {
            self.bad(tree.span(argument.node), spec);
            return None;
        };
        if argument.negative {
            self.negative(tree, &argument);
            return None;
        }
        Some(number * self.factor(argument.unit, units)?)
    }

    /// `1%` or `0.01`: more than nothing, and at most all.
    fn selected_share(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> Option<Kept> {
        let argument = self.only(tree, node, spec)?;
        let plain = argument.value.is_none() && !argument.per && argument.unit.is_none();
        let Some(number) = argument.number.filter(|_| plain).and_then(units::number) else {
            self.bad(tree.span(argument.node), spec);
            return None;
        };
        if argument.negative {
            self.negative(tree, &argument);
            return None;
        }
        let share = if argument.percent { number / 100.0 } else { number };
        if share > 1.0 {
            let message = format!("{:.0} % is more than all", share * 100.0);
            self.say(
                Diagnostic::new(Code::StatisticOutOfRange, tree.span(node), message)
                    .hint("a share is written `1%` or `0.01`; `@rows(15)` says how many rows"),
            );
            return None;
        }
        self.above_zero(tree, node, share).then_some(Kept::Share(share))
    }

    fn lifetime(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> Option<Lifetime<'a>> {
        let ms = self.with_unit(tree, node, spec, units::DURATIONS)?;
        let from = tree.child(node, NodeKind::AnnotationArgument).and_then(|node| argument(tree, node).from);
        let span = tree.span(node);
        self.above_zero(tree, node, ms).then(|| Lifetime { ms: whole_of(ms), from, span })
    }

    /// `800/s`; a bare number is per second.
    fn rate(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec) -> Option<f64> {
        let argument = self.only(tree, node, spec)?;
        let plain = argument.value.is_none() && !argument.percent && argument.per == argument.unit.is_some();
        let Some(number) = argument.number.filter(|_| plain).and_then(units::number) else {
            self.bad(tree.span(argument.node), spec);
            return None;
        };
        if argument.negative {
            self.negative(tree, &argument);
            return None;
        }
        Some(number * self.factor(argument.unit, units::RATES)?)
    }

    /// What a unit multiplies by; one if there is none.
    pub(super) fn factor(&mut self, unit: Option<Ident<'a>>, units: &'static [Unit]) -> Option<f64> {
        let Some(unit) = unit else { return Some(1.0) };
        if let Some(factor) = units::find(units, unit.text) {
            return Some(factor);
        }
        let message = format!("no unit is called `{}` here", unit.text);
        let diagnostic = Diagnostic::new(Code::UnknownUnit, unit.span, message);
        let same = units::names(units).find(|name| name.eq_ignore_ascii_case(unit.text));
        let same = same.map(|name| Near { name, sure: true });
        self.say(match same.or_else(|| closest(unit.text, units::names(units))) {
            Some(near) => did_you_mean(diagnostic, unit.span, near),
            None => {
                let all: Vec<_> = units.iter().filter_map(|unit| unit.names.first().copied()).collect();
                diagnostic.hint(format!("the units are {}", all.join(", ")))
            }
        });
        None
    }

    fn frequencies(&mut self, tree: &Tree<'a>, node: NodeId, spec: &Spec, found: &mut Found<'a>) {
        let mut total = 0.0;
        let mut any = false;
        for node in tree.children_of(node, NodeKind::AnnotationArgument) {
            any = true;
            let argument = argument(tree, node);
            let plain =
                !argument.per && argument.unit.is_none() && !argument.negative && argument.is_simple();
            let negative = argument.negative_value;
            let share = argument.number.filter(|_| plain).and_then(units::number);
            let (Some(value), Some(share)) = (argument.value, share) else {
                self.bad(tree.span(node), spec);
                continue;
            };
            let share = if argument.percent { share / 100.0 } else { share };
            total += share;
            let value = Frequency {
                negative,
                text: tree.token_text(value),
                kind: tree.token(value).kind,
                span: tree.token_span(value),
            };
            found.frequencies.push((value, share));
        }
        if !any {
            self.bad(tree.span(node), spec);
        }
        // Shares are written with few digits: what rounding leaves over is not an error.
        if total > 1.000_001 {
            let message = format!("these shares add up to {:.1} %", total * 100.0);
            self.say(
                Diagnostic::new(Code::StatisticOutOfRange, tree.span(node), message)
                    .hint("a share is written `10%` or `0.1`; together they are at most 100 %"),
            );
        }
    }
}
