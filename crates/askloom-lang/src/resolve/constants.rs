//! Literals to constants of the type that their place asks for.

use super::Resolver;
use crate::Dialect;
use crate::suggest::{Near, closest, did_you_mean_text};
use crate::syntax::Tree;
use crate::syntax::ast::LiteralText;
use askloom_model::{Code, Constant, Diagnostic, Precision, Span, Type};

/// A decimal has at most this many digits.
const MAX_DIGITS: usize = 34;

impl<'a> Resolver<'_, 'a, '_> {
    /// The literal as a value of the type, or why it is none.
    pub(super) fn try_constant(
        &self,
        tree: &Tree<'a>,
        literal: &LiteralText<'_>,
        ty: &Type,
    ) -> Result<Constant, String> {
        match literal {
            LiteralText::Null => Ok(Constant::Null),
            LiteralText::Bool(value) if *ty == Type::Bool => Ok(Constant::Bool(*value)),
            LiteralText::Bool(value) => Err(format!("`{value}` is not a value of type {ty}")),
            LiteralText::Number { negative, digits } => number(*negative, digits, ty),
            // The dialects put every literal in quotes.
            LiteralText::Text(text)
                if tree.dialect != Dialect::Loom && (ty.is_number() || *ty == Type::Bool) =>
            {
                quoted_in_dialect(text, ty)
            }
            LiteralText::Text(text) => from_text(text, ty),
        }
    }

    /// The same, with what is wrong said at its place.
    pub(super) fn constant(
        &mut self,
        tree: &Tree<'a>,
        literal: &LiteralText<'_>,
        ty: &Type,
        span: Span,
    ) -> Option<Constant> {
        match self.try_constant(tree, literal, ty) {
            Ok(constant) => Some(constant),
            Err(message) => {
                self.bad_literal(literal, ty, span, message);
                None
            }
        }
    }

    fn bad_literal(&mut self, literal: &LiteralText<'_>, ty: &Type, span: Span, message: String) {
        let (Type::Enum(values), LiteralText::Text(text)) = (ty, literal) else {
            return self.say(Diagnostic::new(Code::BadLiteral, span, message));
        };
        self.unknown_enum_value(text, values, span);
    }

    pub(super) fn unknown_enum_value(&mut self, text: &str, values: &[String], span: Span) {
        let message = format!("this enum has no value `{text}`");
        let diagnostic = Diagnostic::new(Code::UnknownEnumValue, span, message);
        let same = values.iter().map(String::as_str).find(|value| value.eq_ignore_ascii_case(text));
        let same = same.map(|name| Near { name, sure: true });
        self.say(match same.or_else(|| closest(text, values.iter().map(String::as_str))) {
            Some(near) => {
                let quoted = format!("'{}'", near.name.replace('\'', "''"));
                did_you_mean_text(diagnostic, span, near, near.name, quoted)
            }
            None => diagnostic.hint(format!("its values are {}", values.join(", "))),
        });
    }
}

pub(super) fn enum_value(text: &str, values: &[String]) -> Result<Constant, String> {
    let index = values.iter().position(|value| value == text);
    match index.and_then(|index| u32::try_from(index).ok()) {
        Some(index) => Ok(Constant::Enum(index)),
        None => Err(format!("this enum has no value `{text}`; its values are {}", values.join(", "))),
    }
}

fn quoted_in_dialect(text: &str, ty: &Type) -> Result<Constant, String> {
    if *ty == Type::Bool {
        return match text.to_ascii_lowercase().as_str() {
            "true" => Ok(Constant::Bool(true)),
            "false" => Ok(Constant::Bool(false)),
            _other => Err(format!("`{text}` is not a value of type bool")),
        };
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if digits.is_empty()
        || !digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'))
    {
        return Err(format!("`{text}` is not a number"));
    }
    number(negative, digits, ty)
}

fn number(negative: bool, digits: &str, ty: &Type) -> Result<Constant, String> {
    let sign = if negative { "-" } else { "" };
    let plain: String = digits.chars().filter(|c| *c != '_').collect();
    let signed = format!("{sign}{plain}");
    let out_of_range = || format!("`{signed}` is not a value of type {ty}");
    match ty {
        Type::Int => signed.parse::<i32>().map(|n| Constant::Int(n.into())).map_err(|_| out_of_range()),
        Type::Long => signed.parse::<i64>().map(Constant::Int).map_err(|_| out_of_range()),
        Type::Double => match signed.parse::<f64>() {
            // -0 is 0.
            Ok(number) if number.is_finite() => Ok(Constant::Double(number + 0.0)),
            Ok(_) | Err(_) => Err(out_of_range()),
        },
        Type::Decimal => decimal(negative, &plain).ok_or_else(out_of_range),
        Type::Enum(values) => enum_value(&plain, values),
        Type::Text
        | Type::Bool
        | Type::Date
        | Type::Time
        | Type::Timestamp(_)
        | Type::Uuid
        | Type::Blob
        | Type::Geo
        | Type::Json => Err(format!("a number is not a value of type {ty}{}", quote_hint(ty))),
    }
}

/// Canonical digits: no leading zeros, no trailing zeros behind the point, no exponent.
fn decimal(negative: bool, plain: &str) -> Option<Constant> {
    if plain.contains(['e', 'E']) {
        return None;
    }
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    if whole.len() + fraction.len() > MAX_DIGITS {
        return None;
    }
    let zero = whole.is_empty() && fraction.is_empty();
    let sign = if negative && !zero { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(Constant::Decimal(format!("{sign}{whole}{point}{fraction}")))
}

fn quote_hint(ty: &Type) -> &'static str {
    match ty {
        Type::Text | Type::Date | Type::Time | Type::Timestamp(_) | Type::Uuid => ": write it in quotes",
        Type::Int | Type::Long | Type::Decimal | Type::Double | Type::Bool => "",
        Type::Blob | Type::Geo | Type::Json => ": give it as a parameter",
        Type::Enum(_) => "",
    }
}

fn from_text(text: &str, ty: &Type) -> Result<Constant, String> {
    let wrong = |form: &str| format!("'{text}' is not a {ty}: it is written {form}");
    match ty {
        Type::Text => Ok(Constant::Text(text.to_owned())),
        Type::Enum(values) => enum_value(text, values),
        // A text that says more than the type holds is refused, not cut.
        Type::Date if !has_time(text) => text.parse().map(Constant::Date).map_err(|_| wrong("'2026-11-30'")),
        Type::Date => Err(wrong("'2026-11-30'")),
        Type::Time if !has_date(text) => text.parse().map(Constant::Time).map_err(|_| wrong("'17:45:00'")),
        Type::Time => Err(wrong("'17:45:00'")),
        Type::Timestamp(precision) => timestamp(text, *precision),
        Type::Uuid => {
            let form = "'67e55044-10b1-426f-9247-bb680e5fe0c8'";
            uuid::Uuid::try_parse(text).map(Constant::Uuid).map_err(|_| wrong(form))
        }
        Type::Int | Type::Long | Type::Decimal | Type::Double => {
            Err(format!("'{text}' is a text, not a value of type {ty}: numbers stand without quotes"))
        }
        Type::Bool => Err(format!("'{text}' is a text, not a bool: write `true` or `false`")),
        Type::Blob | Type::Geo | Type::Json => Err(format!("a {ty} has no literal: give it as a parameter")),
    }
}

fn has_time(text: &str) -> bool {
    text.contains([':', 'T', 't', ' '])
}

fn has_date(text: &str) -> bool {
    text.contains(['-', 'T', 't', ' ', '+'])
}

/// Input finer than its type is refused, never rounded.
fn timestamp(text: &str, precision: Precision) -> Result<Constant, String> {
    let parsed: jiff::Timestamp = text
        .parse()
        .map_err(|_| format!("'{text}' is not a timestamp: it is written '2026-11-30T17:45:00Z'"))?;
    let unit = match precision {
        Precision::Millis => 1_000_000,
        Precision::Micros => 1_000,
        Precision::Nanos => 1,
    };
    if parsed.as_nanosecond() % unit == 0 {
        Ok(Constant::Timestamp(parsed))
    } else {
        Err(format!("'{text}' is finer than a {}: it would have to be rounded", Type::Timestamp(precision)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_against_their_bounds() {
        assert_eq!(number(true, "2147483648", &Type::Int), Ok(Constant::Int(-2_147_483_648)));
        assert!(number(false, "2147483648", &Type::Int).is_err());
        assert_eq!(number(false, "2_147_483_648", &Type::Long), Ok(Constant::Int(2_147_483_648)));
        assert!(number(false, "1e400", &Type::Double).is_err());
        assert!(number(false, "1.5", &Type::Int).is_err());
    }

    #[test]
    fn decimals_are_canonical() {
        let canonical = |negative, text| match decimal(negative, text) {
            Some(Constant::Decimal(digits)) => digits,
            other => panic!("{other:?}"),
        };
        assert_eq!(canonical(false, "007.500"), "7.5");
        assert_eq!(canonical(true, "0.00"), "0");
        assert_eq!(canonical(true, "10"), "-10");
        assert!(decimal(false, &"9".repeat(35)).is_none());
        assert!(decimal(false, &"9".repeat(34)).is_some());
    }

    #[test]
    fn times_are_not_rounded() {
        assert!(timestamp("2026-11-30T17:45:00.123Z", Precision::Millis).is_ok());
        assert!(timestamp("2026-11-30T17:45:00.1234Z", Precision::Millis).is_err());
        assert!(timestamp("2026-11-30T17:45:00.1234Z", Precision::Micros).is_ok());
        assert!(from_text("2026-02-30", &Type::Date).is_err());
        assert!(from_text("24:00:00", &Type::Time).is_err());
    }
}
