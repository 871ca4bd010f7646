//! Cassandra, three nodes, for tests of consistency and of losing one.

use super::cassandra::{PACKAGE, SHELL, VERSION, start};
use super::registry::{Server, Size};

pub(super) const SERVER: Server = Server {
    name: "cassandra-3",
    version: VERSION,
    size: Size::Cluster,
    packages: &[&PACKAGE],
    start: start::<3>,
    shells: &[SHELL],
};
