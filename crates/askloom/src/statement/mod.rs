//! A statement of the model by its name, and the values that a caller gives it.

mod parameters;

pub use parameters::{Expected, WrongArguments, arguments, arguments_from_json, expected};

use crate::error::Error;
use askloom_model::{Ask, Header, Limit, Model, Query, Workload, Write};

#[derive(Debug, Clone, Copy)]
pub enum Statement<'m> {
    Query(&'m Query),
    Ask(&'m Ask),
    Write(&'m Write),
}

impl<'m> Statement<'m> {
    pub fn all(workload: &'m Workload) -> impl Iterator<Item = Self> {
        let queries = workload.queries.iter().map(Self::Query);
        let asks = workload.asks.iter().map(Self::Ask);
        queries.chain(asks).chain(workload.writes.iter().map(Self::Write))
    }

    pub fn named(model: &'m Model, name: &str) -> Result<Self, Error> {
        let found = Self::all(&model.workload).find(|statement| statement.name() == name);
        found.ok_or_else(|| Error::Call(unknown(model, name)))
    }

    pub fn header(self) -> &'m Header {
        match self {
            Self::Query(query) => &query.header,
            Self::Ask(ask) => &ask.header,
            Self::Write(write) => &write.header,
        }
    }

    /// Whether it is a query that is answered page by page.
    #[must_use]
    pub fn has_pages(self) -> bool {
        matches!(self, Self::Query(query) if matches!(query.limit, Some(Limit::Page(_))))
    }

    pub fn name(self) -> &'m str {
        &self.header().name
    }
}

fn unknown(model: &Model, name: &str) -> String {
    let names: Vec<&str> = Statement::all(&model.workload).map(Statement::name).collect();
    if names.is_empty() {
        return format!("there is no statement `{name}`: the model has none");
    }
    let near = nearest(name, names.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("there is no statement `{name}`{hint}\nthe model has {}", names.join(", "))
}

/// The name that a slip of the fingers could have made this of.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = name.to_lowercase();
    let far = |other: &str| strsim::damerau_levenshtein(&wanted, &other.to_lowercase());
    let most = (name.chars().count() / 3).max(1);
    names.map(|other| (far(other), other)).filter(|(far, _)| *far <= most).min().map(|(_, other)| other)
}
