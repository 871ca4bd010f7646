//! Fields that the same statements use, from those that always come together to those that often do.

use super::usage::Use;
use std::collections::{BTreeMap, BTreeSet};

/// More groups than these are not told apart: the least used become one.
const GROUPS: usize = 12;

/// Sets of fields to keep together, each once: first those with exactly the same users, then unions of the two groups
/// that are most alike, again and again. Never all fields.
pub(super) fn clusters(fields: &BTreeSet<&str>, uses: &[(f64, &Use)]) -> Vec<BTreeSet<String>> {
    let mut groups = alike(fields, uses);
    if groups.len() < 2 {
        return Vec::new();
    }
    let mut found = groups.clone();
    while groups.len() > 2 {
        let Some((first, second)) = nearest(&groups, uses) else { break };
        let taken = groups.remove(second);
        if let Some(group) = groups.get_mut(first) {
            group.extend(taken);
            found.push(group.clone());
        }
    }
    found
}

fn is_used(used: &Use, field: &str) -> bool {
    used.whole || used.read.contains(field) || used.written.contains(field)
}

/// Fields by who uses them, the most used first.
fn alike(fields: &BTreeSet<&str>, uses: &[(f64, &Use)]) -> Vec<BTreeSet<String>> {
    let mut by_users: BTreeMap<Vec<usize>, BTreeSet<String>> = BTreeMap::new();
    for field in fields {
        let users = uses.iter().enumerate().filter(|(_, (_, used))| is_used(used, field));
        let users = users.map(|(index, _)| index).collect();
        by_users.entry(users).or_default().insert((*field).to_owned());
    }
    let rate = |users: &[usize]| users.iter().filter_map(|&user| uses.get(user)).map(|(rate, _)| rate).sum();
    let mut groups: Vec<(f64, BTreeSet<String>)> =
        by_users.into_iter().map(|(users, group)| (rate(&users), group)).collect();
    groups.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut groups: Vec<BTreeSet<String>> = groups.into_iter().map(|(_, group)| group).collect();
    if groups.len() > GROUPS {
        let rest = groups.split_off(GROUPS - 1).into_iter().flatten().collect();
        groups.push(rest);
    }
    groups
}

/// The two groups of which the same statements use both, as a share of those that use any of the two.
fn nearest(groups: &[BTreeSet<String>], uses: &[(f64, &Use)]) -> Option<(usize, usize)> {
    let users: Vec<Vec<bool>> = groups
        .iter()
        .map(|group| uses.iter().map(|(_, used)| group.iter().any(|field| is_used(used, field))).collect())
        .collect();
    let share = |a: &[bool], b: &[bool]| {
        let (mut both, mut any) = (0.0, 0.0);
        for (((rate, _), &a), &b) in uses.iter().zip(a).zip(b) {
            both += if a && b { *rate } else { 0.0 };
            any += if a || b { *rate } else { 0.0 };
        }
        if any > 0.0 { both / any } else { 1.0 }
    };
    let mut best: Option<(f64, usize, usize)> = None;
    for (first, a) in users.iter().enumerate() {
        for (second, b) in users.iter().enumerate().skip(first + 1) {
            let share = share(a, b);
            if best.is_none_or(|(known, _, _)| share > known) {
                best = Some((share, first, second));
            }
        }
    }
    best.map(|(_, first, second)| (first, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(fields: &[&str]) -> Use {
        Use { read: fields.iter().map(|&field| field.to_owned()).collect(), ..Use::default() }
    }

    #[test]
    fn what_is_used_together_is_together_first() {
        let fields = BTreeSet::from(["a", "b", "c", "d"]);
        let (first, second, third) = (reads(&["a", "b"]), reads(&["c"]), reads(&["a", "b", "c"]));
        let found = clusters(&fields, &[(10.0, &first), (1.0, &second), (2.0, &third)]);
        let found: Vec<Vec<&str>> =
            found.iter().map(|group| group.iter().map(String::as_str).collect()).collect();
        assert_eq!(found, [vec!["a", "b"], vec!["c"], vec!["d"], vec!["a", "b", "c"]]);
    }

    #[test]
    fn what_all_use_alike_is_no_cluster() {
        let fields = BTreeSet::from(["a", "b"]);
        let whole = Use { whole: true, ..Use::default() };
        assert!(clusters(&fields, &[(1.0, &whole)]).is_empty());
        assert!(clusters(&fields, &[]).is_empty());
    }
}
