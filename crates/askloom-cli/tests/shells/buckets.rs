//! Copies that are cut into buckets, in every shell.

use crate::cassandra::Cqlsh;
use crate::data::model;
use crate::dynamodb::Aws;
use crate::harness::{Count, Shell, What, one_design};
use crate::hbase::Hbase;
use crate::mongodb::Mongosh;
use crate::redis::RedisCli;
use askloom_model::{Id, Keeper, KeyField, Leaf, Path, PositionId, Role};
use askloom_target::redis::Flavour;

/// A copy of one instance alone, and one of what it refers to.
const NOTES: &str = "
    entity Author { id name: text, motto: text? }
    entity Note {
      id number: int
      at: timestamp
      topic: text
      stars: int = 0
      ref author: Author inverse notes
    }
    query latest: SELECT number, at, author.motto FROM Note ORDER BY at DESC LIMIT 5
    query about: SELECT number, stars FROM Note WHERE topic = :topic ORDER BY stars DESC
    write add: INSERT Note
    write star: UPDATE Note SET stars = stars + :more WHERE number = :number
    write recite: UPDATE Author SET motto = :motto WHERE name = :name
    write end: DELETE Note WHERE number = :number
";

/// Every copy is cut; DynamoDB keeps by itself what it can.
fn cut(shell: &mut dyn Shell) {
    let model = model(NOTES);
    let mut design = askloom_design::simple::design(&model);
    let mut cut = 0;
    for id in design.collections.ids().collect::<Vec<_>>() {
        let copy = &mut design.collections[id];
        if copy.role == Role::Copy {
            let path = Path { position: PositionId::from_index(0), hops: Vec::new(), leaf: Leaf::Bucket(3) };
            copy.block_key.push(KeyField { path, descending: false });
            if shell.target() == "dynamodb" && copy.held().all(|path| path.hops.is_empty()) {
                copy.keeper = Keeper::Store;
            }
            cut += 1;
        }
    }
    assert_eq!(cut, 2, "{design:?}");
    let mut count = Count::default();
    let what = What { nasty: true, writes: true };
    one_design(shell, "notes_buckets".to_owned(), &model, design, what, &mut count);
    println!("{}: {count:?}", shell.target());
    assert!(count.incomplete.is_empty(), "{}", count.incomplete.join("\n"));
    assert!(count.rows > 5 && count.writes > 3, "{count:?}");
}

#[test]
#[ignore = "slow"]
fn buckets_in_cqlsh() {
    cut(&mut Cqlsh::start());
}

#[test]
#[ignore = "slow"]
fn buckets_in_the_aws_cli() {
    cut(&mut Aws::start());
}

#[test]
#[ignore = "slow"]
fn buckets_in_the_hbase_shell() {
    cut(&mut Hbase::start("buckets"));
}

#[test]
#[ignore = "slow"]
fn buckets_in_mongosh() {
    cut(&mut Mongosh::start("buckets"));
}

#[test]
#[ignore = "slow"]
fn buckets_in_redis_cli() {
    for flavour in [Flavour::Plain, Flavour::Search, Flavour::Cluster] {
        cut(&mut RedisCli::start(flavour));
    }
}
