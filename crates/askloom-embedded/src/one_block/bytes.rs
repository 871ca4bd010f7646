//! Numbers and runs of bytes, one after the other.

use askloom_engine::RunError;

pub(super) fn broken() -> RunError {
    RunError::Corrupted("an entry of the protocol is malformed".to_owned())
}

pub(super) fn put_run(run: &[u8], out: &mut Vec<u8>) {
    out.extend(u64::try_from(run.len()).unwrap_or(u64::MAX).to_be_bytes());
    out.extend(run);
}

pub(super) fn put_count(count: usize, out: &mut Vec<u8>) {
    out.extend(u64::try_from(count).unwrap_or(u64::MAX).to_be_bytes());
}

pub(super) fn number(rest: &mut &[u8]) -> Result<u64, RunError> {
    let (first, left) = rest.split_first_chunk::<8>().ok_or_else(broken)?;
    *rest = left;
    Ok(u64::from_be_bytes(*first))
}

pub(super) fn long_number(rest: &mut &[u8]) -> Result<u128, RunError> {
    let (first, left) = rest.split_first_chunk::<16>().ok_or_else(broken)?;
    *rest = left;
    Ok(u128::from_be_bytes(*first))
}

pub(super) fn run<'r>(rest: &mut &'r [u8]) -> Result<&'r [u8], RunError> {
    let length = usize::try_from(number(rest)?).map_err(|_| broken())?;
    let (run, left) = rest.split_at_checked(length).ok_or_else(broken)?;
    *rest = left;
    Ok(run)
}

pub(super) fn flag(rest: &mut &[u8]) -> Result<bool, RunError> {
    let (&first, left) = rest.split_first().ok_or_else(broken)?;
    *rest = left;
    Ok(first != 0)
}
