//! Free ports on loopback. They come from below the range from which the system hands out ports to clients: a
//! Java server takes seconds from being told its port to listening, and any client could take it meanwhile.

use crate::repository::Outcome;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::TcpListener;

const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;
const TRIES: u16 = 500;

pub(super) fn free<const N: usize>() -> Outcome<[u16; N]> {
    free_on(&["127.0.0.1"])
}

/// Different ports, each of them free on all of these addresses.
pub(super) fn free_on<const N: usize>(addresses: &[&str]) -> Outcome<[u16; N]> {
    let mut found = [0; N];
    let mut held = Vec::new();
    for place in &mut found {
        // Held until all are found, so that none is found twice.
        let (port, listeners) = one(addresses)?;
        held.push(listeners);
        *place = port;
    }
    Ok(found)
}

fn one(addresses: &[&str]) -> Outcome<(u16, Vec<TcpListener>)> {
    let tries = (0..TRIES).filter_map(|_| {
        let port = random();
        let bound = addresses.iter().map(|address| TcpListener::bind((*address, port)));
        bound.collect::<Result<Vec<_>, _>>().ok().map(|listeners| (port, listeners))
    });
    tries.into_iter().next().ok_or_else(|| format!("no port is free on {}", addresses.join(", ")))
}

/// The standard library seeds its hash maps randomly, which is all the randomness this takes.
fn random() -> u16 {
    let number = RandomState::new().hash_one(std::process::id()) % u64::from(COUNT);
    FIRST + u16::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ports_differ_and_can_be_bound() {
        let ports: [u16; 20] = free_on(&["127.0.0.1", "127.0.0.2"]).unwrap();
        let different: BTreeSet<u16> = ports.into_iter().collect();
        assert_eq!(different.len(), ports.len());
        assert!(ports.iter().all(|port| (FIRST..FIRST + COUNT).contains(port)));
    }
}
