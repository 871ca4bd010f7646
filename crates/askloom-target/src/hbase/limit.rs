//! What HBase would refuse, since it is too large.

use super::key::{Key, LONGEST, Part};
use super::read::{Request, Rows, request};
use super::schema::HTable;
use super::write::{Bound, Mutation, mutations, sample};
use crate::generate::{self, Source, too_large};
use askloom_plan::program::{Action, Step};

/// The most bytes of a cell, by default.
const CELL: usize = 10 << 20;
const STORE: &str = "HBase";

/// What is refused of all statements and records.
pub(super) fn refused(source: &Source<'_>, tables: &[HTable]) -> Vec<String> {
    let layout = source.layout;
    let step = |step: &Step| match &step.action {
        Action::Read(read) => request(layout, tables, read).iter().flat_map(of_request).collect(),
        Action::Change(batch) => {
            mutations(layout, tables, batch).iter().flat_map(|(_, one)| of_mutation(one)).collect()
        }
    };
    generate::refused(source, step, |record| {
        sample(layout, tables, record).iter().flat_map(of_mutation).collect()
    })
}

fn of_request(request: &Request) -> Vec<String> {
    let keys: Vec<&Key> = match request {
        Request::Get { row, .. } => vec![row],
        Request::Scan(scan) => match &scan.rows {
            Rows::All | Rows::Nothing => Vec::new(),
            Rows::Under(key) => vec![key],
            Rows::Between { from, to, .. } => std::iter::once(from).chain(to).collect(),
        },
    };
    let table = match request {
        Request::Get { table, .. } => table,
        Request::Scan(scan) => &scan.table,
    };
    keys.into_iter().filter_map(|key| of_key(table, key)).collect()
}

/// What is known of it.
fn of_key(table: &str, key: &Key) -> Option<String> {
    let bytes = key.parts.iter().map(|part| match part {
        Part::Bytes(bytes) => bytes.len(),
        Part::Slot(_) => 0,
    });
    too_large(&format!("a row key of {table}"), bytes.sum(), LONGEST, STORE)
}

fn of_mutation(mutation: &Mutation) -> Vec<String> {
    let cell = |(column, bound): &(String, Bound)| match bound {
        Bound::Slot(..) => None,
        Bound::Cell(cell) => {
            too_large(&format!("the cell `{column}` of {}", mutation.table), cell.bytes().len(), CELL, STORE)
        }
    };
    of_key(&mutation.table, &mutation.row).into_iter().chain(mutation.put.iter().filter_map(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::value::Cell;
    use super::*;

    #[test]
    fn a_row_key_and_a_cell_have_a_limit() {
        let get = |bytes: usize| Request::Get { table: "t".to_owned(), row: Key::of(vec![b'x'; bytes]) };
        assert_eq!(of_request(&get(LONGEST)), Vec::<String>::new());
        let wanted = "a row key of t has 32768 bytes, and HBase takes 32767 at most";
        assert_eq!(of_request(&get(LONGEST + 1)), [wanted]);
        let mutation = |bytes: usize| Mutation {
            table: "t".to_owned(),
            row: Key::of(b"r".to_vec()),
            check: super::super::write::Check::Nothing,
            at: Bound::Cell(Cell::Long(1)),
            put: vec![("d:x".to_owned(), Bound::Cell(Cell::Bytes(vec![0; bytes])))],
            delete: Vec::new(),
            ttl_ms: None,
        };
        assert_eq!(of_mutation(&mutation(CELL)), Vec::<String>::new());
        let wanted = "the cell `d:x` of t has 10485761 bytes, and HBase takes 10485760 at most";
        assert_eq!(of_mutation(&mutation(CELL + 1)), [wanted]);
    }
}
