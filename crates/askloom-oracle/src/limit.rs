use crate::error::QueryError;
use askloom_model::{Constant, Limit, Operand, Value};

/// How many rows LIMIT or PAGE asks for.
pub(crate) fn rows(limit: &Limit, parameters: &[Value]) -> Result<usize, QueryError> {
    let (Limit::Rows(operand) | Limit::Page(operand)) = limit;
    count(operand, parameters)
}

/// A number of rows.
pub(crate) fn count(operand: &Operand, parameters: &[Value]) -> Result<usize, QueryError> {
    let given = match operand {
        Operand::Constant(Constant::Int(rows)) => *rows,
        Operand::Parameter(index) => match parameters.get(*index) {
            Some(Value::Int(rows)) => *rows,
            _null => return Err(QueryError::BadLimit),
        },
        Operand::Constant(_) | Operand::Path(_) => return Err(QueryError::BadLimit),
    };
    usize::try_from(given).ok().filter(|&rows| rows > 0).ok_or(QueryError::BadLimit)
}
