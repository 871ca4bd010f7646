//! What goes into a statement and what comes out of it, as JSON: parameters and rows.

use super::{
    Element, FieldError, Record, Value, ValueError, end_to_json, from_json, identity_from_json,
    identity_to_json, to_json,
};
use crate::{
    AggregateFunction, ClassId, ColumnValue, Conceptual, Leaf, Member, ParameterType, Path, PositionId,
    Query, Type,
};
use serde_json::Value as Json;

/// The value of a parameter.
pub fn parameter_from_json(
    conceptual: &Conceptual,
    ty: &ParameterType,
    json: &Json,
) -> Result<Value, Vec<FieldError>> {
    let field = |path: String, error: ValueError| vec![FieldError { path, message: error.0 }];
    if json.is_null() {
        return Ok(Value::Null);
    }
    match ty {
        ParameterType::Basic(ty) => from_json(json, ty).map_err(|error| field(String::new(), error)),
        ParameterType::Identity(class) => identity_from_json(conceptual, *class, json)
            .map(Value::Reference)
            .map_err(|error| field(String::new(), error)),
        ParameterType::Whole(class) => {
            Record::from_json(conceptual, *class, json).map(|record| Value::Record(Box::new(record)))
        }
        ParameterType::List(of) => {
            let Json::Array(items) = json else {
                return Err(field(String::new(), ValueError("it takes a list".to_owned())));
            };
            let mut elements = Vec::with_capacity(items.len());
            for (ordinal, item) in (0..).zip(items) {
                let value = parameter_from_json(conceptual, of, item).map_err(|errors| {
                    let inside = |error: FieldError| FieldError {
                        path: format!("[{ordinal}]{}", error.path),
                        message: error.message,
                    };
                    errors.into_iter().map(inside).collect::<Vec<_>>()
                })?;
                elements.push(Element { ordinal, value });
            }
            Ok(Value::List(elements))
        }
    }
}

/// A row of a query as an array, in the order of its columns.
#[must_use]
pub fn row_to_json(conceptual: &Conceptual, query: &Query, row: &[Value]) -> Json {
    let columns = query.columns.iter().zip(row);
    columns.map(|(column, value)| column_to_json(conceptual, query, &column.value, value)).collect()
}

/// The value of one column.
#[must_use]
pub fn column_to_json(conceptual: &Conceptual, query: &Query, column: &ColumnValue, value: &Value) -> Json {
    match column {
        ColumnValue::Whole(position) => position_to_json(conceptual, query, *position, value),
        ColumnValue::Path(path) => path_to_json(conceptual, query, path, value),
        ColumnValue::Aggregate(aggregate) => match (&aggregate.of, aggregate.function) {
            (Some(path), AggregateFunction::Min | AggregateFunction::Max) => {
                path_to_json(conceptual, query, path, value)
            }
            // Counts, sums and averages are numbers, which carry their own type.
            (_, _) => to_json(value, &Type::Decimal),
        },
    }
}

fn path_to_json(conceptual: &Conceptual, query: &Query, path: &Path, value: &Value) -> Json {
    match path.leaf {
        Leaf::Attribute(id) => to_json(value, &conceptual.attributes[id].ty),
        Leaf::Reference(id) => end_to_json(conceptual, conceptual.ends[id].target, value),
        Leaf::Itself => position_to_json(conceptual, query, path.position, value),
        Leaf::Bucket(_) => to_json(value, &Type::Int),
        Leaf::TimeBucket(..) => to_json(value, &Type::Text),
    }
}

fn position_to_json(conceptual: &Conceptual, query: &Query, position: PositionId, value: &Value) -> Json {
    let position = &query.positions[position];
    match (position.class, position.from.map(|hop| hop.step)) {
        (Some(class), _) => instance_to_json(conceptual, class, value),
        (None, Some(Member::Attribute(id))) => to_json(value, &conceptual.attributes[id].ty),
        (None, _) => Json::Null,
    }
}

fn instance_to_json(conceptual: &Conceptual, class: ClassId, value: &Value) -> Json {
    match value {
        Value::Record(record) => record.to_json(conceptual, class),
        Value::Reference(identity) => identity_to_json(conceptual, class, identity),
        _nothing => Json::Null,
    }
}
