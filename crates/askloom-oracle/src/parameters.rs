//! Values that a statement is given, by name, and whether they fit.

use crate::error::QueryError;
use askloom_model::typed::fitting;
use askloom_model::{Conceptual, Parameter, Value};
use std::collections::BTreeMap;

/// The value of each parameter by its name. An id is a [`Value::Reference`], or the value itself if it has one
/// part; a list for IN is a [`Value::List`]; a whole part is a [`Value::Record`].
pub type Parameters = BTreeMap<String, Value>;

/// The values in the order of the statement's parameters.
pub(crate) fn bind(
    conceptual: &Conceptual,
    declared: &[Parameter],
    given: &Parameters,
) -> Result<Vec<Value>, QueryError> {
    if let Some(name) = given.keys().find(|name| declared.iter().all(|parameter| parameter.name != **name)) {
        return Err(QueryError::UnknownParameter { name: name.clone() });
    }
    bind_declared(conceptual, declared, given)
}

/// The same where other names are known, too.
pub(crate) fn bind_declared(
    conceptual: &Conceptual,
    declared: &[Parameter],
    given: &Parameters,
) -> Result<Vec<Value>, QueryError> {
    declared.iter().map(|parameter| bind_one(conceptual, parameter, given)).collect()
}

fn bind_one(conceptual: &Conceptual, parameter: &Parameter, given: &Parameters) -> Result<Value, QueryError> {
    let name = || parameter.name.clone();
    let value = given.get(&parameter.name).ok_or_else(|| QueryError::MissingParameter { name: name() })?;
    fitting(conceptual, value, &parameter.ty).ok_or_else(|| QueryError::WrongType { name: name() })
}
