//! A plan as an indented tree, the last step first, as people read plans.

use super::conjuncts::conjuncts;
use super::key::bound_field;
use super::same::Same;
use super::table::{Tree, price, short, wrapped};
use super::terms::key_terms;
use super::text::Words;
use askloom_model::{
    Access, Assumption, AssumptionAbout, Collection, CollectionId, ColumnValue, Design, EndId, Estimate,
    Follow, Guarantee, Integrity, JoinStep, Joining, Kept, KeySet, Leaf, Limit, Member, Model, Plan,
    PlanStep, Query, Reading, ShareOf, Stated, StepOf, TimeBucket,
};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The plan in words, one step a line, each with what it takes.
#[must_use]
pub fn print(model: &Model, design: &Design, query: &Query, plan: &Plan) -> String {
    let printer = Printer::new(model, design, query, plan);
    let priced = &plan.priced;
    let rows = or_none(short(plan.rows_out()));
    let heading = format!(
        "query {} on {}: {rows} {}, {} {}, {}",
        query.header.name,
        priced.target,
        if rows == "1" { "row" } else { "rows" },
        or_none(price(plan.estimate.cost)),
        priced.unit,
        reads(priced.reads),
    );
    let mut tree = Tree::new(&heading, &["calls", "parts", "rows", "bytes"], &priced.unit);
    printer.steps(&mut tree, 0);
    tree.into_text() + &print_relied_on(model, relied_on(plan))
}

fn or_none(text: String) -> String {
    if text.is_empty() { "no".to_owned() } else { text }
}

fn reads(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::Snapshot => "snapshot",
        Guarantee::Committed => "committed",
        Guarantee::Lagging => "lagging",
    }
}

/// The references that a plan relies on.
pub fn relied_on(plan: &Plan) -> impl Iterator<Item = EndId> {
    plan.all().flat_map(|plan| plan.relies_on.iter().copied())
}

/// References as `Comment.video`, each once, with who sees to it that it leads somewhere.
pub fn references(model: &Model, ends: impl IntoIterator<Item = EndId>) -> Vec<(String, &'static str)> {
    let conceptual = &model.conceptual;
    let ends: BTreeSet<EndId> = ends.into_iter().collect();
    let named = |end: EndId| {
        let row = &conceptual.ends[end];
        let by = match row.integrity {
            Integrity::Trusted => "trusted",
            Integrity::Checked(_) => "checked",
            Integrity::Loose => "loose",
        };
        (format!("{}.{}", conceptual.classes[row.class].name, row.name), by)
    };
    ends.into_iter().map(named).collect()
}

/// What is relied on, in lines of 80 columns; empty if that is nothing.
pub(super) fn print_relied_on(model: &Model, ends: impl IntoIterator<Item = EndId>) -> String {
    let named = references(model, ends).into_iter().map(|(reference, by)| format!("{reference}: {by}"));
    let named = named.collect::<Vec<_>>().join(", ");
    if named.is_empty() { String::new() } else { hanging(&format!("relies on {named}")) }
}

/// Words in lines of 80 columns, those after the first indented.
fn hanging(words: &str) -> String {
    let mut text = String::new();
    for line in wrapped(words, 80, 76) {
        let indent = if text.is_empty() { 0 } else { 4 };
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
    text
}

/// Everything that was assumed, each in a few words.
#[must_use]
pub fn assumptions(model: &Model, assumed: &[Assumption]) -> Vec<String> {
    assumed.iter().map(|assumption| assumption_text(model, assumption)).collect()
}

/// Everything that was assumed, in lines of 80 columns; empty if nothing was.
#[must_use]
pub fn print_assumed(model: &Model, assumed: &[Assumption]) -> String {
    if assumed.is_empty() {
        return String::new();
    }
    hanging(&format!("assumed: {}", assumptions(model, assumed).join(", ")))
}

/// What the query itself says about how many rows it keeps, in lines of 80 columns; empty if it says nothing.
#[must_use]
pub fn print_given(model: &Model, query: &Query) -> String {
    let conceptual = &model.conceptual;
    let words = Words { conceptual, positions: &query.positions, parameters: &query.parameters };
    let item = |stated: &Stated| {
        let of = stated.condition.as_ref().map_or_else(|| "WHERE".to_owned(), |one| words.condition(one));
        match stated.kept {
            Kept::Share(share) => format!("{of} keeps {}%", short(share * 100.0)),
            Kept::Rows(rows) => format!("{of} keeps {} rows", or_none(short(rows))),
        }
    };
    let items: Vec<String> = query.stated.iter().map(item).collect();
    let mut text = String::new();
    for line in wrapped(&format!("given: {}", items.join(", ")), 80, 76) {
        let indent = if text.is_empty() { 0 } else { 4 };
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
    if items.is_empty() { String::new() } else { text }
}

fn assumption_text(model: &Model, assumption: &Assumption) -> String {
    let conceptual = &model.conceptual;
    let name = |member: Member| {
        let class = match member {
            Member::Attribute(id) => conceptual.attributes[id].class,
            Member::End(id) => conceptual.ends[id].class,
        };
        format!("{}.{}", conceptual.classes[class].name, conceptual.member_name(member))
    };
    let value = or_none(short(assumption.value));
    let per_cent = format!("{:.0}%", assumption.value * 100.0);
    match assumption.about {
        AssumptionAbout::Count(class) => format!("{value} {}", conceptual.classes[class].name),
        AssumptionAbout::Average(member) => format!("{value} {} each", name(member)),
        AssumptionAbout::Present(member) if assumption.value >= 1.0 => {
            format!("{} always there", name(member))
        }
        AssumptionAbout::Present(member) => format!("{} there in {per_cent}", name(member)),
        AssumptionAbout::Distinct(member) => format!("{value} different {}", name(member)),
        AssumptionAbout::Bytes(member) => format!("{} {value} B", name(member)),
        AssumptionAbout::Share(of) => format!("{} keeps {per_cent}", share_text(of)),
        AssumptionAbout::ListLength => format!("a list parameter has {value} values"),
        AssumptionAbout::Days(id) => {
            format!("`{}` spans {value} days", conceptual.attributes[id].name)
        }
        AssumptionAbout::Rows => format!("a limit parameter is {value}"),
    }
}

fn share_text(of: ShareOf) -> &'static str {
    match of {
        ShareOf::Comparison => "a comparison",
        ShareOf::Between => "BETWEEN",
        ShareOf::StartsWith => "STARTS WITH",
        ShareOf::Matches => "MATCHES",
        ShareOf::Under => "UNDER",
        ShareOf::Above => "ABOVE",
        ShareOf::Within => "WITHIN",
        ShareOf::InBox => "IN BOX",
    }
}

/// Puts the steps of a plan into words.
pub(super) struct Printer<'p> {
    model: &'p Model,
    design: &'p Design,
    query: &'p Query,
    plan: &'p Plan,
    words: Words<'p>,
}

impl<'p> Printer<'p> {
    pub(super) fn new(model: &'p Model, design: &'p Design, query: &'p Query, plan: &'p Plan) -> Self {
        let conceptual = &model.conceptual;
        let query = plan.query(query);
        let words = Words { conceptual, positions: &query.positions, parameters: plan.parameters(query) };
        Self { model, design, query, plan, words }
    }

    /// The steps, the last first. One row needs no sort.
    pub(super) fn shown(&self) -> impl Iterator<Item = &'p PlanStep> + use<'p> {
        let idle = |step: &&PlanStep| step.of == StepOf::Sort && step.out <= 1.0;
        self.plan.steps.iter().rev().filter(move |step| !idle(step))
    }

    fn steps(&self, tree: &mut Tree, depth: usize) {
        self.named_steps(tree, depth, "");
    }

    /// The steps, the last one with a name for what comes out.
    fn named_steps(&self, tree: &mut Tree, depth: usize, mut name: &str) {
        let mut deeper = depth;
        for step in self.shown() {
            let Estimate { requests, partitions, rows, bytes, cost, .. } = step.estimate;
            let words = format!("{name}{}", self.step(&step.of));
            tree.step(deeper, &words, &[requests, partitions, rows, bytes], cost);
            name = "";
            deeper += 1;
        }
        if let Some(first) = self.first() {
            first.named_steps(tree, deeper, &format!("{} is ", self.list()));
        }
    }

    /// The words for what is found first.
    pub(super) fn first(&self) -> Option<Self> {
        let found = self.plan.first.as_ref()?;
        Some(Printer::new(self.model, self.design, &found.query, &found.plan))
    }

    /// What the list of what is found first is called.
    pub(super) fn list(&self) -> String {
        let list = self.plan.first.as_ref().and_then(|found| found.list());
        list.map(|list| format!(":{}", list.name)).unwrap_or_default()
    }

    /// All steps of what is found first in a few words.
    pub(super) fn find_list(&self) -> String {
        format!("find {}", self.list())
    }

    pub(super) fn step(&self, of: &StepOf) -> String {
        match of {
            StepOf::Access => self.access(&self.plan.access),
            StepOf::Join(index) => self.join(self.plan.join(*index)),
            StepOf::Fetch { index, .. } => {
                let name = &self.design.collections[self.plan.fetch(*index).collection].name;
                format!("for each get the rest from {name}, by its identity")
            }
            StepOf::Follow(follow) => self.follow(follow),
            StepOf::Filter => {
                format!("keep {}", self.words.condition(settled(self.plan.filter.as_ref())))
            }
            StepOf::Group => self.group(),
            StepOf::Sort => match self.words.order(settled(self.plan.sort.as_deref())) {
                terms if terms.is_empty() => "sort by identity".to_owned(),
                terms => format!("sort by {terms}"),
            },
            StepOf::PerGroup => self.per_group(),
            StepOf::Limit => match settled(self.plan.limit.as_ref()) {
                Limit::Rows(operand) => format!("first {} rows", self.words.limit(operand)),
                Limit::Page(operand) => format!("page of {} rows", self.words.limit(operand)),
            },
        }
    }

    fn per_group(&self) -> String {
        let per_group = settled(self.plan.per_group.as_ref());
        let by: Vec<String> = per_group.by.iter().map(|path| self.words.path(path)).collect();
        format!("first {} rows of each {}", self.words.limit(&per_group.rows), by.join(", "))
    }

    fn group(&self) -> String {
        let aggregates = self.plan.columns.iter().filter_map(|column| match &column.value {
            ColumnValue::Aggregate(aggregate) => Some(self.words.aggregate(aggregate)),
            ColumnValue::Path(_) | ColumnValue::Whole(_) => None,
        });
        let aggregates = aggregates.collect::<Vec<_>>().join(", ");
        let by: Vec<String> = self.plan.group_by.iter().map(|path| self.words.path(path)).collect();
        match (by.is_empty(), aggregates.is_empty()) {
            (true, _) => format!("all together: {aggregates}"),
            (false, true) => format!("group by {}", by.join(", ")),
            (false, false) => format!("group by {}: {aggregates}", by.join(", ")),
        }
    }

    fn access(&self, access: &Access) -> String {
        let collection = &self.design.collections[access.collection];
        let name = &collection.name;
        let terms = key_terms(collection, access);
        let buckets = terms.iter().find_map(|term| match term.path.leaf {
            Leaf::Bucket(of) => Some(format!(" in each of {of} buckets")),
            Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself | Leaf::TimeBucket(..) => None,
        });
        let times = time_buckets(&access.how).map(|unit| format!(" in each {}", unit.name()));
        let buckets = buckets.or(times).unwrap_or_default();
        let terms = terms.iter().filter(|term| !matches!(term.path.leaf, Leaf::Bucket(_)));
        let terms: Vec<String> = terms.map(|term| self.words.condition(&term.condition)).collect();
        let keys = if terms.is_empty() { String::new() } else { format!(" by {}", terms.join(" AND ")) };
        let searched = &self.plan.searched;
        if !searched.is_empty() {
            let terms: Vec<String> = searched.iter().map(|term| self.words.condition(term)).collect();
            return format!("search {name} by {}", terms.join(" AND "));
        }
        let mut how = &access.how;
        while let Reading::Each { of, .. } = how {
            how = of;
        }
        match how {
            Reading::GetBlock { .. } => format!("get {name}{keys}"),
            Reading::Scan | Reading::Each { .. } => format!("scan {name}{}", self.why_scanned(collection)),
            Reading::Range { backwards, limited, .. } => {
                let order = self.in_order(*backwards);
                let most = if *limited { ", as far as the limit" } else { "" };
                format!("read {name}{keys}{buckets}{order}{most}")
            }
        }
    }

    /// What the query would have to give besides, where only the buckets of time of a partition are not known.
    fn why_scanned(&self, collection: &Collection) -> String {
        let conceptual = self.words.conceptual;
        let terms = conjuncts(self.query.condition.as_ref());
        let same = Same { conceptual, positions: &self.query.positions };
        let mut bucket = None;
        for field in collection.block_key.iter().filter(|_| collection.is_clustered()) {
            match field.path.leaf {
                Leaf::TimeBucket(id, unit) => bucket = Some((&conceptual.attributes[id].name, unit)),
                Leaf::Attribute(_) | Leaf::Reference(_) | Leaf::Itself | Leaf::Bucket(_) => {
                    if bound_field(same, &terms, &field.path).is_none() {
                        return String::new();
                    }
                }
            }
        }
        bucket.map_or_else(String::new, |(name, unit)| {
            format!(": without both bounds of {name} its {}s are not known", unit.name())
        })
    }

    /// Where no sort follows, the order of the entries is the answer's.
    fn in_order(&self, backwards: bool) -> String {
        if self.plan.sort.is_some() || self.query.order_by.is_empty() {
            return String::new();
        }
        let direction = if backwards { ", backwards" } else { "" };
        format!(", in order of {}{direction}", self.words.order(&self.query.order_by))
    }

    fn join(&self, join: &JoinStep) -> String {
        let hop = settled(self.query.positions[join.position].from.as_ref());
        let member = self.words.conceptual.member_name(hop.step);
        let parent = self.words.position(hop.parent);
        let reached = parent.map_or_else(|| member.to_owned(), |parent| format!("{parent}.{member}"));
        let alias = self.query.positions[join.position].alias.as_deref();
        let named = alias.filter(|alias| *alias != reached).map(|alias| format!(" as {alias}"));
        self.linked(&format!("{reached}{}", named.unwrap_or_default()), &join.how)
    }

    fn follow(&self, follow: &Follow) -> String {
        let mut names: Vec<String> = self.words.position(follow.position).into_iter().collect();
        names.extend(follow.hops.iter().map(|&hop| self.words.conceptual.ends[hop].name.clone()));
        let what = if names.is_empty() { "the rest".to_owned() } else { names.join(".") };
        self.linked(&what, &follow.how)
    }

    fn linked(&self, what: &str, how: &Joining) -> String {
        let name = |id: CollectionId| &self.design.collections[id].name;
        match *how {
            Joining::Inside => format!("for each its {what}"),
            Joining::LookUp { master } => format!("for each get {what} from {}", name(master)),
            Joining::PartByIndex { index, master } | Joining::Back { index, master } => {
                format!("for each find {what} by {}, get from {}", name(index), name(master))
            }
            Joining::PartByScan { master } | Joining::BackByScan { master } => {
                format!("find {what} by a scan of {}", name(master))
            }
        }
    }
}

#[expect(
    clippy::expect_used,
    reason = "a plan that lacks what its steps name must not be shown as another one"
)]
fn settled<T: ?Sized>(of_step: Option<&T>) -> &T {
    of_step.expect("a plan has what its steps name")
}

/// The unit of the buckets of time that are read one by one.
fn time_buckets(how: &Reading) -> Option<TimeBucket> {
    match how {
        Reading::Each { set: KeySet::Buckets(between), .. } => Some(between.unit),
        Reading::Each { of, .. } => time_buckets(of),
        Reading::GetBlock { .. } | Reading::Range { .. } | Reading::Scan => None,
    }
}
