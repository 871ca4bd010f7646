//! A design from its text, with everything that is wrong with it named at its place.

use super::condition::short;
use super::locate::{Step, locate};
use super::path::Paths;
use super::{FORMAT, doubled, rules, sound};
use crate::method::Method;
use askloom_model::{
    ClassId, Code, Collection, Conceptual, Contents, Design, Diagnostic, FileId, Hop, Id, Keeper, KeyField,
    Member, Model, Nodes, Origin, Path, Position, PositionId, Role, Source, Span, Table,
};
use serde_json::{Map, Value as Json};

type Object = Map<String, Json>;

/// The design that a text stands for. Everything that is wrong is said, not the first thing alone; places are spans of
/// the text, in the file of number 0.
pub fn from_json(model: &Model, text: &str) -> Result<Design, Vec<Diagnostic>> {
    let json: Json = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => return Err(vec![not_json(text, &error)]),
    };
    let mut reader = Reader { conceptual: &model.conceptual, text, place: Vec::new(), found: Vec::new() };
    // Another form has other members: before the number is known to be right, nothing else can be called wrong.
    if !reader.has_our_format(&json) {
        return Err(reader.found);
    }
    reader.no_name_twice();
    let design = reader.design(&json);
    match design {
        Some(design) if reader.found.is_empty() => Ok(design),
        Some(_) | None => Err(reader.found),
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> Diagnostic {
    let before = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let at = (before + error.column().saturating_sub(1)).min(text.len());
    Diagnostic::new(Code::DesignMalformed, span(at, at), format!("this is not JSON: {error}")).hint(ANEW)
}

/// What [`simple`](crate::simple) calls itself: no method of the command line, and a design all the same.
const SIMPLE: &str = "simple";

/// What helps whatever is wrong.
const ANEW: &str = "`askloom design --save` writes it anew";

fn span(start: usize, end: usize) -> Span {
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(FileId(0), number(start), number(end))
}

pub(super) struct Reader<'m> {
    pub(super) conceptual: &'m Conceptual,
    text: &'m str,
    place: Vec<Step>,
    found: Vec<Diagnostic>,
}

impl<'m> Reader<'m> {
    pub(super) fn say(&mut self, code: Code, message: &str) {
        let (start, end) = locate(self.text, &self.place);
        let mut way = String::new();
        for step in &self.place {
            match step {
                Step::Key(key) if way.is_empty() => way.push_str(key),
                Step::Key(key) => way.push_str(&format!(".{key}")),
                Step::Index(index) => way.push_str(&format!("[{index}]")),
            }
        }
        let message = if way.is_empty() { message.to_owned() } else { format!("{way}: {message}") };
        self.found.push(Diagnostic::new(code, span(start, end), message));
    }

    /// The same with what to do about it.
    pub(super) fn say_with_hint(&mut self, message: &str, hint: impl Into<String>) {
        self.say(Code::DesignMalformed, message);
        if let Some(last) = self.found.pop() {
            self.found.push(last.hint(hint));
        }
    }

    fn malformed(&mut self, message: &str) {
        self.say(Code::DesignMalformed, message);
    }

    fn unknown(&mut self, message: &str) {
        self.say(Code::DesignOfAnotherModel, message);
    }

    pub(super) fn within<T>(&mut self, step: Step, read: impl FnOnce(&mut Self) -> T) -> T {
        self.place.push(step);
        let read = read(self);
        self.place.pop();
        read
    }

    pub(super) fn key<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.within(Step::Key(key.to_owned()), read)
    }

    /// The members of an object that has these and no others. Those in brackets may be left out.
    fn object<'j>(&mut self, json: &'j Json, must: &[&str], may: &[&str]) -> Option<&'j Object> {
        let Some(object) = json.as_object() else {
            self.malformed(&format!("an object is expected here, not {}", short(json)));
            return None;
        };
        for key in object.keys().filter(|key| !must.contains(&key.as_str()) && !may.contains(&key.as_str())) {
            self.key(key, |reader| reader.malformed("nothing of this name belongs here"));
        }
        let mut complete = true;
        for key in must.iter().filter(|key| !object.contains_key(**key)) {
            self.malformed(&format!("`{key}` is missing"));
            complete = false;
        }
        complete.then_some(object)
    }

    fn text<'j>(&mut self, object: &'j Object, key: &str) -> Option<&'j str> {
        match object.get(key) {
            Some(Json::String(text)) => Some(text),
            Some(other) => {
                let message = format!("a text is expected here, not {}", short(other));
                self.key(key, |reader| reader.malformed(&message));
                None
            }
            None => None,
        }
    }

    /// Each item of a list; nothing if one of them could not be read.
    fn list<T>(
        &mut self,
        object: &Object,
        key: &str,
        mut read: impl FnMut(&mut Self, &Json) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.key(key, |reader| {
            let Some(Json::Array(items)) = object.get(key) else {
                reader.malformed("a list is expected here");
                return None;
            };
            let mut found = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                found.extend(reader.within(Step::Index(index), |reader| read(reader, item)));
            }
            (found.len() == items.len()).then_some(found)
        })
    }

    fn has_our_format(&mut self, json: &Json) -> bool {
        let Some(format) = json.as_object().and_then(|object| object.get("format")) else {
            // What else is missing is said with it.
            return true;
        };
        let number = format.as_u64();
        if number == Some(FORMAT) {
            return true;
        }
        let hint = match number {
            Some(number) if number > FORMAT => {
                format!("a later askloom wrote it: use that one, or {ANEW}")
            }
            Some(_) | None => ANEW.to_owned(),
        };
        let message = format!("the format is {}, and only {FORMAT} can be read", short(format));
        self.key("format", |reader| reader.say_with_hint(&message, hint));
        false
    }

    /// JSON itself takes the last of two members of one name, and the first would be lost in silence.
    fn no_name_twice(&mut self) {
        for place in doubled::members(self.text) {
            let before = std::mem::replace(&mut self.place, place);
            self.say_with_hint("this is there twice", "keep one of the two");
            self.place = before;
        }
    }

    fn method(&mut self, object: &Object) -> Option<String> {
        let name = self.text(object, "method")?;
        let known = Method::ALL.map(Method::name);
        if name != SIMPLE && !known.contains(&name) {
            let message = format!("there is no method `{name}`");
            let hint = format!("name the one that made the design: {}", known.join(", "));
            self.key("method", |reader| reader.say_with_hint(&message, hint));
        }
        Some(name.to_owned())
    }

    fn design(&mut self, json: &Json) -> Option<Design> {
        let object = self.object(json, &["format", "method", "collections"], &[])?;
        let method = self.method(object);
        let collections = self.list(object, "collections", Reader::collection)?;
        let mut design = Design { method: method?, collections: Table::default() };
        for collection in collections {
            design.collections.push(collection);
        }
        sound::check(self, &design);
        Some(design)
    }

    fn collection(&mut self, json: &Json) -> Option<Collection> {
        let must = ["name", "role", "origin", "source", "block_key", "entry_key", "reasons"];
        let object =
            self.object(json, &must, &["keeper", "partition_of", "rules", "value", "nodes", "whole"])?;
        let name = self.text(object, "name")?.to_owned();
        let role = match self.text(object, "role")? {
            "master" => Role::Master,
            "copy" => Role::Copy,
            "index" => Role::Index,
            "carried" => Role::Carried,
            other => {
                let message = format!("a role is `master`, `copy`, `index` or `carried`, not `{other}`");
                self.key("role", |reader| reader.malformed(&message));
                return None;
            }
        };
        let origin = match self.text(object, "origin")? {
            "method" => Origin::Method,
            "added" => Origin::Added,
            other => {
                let message = format!("an origin is `method` or `added`, not `{other}`");
                self.key("origin", |reader| reader.malformed(&message));
                return None;
            }
        };
        let keeper = match object.get("keeper").map(Json::as_str) {
            None | Some(Some("ours")) => Keeper::Ours,
            Some(Some("store")) => Keeper::Store,
            Some(_) => {
                self.key("keeper", |reader| reader.malformed("a keeper is `ours` or `store`"));
                return None;
            }
        };
        let partition_of = match object.get("partition_of") {
            None => None,
            Some(_) => Some(self.partition_of(object)?),
        };
        let (source, paths) =
            self.key("source", |reader| object.get("source").and_then(|json| reader.source(json)))?;
        let block_key = self.list(object, "block_key", |reader, json| reader.key_field(&paths, json));
        let entry_key = self.list(object, "entry_key", |reader, json| reader.key_field(&paths, json));
        let contents = self.contents(object, &paths);
        let reasons = self.list(object, "reasons", |reader, json| {
            let text = json.as_str().map(str::to_owned);
            if text.is_none() {
                reader.malformed("a reason is a text");
            }
            text
        });
        Some(Collection {
            name,
            role,
            origin,
            keeper,
            partition_of,
            source,
            block_key: block_key?,
            entry_key: entry_key?,
            contents: contents?,
            reasons: reasons?,
        })
    }

    /// The class in whose partitions a master lies.
    fn partition_of(&mut self, object: &Object) -> Option<ClassId> {
        let name = self.text(object, "partition_of")?;
        let found = self.conceptual.classes.iter().find(|(_, class)| class.name == name);
        if found.is_none() {
            let message = format!("the model has no class `{name}`");
            self.key("partition_of", |reader| reader.unknown(&message));
        }
        found.map(|(class, _)| class)
    }

    fn contents(&mut self, object: &Object, paths: &Paths<'_>) -> Option<Contents> {
        let kinds = ["rules", "value", "nodes"];
        let mut there = kinds.into_iter().filter(|kind| object.contains_key(*kind));
        let fields =
            |reader: &mut Self, kind| reader.list(object, kind, |reader, json| reader.path(paths, json));
        match (there.next(), there.next()) {
            (Some("rules"), None) => {
                let rules = self.list(object, "rules", |reader, json| {
                    let text = json.as_str().unwrap_or_default();
                    rules::read(reader.conceptual, text).map_err(|why| reader.unknown(&why)).ok()
                });
                rules.map(Contents::Aggregate)
            }
            (Some("value"), None) => fields(self, "value").map(Contents::Fields),
            (Some("nodes"), None) => {
                let fields = fields(self, "nodes");
                let whole = self.list(object, "whole", |reader, json| reader.whole(paths, json));
                Some(Contents::Nested(Nodes { fields: fields?, whole: whole? }))
            }
            (_, _) => {
                self.malformed("a master has `rules`, any other collection has `value` or `nodes`");
                None
            }
        }
    }

    /// A position, by the path to it; an empty one is the root.
    fn whole(&mut self, paths: &Paths<'_>, json: &Json) -> Option<PositionId> {
        let text = json.as_str().unwrap_or("?");
        let found = paths.texts.iter().position(|known| known == text).map(PositionId::from_index);
        if found.is_none() {
            self.malformed("this is none of the paths of the source");
        }
        found
    }

    fn path(&mut self, paths: &Paths<'_>, json: &Json) -> Option<Path> {
        let Some(text) = json.as_str() else {
            self.malformed("a path is a text");
            return None;
        };
        paths.read(text).map_err(|why| self.unknown(&why)).ok()
    }

    fn key_field(&mut self, paths: &Paths<'_>, json: &Json) -> Option<KeyField> {
        let object = self.object(json, &["path", "order"], &[])?;
        let path = self.key("path", |reader| reader.path(paths, object.get("path")?));
        let descending = match self.text(object, "order")? {
            "asc" => false,
            "desc" => true,
            other => {
                let message = format!("an order is `asc` or `desc`, not `{other}`");
                self.key("order", |reader| reader.malformed(&message));
                return None;
            }
        };
        Some(KeyField { path: path?, descending })
    }

    fn class(&mut self, object: &Object, key: &str) -> Option<ClassId> {
        let name = self.text(object, key)?;
        let found = self.conceptual.classes.iter().find(|(_, class)| class.name == name).map(|(id, _)| id);
        if found.is_none() {
            let message = format!("no entity is called `{name}`");
            self.key(key, |reader| reader.unknown(&message));
        }
        found
    }

    fn source(&mut self, json: &Json) -> Option<(Source, Paths<'m>)> {
        let object = self.object(json, &["root", "paths", "condition"], &[])?;
        let root = self.class(object, "root")?;
        let main = Position { class: Some(root), from: None, outer: false, alias: None };
        let mut paths = Paths { conceptual: self.conceptual, positions: Table::default(), texts: Vec::new() };
        paths.positions.push(main);
        paths.texts.push(String::new());
        self.list(object, "paths", |reader, json| {
            let (text, position) = reader.position(&paths, json)?;
            paths.positions.push(position);
            paths.texts.push(text);
            Some(())
        })?;
        let condition = match object.get("condition") {
            None | Some(Json::Null) => None,
            Some(json) => Some(self.key("condition", |reader| reader.condition(&paths, json))?),
        };
        Some((Source { root, positions: paths.positions.clone(), condition }, paths))
    }

    fn position(&mut self, paths: &Paths<'_>, json: &Json) -> Option<(String, Position)> {
        let object = self.object(json, &["path", "join"], &["as"])?;
        let text = self.text(object, "path")?;
        let outer = match self.text(object, "join")? {
            "left" => true,
            "inner" => false,
            other => {
                let message = format!("a join is `inner` or `left`, not `{other}`");
                self.key("join", |reader| reader.malformed(&message));
                return None;
            }
        };
        let alias = if object.contains_key("as") { Some(self.text(object, "as")?.to_owned()) } else { None };
        if paths.texts.iter().any(|known| known == text) {
            self.key("path", |reader| reader.malformed("this path is there already"));
            return None;
        }
        let read = paths.read_position(text);
        let (parent, step) = self.key("path", |reader| read.map_err(|why| reader.unknown(&why)).ok())?;
        let class = match step {
            Member::End(end) => Some(self.conceptual.ends[end].target),
            Member::Attribute(_) => None,
        };
        Some((text.to_owned(), Position { class, from: Some(Hop { parent, step }), outer, alias }))
    }

    fn condition(&mut self, paths: &Paths<'_>, json: &Json) -> Option<askloom_model::Condition> {
        let object = self.object(json, &["text", "tree"], &[])?;
        let text = self.text(object, "text")?;
        let read = paths.read_condition(object.get("tree")?);
        let condition = self.key("tree", |reader| read.map_err(|why| reader.unknown(&why)).ok())?;
        let said = paths.condition_text(&condition);
        if said != text {
            let message = format!("the text is not what the tree says, which is `{said}`");
            self.key("text", |reader| reader.malformed(&message));
            return None;
        }
        Some(condition)
    }
}
