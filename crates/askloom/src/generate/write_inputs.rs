//! The values of a write that `--params` gives besides its parameters: versions that were read, and the clock.

use askloom_model::{CollectionId, Precision, Type, Value, from_json};
use askloom_plan::layout::Layout;
use askloom_plan::lower::Arguments;
use askloom_plan::program::{Needs, Preconditions, Program, Versioned, WriteInputs};
use serde_json::{Map, Value as Json};

/// It starts no name of a model.
const MARK: char = '$';
const VERSION: &str = "$version";
const STAMP: &str = "$stamp";
const EXPIRES: &str = "$expires";

const STAMP_IS: &str =
    "a number, more than the version that was read and not less than the clock in microseconds since 1970";
const EXPIRES_IS: &str = "when readers no longer see what is made, such as \"2030-01-31T12:00:00Z\"";

/// The version of an aggregate; nothing where there was none.
type Read = (CollectionId, Vec<Value>, Option<u64>);

/// The values of a statement.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) arguments: Arguments,
    version: Option<Json>,
    stamp: Option<u64>,
    expires: Option<jiff::Timestamp>,
}

impl Given {
    /// Takes what is no parameter out of an object.
    pub(super) fn beside(object: &mut Map<String, Json>, write: bool) -> Result<Self, String> {
        let mut given = Self::default();
        let marked: Vec<String> = object.keys().filter(|name| name.starts_with(MARK)).cloned().collect();
        for name in marked {
            let json = object.remove(&name).unwrap_or_default();
            match name.as_str() {
                _any if !write => return Err(format!("`{name}` is for writes, and this is a query")),
                VERSION => given.version = Some(json),
                STAMP => {
                    let stamp = json.as_u64().filter(|stamp| *stamp > 0);
                    given.stamp = Some(stamp.ok_or_else(|| format!("`{STAMP}` is {STAMP_IS}"))?);
                }
                EXPIRES => match from_json(&json, &Type::Timestamp(Precision::Millis)) {
                    Ok(Value::Timestamp(at)) => given.expires = Some(at),
                    Ok(_) | Err(_) => return Err(format!("`{EXPIRES}` is {EXPIRES_IS}")),
                },
                _other => {
                    return Err(format!("there is no `{name}`; there are {VERSION}, {STAMP} and {EXPIRES}"));
                }
            }
        }
        Ok(given)
    }
}

/// Puts values beside the parameters into writes.
pub(super) struct Completion<'c> {
    pub(super) layout: &'c Layout,
    /// Those that the store's statements have.
    pub(super) inputs: WriteInputs,
}

impl Completion<'_> {
    /// Puts the given values into a write. Those that the store's statements still lack are an error, which says how to
    /// give them.
    pub(super) fn complete(&self, program: &mut Program, given: &Given) -> Result<(), String> {
        let all = program.versioned(self.layout);
        let versions = match &given.version {
            Some(json) => self.versions(&all, json)?,
            None => Vec::new(),
        };
        program.add_preconditions(&Preconditions {
            versions,
            stamp: given.stamp,
            ..Preconditions::default()
        });
        if let Some(at) = given.expires {
            program.expire(at);
        }
        let missing = self.missing(&all, &program.needs(self.layout, &self.inputs));
        if missing.is_empty() { Ok(()) } else { Err(missing.join("\n       ")) }
    }

    /// One sentence for each value that is missing.
    fn missing(&self, all: &[Versioned], needs: &Needs) -> Vec<String> {
        let open: Vec<&Versioned> = needs.versions.iter().collect();
        let version = || format!("`{VERSION}` is missing: {}", self.version_is(all, &open));
        let version = (!open.is_empty()).then(version);
        let stamp = needs.stamp.then(|| format!("`{STAMP}` is missing: {STAMP_IS}"));
        let expires = needs.expires.then(|| format!("`{EXPIRES}` is missing: {EXPIRES_IS}"));
        [version, stamp, expires].into_iter().flatten().collect()
    }

    fn name(&self, of: &Versioned) -> &str {
        self.layout.table(of.table).map(|table| table.name.as_str()).unwrap_or_default()
    }

    fn version_is(&self, all: &[Versioned], open: &[&Versioned]) -> String {
        let mut names: Vec<&str> = open.iter().map(|of| self.name(of)).collect();
        names.dedup();
        let names = names.join(", ");
        match all {
            [_one] => format!("the version that was read of {names}, a number, or null if there was none"),
            _several => format!(
                "the versions that were read of {names}, by collection, such as {{\"{}\": 3}}, with a list for \
                 several of one in the order in which they are read; null if there was none",
                open.first().map(|of| self.name(of)).unwrap_or_default()
            ),
        }
    }

    /// One version for one aggregate, or versions by collection.
    fn versions(&self, all: &[Versioned], json: &Json) -> Result<Vec<Read>, String> {
        let every: Vec<&Versioned> = all.iter().collect();
        let wrong = || format!("`{VERSION}` is {}", self.version_is(all, &every));
        let pair = |of: &Versioned, json: &Json| {
            let version = if json.is_null() { None } else { Some(json.as_u64().ok_or_else(wrong)?) };
            Ok::<Read, String>((of.table, of.id.clone(), version))
        };
        let Json::Object(by_name) = json else {
            return match all {
                [] => Err(format!("`{VERSION}`: it goes by no aggregate that is known before it is run")),
                [only] => Ok(vec![pair(only, json)?]),
                _several => Err(wrong()),
            };
        };
        let mut versions = Vec::new();
        for (name, json) in by_name {
            let own: Vec<&Versioned> = all.iter().filter(|of| self.name(of) == name).collect();
            let given = json.as_array().map_or_else(|| std::slice::from_ref(json), Vec::as_slice);
            if own.is_empty() || own.len() != given.len() {
                return Err(format!("`{VERSION}`: it goes by {} of `{name}`; {}", own.len(), wrong()));
            }
            for (of, json) in own.into_iter().zip(given) {
                versions.push(pair(of, json)?);
            }
        }
        Ok(versions)
    }
}
