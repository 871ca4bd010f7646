//! A keyspace in memory without transactions: whoever changes more than one block at once fails the test.

use askloom_embedded::one_block::OneBlock;
use askloom_embedded::{Keyspace, Memory, Puts};
use askloom_engine::RunError;
use askloom_plan::ordered_bytes::decode;
use std::cell::RefCell;
use std::collections::BTreeSet;

#[derive(Default)]
pub(super) struct Watched(RefCell<Memory>);

impl OneBlock for Watched {
    fn look<X>(&self, look: impl FnOnce(&dyn Keyspace) -> Result<X, RunError>) -> Result<X, RunError> {
        self.0.look(look)
    }

    fn change(&self, key: &[u8], seen: Option<&[u8]>, puts: Puts) -> Result<bool, RunError> {
        assert!(is_one_block(key, &puts), "more than one block is changed: {:?}", puts.keys());
        self.0.change(key, seen, puts)
    }
}

/// An entry of the protocol alone, with the entry of a copy that it is the stamp of, or with the entries of one master,
/// whose key is its id as one value.
fn is_one_block(condition: &[u8], puts: &Puts) -> bool {
    let (own, others): (Vec<_>, Vec<_>) = puts.keys().partition(|key| key.starts_with(&[0, 0, 0, 0]));
    let masters: BTreeSet<_> =
        others.iter().map(|key| (key[..4].to_vec(), decode(&mut &key[4..]).ok())).collect();
    let is_stamped = others.len() == 1 && own[0].ends_with(others[0]);
    own == [condition] && (others.is_empty() || is_stamped || masters.len() == 1)
}
