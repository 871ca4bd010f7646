//! MongoDB as a replica set of three members, for tests that lose one.

use super::mongodb::{PACKAGE, SHELL, VERSION, start};
use super::registry::{Server, Size};

pub(super) const SERVER: Server = Server {
    name: "mongodb-3",
    version: VERSION,
    size: Size::Cluster,
    packages: &[&PACKAGE],
    start: start::<3>,
    shells: &[SHELL],
};
