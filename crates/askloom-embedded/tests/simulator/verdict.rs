//! What must hold when nothing is under way any more.

use crate::double::State;
use crate::toy::{Ending, Entry, Key, Rules, Value, is_target};
use askloom_engine::intents::{Anchor, Block, Refresh, Revision, WriteId};
use std::collections::{BTreeMap, BTreeSet};

/// Says what is wrong with a state, and with what the writers were told.
pub(crate) fn judge(state: &State, rules: Rules, told: &[(WriteId, Ending)]) -> Result<(), String> {
    let Rules { join, refresh, .. } = rules;
    let value = |id: &u8| state.masters.get(id).and_then(|block| block.value);
    let mut meant: BTreeMap<Key, Entry> = BTreeMap::new();
    let mut references: BTreeSet<(u8, u8)> = BTreeSet::new();
    for (id, from) in state.masters.keys().filter_map(|id| Some((*id, value(id)?))) {
        let Some(to) = from.to else { continue };
        references.insert((to, id));
        meant.extend(join.row((id, to), Some(from), value(&to)));
        if join.checked.is_some() && value(&to).is_none() {
            return Err(format!("{id} refers to {to}, which is gone"));
        }
    }
    let held: BTreeMap<Key, Entry> =
        state.copy.iter().filter_map(|(key, (_, entry))| Some((*key, (*entry)?))).collect();
    if held != meant {
        return Err(format!("the copy holds {held:?} and should hold {meant:?}"));
    }
    let back: BTreeSet<(u8, u8)> =
        state.back.iter().filter(|(_, (_, there))| there.is_some()).map(|(key, _)| *key).collect();
    if back != references {
        return Err(format!("the ways back are {back:?} and should be {references:?}"));
    }
    if let Some(hint) = state.hints.first() {
        return Err(format!("a hint is left: {hint:?}"));
    }
    if let Some((id, _)) = state.masters.iter().find(|(_, block)| !block.owed.is_empty()) {
        return Err(format!("something is still owed at {id}"));
    }
    if let Some((id, _)) = state.masters.iter().find(|(_, block)| block.closing.is_some()) {
        return Err(format!("{id} is closed for ever"));
    }
    if state.tie && refresh == Refresh::Checked {
        return Err("two different entries had one stamp".to_owned());
    }
    judge_writes(state, told)
}

fn judge_writes(state: &State, told: &[(WriteId, Ending)]) -> Result<(), String> {
    if let Some((write, times)) = state.applied.iter().find(|(_, times)| **times > 1) {
        return Err(format!("{write:?} took effect {times} times"));
    }
    for (write, ending) in told {
        let done = state.applied.keys().any(|(of, _)| of == write);
        match ending {
            Ending::Acknowledged if !done => {
                return Err(format!("{write:?} was acknowledged and is not there"));
            }
            Ending::Refused if done => return Err(format!("{write:?} was refused and is there")),
            Ending::Acknowledged | Ending::Refused | Ending::Unknown | Ending::Swept(_) => {}
        }
    }
    Ok(())
}

/// A state that is right, with these masters.
pub(crate) fn settled(rules: Rules, values: &[(u8, Value)]) -> State {
    let Rules { join, refresh, .. } = rules;
    let mut state = State::default();
    for &(id, value) in values {
        let block = Block { revision: Revision { n: 1, e: 0 }, value: Some(value), ..Block::default() };
        state.masters.insert(id, block);
    }
    for &(id, from) in values.iter().filter(|(id, _)| !is_target(*id)) {
        let Some(to) = from.to else { continue };
        state.back.insert((to, id), (1, Some(())));
        let target = values.iter().find(|(id, _)| *id == to).map(|(_, value)| *value);
        let Some((key, entry)) = join.row((id, to), Some(from), target) else { continue };
        let stamp = match refresh {
            Refresh::Checked => 1,
            Refresh::Stamped => 2,
        };
        state.copy.insert(key, (stamp, Some(entry)));
        if refresh == Refresh::Checked {
            state.anchors.insert((id, to), Anchor { token: 1, keys: BTreeSet::from([key]) });
        }
    }
    state
}
