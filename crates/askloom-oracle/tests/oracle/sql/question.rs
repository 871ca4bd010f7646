//! Random queries, as Askloom says them and as SQL does.

use super::cuts::Sql;
use super::schema::{Field, Schema, Ty, sql_literal, value};
use super::steps::{Kind, Step, linked};
use askloom_oracle::Random;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// What every hundredth query has at least.
pub(super) const FEATURES: [&str; 25] = [
    "join",
    "left join",
    "unnamed position",
    "derived end",
    "set",
    "list",
    "part",
    "one-to-one",
    "implicit path",
    "some",
    "some through to-one",
    "some does not",
    "not",
    "negated predicate",
    "bare bool",
    "null parameter",
    "in",
    "starts with",
    "group",
    "aggregate alone",
    "limit",
    "subclass",
    "list column",
    "list column through to-one",
    "first per group",
];

#[derive(Debug)]
pub(super) struct Question {
    pub(super) loom: String,
    pub(super) parameters: Json,
    pub(super) sql: String,
    pub(super) features: BTreeSet<&'static str>,
}

#[derive(Debug)]
pub(super) struct Position {
    pub(super) kind: Kind,
    /// How a path in the language starts there.
    pub(super) prefix: String,
    parent: Option<(usize, Step)>,
    outer: bool,
}

/// A value in both languages.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) loom: String,
    pub(super) sql: String,
    pub(super) ty: Ty,
}

pub(super) struct Maker<'a> {
    pub(super) schema: &'a Schema,
    pub(super) random: &'a mut Random,
    pub(super) positions: Vec<Position>,
    parameters: Map<String, Json>,
    aliases: usize,
    pub(super) features: BTreeSet<&'static str>,
}

impl Question {
    pub(super) fn random(schema: &Schema, n: u64, random: &mut Random) -> Self {
        let mut maker = Maker {
            schema,
            random,
            positions: Vec::new(),
            parameters: Map::new(),
            aliases: 0,
            features: BTreeSet::new(),
        };
        maker.question(n)
    }
}

impl Maker<'_> {
    fn question(&mut self, n: u64) -> Question {
        let main = self.random.below(self.schema.entities.len() as u64) as usize;
        let sub = self.schema.entities[main].subclass && self.random.chance(0.3);
        let class = format!("{}E{main}", if sub { "S" } else { "" });
        self.positions.push(Position {
            kind: Kind::Entity(main),
            prefix: "p0".to_owned(),
            parent: None,
            outer: false,
        });
        let joins = self.joins();
        let mut from = format!("E{main} AS p0");
        for (index, position) in self.positions.iter().enumerate().skip(1) {
            let (parent, step) = position.parent.as_ref().unwrap();
            let kind = if position.outer { "LEFT JOIN" } else { "JOIN" };
            let link = linked(&step.link, &format!("p{parent}"), &format!("p{index}"));
            from += &format!(" {kind} {} AS p{index} ON {link}", self.schema.table(position.kind));
        }
        let mut conditions_sql: Vec<String> = Vec::new();
        if sub {
            self.features.insert("subclass");
            conditions_sql.push("p0.cls = 1".to_owned());
        }
        let mut filter = String::new();
        if self.random.chance(0.65) {
            let (loom, sql) = self.condition(2);
            filter = format!(" WHERE {loom}");
            conditions_sql.push(sql);
        }
        let where_sql = match conditions_sql.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", conditions_sql.join(" AND ")),
        };
        let (select, tail, select_sql, tail_sql) =
            if self.random.chance(0.35) { self.grouped() } else { self.plain() };
        let columns = select.matches(" AS c").count();
        let (per_group, sql) =
            self.per_group(Sql { select: select_sql, columns, from, condition: where_sql, tail: tail_sql });
        let (limit, limit_sql) = self.limit();
        Question {
            loom: format!(
                "query q{n}: SELECT {select} FROM {class} AS p0{joins}{filter}{tail}{per_group}{limit}"
            ),
            parameters: Json::Object(std::mem::take(&mut self.parameters)),
            sql: format!("{sql}{limit_sql}"),
            features: std::mem::take(&mut self.features),
        }
    }

    /// JOIN clauses; the positions they make are added.
    fn joins(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(4) {
            let outer = self.random.chance(0.45);
            let start = self.random.below(self.positions.len() as u64) as usize;
            let length = 1 + usize::from(self.random.chance(0.3));
            let mut at = start;
            let mut path = self.positions[start].prefix.clone();
            let mut made = Vec::new();
            for _ in 0..length {
                let Some(step) = self.any_step(self.positions[at].kind) else { break };
                path = format!("{path}.{}", step.name);
                at = self.position(at, step, outer, &path, &mut made);
            }
            if at == start {
                continue;
            }
            // The last one gets an alias only if it is new: no position has two names here.
            let named = made.last() == Some(&at);
            let alias = if named { format!(" AS p{at}") } else { String::new() };
            if named {
                self.positions[at].prefix = format!("p{at}");
            }
            if made.len() > 1 || !named {
                self.features.insert("unnamed position");
            }
            self.features.insert(if outer { "left join" } else { "join" });
            text += &format!(" {}JOIN {path}{alias}", if outer { "LEFT " } else { "" });
        }
        text
    }

    /// The position of a step; one path twice is one position, outer only if every path through it is.
    fn position(
        &mut self,
        parent: usize,
        step: Step,
        outer: bool,
        path: &str,
        made: &mut Vec<usize>,
    ) -> usize {
        let same = |position: &Position| {
            position.parent.as_ref().is_some_and(|(p, s)| *p == parent && s.name == step.name)
        };
        if let Some(index) = self.positions.iter().position(same) {
            self.positions[index].outer &= outer;
            return index;
        }
        self.features.insert(step.feature);
        let kind = step.to;
        let prefix = path.to_owned();
        self.positions.push(Position { kind, prefix, parent: Some((parent, step)), outer });
        made.push(self.positions.len() - 1);
        self.positions.len() - 1
    }

    fn any_step(&mut self, kind: Kind) -> Option<Step> {
        let steps = self.schema.steps(kind);
        self.random.pick(&steps).cloned()
    }

    /// The plain values of a thing: their names, columns and types.
    fn fields(&self, kind: Kind) -> Vec<(String, Ty)> {
        let named = |fields: &[Field]| fields.iter().map(|field| (field.name.clone(), field.ty)).collect();
        match kind {
            Kind::Element(entity, list) => vec![(String::new(), self.schema.entities[entity].lists[list].ty)],
            Kind::Part(entity, part) => named(&self.schema.entities[entity].parts[part].fields),
            Kind::Entity(entity) => {
                let mut fields: Vec<(String, Ty)> = named(&self.schema.entities[entity].fields);
                fields.push(("k".to_owned(), Ty::Int));
                fields
            }
        }
    }

    fn field(&mut self, kind: Kind) -> (String, Ty) {
        let fields = self.fields(kind);
        self.random.pick(&fields).unwrap().clone()
    }

    pub(super) fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("x{}", self.aliases)
    }

    /// A value with one at most in a row: at a position, or along to-one steps.
    pub(super) fn scalar(&mut self) -> Expression {
        let at = self.random.below(self.positions.len() as u64) as usize;
        let (kind, prefix) = (self.positions[at].kind, self.positions[at].prefix.clone());
        self.along(kind, &prefix, &format!("p{at}"), 2)
    }

    /// A field of a thing that has an alias, or of something to-one steps away.
    fn along(&mut self, kind: Kind, prefix: &str, alias: &str, most: u32) -> Expression {
        let steps: Vec<Step> = self.schema.steps(kind).into_iter().filter(|step| !step.many).collect();
        if most > 0
            && self.random.chance(0.35)
            && let Some(step) = self.random.pick(&steps).cloned()
        {
            self.features.insert("implicit path");
            let inner = self.alias();
            let value = self.along(step.to, &format!("{prefix}.{}", step.name), &inner, most - 1);
            let link = linked(&step.link, alias, &inner);
            let sql =
                format!("(SELECT {} FROM {} AS {inner} WHERE {link})", value.sql, self.schema.table(step.to));
            return Expression { sql, ..value };
        }
        let (field, ty) = self.field(kind);
        let (loom, column) = match field.as_str() {
            "" => (prefix.to_owned(), "v"),
            name => (format!("{prefix}.{name}"), name),
        };
        Expression { loom, sql: format!("{alias}.{column}"), ty }
    }

    fn condition(&mut self, depth: u32) -> (String, String) {
        if depth > 0 && self.random.chance(0.5) {
            let word = if self.random.chance(0.35) { "AND" } else { "OR" };
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            return (format!("({} {word} {})", a.0, b.0), format!("({} {word} {})", a.1, b.1));
        }
        if self.random.chance(0.2) {
            self.features.insert("not");
            let (loom, sql) = self.condition(depth.saturating_sub(1));
            return (format!("NOT ({loom})"), format!("NOT ({sql})"));
        }
        if self.random.chance(0.3)
            && let Some(condition) = self.some()
        {
            return condition;
        }
        let value = self.scalar();
        self.predicate(&value)
    }

    /// The steps from a position that no JOIN takes.
    pub(super) fn unjoined(&self, at: usize) -> Vec<Step> {
        let joined: Vec<String> = self
            .positions
            .iter()
            .filter_map(|position| position.parent.as_ref().filter(|(parent, _)| *parent == at))
            .map(|(_, step)| step.name.clone())
            .collect();
        let steps = self.schema.steps(self.positions[at].kind);
        steps.into_iter().filter(|step| !joined.contains(&step.name)).collect()
    }

    /// A condition along a to-many step that is not joined: some element makes it true.
    fn some(&mut self) -> Option<(String, String)> {
        let at = self.random.below(self.positions.len() as u64) as usize;
        let mut steps = self.unjoined(at);
        let mut prefix = self.positions[at].prefix.clone();
        let mut links = Vec::new();
        let mut tables = Vec::new();
        let mut alias = format!("p{at}");
        let to_one: Vec<Step> = steps.iter().filter(|step| !step.many).cloned().collect();
        if self.random.chance(0.3)
            && let Some(step) = self.random.pick(&to_one).cloned()
        {
            self.features.insert("some through to-one");
            let next = self.alias();
            links.push(linked(&step.link, &alias, &next));
            tables.push(format!("{} AS {next}", self.schema.table(step.to)));
            (alias, prefix) = (next, format!("{prefix}.{}", step.name));
            steps = self.schema.steps(step.to);
        }
        let many: Vec<Step> = steps.into_iter().filter(|step| step.many).collect();
        let step = self.random.pick(&many)?.clone();
        self.features.insert("some");
        let next = self.alias();
        links.push(linked(&step.link, &alias, &next));
        tables.push(format!("{} AS {next}", self.schema.table(step.to)));
        let value = self.along(step.to, &format!("{prefix}.{}", step.name), &next, 1);
        let negated = self.features.remove("negated predicate");
        let (loom, sql) = self.predicate(&value);
        if self.features.contains("negated predicate") {
            self.features.insert("some does not");
        }
        self.features.extend(negated.then_some("negated predicate"));
        let exists =
            format!("EXISTS (SELECT 1 FROM {} WHERE {} AND {sql})", tables.join(", "), links.join(" AND "));
        Some((loom, exists))
    }

    fn predicate(&mut self, value: &Expression) -> (String, String) {
        let Expression { loom, sql, ty } = value;
        if *ty == Ty::Bool && self.random.chance(0.3) {
            self.features.insert("bare bool");
            return (loom.clone(), sql.clone());
        }
        let kinds = if *ty == Ty::Text { 6 } else { 5 };
        let kind = self.random.below(kinds);
        let not = if self.random.chance(0.4) { "NOT " } else { "" };
        if matches!(kind, 0 | 1 | 2 | 5) && !not.is_empty() {
            self.features.insert("negated predicate");
        }
        match kind {
            0 => (format!("{loom} IS {not}NULL"), format!("{sql} IS {not}NULL")),
            1 => {
                let (a, b) = (self.operand(*ty), self.operand(*ty));
                (
                    format!("{loom} {not}BETWEEN {} AND {}", a.loom, b.loom),
                    format!("{sql} {not}BETWEEN {} AND {}", a.sql, b.sql),
                )
            }
            2 => self.membership(value, not),
            5 => {
                self.features.insert("starts with");
                let prefix = self.operand(Ty::Text);
                let p = &prefix.sql;
                (
                    format!("{loom} {not}STARTS WITH {}", prefix.loom),
                    format!("({not}(substr({sql}, 1, length({p})) = {p}))"),
                )
            }
            _comparison => {
                let op = *self.random.pick(&["=", "!=", "<", "<=", ">", ">="]).unwrap();
                let other = self.operand(*ty);
                (format!("{loom} {op} {}", other.loom), format!("{sql} {op} {}", other.sql))
            }
        }
    }

    fn membership(&mut self, value: &Expression, not: &str) -> (String, String) {
        self.features.insert("in");
        let mut items: Vec<Json> =
            (0..self.random.below(4)).map(|_| self::value(self.random, value.ty)).collect();
        if self.random.chance(0.3) {
            items.push(Json::Null);
        }
        let sql = items.iter().map(sql_literal).collect::<Vec<_>>().join(", ");
        let name = self.parameter(json!(items));
        (format!("{} {not}IN :{name}", value.loom), format!("{} {not}IN ({sql})", value.sql))
    }

    fn parameter(&mut self, value: Json) -> String {
        let name = format!("x{}", self.parameters.len());
        self.parameters.insert(name.clone(), value);
        name
    }

    /// A literal, a parameter, or another value of the row.
    fn operand(&mut self, ty: Ty) -> Expression {
        if self.random.chance(0.2) {
            let other = self.scalar();
            if other.ty == ty {
                return other;
            }
        }
        let null = self.random.chance(0.08);
        let value = if null { Json::Null } else { value(self.random, ty) };
        let sql = sql_literal(&value);
        if null {
            self.features.insert("null parameter");
        }
        if null || self.random.chance(0.5) {
            let name = self.parameter(value);
            return Expression { loom: format!(":{name}"), sql, ty };
        }
        let loom = match &value {
            Json::Bool(value) => value.to_string(),
            other => sql_literal(other),
        };
        Expression { loom, sql, ty }
    }

    /// Columns and order of a query about single rows.
    fn plain(&mut self) -> (String, String, String, String) {
        let mut columns: Vec<Expression> = (0..1 + self.random.below(4)).map(|_| self.scalar()).collect();
        if self.random.chance(0.4) {
            columns.extend(self.list());
        }
        let named = |text: fn(&Expression) -> &String| {
            let named = columns.iter().enumerate().map(|(n, column)| format!("{} AS c{n}", text(column)));
            named.collect::<Vec<_>>().join(", ")
        };
        let (select, select_sql) = (named(|column| &column.loom), named(|column| &column.sql));
        let terms: Vec<(Expression, bool)> =
            (0..self.random.below(3)).map(|_| (self.scalar(), self.random.chance(0.5))).collect();
        let last = terms.last().is_some_and(|(_, descending)| *descending);
        let mut order: Vec<String> = terms
            .iter()
            .map(|(term, descending)| format!("{}{}", term.sql, direction(*descending)))
            .collect();
        order.extend(self.identity().iter().map(|column| format!("{column}{}", direction(last))));
        let tail = ordered(&terms.iter().map(|(t, d)| (t.loom.clone(), *d)).collect::<Vec<_>>());
        (select, tail, select_sql, format!(" ORDER BY {}", order.join(", ")))
    }

    /// The columns that identify a row.
    fn identity(&self) -> Vec<String> {
        let columns = self.positions.iter().enumerate().flat_map(|(index, position)| match position.kind {
            Kind::Entity(entity) => self.schema.key_columns(entity, &format!("p{index}.")),
            Kind::Part(..) | Kind::Element(..) => vec![format!("p{index}.ord")],
        });
        columns.collect()
    }

    fn aggregate(&mut self) -> Expression {
        if self.random.chance(0.3) {
            return Expression { loom: "COUNT(*)".to_owned(), sql: "COUNT(*)".to_owned(), ty: Ty::Int };
        }
        let of = self.scalar();
        let functions: &[&str] = match of.ty {
            Ty::Int => &["COUNT(", "COUNT(DISTINCT ", "SUM(", "MIN(", "MAX("],
            Ty::Text | Ty::Bool => &["COUNT(", "COUNT(DISTINCT ", "MIN(", "MAX("],
        };
        let function = *self.random.pick(functions).unwrap();
        Expression {
            loom: format!("{function}{})", of.loom),
            sql: format!("{function}{})", of.sql),
            ty: of.ty,
        }
    }

    fn grouped(&mut self) -> (String, String, String, String) {
        let groups: Vec<Expression> = (0..self.random.below(3)).map(|_| self.scalar()).collect();
        self.features.insert(if groups.is_empty() { "aggregate alone" } else { "group" });
        let aggregates: Vec<Expression> = (0..1 + self.random.below(3)).map(|_| self.aggregate()).collect();
        let columns: Vec<&Expression> = groups.iter().chain(&aggregates).collect();
        let named = columns.iter().enumerate().map(|(n, column)| format!("{} AS c{n}", column.loom));
        let select = named.collect::<Vec<_>>().join(", ");
        let select_sql = columns.iter().map(|column| column.sql.clone()).collect::<Vec<_>>().join(", ");
        let terms: Vec<(Expression, bool)> = (0..self.random.below(3))
            .map(|_| {
                let term = match self.random.pick(&groups).cloned() {
                    Some(group) if self.random.chance(0.5) => group,
                    _aggregate => self.aggregate(),
                };
                (term, self.random.chance(0.5))
            })
            .collect();
        let last = terms.last().is_some_and(|(_, descending)| *descending);
        let mut order: Vec<String> = terms
            .iter()
            .map(|(term, descending)| format!("{}{}", term.sql, direction(*descending)))
            .collect();
        order.extend(groups.iter().map(|group| format!("{}{}", group.sql, direction(last))));
        let by = |text: fn(&Expression) -> &String| {
            let by: Vec<String> = groups.iter().map(|group| text(group).clone()).collect();
            if by.is_empty() { String::new() } else { format!(" GROUP BY {}", by.join(", ")) }
        };
        let tail_sql = match order.is_empty() {
            true => String::new(),
            false => format!(" ORDER BY {}", order.join(", ")),
        };
        let tail = ordered(&terms.iter().map(|(t, d)| (t.loom.clone(), *d)).collect::<Vec<_>>());
        (select, by(|e| &e.loom) + &tail, select_sql, by(|e| &e.sql) + &tail_sql)
    }
}

fn ordered(terms: &[(String, bool)]) -> String {
    let terms: Vec<String> = terms.iter().map(|(text, down)| format!("{text}{}", direction(*down))).collect();
    if terms.is_empty() { String::new() } else { format!(" ORDER BY {}", terms.join(", ")) }
}

fn direction(descending: bool) -> &'static str {
    if descending { " DESC" } else { "" }
}
