//! Requests as commands of the AWS CLI, for a POSIX shell.

use super::definition::{cloudformation, create, terraform, with_indexes};
use super::expression::Expression;
use super::item::{Item, items};
use super::json::{Doc, argument, cells, map, text, truth};
use super::limit::refused;
use super::paper::grouped;
use super::read::{self, Bound, Indexed, Request, Test, request};
use super::schema::{DynamoTable, Entries, System, tables};
use super::settings::Settings;
use super::value::Dynamo;
use super::write::{Only, Repeated, Write, batches, in_index, index_cells, known, puts, writes};
use crate::generate::{
    self, Block, File, Generated, Language, Options, Sample, Source, Statement, former, repeated,
};
use askloom_model::{CopyLevel, Id};
use askloom_plan::layout::Layout;
use askloom_plan::program::{
    Action, Batch, ChangeKind, ExpiryUse, Read, StampUse, Step, TableInputs, Words, WriteInputs,
};
use std::fmt::Write as _;

const MARK: &str = "#";

/// The AWS CLI, CloudFormation and Terraform.
#[derive(Debug)]
pub struct DynamoDb;

impl Language for DynamoDb {
    fn generate(&self, source: &Source<'_>) -> Generated {
        let tables = tables(source.layout, &source.options);
        // What is wrong with settings has been said before.
        let settings = Settings::new(&source.options.settings).unwrap_or_default();
        let followed = followed(&tables, &source.statements);
        let mut files = vec![File {
            name: "schema.sh".to_owned(),
            run: Some("sh schema.sh".to_owned()),
            blocks: with_indexes(&tables)
                .map(|(table, of)| create(table, &of, &settings, &followed))
                .collect(),
        }];
        if !source.sample.is_empty() {
            let blocks = sample_blocks(source, &tables);
            files.push(File { name: "sample.sh".to_owned(), run: Some("sh sample.sh".to_owned()), blocks });
        }
        let blocks = source.statements.iter().map(|statement| block(source.layout, &tables, statement));
        files.push(File { name: "statements.sh".to_owned(), run: None, blocks: blocks.collect() });
        files.push(cloudformation(&tables, &settings, &followed));
        files.push(terraform(&tables, &settings, &followed));
        let mut notes = notes();
        if tables.iter().any(|table| table.index.as_ref().is_some_and(|index| !index.local)) {
            notes.push(
                "A global secondary index lags behind its table: no write and no @fresh query reads one."
                    .to_owned(),
            );
        }
        if tables.iter().any(|table| table.system.as_ref().is_some_and(|system| system.expires.is_some())) {
            notes.push(
                "`:expires+1hour` is an hour after a new aggregate is gone for readers, in seconds since 1970: DynamoDB \
                 takes it away then. Its version goes, too, so the first one is `:stamp`, the clock in microseconds, \
                 and more than the version that was read if there was one."
                    .to_owned(),
            );
        }
        Generated { files, notes, refused: refused(source, &tables) }
    }

    fn read(&self, layout: &Layout, options: &Options, read: &Read) -> String {
        let tables = tables(layout, options);
        request(layout, &tables, read).map(|request| request.text()).unwrap_or_default()
    }

    fn put(&self, layout: &Layout, options: &Options, sample: &Sample) -> String {
        put(layout, &tables(layout, options), sample)
    }

    fn write_inputs(&self, layout: &Layout, options: &Options) -> WriteInputs {
        let tables = tables(layout, options);
        WriteInputs { checks_reads: false, tables: tables.iter().map(write_inputs).collect() }
    }

    fn settings(
        &self,
        layout: &Layout,
        given: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<(), String> {
        let names: Vec<&str> = layout.tables().iter().map(|table| table.name.as_str()).collect();
        let keys = Settings::new(given)?.keys;
        let is_shared =
            |name: &str| layout.tables().iter().any(|table| table.name == name && table.shared.is_some());
        if let Some((name, _)) = keys.iter().find(|(name, _)| is_shared(name)) {
            return Err(format!(
                "`keys` names `{name}`, and its table is one of several classes, whose keys start with what tells \
                 these apart"
            ));
        }
        let unknown = keys.into_iter().find(|(name, _)| !names.contains(&name.as_str()));
        unknown.map_or(Ok(()), |(name, _)| {
            Err(format!(
                "`keys` names `{name}`, and there is no such collection; there are {}",
                names.join(", ")
            ))
        })
    }
}

/// Which slots the statements have that write into a table. The papers have none of them.
fn write_inputs(table: &DynamoTable) -> TableInputs {
    if table.faithful || table.index.is_some() {
        return TableInputs::default();
    }
    match (&table.system, &table.stamps) {
        (Some(System { expires: None, .. }), _) => TableInputs { version: true, ..TableInputs::default() },
        (Some(System { expires: Some(_), entries, .. }), _) => TableInputs {
            version: true,
            stamp: StampUse::FirstVersion,
            expiry: match entries {
                Entries::Items { .. } => ExpiryUse::AggregatesAndEntries,
                Entries::Inside | Entries::Attributes => ExpiryUse::Aggregates,
            },
        },
        (None, Some(_)) => TableInputs { stamp: StampUse::LaggingRows, ..TableInputs::default() },
        (None, None) => TableInputs::default(),
    }
}

fn notes() -> Vec<String> {
    [
        "The AWS CLI of version 2 takes `B` in base64; version 1 takes it as it stands, so use version 2.",
        "`schema.sh` and `cloudformation.json` make the same tables: run one of them.",
        "`terraform.tf.json` was not run by Terraform in our tests.",
        "A key in `B` holds ordered bytes; `--params` prints them.",
        "`:w` is a random id of the write, new for each and the same when it is tried again.",
        "An answer with UnprocessedKeys, UnprocessedItems or LastEvaluatedKey is not all: go on from there.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The tables with rows that follow their masters later: what is left of deleted ones goes by its time.
fn followed(tables: &[DynamoTable], statements: &[Statement]) -> Vec<bool> {
    let mut followed = vec![false; tables.len()];
    let steps = statements.iter().flat_map(|statement| &statement.program.steps);
    for Step { action, .. } in steps {
        let Action::Change(batch) = action else { continue };
        for change in batch.changes.iter().filter(|_| batch.level == CopyLevel::Intents) {
            let copy = tables.get(change.table.index()).is_some_and(|table| table.stamps.is_some());
            if let Some(mark) = followed.get_mut(change.table.index()) {
                *mark |= copy;
            }
        }
    }
    followed
}

/// Records in as few requests as can be; rows that share an item as a paper prints them are one.
fn sample_blocks(source: &Source<'_>, tables: &[DynamoTable]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for table in tables.iter().filter(|table| table.index.is_none()) {
        let of = |record: &&Sample| {
            let (Sample::Row { table: id, .. } | Sample::Block { table: id, .. }) = *record;
            *id == table.collection
        };
        let own = source.sample.iter().filter(of);
        let with_indexes = |record: &Sample| {
            let indexed = local_cells(source, tables, table, record);
            let items = items(source.layout, tables, record).into_iter();
            items.map(move |(name, item)| (name, item.into_iter().chain(indexed.clone()).collect()))
        };
        let mut own: Vec<(String, Item)> = own.flat_map(with_indexes).collect();
        if table.set.is_some() {
            let rows = own.into_iter().map(|(_, item)| item).collect();
            own = grouped(rows).into_iter().map(|item| (table.name.clone(), item)).collect();
        }
        let writes = batches(own).into_iter();
        blocks.extend(writes.map(|write| Block { of: table.name.clone(), text: write.text(), whole: true }));
    }
    for record in &source.sample {
        let write = in_index(source.layout, tables, record);
        let of = record.collection(source.layout).to_owned();
        blocks.extend(write.map(|write| Block { of, text: write.text(), whole: true }));
    }
    blocks
}

/// What a row has for the local indexes of its table.
fn local_cells(source: &Source<'_>, tables: &[DynamoTable], table: &DynamoTable, record: &Sample) -> Item {
    let Sample::Row { cells: row, .. } = record else { return Vec::new() };
    let row = known(row);
    let mut all = Vec::new();
    for other in &source.sample {
        let Sample::Row { table: id, cells } = other else { continue };
        let Some(index) = tables.get(id.index()) else { continue };
        let own = index.index.as_ref().is_some_and(|of| of.local && of.host == table.collection);
        let cells = known(cells);
        if own && index.is_same_row(table, &cells, &row) {
            let made = index_cells(source.layout, index, &cells).into_iter();
            all.extend(made.filter_map(|(name, bound)| match bound? {
                Bound::Value(value) => Some((name, value)),
                Bound::Slot { .. } => None,
            }));
        }
    }
    all
}

fn put(layout: &Layout, tables: &[DynamoTable], record: &Sample) -> String {
    let writes = puts(layout, tables, &[record]).into_iter().chain(in_index(layout, tables, record));
    writes.map(|write| write.text() + "\n").collect()
}

fn block(layout: &Layout, tables: &[DynamoTable], statement: &Statement) -> Block {
    generate::block(MARK, layout, statement, |words, step| match &step.action {
        Action::Read(read) => {
            let request = request(layout, tables, read);
            let request = if !step.each.is_once() { request.map(read::repeated) } else { request };
            request.map(|request| request.text() + "\n").unwrap_or_default()
        }
        Action::Change(batch) => {
            let all = writes(layout, tables, batch).into_iter();
            let faithful = tables.iter().any(|table| table.faithful);
            let former = if faithful { String::new() } else { former(MARK, batch) };
            sparse(layout, tables, batch)
                + &former
                + &repeated(
                    MARK,
                    words,
                    all.map(|(each, write)| (each, loops(words, &write) + &write.text())),
                )
        }
    })
}

/// Which attributes an item has only if it is in an index.
fn sparse(layout: &Layout, tables: &[DynamoTable], batch: &Batch) -> String {
    let mut text = String::new();
    let puts = batch.changes.iter().filter(|change| matches!(change.kind, ChangeKind::PutRow(_)));
    for table in puts.filter_map(|change| tables.get(change.table.index())) {
        let sparse = layout.design.collections[table.collection].source.condition.is_some();
        let keys: Vec<&str> = table.own_keys().map(|key| key.name.as_str()).collect();
        if sparse && !keys.is_empty() {
            let _ = writeln!(
                text,
                "{MARK} {} only if the item meets the condition of {}; if not, REMOVE",
                keys.join(", "),
                table.name
            );
        }
    }
    text
}

/// What of a transaction is there several times.
fn loops(words: &Words<'_>, write: &Write) -> String {
    let Write::Transaction { writes, .. } = write else { return String::new() };
    let mut text = String::new();
    for (at, (each, write)) in writes.iter().enumerate() {
        if let Some(each) = words.change(*each) {
            let _ =
                writeln!(text, "{MARK} {} {} of {}: for each {each}", at + 1, write.word(), write.table());
        }
    }
    let moves = |write: &Write| {
        let others = writes.iter().map(|(_, other)| other);
        matches!(write, Write::Delete { .. })
            && others
                .into_iter()
                .any(|other| matches!(other, Write::Put { .. }) && other.table() == write.table())
    };
    if writes.iter().any(|(_, write)| moves(write)) {
        let _ = writeln!(text, "{MARK} an item once: where the key stays the same, the Put alone");
    }
    text
}

fn command(name: &str, input: &Doc) -> String {
    format!("aws dynamodb {name} --cli-input-json {}", argument(&input.print()))
}

impl Request {
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Get { table, key } => {
                let input =
                    map([("TableName", text(table)), ("ConsistentRead", truth(true)), ("Key", cells(key))]);
                command("get-item", &input)
            }
            Self::BatchGet { table, keys } => {
                let keys = Doc::List(keys.iter().map(cells).collect());
                let of = map([("ConsistentRead", truth(true)), ("Keys", keys)]);
                let items = Doc::Map(vec![(table.clone(), of)]);
                let what = format!("{MARK} up to 100 keys at once, each key once\n");
                what + &command("batch-get-item", &map([("RequestItems", items)]))
            }
            Self::Scan { table, index, only } => {
                let mut fields = asked(table, index.as_deref());
                if let Some((name, test)) = only {
                    let mut of = Expression::default();
                    let test = self::test(&mut of, name, test);
                    fields.push(("FilterExpression".to_owned(), text(test)));
                    fields.extend(of.fields());
                }
                command("scan", &Doc::Map(fields))
            }
            Self::Nothing { table } => format!("{MARK} no key of {table} is in this range: nothing is asked"),
            Self::Query { table, index, partition, sort, backwards, limit } => {
                let fields = asked(table, index.as_deref());
                command("query", &query(fields, partition, sort.as_ref(), *backwards, limit.as_ref()))
            }
        }
    }
}

/// Where several items are asked for. A global index is never consistent.
fn asked(table: &str, index: Option<&Indexed>) -> Vec<(String, Doc)> {
    let mut all = vec![("TableName".to_owned(), text(table))];
    all.extend(index.map(|index| ("IndexName".to_owned(), text(&index.name))));
    if index.is_none_or(|index| index.local) {
        all.push(("ConsistentRead".to_owned(), truth(true)));
    }
    all
}

fn query(
    mut fields: Vec<(String, Doc)>,
    (key, bound): &(String, Bound),
    sort: Option<&(String, Test)>,
    backwards: bool,
    limit: Option<&Bound>,
) -> Doc {
    let mut of = Expression::default();
    let mut condition = format!("{} = {}", of.name(key), of.value(key, bound));
    if let Some((name, test)) = sort {
        let _ = write!(condition, " AND {}", self::test(&mut of, name, test));
    }
    fields.push(("KeyConditionExpression".to_owned(), text(condition)));
    fields.extend(of.fields());
    if backwards {
        fields.push(("ScanIndexForward".to_owned(), truth(false)));
    }
    if let Some(limit) = limit {
        let limit = match limit {
            Bound::Value(Dynamo::N(rows)) => Doc::Plain(rows.clone()),
            Bound::Value(_) => Doc::Plain("1".to_owned()),
            Bound::Slot { text: slot, .. } => text(slot),
        };
        fields.push(("Limit".to_owned(), limit));
    }
    Doc::Map(fields)
}

/// A condition on a sort key.
fn test(of: &mut Expression, name: &str, test: &Test) -> String {
    let key = of.name(name);
    match test {
        Test::AtLeast(low) => format!("{key} >= {}", of.value(name, low)),
        Test::AtMost(high) => format!("{key} <= {}", of.value(name, high)),
        Test::Above(low) => format!("{key} > {}", of.value(name, low)),
        Test::Below(high) => format!("{key} < {}", of.value(name, high)),
        Test::Between(low, high) if low == high => format!("{key} = {}", of.value(name, low)),
        Test::Between(low, high) => {
            format!("{key} BETWEEN {} AND {}", of.value("from", low), of.value("to", high))
        }
        Test::Starts(start) => format!("begins_with({key}, {})", of.value(name, start)),
    }
}

impl Write {
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Transaction { writes, token } => {
                let one = |(_, write): &Repeated| Doc::Map(vec![(write.word().to_owned(), write.doc())]);
                let items = Doc::List(writes.iter().map(one).collect());
                let token = match token {
                    Bound::Slot { text: slot, .. } => text(slot),
                    Bound::Value(Dynamo::S(token)) => text(token),
                    Bound::Value(_) => text(""),
                };
                let input = map([("TransactItems", items), ("ClientRequestToken", token)]);
                command("transact-write-items", &input)
            }
            Self::Batch { table, items } => {
                let one = |item| map([("PutRequest", map([("Item", cells(item))]))]);
                let items = Doc::List(items.iter().map(one).collect());
                let input = map([("RequestItems", Doc::Map(vec![(table.clone(), items)]))]);
                command("batch-write-item", &input)
            }
            Self::Put { .. } => command("put-item", &self.doc()),
            Self::Update { .. } => command("update-item", &self.doc()),
            Self::Delete { .. } => command("delete-item", &self.doc()),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Put { .. } => "Put",
            Self::Update { .. } => "Update",
            Self::Delete { .. } => "Delete",
            Self::Transaction { .. } => "Transaction",
            Self::Batch { .. } => "Batch",
        }
    }

    fn table(&self) -> &str {
        match self {
            Self::Put { table, .. }
            | Self::Update { table, .. }
            | Self::Delete { table, .. }
            | Self::Batch { table, .. } => table,
            Self::Transaction { .. } => "",
        }
    }

    /// What the request and an action of a transaction have in common.
    fn doc(&self) -> Doc {
        let mut of = Expression::default();
        let mut fields = vec![("TableName".to_owned(), text(self.table()))];
        let only = match self {
            Self::Put { item, only, .. } => {
                fields.push(("Item".to_owned(), cells(item)));
                only
            }
            Self::Delete { key, only, .. } => {
                fields.push(("Key".to_owned(), cells(key)));
                only
            }
            Self::Update { key, set, remove, only, .. } => {
                fields.push(("Key".to_owned(), cells(key)));
                fields.push(("UpdateExpression".to_owned(), text(changes(&mut of, set, remove))));
                only
            }
            Self::Transaction { .. } | Self::Batch { .. } => &None,
        };
        if let Some(only) = only {
            fields.push(("ConditionExpression".to_owned(), text(condition(&mut of, only))));
        }
        fields.extend(of.fields());
        Doc::Map(fields)
    }
}

fn changes(of: &mut Expression, set: &[(String, Bound)], remove: &[String]) -> String {
    let set: Vec<String> =
        set.iter().map(|(name, bound)| format!("{} = {}", of.name(name), of.value(name, bound))).collect();
    let remove: Vec<String> = remove.iter().map(|name| of.name(name)).collect();
    let parts = [("SET", set), ("REMOVE", remove)];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    parts.map(|(word, names)| format!("{word} {}", names.join(", "))).collect::<Vec<_>>().join(" ")
}

fn condition(of: &mut Expression, only: &Only) -> String {
    match only {
        Only::Without(name) => format!("attribute_not_exists({})", of.name(name)),
        Only::With(name, bound) => format!("{} = {}", of.name(name), of.value("read", bound)),
        Only::Before(name, bound) => {
            let own = of.name(name);
            format!("attribute_not_exists({own}) OR {own} < {}", of.value(name, bound))
        }
    }
}
