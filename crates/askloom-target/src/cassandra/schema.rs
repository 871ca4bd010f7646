//! A design as tables of Cassandra.
//!
//! A block is a partition, a record a row in it. The columns of a block make up the partition key, the others of the key
//! cluster. An aggregate's members are columns; where entries of its own have rows, the members are static. Where many
//! aggregates share a partition, nothing is static: version and members are columns of the aggregate's first row, whose
//! entry is the empty text; several classes in one partition are in `shared_table`. A copy that Cassandra keeps is an index of one of these columns.
//!
//! | what | is kept as |
//! | --- | --- |
//! | a key that can be null | a blob of ordered bytes, null first |
//! | a uuid or a blob that clusters | a blob of ordered bytes: the type uuid sorts by version |
//! | an enum | its name; where it clusters, its number, so that it sorts as declared |
//! | a text that is the only column of a partition key | with a NUL before it if it is empty or starts with one: no key may be empty |
//! | `timestamp(6)` | a bigint of microseconds |
//! | `timestamp(9)` | a varint of nanoseconds: a bigint ends in the year 2262 |
//! | a list of plain values in a copy | a frozen list |
//! | anything nested | JSON |

use super::index::{self, IndexOf};
use super::shared_table::{self, Shared};
use crate::names::NameRule;
use crate::shared_tables::{column_names, table_names, together};
use askloom_model::{CollectionId, Precision, Type};
use askloom_plan::layout::{Column, Holds, Layout, Place, Shape, Table};
use askloom_plan::tree::TreeOf;

/// The words that CQL reserves, in Cassandra 5.0.
const RESERVED: &[&str] = &[
    "add",
    "allow",
    "alter",
    "and",
    "apply",
    "asc",
    "authorize",
    "batch",
    "begin",
    "by",
    "columnfamily",
    "create",
    "default",
    "delete",
    "desc",
    "describe",
    "drop",
    "entries",
    "execute",
    "from",
    "full",
    "grant",
    "if",
    "in",
    "index",
    "infinity",
    "insert",
    "into",
    "is",
    "keyspace",
    "limit",
    "materialized",
    "mbean",
    "mbeans",
    "modify",
    "nan",
    "norecursive",
    "not",
    "null",
    "of",
    "on",
    "or",
    "order",
    "primary",
    "rename",
    "replace",
    "revoke",
    "schema",
    "select",
    "set",
    "table",
    "to",
    "token",
    "truncate",
    "unlogged",
    "unset",
    "update",
    "use",
    "using",
    "view",
    "where",
    "with",
];

/// Names need no quotes. A table's is the name of a folder, too, and at most 48 characters long.
pub(super) const NAMES: NameRule = NameRule {
    allowed: |letter| letter.is_ascii_alphanumeric() || letter == '_',
    first: |letter| letter.is_ascii_alphabetic(),
    small: true,
    reserved: RESERVED,
    longest: 48,
};

/// What every master has beside its members: the version, the rest of the system's part, the class, and for entries of
/// their own where they belong and what they hold.
const SYSTEM: [&str; 5] = ["n", "system", "class", "entry", "value"];

/// What tables of several classes have: of which of them a row is.
const KIND: &str = "kind";

/// A table, with the columns of the layout in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct CqlTable {
    pub collection: CollectionId,
    pub name: String,
    pub columns: Vec<CqlColumn>,
    /// The columns of a master that are no members.
    pub system: Option<System>,
    /// A copy whose block key has no fields is one partition.
    pub constant: Option<String>,
    /// Of a copy that Cassandra keeps: it has no rows, but is an index of those of a master.
    pub index: Option<IndexOf>,
    /// Of a master that lies in one table with others.
    pub shared: Option<Shared>,
}

/// The names of the columns that are no members.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    pub version: String,
    pub rest: String,
    pub class: String,
    /// Where entries have rows of their own.
    pub entry: Option<(String, String)>,
    /// Whether many aggregates share a partition, each at its place in the order.
    pub clustered: bool,
}

impl System {
    /// Whether what all rows of an aggregate have is kept once for its partition.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.entry.is_some() && !self.clustered
    }

    /// The column that tells the rows of an aggregate apart, where the first of them has its version and members.
    #[must_use]
    pub fn first_row(&self) -> Option<&str> {
        let entry = self.entry.as_ref().map(|(entry, _)| entry.as_str());
        entry.filter(|_| self.clustered)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CqlColumn {
    pub name: String,
    pub kind: Kind,
    pub place: Place,
    pub of: Column,
}

/// How values of a column are kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Plain(Type),
    /// Ordered bytes, with null first.
    Bytes,
    /// A text that must not be empty.
    Filled,
    /// The place of an enum's value among the declared ones.
    Number,
    /// A frozen list of plain values.
    List(Type),
    Json,
}

/// All tables, in the order of the layout's.
#[must_use]
pub fn tables(layout: &Layout, prefix: &str) -> Vec<CqlTable> {
    let names = table_names(&NAMES, layout, |table| format!("{prefix}{}", table.name));
    let mut kinds = Vec::new();
    let mut all: Vec<CqlTable> = Vec::new();
    for (table, name) in layout.tables().iter().zip(names) {
        let (own, columns) = column_names(&NAMES, layout, table, of_system);
        kinds.push(own.get(SYSTEM.len()).cloned());
        let entries = together(layout, table).iter().any(|table| has_entries(table));
        all.push(cql(table, name, entries, own, columns));
    }
    shared_table::link(layout, &mut all, &kinds);
    index::link(layout, &mut all);
    all
}

/// The names of what a table has besides its columns.
fn of_system(table: &Table) -> Vec<&'static str> {
    match table.shape {
        Shape::Master { .. } => SYSTEM.into_iter().chain(table.shared.as_ref().map(|_| KIND)).collect(),
        Shape::Rows(_) | Shape::Nodes(_) => vec!["block"],
    }
}

/// Whether an aggregate has rows of its own for its entries.
pub(super) fn has_entries(table: &Table) -> bool {
    match &table.shape {
        Shape::Master { entries, .. } => *entries,
        Shape::Rows(_) | Shape::Nodes(_) => false,
    }
}

/// A table, whose aggregates or those of others in it have rows for their entries, and its names.
fn cql(table: &Table, name: String, entries: bool, own: Vec<String>, names: Vec<String>) -> CqlTable {
    let mut own = own.into_iter();
    let system = match &table.shape {
        Shape::Master { .. } => system(&mut own, entries, table.is_clustered() || table.shared.is_some()),
        Shape::Rows(_) | Shape::Nodes(_) => None,
    };
    let constant = if system.is_none() { own.next() } else { None };
    let lone = table.block().count() == 1;
    let columns = table.columns.iter().zip(names);
    let columns = columns.map(|(column, name)| CqlColumn {
        name,
        kind: kind(table, column, lone),
        place: column.place,
        of: column.clone(),
    });
    CqlTable {
        collection: table.collection,
        name,
        columns: columns.collect(),
        system,
        constant: constant.filter(|_| table.block().next().is_none()),
        index: None,
        shared: None,
    }
}

fn system(names: &mut impl Iterator<Item = String>, entries: bool, clustered: bool) -> Option<System> {
    let (version, rest, class) = (names.next()?, names.next()?, names.next()?);
    let entry = (names.next()?, names.next()?);
    Some(System { version, rest, class, entry: entries.then_some(entry), clustered })
}

fn kind(table: &Table, column: &Column, lone: bool) -> Kind {
    let Some(ty) = column.holds.scalar() else { return nested(table, column) };
    let sorts = matches!(column.place, Place::Sort { .. } | Place::Row);
    match ty {
        _ if column.is_key() && column.optional => Kind::Bytes,
        Type::Uuid | Type::Blob if sorts => Kind::Bytes,
        Type::Geo | Type::Json if column.is_key() => Kind::Bytes,
        Type::Text | Type::Blob if lone && column.place == Place::Block => {
            if *ty == Type::Text {
                Kind::Filled
            } else {
                Kind::Bytes
            }
        }
        Type::Enum(_) if sorts => Kind::Number,
        _ => Kind::Plain(ty.clone()),
    }
}

fn nested(table: &Table, column: &Column) -> Kind {
    match (&column.holds, &table.shape) {
        // An aggregate's lists have ordinals, which a list of Cassandra has no room for.
        (Holds::Tree { of: TreeOf::Basic(ty), many: true }, Shape::Rows(_) | Shape::Nodes(_))
            if !matches!(ty, Type::Json | Type::Geo) =>
        {
            Kind::List(ty.clone())
        }
        (_, _) => Kind::Json,
    }
}

impl Kind {
    /// The type in CQL.
    #[must_use]
    pub fn cql(&self) -> String {
        match self {
            Self::Plain(ty) => plain(ty).to_owned(),
            Self::Bytes => "blob".to_owned(),
            Self::Filled | Self::Json => "text".to_owned(),
            Self::Number => "int".to_owned(),
            Self::List(ty) => format!("frozen<list<{}>>", plain(ty)),
        }
    }
}

fn plain(ty: &Type) -> &'static str {
    match ty {
        Type::Text | Type::Enum(_) | Type::Json => "text",
        Type::Int => "int",
        Type::Long | Type::Timestamp(Precision::Micros) => "bigint",
        Type::Timestamp(Precision::Nanos) => "varint",
        Type::Decimal => "decimal",
        Type::Double => "double",
        Type::Bool => "boolean",
        Type::Date => "date",
        Type::Time => "time",
        Type::Timestamp(Precision::Millis) => "timestamp",
        Type::Uuid => "uuid",
        Type::Blob => "blob",
        Type::Geo => "frozen<tuple<double, double>>",
    }
}

impl CqlTable {
    /// The names of the partition key's columns.
    #[must_use]
    pub fn partition(&self) -> Vec<&str> {
        let own = self.columns.iter().filter(|column| column.place == Place::Block);
        self.constant.as_deref().into_iter().chain(own.map(|column| column.name.as_str())).collect()
    }

    /// Whether a column is one of those that say which aggregate a row of a master is of.
    #[must_use]
    pub fn names_aggregate(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name && column.of.is_key())
    }

    /// The columns that cluster, as far as they order the class, and whether each descends.
    #[must_use]
    pub fn clustering(&self) -> Vec<(&str, bool)> {
        let entry = self.system.as_ref().and_then(|system| system.entry.as_ref());
        let entry = entry.map(|(entry, _)| (entry.as_str(), false));
        let own = shared_table::sorted(self).map(|(column, descending)| (column.name.as_str(), descending));
        match &self.shared {
            // Those of other classes stand between its own and its entries.
            Some(shared) => shared.leading().chain(own).collect(),
            None => own.chain(entry).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_model::{Id, Role};
    use askloom_plan::layout::{Parts, Source};

    fn column(name: &str, place: Place, ty: Type, optional: bool) -> Column {
        Column { name: name.to_owned(), place, source: Source::Node, holds: Holds::Scalar(ty), optional }
    }

    fn copy(columns: Vec<Column>) -> CqlTable {
        let collection = CollectionId::from_index(0);
        let shape = Shape::Rows(Parts::default());
        let name = "Lobby".to_owned();
        let table = Table { collection, name, role: Role::Copy, columns, shape, shared: None };
        let names = table.columns.iter().map(|column| column.name.clone()).collect();
        cql(&table, "lobby".to_owned(), false, vec!["block".to_owned()], names)
    }

    fn types(table: &CqlTable) -> Vec<(&str, String)> {
        table.columns.iter().map(|column| (column.name.as_str(), column.kind.cql())).collect()
    }

    #[test]
    fn what_sorts_is_kept_so_that_it_sorts() {
        let (sorts, value) = (Place::Sort { descending: true }, Place::Value);
        let names: Type = Type::Enum(["z", "a"].map(str::to_owned).into());
        let table = copy(vec![
            column("mail", Place::Block, Type::Text, false),
            column("when", sorts, Type::Timestamp(Precision::Millis), true),
            column("state", sorts, names.clone(), false),
            column("id", Place::Row, Type::Uuid, false),
            column("other", value, Type::Uuid, true),
            column("was", value, names, true),
            column("micros", value, Type::Timestamp(Precision::Micros), true),
            column("nanos", value, Type::Timestamp(Precision::Nanos), true),
        ]);
        let expected = [
            ("mail", "text"),
            ("when", "blob"),
            ("state", "int"),
            ("id", "blob"),
            ("other", "uuid"),
            ("was", "text"),
            ("micros", "bigint"),
            ("nanos", "varint"),
        ];
        let expected = expected.map(|(name, ty)| (name, ty.to_owned()));
        assert_eq!(types(&table), expected);
        // The only column of a partition key is never empty; one of several may be.
        assert_eq!(table.columns[0].kind, Kind::Filled);
        let both = copy(vec![
            column("a", Place::Block, Type::Text, false),
            column("b", Place::Block, Type::Text, true),
        ]);
        assert_eq!([&both.columns[0].kind, &both.columns[1].kind], [&Kind::Plain(Type::Text), &Kind::Bytes]);
        let none = copy(vec![column("a", Place::Row, Type::Int, false)]);
        assert_eq!(none.partition(), ["block"], "a copy in one partition has a constant");
    }

    #[test]
    fn names_are_what_cql_takes() {
        let long = "x".repeat(60);
        let wanted = ["order", "Token", "firstPlayer", "first_player", "größe", "2nd", "a b", long.as_str()];
        let names = NAMES.names(wanted);
        assert_eq!(
            names[..7],
            ["order_", "token_", "first_player", "first_player_2", "gr__e", "x_2nd", "a_b"]
        );
        assert!(names.iter().all(|name| name.len() <= 48 && !RESERVED.contains(&name.as_str())), "{names:?}");
        let columns = NAMES.names(SYSTEM.into_iter().chain(["n", "Class", "value"]));
        assert_eq!(columns[5..], ["n_2", "class_2", "value_2"], "members give way to what is the system's");
    }
}
