//! A design in the words of a store: definitions, and one block of statements for each query and write.

use askloom_model::{Capability, Value};
use askloom_plan::layout::{Layout, Table};
pub use askloom_plan::lower::Statement;
use askloom_plan::program::{
    Batch, Change, ChangeKind, EachChange, Program, Read, Step, Version, Words, WriteInputs,
};

/// What is to be said in a store's own language.
#[derive(Debug)]
pub struct Source<'s> {
    pub layout: &'s Layout,
    pub statements: Vec<Statement>,
    /// Records that are to be put in, for trying it out.
    pub sample: Vec<Sample>,
    pub options: Options,
}

/// A record with all its values.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    /// Of a copy: a value for each column.
    Row { table: askloom_model::CollectionId, cells: Vec<Value> },
    /// Of a master: all records of one aggregate.
    Block { table: askloom_model::CollectionId, block: Box<askloom_plan::layout::Block> },
}

impl Sample {
    /// The name of the collection that the record is of.
    #[must_use]
    pub fn collection<'l>(&self, layout: &'l Layout) -> &'l str {
        let (Self::Row { table, .. } | Self::Block { table, .. }) = self;
        layout.table(*table).map(|table| table.name.as_str()).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Goes before the name of every table or key.
    pub prefix: String,
    /// As the papers print it, their slips included.
    pub faithful: bool,
    /// What `[target.NAME]` of askloom.toml says about definitions, by the names there.
    pub settings: serde_json::Map<String, serde_json::Value>,
}

/// What a store's own language makes of a design.
pub trait Language: std::fmt::Debug + Sync {
    /// Everything, as files.
    fn generate(&self, source: &Source<'_>) -> Generated;

    /// One read by itself.
    fn read(&self, layout: &Layout, options: &Options, read: &Read) -> String;

    /// The statements that put one record in.
    fn put(&self, layout: &Layout, options: &Options, sample: &Sample) -> String;

    /// Which slots the statements of writes have besides those of parameters.
    fn write_inputs(&self, layout: &Layout, options: &Options) -> WriteInputs;

    /// Says what is wrong with the settings of `[target.NAME]`. A store that knows none refuses all.
    fn settings(
        &self,
        _layout: &Layout,
        given: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<(), String> {
        given.keys().next().map_or(Ok(()), |name| Err(format!("there is no `{name}`; there are no settings")))
    }
}

/// Why nothing of a design can be said in the language of a store, a line each; empty if it can.
#[must_use]
pub fn not_said(capability: &Capability, layout: &Layout) -> Vec<String> {
    let others = layout.tables().iter().filter(|table| table.named_by() != table.collection);
    let one = |table: &Table| {
        let of = layout.table(table.named_by()).map_or("", |table| table.name.as_str());
        format!(
            "`{}` lies in the partitions of `{of}`, which is not generated for this store yet",
            table.name
        )
    };
    others.filter(|_| !capability.shares_tables).map(one).collect()
}

/// Files for a folder, the definitions first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Generated {
    pub files: Vec<File>,
    /// What people should know before they run it.
    pub notes: Vec<String>,
    /// What the store would refuse, as it is too large: nothing of it is to be run then.
    pub refused: Vec<String>,
}

/// What the store would refuse of all steps and records, each with whose it is.
pub(crate) fn refused(
    source: &Source<'_>,
    step: impl Fn(&Step) -> Vec<String>,
    record: impl Fn(&Sample) -> Vec<String>,
) -> Vec<String> {
    let mut all = Vec::new();
    for Statement { program, .. } in &source.statements {
        let why = program.steps.iter().flat_map(&step);
        all.extend(why.map(|why| format!("{}: {why}", program.name)));
    }
    for sample in &source.sample {
        let name = sample.collection(source.layout);
        all.extend(record(sample).into_iter().map(|why| format!("a record of {name}: {why}")));
    }
    all.dedup();
    all
}

/// Why something cannot be stored. Nothing if it can.
pub(crate) fn too_large(what: &str, size: usize, most: usize, store: &str) -> Option<String> {
    (size > most).then(|| format!("{what} has {size} bytes, and {store} takes {most} at most"))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// `schema.cql`
    pub name: String,
    /// How it is run: `cqlsh -f schema.cql`. Nothing if it is to be read and pasted from.
    pub run: Option<String>,
    pub blocks: Vec<Block>,
}

/// A part of a file that belongs together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The statement of the model, or the collection, that it serves.
    pub of: String,
    /// With its comments.
    pub text: String,
    /// Whether it can be pasted and run as it stands once its slots are filled.
    pub whole: bool,
}

impl File {
    #[must_use]
    pub fn text(&self) -> String {
        let blocks: Vec<&str> = self.blocks.iter().map(|block| block.text.trim_end()).collect();
        let mut text = blocks.join("\n\n");
        text.push('\n');
        text
    }
}

/// The comments before a block: what the model says, then what is done.
#[must_use]
pub fn heading(mark: &str, statement: &Statement) -> String {
    let kind = if statement.write { "write" } else { "query" };
    let mut text = comment(mark, &format!("{kind} {}", statement.program.name));
    for line in statement.text.split(ENDS).map(str::trim_end).filter(|line| !line.is_empty()) {
        text.push_str(&comment(mark, &format!("  {line}")));
    }
    if let Some(form) = statement.program.missing {
        text.push_str(&comment(mark, &format!("not generated yet: {form}; `askloom run` carries it out")));
    }
    text
}

/// What is said of each statement whose text is not generated yet.
#[must_use]
pub fn missing(statements: &[Statement]) -> Vec<String> {
    let note = |program: &Program| {
        let form = program.missing?;
        Some(format!("`{}` is left out: {form} is not generated yet", program.name))
    };
    statements.iter().filter_map(|statement| note(&statement.program)).collect()
}

/// What ends a line somewhere: in JavaScript and in CQL a comment, too.
const ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// A line that no shell runs, whatever is in it.
#[must_use]
pub fn comment(mark: &str, text: &str) -> String {
    let plain = |letter: char| if letter.is_control() || ENDS.contains(&letter) { ' ' } else { letter };
    let text: String = text.chars().map(plain).collect();
    format!("{mark} {text}\n")
}

/// The block of a statement: what the model says, each step under its heading, and what is left to the client.
#[must_use]
pub fn block(
    mark: &str,
    layout: &Layout,
    statement: &Statement,
    said: impl Fn(&Words<'_>, &Step) -> String,
) -> Block {
    let program = &statement.program;
    let words = program.words(layout);
    let mut text = heading(mark, statement);
    for (index, step) in program.steps.iter().enumerate() {
        text.push_str(&step_heading(mark, &words, index + 1, program.steps.len(), step));
        text.push_str(&said(&words, step));
    }
    text.push_str(&client_line(mark, program));
    Block { of: program.name.clone(), text, whole: program.is_direct() }
}

/// Statements one after another, each with what it is repeated for.
pub fn repeated(
    mark: &str,
    words: &Words<'_>,
    all: impl IntoIterator<Item = (EachChange, String)>,
) -> String {
    let mut text = String::new();
    for (each, statement) in all {
        if let Some(each) = words.change(each) {
            text.push_str(&comment(mark, &format!("for each {each}:")));
        }
        text.push_str(&statement);
        text.push('\n');
    }
    text
}

/// What is said before changes that the versions of former aggregates stand in the way of.
pub(crate) fn former(mark: &str, batch: &Batch) -> String {
    let mut text = String::new();
    let open = |change: &&Change| batch.version(change.table, change.kind.terms()) == Version::Slot;
    let changes = || batch.changes.iter().filter(open);
    let creates = |change: &&Change| matches!(change.kind, ChangeKind::Create(_));
    if changes().any(|change| creates(&change)) {
        text.push_str(&comment(
            mark,
            "refused if one of this id was deleted: the version that it left is \"$version\" in --params",
        ));
    }
    if changes().filter(creates).any(|change| change.expires.is_some()) {
        text.push_str(&comment(mark, "one that has expired and is still stored is to be deleted first"));
    }
    let replaces =
        |change: &Change| matches!(change.kind, ChangeKind::Replace(_)) && change.expires.is_some();
    if changes().any(replaces) {
        text.push_str(&comment(
            mark,
            "if what was read has expired, delete it first: members that are not given would stay as they were",
        ));
    }
    text
}

/// What is said before one step.
#[must_use]
pub fn step_heading(mark: &str, words: &Words<'_>, number: usize, of: usize, step: &Step) -> String {
    let number = if of > 1 { format!("{number}. ") } else { String::new() };
    let note = words.note(&step.note);
    match words.each(&step.each) {
        Some(each) => comment(mark, &format!("{number}for each {each}: {note}")),
        None => comment(mark, &format!("{number}{note}")),
    }
}

/// What is said after the steps: what the store does not do.
#[must_use]
pub fn client_line(mark: &str, program: &Program) -> String {
    if program.client.is_empty() {
        return String::new();
    }
    let words: Vec<&str> = program.client.iter().map(|client| client.word()).collect();
    comment(mark, &format!("then, on the client: {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_plan::program::{Each, Note, Start};

    #[test]
    fn nothing_of_a_model_gets_out_of_a_comment() {
        let text =
            "SELECT a\r FROM A\u{2028}db.dropDatabase();\u{2029}x\u{85}y\u{b}z\u{c}w\n\u{1b}[2J /* */ -- //";
        let (conceptual, design) = (askloom_model::Conceptual::default(), askloom_model::Design::default());
        let layout = Layout::new(&conceptual, &design);
        let program = Program {
            name: "q\rDROP".to_owned(),
            parameters: Vec::new(),
            steps: Vec::new(),
            retrieval: None,
            client: Vec::new(),
            missing: None,
        };
        let words = program.words(&layout);
        let step = Step {
            note: Note::Start(Start::KeyLookup { list: "what\r\nit \u{2028} is".to_owned() }),
            each: Each::Rows(Vec::new()),
            action: askloom_plan::program::Action::Read(Read::new(
                askloom_model::Id::from_index(0),
                askloom_plan::program::How::All,
            )),
        };
        let statement = Statement { program: program.clone(), text: text.to_owned(), write: false };
        let lines = [heading("//", &statement), step_heading("//", &words, 1, 2, &step)].concat();
        let lines = lines + &comment("//", "for each a\u{2029}b:");
        let lines = lines + &repeated("//", &words, [(EachChange::OldRow, "// s".to_owned())]);
        let every = lines.split(ENDS).filter(|line| !line.is_empty());
        assert!(every.clone().all(|line| line.starts_with("// ")), "{lines:?}");
        assert_eq!(every.count(), 13, "{lines:?}");
        assert!(!lines.contains('\u{1b}'));
    }
}
