use crate::{model, propose};
use askloom_design::method::Method;
use askloom_model::{Origin, Role};

#[test]
fn declared_collections_are_a_design() {
    let text = "entity Player { id name: text, score: int }
        entity Game { id n: int, status: text, ref host: Player }
        query open: SELECT n FROM Game WHERE status = :status ORDER BY n
        collection Games of Game { key n; keep *; }
        collection ByStatus of Game { key status; sort n; }";
    let proposal = propose(Method::Given, &model(text));
    let found: Vec<_> =
        proposal.design.collections.iter().map(|(_, c)| (c.name.as_str(), c.role, c.origin)).collect();
    assert_eq!(found[0], ("Games", Role::Master, Origin::Method));
    assert_eq!(found[1], ("ByStatus", Role::Copy, Origin::Method));
    assert_eq!(found[2], ("Player", Role::Master, Origin::Added));
}
