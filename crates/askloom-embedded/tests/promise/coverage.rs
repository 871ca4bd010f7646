//! What the cases were about: counts of pairs, and gates that a run has to pass.

use crate::case::Case;
use crate::constructs::{CONSTRUCTS, OPERATORS};
use crate::impossible;
use askloom_embedded::KeyedSchema;
use askloom_model::{Collection, Conceptual, Identity, Member, Record, RelationshipKind, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub(crate) const SHAPES: &[&str] = &[
    "load",
    "create",
    "replace",
    "delete",
    "INSERT",
    "UPSERT",
    "UPDATE",
    "DELETE",
    "ADD",
    "REMOVE",
    "CONNECT",
    "DISCONNECT",
    "compound",
    "expiry",
];

pub(crate) const GATES: &[&str] = &[
    "tie at the LIMIT cut",
    "null in a key",
    "key change of a live row",
    "row of two masters",
    "self-reference",
    "fan-out over 100",
    "delete and re-insert",
    "LEFT JOIN miss",
    "REMOVE from the middle",
    "breach of a trusted reference avoided",
    "loose reference to nothing",
    "refused undeclared write",
    "new target of a relied-on reference in a copy",
    "some element does not, unlike none does",
    "no element does, unlike some does not",
    "bare bool",
    "list inserted",
    "element changed",
    "STORE in place of another",
    "stopped apart",
    "first per group",
    "tie at the cut of a group",
    "cut of the null group",
    "join eliminated",
    "id path is the reference",
    "UPSERT of the same immutable value",
    "change of an immutable instance refused",
    "expiry counted from an attribute",
    "blind put",
    "aggregate of a partition by its id",
    "partition of a master",
    "partition as far as LIMIT or PAGE",
    "master that descends",
    "master with a bucket of time",
    "buckets of time",
    "carried value of a master",
    "aggregate in the partition of another class",
    "one of the classes of a partition",
];

pub(crate) fn shape(name: &str) -> usize {
    SHAPES
        .iter()
        .position(|known| *known == name)
        .unwrap_or_else(|| panic!("no write has the shape `{name}`"))
}

/// Counts over many cases.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage {
    cases: u64,
    statements: u64,
    refused: BTreeMap<String, u64>,
    queries: u64,
    with_rows: u64,
    rows: u64,
    plans: u64,
    writes: u64,
    refused_writes: u64,
    changing: u64,
    changing_a_copy: u64,
    not_yet: BTreeMap<String, u64>,
    pairs: BTreeMap<(&'static str, &'static str), u64>,
    gates: BTreeMap<&'static str, u64>,
    /// Gates that this case has met.
    met: BTreeSet<&'static str>,
    /// Plans and shapes of this case, counted into pairs at its end.
    ran: BTreeMap<(usize, usize), u64>,
    asked: BTreeMap<(usize, usize), u64>,
}

impl Coverage {
    pub(crate) fn statements(&mut self, made: usize, refused: &[String]) {
        self.statements += made as u64;
        for message in refused {
            // Names are random; the rest of the message tells what is wrong.
            let kind: Vec<&str> = message.split('`').step_by(2).collect();
            *self.refused.entry(kind.join("…")).or_default() += 1;
        }
    }

    pub(crate) fn gate(&mut self, name: &'static str) {
        debug_assert!(GATES.contains(&name), "{name}");
        self.met.insert(name);
    }

    pub(crate) fn not_yet(&mut self, what: &str) {
        *self.not_yet.entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn answered(&mut self, rows: usize) {
        self.queries += 1;
        self.rows += rows as u64;
        self.with_rows += u64::from(rows > 0);
    }

    pub(crate) fn executed(&mut self, query: usize, plan: usize) {
        self.plans += 1;
        *self.ran.entry((query, plan)).or_default() += 1;
    }

    pub(crate) fn after(&mut self, query: usize, shape: usize) {
        *self.asked.entry((query, shape)).or_default() += 1;
    }

    pub(crate) fn wrote(&mut self, refused: bool, changed: bool, copy: bool) {
        self.writes += 1;
        self.refused_writes += u64::from(refused);
        self.changing += u64::from(changed);
        self.changing_a_copy += u64::from(copy);
    }

    /// A row of a copy.
    pub(crate) fn row(
        &mut self,
        schema: &KeyedSchema,
        collection: &Collection,
        identity: &[Value],
        null_key: bool,
    ) {
        if null_key {
            self.gate("null in a key");
        }
        let conceptual = &schema.model.conceptual;
        for ((_, position), key) in collection.source.positions.iter().zip(identity) {
            let Some(hop) = position.from else { continue };
            if key.is_null() {
                self.gate("LEFT JOIN miss");
            } else if let Member::End(end) = hop.step
                && conceptual.ends[end].kind != RelationshipKind::Composition
            {
                self.gate("row of two masters");
            }
        }
    }

    /// At the end of a case.
    pub(crate) fn finish(&mut self, case: &Case) {
        let conceptual = &case.schema.model.conceptual;
        for (_, identity, instance) in case.oracle.instances() {
            if refers_to_itself(conceptual, instance.record(), identity) {
                self.gate("self-reference");
            }
        }
        for ((query, plan), times) in std::mem::take(&mut self.ran) {
            let (constructs, plans) = &case.contents[query];
            for &construct in constructs {
                for &operator in &plans[plan] {
                    *self.pairs.entry((CONSTRUCTS[construct], OPERATORS[operator])).or_default() += times;
                }
            }
        }
        for ((query, shape), times) in std::mem::take(&mut self.asked) {
            let (constructs, plans) = &case.contents[query];
            for &construct in constructs {
                *self.pairs.entry((CONSTRUCTS[construct], SHAPES[shape])).or_default() += times;
            }
            let operators: BTreeSet<usize> = plans.iter().flatten().copied().collect();
            for operator in operators {
                *self.pairs.entry((OPERATORS[operator], SHAPES[shape])).or_default() += times;
            }
        }
        self.cases += 1;
        for gate in std::mem::take(&mut self.met) {
            *self.gates.entry(gate).or_default() += 1;
        }
    }

    /// Forgets what a failed case has left half counted.
    pub(crate) fn abandon(&mut self) {
        self.ran.clear();
        self.asked.clear();
        self.met.clear();
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.statements += other.statements;
        self.queries += other.queries;
        self.with_rows += other.with_rows;
        self.rows += other.rows;
        self.plans += other.plans;
        self.writes += other.writes;
        self.refused_writes += other.refused_writes;
        self.changing += other.changing;
        self.changing_a_copy += other.changing_a_copy;
        other.refused.into_iter().for_each(|(key, n)| *self.refused.entry(key).or_default() += n);
        other.not_yet.into_iter().for_each(|(key, n)| *self.not_yet.entry(key).or_default() += n);
        other.pairs.into_iter().for_each(|(key, n)| *self.pairs.entry(key).or_default() += n);
        other.gates.into_iter().for_each(|(key, n)| *self.gates.entry(key).or_default() += n);
    }

    pub(crate) fn cases(&self) -> u64 {
        self.cases
    }

    /// The whole table.
    pub(crate) fn print(&self) -> String {
        let mut text = self.summary();
        for (rows, columns) in
            [(&CONSTRUCTS[..], &OPERATORS[..]), (&CONSTRUCTS, SHAPES), (&OPERATORS, SHAPES)]
        {
            text.push('\n');
            self.grid(rows, columns, &mut text);
        }
        text
    }

    pub(crate) fn summary(&self) -> String {
        let share = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        let mut text = String::new();
        writeln!(
            text,
            "{} cases: {} queries ({:.0} % with rows, {} rows), {} plans run",
            self.cases,
            self.queries,
            share(self.with_rows, self.queries),
            self.rows,
            self.plans
        )
        .unwrap();
        writeln!(
            text,
            "{} writes: {:.0} % refused, {:.0} % changed something, {:.0} % changed a copy",
            self.writes,
            share(self.refused_writes, self.writes),
            share(self.changing, self.writes),
            share(self.changing_a_copy, self.writes)
        )
        .unwrap();
        for &gate in GATES {
            let met = self.gates.get(gate).copied().unwrap_or(0);
            writeln!(text, "  {gate}: {met} cases ({:.1} %)", share(met, self.cases)).unwrap();
        }
        let refused: u64 = self.refused.values().sum();
        writeln!(text, "{refused} of {} made-up statements were refused", self.statements).unwrap();
        for (message, count) in &self.refused {
            writeln!(text, "  {count} × {message}").unwrap();
        }
        for (what, count) in &self.not_yet {
            writeln!(text, "not yet: {what}, {count} times").unwrap();
        }
        text
    }

    fn grid(&self, rows: &[&'static str], columns: &[&'static str], text: &mut String) {
        let width = rows.iter().map(|name| name.len()).max().unwrap_or(0);
        for (n, column) in columns.iter().enumerate() {
            writeln!(text, "{:width$}  {n:2} {column}", "").unwrap();
        }
        write!(text, "{:width$}", "").unwrap();
        (0..columns.len()).for_each(|n| write!(text, " {n:>6}").unwrap());
        text.push('\n');
        for &row in rows {
            write!(text, "{row:width$}").unwrap();
            for &column in columns {
                let count = self.pairs.get(&(row, column)).copied().unwrap_or(0);
                let shown = match count {
                    0 if impossible::reason(row, column).is_some() => "–".to_owned(),
                    0..=99_999 => count.to_string(),
                    many => format!("{}k", many / 1000),
                };
                write!(text, " {shown:>6}").unwrap();
            }
            text.push('\n');
        }
    }

    /// What a run of many cases has to have met. Each complaint is one line.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let below = |part: u64, of: u64, percent: u64| part * 100 < of * percent;
        if below(self.with_rows, self.queries, 60) {
            complaints.push("fewer than 60 % of the queries had rows".to_owned());
        }
        if below(self.changing_a_copy, self.writes - self.refused_writes, 50) {
            complaints.push("fewer than half of the writes changed a copy".to_owned());
        }
        for &gate in GATES {
            let met = self.gates.get(gate).copied().unwrap_or(0);
            if below(met, self.cases, 1) {
                complaints.push(format!("fewer than 1 % of the cases: {gate}"));
            }
        }
        for (rows, columns) in
            [(&CONSTRUCTS[..], &OPERATORS[..]), (&CONSTRUCTS, SHAPES), (&OPERATORS, SHAPES)]
        {
            for &row in rows {
                for &column in columns {
                    let met = self.pairs.contains_key(&(row, column));
                    match (met, impossible::reason(row, column)) {
                        (false, None) => complaints.push(format!("never met: {row} with {column}")),
                        (true, Some(reason)) => {
                            complaints.push(format!("met though impossible ({reason}): {row} with {column}"))
                        }
                        (true, None) | (false, Some(_)) => {}
                    }
                }
            }
        }
        complaints
    }
}

fn refers_to_itself(conceptual: &Conceptual, record: &Record, identity: &Identity) -> bool {
    record.fields.iter().any(|(member, value)| {
        let Member::End(end) = *member else { return false };
        conceptual.is_kind_of(record.class, conceptual.ends[end].target)
            && match value {
                Value::Reference(id) => id == identity,
                Value::Set(ids) => ids.contains(identity),
                _part => false,
            }
    })
}
