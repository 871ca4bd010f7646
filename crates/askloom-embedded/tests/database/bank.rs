//! What the writers of the next files write: accounts in groups, with copies that hold both.

use super::{query, text, write};
use askloom_embedded::database::Database;
use askloom_engine::RunError;
use askloom_model::Value;

pub(crate) const MODEL: &str = "
entity Team { id name: text, title: text, hits: long = 0 }
entity Account { id name: text, balance: long = 0, ref team: Team inverse accounts }
query balances: SELECT name, balance, team.title FROM Account ORDER BY name
query ofTeam: SELECT name, balance, team.title FROM Account WHERE team.title = :title ORDER BY balance DESC
query teams: SELECT name, hits, title FROM Team ORDER BY name
query members: SELECT Team.name AS team, a.name AS account FROM Team JOIN Team.accounts AS a WHERE title = :title
write addTeam: INSERT Team
write addAccount: INSERT Account
write deposit: UPDATE Account SET balance = balance + :n WHERE name = :name
write hit: UPDATE Team SET hits = hits + :n WHERE name = :name
write rename: UPDATE Team SET title = :title WHERE name = :name
write change: UPDATE Account SET team = :team WHERE name = :name
write transfer {
  UPDATE Account SET balance = balance - :n WHERE name = :from
  UPDATE Account SET balance = balance + :n WHERE name = :to
}
";

pub(crate) const TEAMS: u64 = 3;

pub(crate) fn team(number: u64) -> Value {
    Value::Reference(vec![text(&format!("team{}", number % TEAMS))])
}

pub(crate) fn account(number: u64) -> Value {
    text(&format!("account{number}"))
}

pub(crate) fn found(database: &Database, accounts: u64) {
    for number in 0..TEAMS {
        let name = text(&format!("team{number}"));
        write(database, "addTeam", &[("name", name), ("title", text("first"))]).unwrap();
    }
    for number in 0..accounts {
        write(database, "addAccount", &[("name", account(number)), ("team", team(number))]).unwrap();
    }
}

/// Whether a write was done. Others may have been faster too often, and then it was not.
#[track_caller]
pub(crate) fn done<T>(result: Result<T, RunError>) -> bool {
    match result {
        Ok(_) => true,
        Err(RunError::Conflict) => false,
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn deposit(database: &Database, number: u64, amount: i64) -> Result<bool, RunError> {
    write(database, "deposit", &[("name", account(number)), ("n", Value::Int(amount))]).map(|_| true)
}

pub(crate) fn transfer(database: &Database, from: u64, to: u64) -> Result<bool, RunError> {
    let given = [("from", account(from)), ("to", account(to)), ("n", Value::Int(1))];
    write(database, "transfer", &given).map(|_| true)
}

/// The number in the second column of each row, and all of them together.
pub(crate) fn numbers(database: &Database, name: &str) -> (Vec<i64>, i64) {
    let number = |row: &Vec<Value>| match row[1] {
        Value::Int(number) => number,
        ref other => panic!("{other:?}"),
    };
    let numbers: Vec<i64> = query(database, name, &[]).0.iter().map(number).collect();
    let sum = numbers.iter().sum();
    (numbers, sum)
}
