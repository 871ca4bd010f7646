//! What designs are told about the embedded store is what it does.

use askloom_embedded::store::{MAX_BATCH, MAX_KEY, MAX_VALUE};
use askloom_target::embedded::CAPABILITY;

#[test]
fn the_limits_that_designs_go_by_are_those_of_the_store() {
    let limits = CAPABILITY.limits;
    assert_eq!(limits.block_key.unwrap().value, MAX_KEY as u64);
    assert_eq!(limits.entry_key.unwrap().value, MAX_KEY as u64);
    assert_eq!(limits.record.unwrap().value, MAX_VALUE as u64);
    assert_eq!(CAPABILITY.transaction.unwrap().value.bytes, Some(MAX_BATCH as u64));
}
