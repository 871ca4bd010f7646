//! Whether two collections have the same rows.

use super::collection::{Draft, is_one};
use super::merge::Group;
use askloom_model::{Conceptual, Member, PositionId};

/// Whether all of two groups have the same rows.
pub(super) fn same(conceptual: &Conceptual, drafts: &[Draft], a: &Group, b: &Group) -> bool {
    let of = |group: &Group| group.iter().filter_map(|&at| drafts.get(at)).collect::<Vec<_>>();
    let (a, b) = (of(a), of(b));
    a.iter().all(|first| b.iter().all(|second| difference(conceptual, first, second).is_none()))
}

/// Why two collections have other rows; nothing if they have the same. Something that each has exactly one of adds no
/// row and takes none away; something that may be missing would, or could not be told from what is missing.
pub(super) fn difference(conceptual: &Conceptual, a: &Draft, b: &Draft) -> Option<String> {
    if a.root != b.root {
        let name = |draft: &Draft| &conceptual.classes[draft.root].name;
        return Some(format!("one has rows of {}, the other of {}", name(a), name(b)));
    }
    if follows_twice(a) || follows_twice(b) {
        return Some("one of them follows a link twice".to_owned());
    }
    only_in(conceptual, a, b).or_else(|| only_in(conceptual, b, a))
}

/// Whether two positions are reached in the same way, as those of two subclasses can be.
fn follows_twice(draft: &Draft) -> bool {
    let ways: Vec<Vec<Member>> = draft.positions.ids().map(|position| draft.steps(position)).collect();
    ways.iter().enumerate().any(|(index, way)| ways.iter().take(index).any(|other| other == way))
}

fn only_in(conceptual: &Conceptual, a: &Draft, b: &Draft) -> Option<String> {
    for (id, position) in a.positions.iter() {
        let Some(hop) = position.from else { continue };
        let name = || conceptual.member_name(hop.step);
        match at(b, &a.steps(id)) {
            Some(other) => {
                let other = &b.positions[other];
                if other.class != position.class {
                    return Some(format!("`{}` is of another class", name()));
                }
                if other.outer != position.outer && !is_one(conceptual, hop.step) {
                    return Some(format!("one keeps rows without `{}`, the other does not", name()));
                }
            }
            None if is_one(conceptual, hop.step) => {}
            None => return Some(format!("only one has a row for each of `{}`", name())),
        }
    }
    None
}

fn at(draft: &Draft, steps: &[Member]) -> Option<PositionId> {
    draft.positions.ids().find(|&position| draft.steps(position) == steps)
}
