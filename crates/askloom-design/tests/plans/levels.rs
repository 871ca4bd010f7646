//! What keeps copies right on which store, by the bounds that the model sets.

use crate::examples::{designed, model};
use askloom_model::CopyLevel;
use askloom_plan::cost::Statistics;
use askloom_plan::planner::write::level;

fn of_view(bound: &str) -> Vec<(&'static str, CopyLevel)> {
    let (model, design) = designed(model(&format!(
        "entity Player {{ id name: text, score: int }}
entity Game {{ id gameId: uuid, status: enum(open, over), ref host: Player inverse hosted{bound} }}
query lobby: SELECT gameId, host.score FROM Game WHERE status = 'open'"
    )));
    let statistics = Statistics::new(&model.conceptual);
    let view = design.collections.iter().find(|(_, collection)| collection.name == "LobbyView").unwrap().0;
    let of = |target: &askloom_target::Target| {
        (target.capability.target, level(target.capability, &statistics, &design, view))
    };
    askloom_target::targets().iter().map(of).collect()
}

#[test]
fn a_copy_is_in_a_transaction_if_every_write_fits_into_one() {
    use CopyLevel::{AtomicUnit, Intents, Transaction};
    let levels = |mongodb, dynamodb| {
        vec![
            ("embedded", AtomicUnit),
            ("redis", AtomicUnit),
            ("redis-search", AtomicUnit),
            ("redis-cluster", Intents),
            ("mongodb", mongodb),
            ("dynamodb", dynamodb),
            ("cassandra", Intents),
            ("hbase", Intents),
            ("oracle-nosql", Intents),
        ]
    };
    assert_eq!(of_view(" @max(20)"), levels(Transaction, Transaction));
    assert_eq!(of_view(" @max(400)"), levels(Transaction, Intents));
    assert_eq!(of_view(" @max(4_000)"), levels(Intents, Intents));
    assert_eq!(of_view(""), levels(Intents, Intents), "without a bound there is none");
}
