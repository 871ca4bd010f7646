//! Several statements of one write that change the same thing.

use super::{Change, ChangeKind, Term};

/// Members of one aggregate are set together, and a row is put once, as the last statement leaves it.
pub(super) fn merged(changes: Vec<Change>) -> Vec<Change> {
    let mut all: Vec<Change> = Vec::new();
    for change in changes {
        let joined = all.iter_mut().any(|other| other.table == change.table && joins(other, &change));
        if !joined && !all.contains(&change) {
            all.push(change);
        }
    }
    all
}

/// Whether a change has become a part of an earlier one.
fn joins(earlier: &mut Change, later: &Change) -> bool {
    if earlier.each != later.each {
        return false;
    }
    match (&mut earlier.kind, &later.kind) {
        (ChangeKind::Set { key, set }, ChangeKind::Set { key: same, set: more }) if key == same => {
            more.iter().for_each(|term| put(set, term));
            true
        }
        (ChangeKind::PutRow(cells), ChangeKind::PutRow(more)) => {
            more.iter().filter(|term| term.value.is_some()).for_each(|term| put(cells, term));
            true
        }
        (_, _) => false,
    }
}

/// Of two values of one column the later stays.
fn put(terms: &mut Vec<Term>, term: &Term) {
    match terms.iter_mut().find(|own| own.column == term.column) {
        Some(own) => *own = term.clone(),
        None => terms.push(term.clone()),
    }
}
