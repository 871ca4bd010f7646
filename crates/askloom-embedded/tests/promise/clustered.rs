//! Random masters whose id is split into a partition part and a sort part, some of them in the partitions of others, and
//! queries of their partitions.

use crate::coverage::Coverage;
use crate::random::Random;
use askloom_model::{
    AttributeId, ClassId, Collection, Conceptual, Contents, KeySet, Leaf, Limit, Member, Plan, Reading,
    RelationshipKind, Type,
};
use std::fmt::Write;

/// Classes in one partition: the whole id of the first is its key.
struct Group {
    first: ClassId,
    others: Vec<Split>,
}

impl Group {
    fn declaration(&self, conceptual: &Conceptual) -> String {
        let name = |class: ClassId| conceptual.classes[class].name.as_str();
        let member = |member: &Member| conceptual.member_name(*member);
        let key: Vec<&str> = conceptual.classes[self.first].identifier.iter().map(member).collect();
        let classes: Vec<&str> = self.others.iter().map(|split| name(split.class)).collect();
        // A field orders all classes that it identifies.
        let mut sort: Vec<String> = Vec::new();
        for (member, down) in self.others.iter().flat_map(|split| &split.sort) {
            let term = format!("{}{}", conceptual.member_name(*member), if *down { " desc" } else { "" });
            if !sort.contains(&term) {
                sort.push(term);
            }
        }
        let sort = if sort.is_empty() { String::new() } else { format!(" sort {};", sort.join(", ")) };
        let first = name(self.first);
        let (classes, key) = (classes.join(", "), key.join(", "));
        format!("collection Of{first} of {first}, {classes} {{ master; key {key};{sort} }}\n")
    }
}

fn groups(conceptual: &Conceptual, random: &Random) -> Vec<Group> {
    let is_root = |class: &ClassId| {
        conceptual.aggregate_root(*class) == Some(*class) && !conceptual.classes[*class].surrogate
    };
    let roots: Vec<ClassId> = conceptual.classes.ids().filter(is_root).collect();
    let mut groups: Vec<Group> = Vec::new();
    for &first in &roots {
        let taken = |class: ClassId| {
            groups
                .iter()
                .any(|group| group.first == class || group.others.iter().any(|split| split.class == class))
        };
        let random = random.fork(&conceptual.classes[first].name);
        if taken(first) || random.percent(30) {
            continue;
        }
        let free = roots.iter().filter(|&&class| class != first && !taken(class));
        let others: Vec<Split> =
            free.filter_map(|&class| beside(conceptual, first, class, &random)).collect();
        if !others.is_empty() {
            groups.push(Group { first, others });
        }
    }
    groups
}

/// The key of a class in the partitions of another one, if it has one reference to that and is identified by it.
fn beside(conceptual: &Conceptual, first: ClassId, class: ClassId, random: &Random) -> Option<Split> {
    let refers = |member: &Member| match member {
        Member::End(id) => {
            let end = &conceptual.ends[*id];
            let plain = end.stored && end.kind != RelationshipKind::Composition && !end.cardinality.is_many();
            plain && conceptual.is_kind_of(first, end.target)
        }
        Member::Attribute(_) => false,
    };
    let references: Vec<Member> = conceptual.all_members(class).filter(refers).collect();
    let identifier = &conceptual.classes[class].identifier;
    let [by] = references.as_slice() else { return None };
    let rest = identifier.iter().filter(|member| *member != by);
    // A field that orders several classes descends in all of them.
    let down = |member: Member| random.fork(conceptual.member_name(member)).one_in(2);
    let sort = rest.map(|&member| (member, down(member))).collect();
    identifier.contains(by).then(|| Split { class, key: vec![*by], bucket: None, sort })
}

/// The key of a master: which members of the id make the partition, which of them order it, and a bucket of time.
#[derive(Clone)]
struct Split {
    class: ClassId,
    key: Vec<Member>,
    bucket: Option<(&'static str, AttributeId)>,
    /// Each with whether it descends.
    sort: Vec<(Member, bool)>,
}

/// Declarations of masters, and queries that read some of their partitions.
pub(crate) fn statements(conceptual: &Conceptual, random: &Random) -> Vec<String> {
    let groups = groups(conceptual, &random.fork("groups"));
    let mut made: Vec<String> = groups.iter().map(|group| group.declaration(conceptual)).collect();
    let is_root = |class: &ClassId| conceptual.aggregate_root(*class) == Some(*class);
    for class in conceptual.classes.ids().filter(is_root) {
        let name = &conceptual.classes[class].name;
        let random = random.fork(name);
        if groups.iter().any(|group| group.first == class) {
            continue;
        }
        let shared = groups.iter().flat_map(|group| &group.others).find(|split| split.class == class);
        let split = match shared {
            Some(shared) => shared.clone(),
            None => {
                let own = split(conceptual, class, &random).filter(|_| random.percent(70));
                let Some(own) = own else { continue };
                made.push(declaration(conceptual, &own, &random));
                own
            }
        };
        if random.fork("asked").percent(50) {
            made.push(query(conceptual, &split, &format!("of{name}"), &random.fork("query")));
        }
        // All partitions, whatever their keys: these have rows where there is data.
        made.push(format!("query first{name}:\n  SELECT {name}.*\n  FROM {name}\n  LIMIT 3\n"));
        made.push(format!("query all{name}:\n  SELECT {name}.*\n  FROM {name}\n  PAGE 2\n"));
    }
    made
}

fn split(conceptual: &Conceptual, class: ClassId, random: &Random) -> Option<Split> {
    let random = random.fork("split");
    let mut members = conceptual.classes[class].identifier.clone();
    // The partition is often what the id begins with.
    if random.percent(30) {
        members.reverse();
    }
    let timestamp = |member: &Member| match member {
        Member::Attribute(id) if matches!(conceptual.attributes[*id].ty, Type::Timestamp(_)) => Some(*id),
        Member::Attribute(_) | Member::End(_) => None,
    };
    let time = members.iter().find_map(timestamp).filter(|_| random.percent(70));
    let bucket = time.map(|id| (*random.pick(&["hour", "day", "month"]), id));
    if members.is_empty() || (members.len() == 1 && bucket.is_none()) {
        return None;
    }
    // With a bucket the partition may have nothing else.
    let least = usize::from(bucket.is_none());
    let cut = least + random.below(members.len() - least + 1);
    let sort = members.split_off(cut.min(members.len()));
    let sort = sort.into_iter().enumerate();
    let sort = sort.map(|(n, member)| (member, random.fork(&format!("down{n}")).one_in(2))).collect();
    Some(Split { class, key: members, bucket, sort })
}

fn declaration(conceptual: &Conceptual, split: &Split, random: &Random) -> String {
    let name = &conceptual.classes[split.class].name;
    let mut key: Vec<String> =
        split.key.iter().map(|&member| conceptual.member_name(member).to_owned()).collect();
    if let Some((unit, id)) = split.bucket {
        key.insert(random.below(key.len() + 1), format!("{unit}({})", conceptual.attributes[id].name));
    }
    let sort: Vec<String> = split
        .sort
        .iter()
        .map(|&(member, down)| {
            format!("{}{}", conceptual.member_name(member), if down { " desc" } else { "" })
        })
        .collect();
    let sort = if sort.is_empty() { String::new() } else { format!(" sort {};", sort.join(", ")) };
    format!("collection Of{name} of {name} {{ master; key {};{sort} }}\n", key.join(", "))
}

/// A query that gives the partition, and often a range of what orders it.
fn query(conceptual: &Conceptual, split: &Split, name: &str, random: &Random) -> String {
    let class = &conceptual.classes[split.class].name;
    let own = |member: Member| conceptual.member_name(member);
    let mut terms: Vec<String> = Vec::new();
    for (n, &member) in split.key.iter().enumerate() {
        match random.fork(&format!("key{n}")).below(12) {
            0 | 1 => {}
            2..=5 => terms.push(format!("{} IN :k{n}", own(member))),
            _one => terms.push(format!("{} = :k{n}", own(member))),
        }
    }
    let ranged = split.bucket.map(|(_, id)| conceptual.attributes[id].name.as_str());
    let first = split.sort.first().and_then(|(member, _)| match member {
        Member::Attribute(_) => Some(own(*member)),
        Member::End(_) => None,
    });
    let range = random.fork("range");
    // One aggregate by its whole id now and then.
    if range.one_in(6) {
        let whole = split.sort.iter().enumerate();
        terms.extend(whole.map(|(n, (member, _))| format!("{} = :s{n}", own(*member))));
    } else if let Some(field) = ranged.or(first.filter(|_| range.percent(40))) {
        match range.below(16) {
            0 => terms.push(format!("{field} = :at")),
            1 => terms.push(format!("{field} IN :at")),
            2 => terms.push(format!("{field} >= :low")),
            3 => terms.push(format!("{field} < :high")),
            4..=6 => {}
            7..=9 => terms.push(format!("{field} > :low AND {field} <= :high")),
            _between => terms.push(format!("{field} BETWEEN :low AND :high")),
        }
    }
    let mut text = format!("query {name}:\n  SELECT {class}.*\n  FROM {class}\n");
    if !terms.is_empty() {
        writeln!(text, "  WHERE {}", terms.join(" AND ")).unwrap();
    }
    let order = random.fork("order");
    let turned = order.one_in(2);
    let ordered: Vec<String> = split
        .sort
        .iter()
        .filter(|(member, _)| matches!(member, Member::Attribute(_)))
        .map(|&(member, down)| format!("{}{}", own(member), if down != turned { " DESC" } else { "" }))
        .collect();
    if !ordered.is_empty() && order.percent(75) {
        let most = 1 + order.below(ordered.len());
        writeln!(text, "  ORDER BY {}", ordered[..most].join(", ")).unwrap();
    }
    match random.below(6) {
        0 | 1 => writeln!(text, "  LIMIT {}", 1 + random.below(3)).unwrap(),
        2 | 3 => writeln!(text, "  PAGE {}", 1 + random.below(2)).unwrap(),
        _all => {}
    }
    text
}

/// What a plan that gave rows was about.
pub(crate) fn count(collection: &Collection, plan: &Plan, coverage: &mut Coverage) {
    let Contents::Aggregate(_) = collection.contents else { return };
    if collection.partition_of.is_some() {
        match plan.access.how.innermost() {
            Reading::GetBlock { .. } => coverage.gate("aggregate in the partition of another class"),
            Reading::Range { .. } => coverage.gate("one of the classes of a partition"),
            Reading::Scan | Reading::Each { .. } => {}
        }
    }
    if !collection.is_clustered() {
        return;
    }
    match plan.access.how.innermost() {
        Reading::GetBlock { .. } => coverage.gate("aggregate of a partition by its id"),
        Reading::Range { limited, .. } => {
            coverage.gate("partition of a master");
            if collection.entry_key.iter().any(|field| field.descending) {
                coverage.gate("master that descends");
            }
            if *limited || (plan.sort.is_none() && matches!(plan.limit, Some(Limit::Page(_)))) {
                coverage.gate("partition as far as LIMIT or PAGE");
            }
        }
        Reading::Scan | Reading::Each { .. } => {}
    }
    if buckets(&plan.access.how) {
        coverage.gate("buckets of time");
    }
    if collection.block_key.iter().any(|field| matches!(field.path.leaf, Leaf::TimeBucket(..))) {
        coverage.gate("master with a bucket of time");
    }
}

fn buckets(how: &Reading) -> bool {
    match how {
        Reading::Each { set: KeySet::Buckets(_), .. } => true,
        Reading::Each { of, .. } => buckets(of),
        Reading::GetBlock { .. } | Reading::Range { .. } | Reading::Scan => false,
    }
}
