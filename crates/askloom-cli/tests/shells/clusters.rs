//! The same on clusters of three: a replica set of MongoDB, and Cassandra with three copies of every row. They are up for
//! one test alone, since they take as much memory as all other servers together.

use crate::cassandra::Cqlsh;
use crate::cassandra_indexes::finds;
use crate::data::example;
use crate::harness::{Count, Shell, What, one_design};
use crate::mongodb::Mongosh;
use crate::server;
use askloom_design::method::{self, Method, Options};
use askloom_plan::cost::Costing;

/// A server that is stopped again if it was started for this.
struct Cluster {
    name: &'static str,
    ours: bool,
}

impl Cluster {
    fn up(name: &'static str) -> Self {
        let ours = !server::is_up(name);
        server::up(name);
        Self { name, ours }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.ours {
            server::down(self.name);
        }
    }
}

/// The game: its schema, its records, its queries and its writes, all as they are printed.
fn game(shell: &mut dyn Shell) {
    let model = example("game");
    let target = askloom_target::target(shell.target()).unwrap();
    let design = method::design(Method::Noam, &model, &Costing::from(target), &Options::default()).design;
    let mut count = Count::default();
    let what = What { nasty: false, writes: true };
    one_design(shell, "game_of_three".to_owned(), &model, design, what, &mut count);
    println!("{}: {count:?}", shell.target());
    assert!(count.incomplete.is_empty() && count.unwritten.is_empty(), "{count:?}");
    assert!(count.queries >= 4 && count.rows > 0 && count.writes >= 4, "{count:?}");
}

#[test]
#[ignore = "slow"]
fn a_game_is_played_on_a_replica_set_of_three() {
    let _cluster = Cluster::up("mongodb-3");
    let mut shell = Mongosh::start_on("mongodb-3", "three");
    let members = shell.load("print('\\nMEMBERS ' + rs.status().members.length)").unwrap();
    assert!(members.lines().any(|line| line == "MEMBERS 3"), "{members}");
    game(&mut shell);
}

#[test]
#[ignore = "slow"]
fn a_game_is_played_on_three_nodes_of_cassandra() {
    let _cluster = Cluster::up("cassandra-3");
    let mut shell = Cqlsh::start_on("cassandra-3", 3);
    let peers = shell.send("SELECT JSON peer FROM system.peers;").unwrap();
    assert_eq!(peers.lines().filter(|line| line.trim().starts_with('{')).count(), 2, "{peers}");
    game(&mut shell);
    let kept = shell.send("DESCRIBE KEYSPACE game_of_three;").unwrap();
    assert!(kept.contains("'replication_factor': '3'"), "{kept}");
    finds(&mut shell, 3);
}
