//! What Cassandra would refuse, since it is too large.

use super::capability::INDEXED_BYTES;
use super::read::{Bound, Condition, select};
use super::schema::CqlTable;
use super::value::Cql;
use super::write::{Mutation, mutations, sample};
use crate::generate::{self, Source, too_large};
use askloom_plan::layout::Place;
use askloom_plan::program::{Action, Step};

/// The most bytes of a partition key, and of a column that clusters.
const KEY: usize = 65_535;
/// The most bytes that are written at once, by default: half a segment of the commit log.
const MUTATION: usize = 16 << 20;
const STORE: &str = "Cassandra";

/// What is refused of all statements and records.
pub(super) fn refused(source: &Source<'_>, tables: &[CqlTable]) -> Vec<String> {
    let layout = source.layout;
    let step = |step: &Step| match &step.action {
        Action::Read(read) => select(layout, tables, read)
            .map_or_else(Vec::new, |select| of_cells(tables, &select.table, known(&select.conditions))),
        Action::Change(batch) => {
            mutations(layout, tables, batch).iter().flat_map(|(_, one)| of_mutation(tables, one)).collect()
        }
    };
    generate::refused(source, step, |record| {
        sample(layout, tables, record).iter().flat_map(|one| of_mutation(tables, one)).collect()
    })
}

/// The values that columns are compared with.
fn known(conditions: &[Condition]) -> Vec<(&str, &Bound)> {
    conditions.iter().map(|condition| (condition.column.as_str(), &condition.bound)).collect()
}

fn of_mutation(tables: &[CqlTable], mutation: &Mutation) -> Vec<String> {
    match mutation {
        Mutation::Batch(all) => all.iter().flat_map(|one| of_mutation(tables, one)).collect(),
        Mutation::Insert { table, cells, .. } => {
            of_cells(tables, table, cells.iter().map(|(name, bound)| (name.as_str(), bound)).collect())
        }
        Mutation::Update { table, set, key, .. } => {
            let set = set.iter().map(|(name, bound)| (name.as_str(), bound));
            of_cells(tables, table, known(key).into_iter().chain(set).collect())
        }
        Mutation::Delete { table, key, .. } => of_cells(tables, table, known(key)),
    }
}

/// By their keys, then all of them together.
fn of_cells(tables: &[CqlTable], name: &str, cells: Vec<(&str, &Bound)>) -> Vec<String> {
    let own = tables.iter().filter(|table| table.name == name && table.index.is_none());
    let columns = || own.clone().flat_map(|table| &table.columns);
    let place =
        |name: &str| columns().find(|column| column.name == name).map_or(Place::Value, |column| column.place);
    let indexes = tables.iter().filter(|table| table.index.is_some() && table.name == name);
    let indexed: Vec<&str> =
        indexes.filter_map(|table| Some(table.index.as_ref()?.column.as_str())).collect();
    let mut found = Vec::new();
    for (column, bound) in &cells {
        if place(column) != Place::Value {
            found.extend(too_large(&format!("the key `{column}`"), size(bound), KEY, STORE));
        }
        if indexed.contains(column) {
            let what = format!("`{column}`, which an index finds,");
            found.extend(too_large(&what, size(bound), INDEXED_BYTES, STORE));
        }
    }
    let all: usize = cells.iter().map(|(_, bound)| size(bound)).sum();
    let largest = cells.iter().max_by_key(|(_, bound)| size(bound)).map_or("", |(name, _)| name);
    let what = format!("a row of {name}, most of it in `{largest}`,");
    found.extend(too_large(&what, all, MUTATION, STORE));
    found
}

fn size(bound: &Bound) -> usize {
    match bound {
        Bound::Slot(_) | Bound::Nothing => 0,
        Bound::Value(value) => bytes(value),
    }
}

fn bytes(value: &Cql) -> usize {
    match value {
        Cql::Null => 0,
        Cql::Bool(_) => 1,
        Cql::Text(text) => text.len(),
        Cql::Blob(bytes) => bytes.len(),
        Cql::Int(_) | Cql::Double(_) | Cql::Date(_) | Cql::Time(_) | Cql::Timestamp(_) => 8,
        Cql::Varint(_) | Cql::Uuid(_) => 16,
        Cql::Decimal(number) => 4 + number.digits().div_ceil(2) as usize,
        Cql::Tuple(..) => 24,
        Cql::List(items) => 4 + items.iter().map(|item| 4 + bytes(item)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(letters: usize) -> Mutation {
        let cells = vec![("text".to_owned(), Bound::Value(Cql::Text("x".repeat(letters))))];
        Mutation::Insert { table: "t".to_owned(), cells, stamp: None, ttl: None }
    }

    #[test]
    fn what_is_written_at_once_has_a_limit() {
        assert_eq!(of_mutation(&[], &insert(16 << 20)), Vec::<String>::new());
        let batch = Mutation::Batch(vec![insert(1), insert((16 << 20) + 1)]);
        let wanted =
            "a row of t, most of it in `text`, has 16777217 bytes, and Cassandra takes 16777216 at most";
        assert_eq!(of_mutation(&[], &batch), [wanted]);
    }
}
