//! Names of collections and fields.
//!
//! A name of the model becomes one that MongoDB takes by the rule of `crate::names`. What comes from data, and the names
//! of members inside a part, are escaped instead, since any number of them may come later: `.`, `$`, NUL and `%` as `%`
//! and two hexadecimal digits, an empty name as `%`, and the `_` before a name that means something else here as `%5f`.

use crate::names::NameRule;

/// At most 255 bytes with the name of the database, which has at most 63, and a dot.
pub(super) const COLLECTIONS: NameRule = NameRule {
    allowed: |letter| letter.is_alphanumeric() || letter == '_' || letter == '-',
    first: |letter| letter.is_alphabetic() || letter == '_',
    small: false,
    reserved: &["admin", "system", "__proto__"],
    longest: 190,
};

/// A dot parts the steps of a path, a dollar starts an operator. A name that starts with a digit would be the place in a
/// list. No limit of the store: longer than this nobody reads.
pub(super) const FIELDS: NameRule = NameRule {
    allowed: |letter| !matches!(letter, '.' | '$' | '%') && !letter.is_control(),
    first: |letter| !letter.is_ascii_digit() && !matches!(letter, '.' | '$' | '%') && !letter.is_control(),
    small: false,
    reserved: &["_id", "__proto__"],
    longest: 128,
};

/// The class of a part that is not of the declared one.
pub(super) const CLASS: &str = "_class";
/// The id of a part that declares none.
pub(super) const ID: &str = "_id";
/// JSON that BSON has nothing the same for, as text.
pub(super) const JSON: &str = "_json";

/// `__proto__` would be taken by JavaScript, whatever quotes are around it.
const TAKEN: [&str; 4] = [CLASS, ID, JSON, "__proto__"];

/// A name from data as the name of a field. No two become the same.
pub(super) fn escaped(name: &str) -> String {
    if name.is_empty() {
        return "%".to_owned();
    }
    if let Some(rest) = name.strip_prefix('_').filter(|_| TAKEN.contains(&name)) {
        return format!("%5f{rest}");
    }
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '.' => text.push_str("%2e"),
            '$' => text.push_str("%24"),
            '%' => text.push_str("%25"),
            '\0' => text.push_str("%00"),
            plain => text.push(plain),
        }
    }
    text
}

/// The name that was escaped.
pub(super) fn unescaped(name: &str) -> String {
    let mut parts = name.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        text.extend(u8::from_str_radix(digits, 16).ok().map(char::from));
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_data_come_back_and_never_mean_anything() {
        let names =
            ["", "%", "%2e", ".", "a.b", "$where", "$", "a\0b", "_id", "_class", "__proto__", "_x", "é%"];
        let escaped: Vec<String> = names.iter().map(|name| super::escaped(name)).collect();
        for (name, text) in names.iter().zip(&escaped) {
            assert_eq!(unescaped(text), **name);
            assert!(!text.is_empty() && !text.contains(['.', '$', '\0']) && !TAKEN.contains(&text.as_str()));
        }
        let different: std::collections::HashSet<&String> = escaped.iter().collect();
        assert_eq!(different.len(), names.len());
        assert_eq!(super::escaped("_x"), "_x");
    }

    #[test]
    fn names_of_the_model_are_ones_that_the_store_takes() {
        let names =
            FIELDS.names(["_id", "a.b", "a_b", "$where", "", "0", "__proto__", "größe", "n", "N", "a\0"]);
        assert_eq!(
            names,
            ["_id_", "a_b", "a_b_2", "_where", "x_", "x_0", "__proto___", "größe", "n", "N_2", "a_"]
        );
        let long = "x".repeat(300);
        let collections = COLLECTIONS.names(["system.users", "a$b", "", "admin", &long, "Straße"]);
        assert_eq!(&collections[..4], ["system_users", "a_b", "x_", "admin_"]);
        assert!(collections[4].len() <= 190 && collections[5] == "Straße");
    }
}
