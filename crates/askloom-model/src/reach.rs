//! How many aggregates a write changes, as far as its text says.

use crate::{
    Assignment, ClassId, Comparison, Conceptual, Condition, Constant, EndId, Id, Leaf, Member, Operand, Path,
    Write, WriteStep,
};

/// What the statements of a write say about the aggregates that they change together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Every statement names the same aggregate.
    One,
    /// Aggregates of one class, which may be one or several.
    Unknown,
    /// Aggregates of several classes, or of one class by different ids.
    Several,
}

/// What an identifier is compared with, or what INSERT gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Named<'w> {
    Parameter(&'w str),
    Constant(&'w Constant),
}

impl Write {
    /// The roots of the aggregates that the write changes, each once, in the order of its statements. A link changes
    /// where it is stored.
    #[must_use]
    pub fn roots(&self, conceptual: &Conceptual) -> Vec<ClassId> {
        let mut roots = Vec::new();
        for class in self.steps.iter().flat_map(|step| changed(conceptual, step)) {
            let root = conceptual.aggregate_root(class).unwrap_or(class);
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        roots
    }

    #[must_use]
    pub fn reach(&self, conceptual: &Conceptual) -> Reach {
        if self.roots(conceptual).len() > 1 {
            return Reach::Several;
        }
        let names: Vec<_> = self.steps.iter().map(|step| named(conceptual, self, step)).collect();
        let known: Vec<_> = names.iter().flatten().collect();
        let differ =
            |(one, other): (&&Identified<'_>, &&Identified<'_>)| one.0 == other.0 && one.1 != other.1;
        let pairs = known.iter().flat_map(|one| known.iter().map(move |other| (one, other)));
        if pairs.into_iter().any(differ) {
            return Reach::Several;
        }
        let inside = self.steps.iter().all(|step| !links_elsewhere(conceptual, step));
        if known.len() == names.len() && inside { Reach::One } else { Reach::Unknown }
    }
}

/// The root that a statement names, and its id as the statement gives it.
type Identified<'w> = (ClassId, Vec<Named<'w>>);

fn named<'w>(conceptual: &'w Conceptual, write: &'w Write, step: &'w WriteStep) -> Option<Identified<'w>> {
    let (class, condition) = match step {
        WriteStep::Insert { class } | WriteStep::Upsert { class } | WriteStep::Store { class } => {
            (*class, None)
        }
        WriteStep::Update { class, condition, .. }
        | WriteStep::UpdateElements { class, condition, .. }
        | WriteStep::Delete { class, condition, .. }
        | WriteStep::Add { class, condition, .. }
        | WriteStep::Remove { class, condition, .. }
        | WriteStep::Connect { class, condition, .. }
        | WriteStep::Disconnect { class, condition, .. } => (*class, Some(condition.as_ref()?)),
    };
    let root = conceptual.aggregate_root(class)?;
    let identifier = &conceptual.classes[class].identifier;
    // A part is named by its own id, which says nothing about its owner.
    if !conceptual.is_kind_of(class, root) || identifier.is_empty() {
        return None;
    }
    let one = |&member: &Member| match condition {
        // INSERT takes its fields by their names.
        None => Some(Named::Parameter(conceptual.member_name(member))),
        Some(condition) => given(write, condition, member),
    };
    Some((root, identifier.iter().map(one).collect::<Option<_>>()?))
}

/// What a condition says that a member of the instance equals.
fn given<'w>(write: &'w Write, condition: &'w Condition, member: Member) -> Option<Named<'w>> {
    if let Condition::And(terms) = condition {
        return terms.iter().find_map(|term| given(write, term, member));
    }
    let Condition::Compare { left, op: Comparison::Equal, right } = condition else { return None };
    let is_it = |operand: &Operand| matches!(operand, Operand::Path(path) if is_member(path, member));
    let value = match (is_it(left), is_it(right)) {
        (true, _) => right,
        (false, true) => left,
        (false, false) => return None,
    };
    match value {
        Operand::Parameter(index) => Some(Named::Parameter(&write.parameters.get(*index)?.name)),
        Operand::Constant(constant) => Some(Named::Constant(constant)),
        Operand::Path(_) => None,
    }
}

fn is_member(path: &Path, member: Member) -> bool {
    let leaf = match member {
        Member::Attribute(id) => Leaf::Attribute(id),
        Member::End(id) => Leaf::Reference(id),
    };
    path.position.index() == 0 && path.hops.is_empty() && path.leaf == leaf
}

/// The classes whose instances a statement changes.
fn changed(conceptual: &Conceptual, step: &WriteStep) -> Vec<ClassId> {
    let holder = |end: EndId| conceptual.ends[conceptual.stored_end(end)].class;
    match step {
        WriteStep::Insert { class }
        | WriteStep::Upsert { class }
        | WriteStep::Store { class }
        | WriteStep::UpdateElements { class, .. }
        | WriteStep::Delete { class, .. }
        | WriteStep::Add { class, .. }
        | WriteStep::Remove { class, .. } => vec![*class],
        WriteStep::Update { class, set, .. } => {
            let of = |assignment: &Assignment| match assignment.member {
                Member::End(end) if !conceptual.ends[end].stored => holder(end),
                Member::End(_) | Member::Attribute(_) => *class,
            };
            set.iter().map(of).collect()
        }
        WriteStep::Connect { end, .. } | WriteStep::Disconnect { end, .. } => vec![holder(*end)],
    }
}

/// Whether a statement changes a link that its own instance does not store.
fn links_elsewhere(conceptual: &Conceptual, step: &WriteStep) -> bool {
    let derived = |end: EndId| !conceptual.ends[end].stored;
    let sets = |set: &[Assignment]| {
        set.iter().any(|assignment| matches!(assignment.member, Member::End(end) if derived(end)))
    };
    match step {
        WriteStep::Update { set, .. } | WriteStep::UpdateElements { set, .. } => sets(set),
        WriteStep::Connect { end, .. } | WriteStep::Disconnect { end, .. } => derived(*end),
        WriteStep::Insert { .. }
        | WriteStep::Upsert { .. }
        | WriteStep::Store { .. }
        | WriteStep::Delete { .. }
        | WriteStep::Add { .. }
        | WriteStep::Remove { .. } => false,
    }
}
