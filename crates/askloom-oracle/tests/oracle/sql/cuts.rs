//! LIMIT, and the first rows of each group.

use super::question::Maker;

/// A query in SQL, clause by clause.
pub(super) struct Sql {
    /// Each under the name `c0`, `c1` and so on.
    pub(super) select: String,
    pub(super) columns: usize,
    pub(super) from: String,
    pub(super) condition: String,
    pub(super) tail: String,
}

impl Maker<'_> {
    pub(super) fn limit(&mut self) -> (String, String) {
        if !self.random.chance(0.3) {
            return (String::new(), String::new());
        }
        self.features.insert("limit");
        let rows = 1 + self.random.below(4);
        (format!(" LIMIT {rows}"), format!(" LIMIT {rows}"))
    }

    /// At times the first rows of each group of single rows; in SQL, rows are numbered by group and in all.
    pub(super) fn per_group(&mut self, sql: Sql) -> (String, String) {
        let Sql { select, columns, from, condition, tail } = sql;
        let grouped = self.features.contains("group") || self.features.contains("aggregate alone");
        let order = tail.strip_prefix(" ORDER BY ").filter(|_| !grouped);
        let Some(order) = order.filter(|_| self.random.chance(0.25)) else {
            return (String::new(), format!("SELECT {select} FROM {from}{condition}{tail}"));
        };
        self.features.insert("first per group");
        let by: Vec<_> = (0..1 + self.random.below(2)).map(|_| self.scalar()).collect();
        let rows = 1 + self.random.below(2);
        let parts = by.iter().map(|path| path.sql.as_str()).collect::<Vec<_>>().join(", ");
        let numbered = format!(
            "SELECT {select}, ROW_NUMBER() OVER (PARTITION BY {parts} ORDER BY {order}) AS in_group, \
             ROW_NUMBER() OVER (ORDER BY {order}) AS in_all FROM {from}{condition}"
        );
        let names = (0..columns).map(|n| format!("c{n}")).collect::<Vec<_>>().join(", ");
        let paths = by.iter().map(|path| path.loom.as_str()).collect::<Vec<_>>().join(", ");
        (
            format!(" LIMIT {rows} PER {paths}"),
            format!("SELECT {names} FROM ({numbered}) WHERE in_group <= {rows} ORDER BY in_all"),
        )
    }
}
