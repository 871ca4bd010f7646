//! Which fields of a collection a statement reads or writes.

use crate::words;
use askloom_model::{ClassId, Collection, Conceptual, Contents, Leaf, Member, Path, Query, WriteStep};
use askloom_plan::planner::{needed_paths, needs_whole};

/// Members of classes, wherever they are kept, and classes of which everything is wanted.
#[derive(Debug, Default)]
pub(super) struct Touched {
    members: Vec<Member>,
    whole: Vec<ClassId>,
}

impl Touched {
    pub(super) fn by_query(query: &Query) -> Self {
        let hops = query.positions.iter().filter_map(|(_, position)| Some(position.from.as_ref()?.step));
        let paths = needed_paths(query);
        let named =
            paths.iter().flat_map(|path| path.hops.iter().map(|&end| Member::End(end)).chain(member(path)));
        let whole = needs_whole(query).into_iter().filter_map(|at| query.positions[at].class);
        Self { members: hops.chain(named).collect(), whole: whole.collect() }
    }

    pub(super) fn by_write(step: &WriteStep) -> Self {
        let (members, whole) = match step {
            WriteStep::Insert { class }
            | WriteStep::Upsert { class }
            | WriteStep::Store { class }
            | WriteStep::Delete { class, .. } => (Vec::new(), vec![*class]),
            WriteStep::Update { set, .. } => {
                let hops = set.iter().flat_map(|one| one.hops.iter().map(|&end| Member::End(end)));
                (hops.chain(set.iter().map(|one| one.member)).collect(), Vec::new())
            }
            WriteStep::UpdateElements { list, set, .. } => {
                let hops = set.iter().flat_map(|one| one.hops.iter().map(|&end| Member::End(end)));
                let set = set.iter().map(|one| one.member);
                (std::iter::once(*list).chain(hops).chain(set).collect(), Vec::new())
            }
            WriteStep::Add { list, .. } | WriteStep::Remove { list, .. } => (vec![*list], Vec::new()),
            WriteStep::Connect { end, .. } | WriteStep::Disconnect { end, .. } => {
                (vec![Member::End(*end)], Vec::new())
            }
        };
        Self { members, whole }
    }

    /// The names of those that the collection has; none if it is all of it.
    pub(super) fn columns(&self, conceptual: &Conceptual, collection: &Collection) -> Vec<String> {
        if self.whole.contains(&collection.source.root) {
            return Vec::new();
        }
        let path = |path: &Path| words::path(conceptual, &collection.source.positions, path);
        let fields: &[Path] = match &collection.contents {
            Contents::Aggregate(_) => return self.of_aggregate(conceptual, collection.source.root),
            Contents::Fields(fields) => fields,
            Contents::Nested(nodes) => &nodes.fields,
        };
        let keys = collection.block_key.iter().chain(&collection.entry_key).map(|field| &field.path);
        let held =
            keys.chain(fields).filter(|path| member(path).is_some_and(|one| self.members.contains(&one)));
        distinct(held.map(path))
    }

    fn of_aggregate(&self, conceptual: &Conceptual, root: ClassId) -> Vec<String> {
        let owned = self.members.iter().filter(|&&member| {
            let owner = match member {
                Member::Attribute(id) => conceptual.attributes[id].class,
                Member::End(id) => conceptual.ends[id].class,
            };
            conceptual.is_kind_of(root, owner) || conceptual.is_kind_of(owner, root)
        });
        distinct(owned.map(|&member| conceptual.member_name(member).to_owned()))
    }
}

fn member(path: &Path) -> Option<Member> {
    match path.leaf {
        Leaf::Attribute(id) => Some(Member::Attribute(id)),
        Leaf::Reference(id) => Some(Member::End(id)),
        Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => None,
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for name in names {
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list
}
