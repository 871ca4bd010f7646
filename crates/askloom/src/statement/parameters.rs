//! `name=value` as the model types it. Everything that is wrong is told at once, each with what is expected.

use super::{Statement, nearest};
use crate::error::Error;
use askloom_engine::execute::Arguments;
use askloom_model::{
    ClassId, Conceptual, FieldError, Member, Model, ParameterType, Type, Value, WriteStep, from_text,
    identity_types, parameter_from_json,
};
use std::fmt;

/// Something that a statement takes.
#[derive(Debug)]
pub struct Expected {
    pub name: String,
    pub ty: ParameterType,
    optional: bool,
}

impl Expected {
    pub fn is_optional(&self) -> bool {
        self.optional
    }
}

/// The values of a statement's parameters, from words such as `name=value`. Everything that is wrong is told at once.
pub fn arguments(
    model: &Model,
    statement: Statement<'_>,
    words: &[impl AsRef<str>],
) -> Result<Arguments, WrongArguments> {
    let conceptual = &model.conceptual;
    let expected = expected(conceptual, statement);
    let mut arguments = Arguments::new();
    let mut wrong = Vec::new();
    for word in words {
        match given(conceptual, &expected, word.as_ref()) {
            Ok((name, value)) => {
                if arguments.insert(name.clone(), value).is_some() {
                    wrong.push(format!("`{name}` is given twice"));
                }
            }
            Err(why) => wrong.push(why),
        }
    }
    let named = |word: &str, name: &str| split(word).is_some_and(|(given, _)| given == name);
    for missing in expected.iter().filter(|expected| !expected.optional) {
        // One that was given and is wrong is not missing too.
        if !words.iter().any(|word| named(word.as_ref(), &missing.name)) {
            wrong.push(format!("`{}` is missing: {}", missing.name, in_words(conceptual, &missing.ty)));
        }
    }
    if wrong.is_empty() {
        return Ok(arguments);
    }
    let usage: String = expected.iter().map(usage).collect();
    Err(WrongArguments { wrong, usage: format!("{}{usage}", statement.name()) })
}

/// The same from a JSON object.
pub fn arguments_from_json(
    model: &Model,
    statement: Statement<'_>,
    json: &serde_json::Value,
) -> Result<Arguments, String> {
    let Some(object) = json.as_object() else {
        return Err("it takes an object with a parameter's name for each key".to_owned());
    };
    let words: Vec<String> = object.iter().map(|(name, value)| format!("{name}:={value}")).collect();
    // How words are given is nothing to a file.
    arguments(model, statement, &words).map_err(|wrong| wrong.to_string())
}

/// What is wrong with the values that somebody gave a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongArguments {
    pub wrong: Vec<String>,
    /// The statement with all that it takes, as in `setScore username=… [score=…]`.
    pub usage: String,
}

impl fmt::Display for WrongArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.wrong.join("\n       "))
    }
}

impl std::error::Error for WrongArguments {}

impl From<WrongArguments> for Error {
    fn from(wrong: WrongArguments) -> Self {
        Self::Call(wrong.to_string())
    }
}

fn usage(expected: &Expected) -> String {
    match expected.optional {
        true => format!(" [{}=…]", expected.name),
        false => format!(" {}=…", expected.name),
    }
}

/// All that a statement takes.
pub fn expected(conceptual: &Conceptual, statement: Statement<'_>) -> Vec<Expected> {
    match statement {
        Statement::Query(query) => query.parameters.iter().map(declared).collect(),
        Statement::Ask(ask) => ask.keys.iter().map(|&class| key(conceptual, class)).collect(),
        Statement::Write(write) => {
            let mut all: Vec<Expected> = write.parameters.iter().map(declared).collect();
            for class in write.steps.iter().filter_map(WriteStep::fields_of) {
                for member in conceptual.all_members(class) {
                    all.extend(
                        field(conceptual, member).filter(|field| all.iter().all(|e| e.name != field.name)),
                    );
                }
            }
            all
        }
    }
}

fn declared(parameter: &askloom_model::Parameter) -> Expected {
    Expected { name: parameter.name.clone(), ty: parameter.ty.clone(), optional: false }
}

/// An `ask` is given the ids of its key classes by the names of the classes.
fn key(conceptual: &Conceptual, class: ClassId) -> Expected {
    let name = conceptual.classes[class].name.clone();
    Expected { name, ty: ParameterType::Identity(class), optional: false }
}

fn field(conceptual: &Conceptual, member: Member) -> Option<Expected> {
    let (ty, optional) = conceptual.insertable(member)?;
    Some(Expected { name: conceptual.member_name(member).to_owned(), ty, optional })
}

/// `name=value`, or `name:=JSON`. A name in back-quotes may have such signs itself; then the first one counts.
fn split(word: &str) -> Option<(&str, Text<'_>)> {
    let (name, value) = word.split_once('=')?;
    Some(match name.strip_suffix(':') {
        Some(name) => (name, Text::Json(value)),
        None => (name, Text::Plain(value)),
    })
}

#[derive(Debug, Clone, Copy)]
enum Text<'t> {
    Plain(&'t str),
    Json(&'t str),
}

fn given(conceptual: &Conceptual, expected: &[Expected], word: &str) -> Result<(String, Value), String> {
    let (name, text) = split(word).ok_or_else(|| format!("`{word}` is not of the form name=value"))?;
    let Some(found) = expected.iter().find(|expected| expected.name == name) else {
        let names = || expected.iter().map(|expected| expected.name.as_str());
        let hint = match nearest(name, names()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if expected.is_empty() => "; it takes none".to_owned(),
            None => format!("; it takes {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(format!("there is no parameter `{name}`{hint}"));
    };
    let value = value(conceptual, &found.ty, text).map_err(|why| match found.ty {
        // These say their type themselves.
        ParameterType::Basic(_) => format!("`{name}`: {why}"),
        ParameterType::Identity(_) | ParameterType::Whole(_) | ParameterType::List(_) => {
            format!("`{name}`: {why}; it takes {}", in_words(conceptual, &found.ty))
        }
    })?;
    Ok((name.to_owned(), value))
}

fn value(conceptual: &Conceptual, ty: &ParameterType, text: Text<'_>) -> Result<Value, String> {
    let text = match text {
        Text::Json(text) => return from_json(conceptual, ty, text),
        Text::Plain(text) => text,
    };
    match ty {
        ParameterType::Basic(ty) => from_text(text, ty).map_err(|error| error.0),
        ParameterType::Identity(class) => match identity_types(conceptual, *class).as_slice() {
            [only] => {
                let part = from_text(text, only).map_err(|error| error.0)?;
                Ok(Value::Reference(vec![part]))
            }
            _several => from_json(conceptual, &ParameterType::Identity(*class), text),
        },
        ParameterType::Whole(_) | ParameterType::List(_) => from_json(conceptual, ty, text),
    }
}

fn from_json(conceptual: &Conceptual, ty: &ParameterType, text: &str) -> Result<Value, String> {
    let json = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    let one = |error: FieldError| match error.path.as_str() {
        "" => error.message,
        path => format!("`{path}`: {}", error.message),
    };
    parameter_from_json(conceptual, ty, &json)
        .map_err(|errors| errors.into_iter().map(one).collect::<Vec<_>>().join(", "))
}

/// What a parameter takes, as the end of a sentence.
fn in_words(conceptual: &Conceptual, ty: &ParameterType) -> String {
    match ty {
        ParameterType::Basic(Type::Json) => "JSON".to_owned(),
        ParameterType::Basic(ty) => ty.to_string(),
        ParameterType::Identity(class) => {
            let types: Vec<String> =
                identity_types(conceptual, *class).iter().map(ToString::to_string).collect();
            let name = &conceptual.classes[*class].name;
            match types.as_slice() {
                [only] => format!("the id of a {name}, {only}"),
                several => format!("the id of a {name}, a JSON list of {}", several.join(", ")),
            }
        }
        ParameterType::Whole(class) => format!("a {} as JSON", conceptual.classes[*class].name),
        ParameterType::List(of) => format!("a JSON list, each {}", in_words(conceptual, of)),
    }
}
