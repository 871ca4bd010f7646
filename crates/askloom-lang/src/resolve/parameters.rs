//! The parameters of one statement: found by name, typed by where they stand.

use super::Resolver;
use crate::positional::Positional;
use askloom_model::{Code, Conceptual, Diagnostic, Member, Parameter, ParameterType, Precision, Span, Type};
use std::collections::HashMap;

/// Collects parameters while a statement is resolved.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    list: Vec<Parameter>,
    by_name: HashMap<String, usize>,
    /// The names of `?` and its like, which follow from where they stand.
    pub(super) positional: Positional,
    /// False in a given collection: nobody could give a value.
    pub(super) allowed: bool,
}

impl Parameters {
    pub(super) fn new(positional: Positional) -> Self {
        Self { list: Vec::new(), by_name: HashMap::new(), positional, allowed: true }
    }

    pub(super) fn none() -> Self {
        Self { allowed: false, ..Self::new(Positional::default()) }
    }

    pub(super) fn into_list(self) -> Vec<Parameter> {
        self.list
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.list.iter().map(|parameter| parameter.name.clone()).collect()
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn add(&mut self, parameter: Parameter) -> usize {
        self.by_name.insert(parameter.name.clone(), self.list.len());
        self.list.push(parameter);
        self.list.len() - 1
    }
}

impl Resolver<'_, '_, '_> {
    /// The parameter of that name, now used with that type.
    pub(super) fn parameter(
        &mut self,
        parameters: &mut Parameters,
        name: &str,
        ty: ParameterType,
        span: Span,
    ) -> Option<usize> {
        if !parameters.allowed {
            let message = format!("nobody can give `:{name}` a value here");
            self.say(
                Diagnostic::new(Code::ParameterOutside, span, message)
                    .hint("a parameter stands only in a query or a write; write a literal"),
            );
            return None;
        }
        let Some(index) = parameters.find(name) else {
            return Some(parameters.add(Parameter { name: name.to_owned(), ty, span }));
        };
        let before = parameters.list.get_mut(index)?;
        let same_id = identifies(&self.model.conceptual, &before.ty, &ty);
        match same_id.or_else(|| unify(&self.model.conceptual, &before.ty, &ty)) {
            Some(both) => before.ty = both,
            None => {
                let message = format!("`:{name}` is used with two types");
                let first = self.parameter_type(&before.ty);
                let second = self.parameter_type(&ty);
                let first_span = before.span;
                self.say(
                    Diagnostic::new(Code::ParameterTypes, span, message)
                        .here(format!("here it is {second}"))
                        .also(first_span, format!("here it is {first}")),
                );
            }
        }
        Some(index)
    }

    pub(super) fn parameter_type(&self, ty: &ParameterType) -> String {
        match ty {
            ParameterType::Basic(ty) => ty.to_string(),
            ParameterType::Identity(class) => format!("an id of `{}`", self.class_name(*class)),
            ParameterType::Whole(class) => format!("a whole `{}`", self.class_name(*class)),
            ParameterType::List(of) => format!("a list of {}", self.parameter_type(of)),
        }
    }
}

/// An id compared with the attribute that it consists of is one parameter for both.
fn identifies(conceptual: &Conceptual, a: &ParameterType, b: &ParameterType) -> Option<ParameterType> {
    let (identity, class, basic) = match (a, b) {
        (ParameterType::Identity(class), ParameterType::Basic(ty)) => (a, *class, ty),
        (ParameterType::Basic(ty), ParameterType::Identity(class)) => (b, *class, ty),
        _other => return None,
    };
    match conceptual.classes[class].identifier.as_slice() {
        [Member::Attribute(id)] if conceptual.attributes[*id].ty == *basic => Some(identity.clone()),
        _other => None,
    }
}

/// The type that serves both uses. Of two numbers the narrower one: its values can be compared with and stored into
/// both. Of two timestamps the coarser, of two classes the subclass, for the same reason.
fn unify(conceptual: &Conceptual, a: &ParameterType, b: &ParameterType) -> Option<ParameterType> {
    if a == b {
        return Some(a.clone());
    }
    if let (ParameterType::Identity(x), ParameterType::Identity(y)) = (a, b) {
        return if conceptual.is_kind_of(*x, *y) {
            Some(a.clone())
        } else {
            conceptual.is_kind_of(*y, *x).then(|| b.clone())
        };
    }
    let (ParameterType::Basic(x), ParameterType::Basic(y)) = (a, b) else { return None };
    let narrower = if width(x)? <= width(y)? { a } else { b };
    x.comparable_with(y).then(|| narrower.clone())
}

/// How much a number or a timestamp can hold, beside others of its kind.
fn width(ty: &Type) -> Option<u8> {
    match ty {
        Type::Int | Type::Timestamp(Precision::Millis) => Some(0),
        Type::Long | Type::Timestamp(Precision::Micros) => Some(1),
        Type::Decimal | Type::Timestamp(Precision::Nanos) => Some(2),
        Type::Double => Some(3),
        Type::Text
        | Type::Bool
        | Type::Date
        | Type::Time
        | Type::Uuid
        | Type::Blob
        | Type::Geo
        | Type::Json
        | Type::Enum(_) => None,
    }
}
