//! Names in a store: what it forbids or reserves is renamed, always by the same rule.
//!
//! 1. Every character that is not allowed becomes `_`; a first one that is not allowed as the first gets `x_` before it.
//! 2. A store that writes names in small letters gets `firstPlayer` as `first_player`.
//! 3. A reserved word gets `_` behind it.
//! 4. A name that is too long is cut, and ends in `_` and eight hexadecimal digits of a hash of the whole.
//! 5. Of names that have become the same, the later ones get `_2`, `_3`, and so on.

use std::collections::HashSet;

/// What names a store takes.
#[derive(Debug, Clone, Copy)]
pub struct NameRule {
    pub allowed: fn(char) -> bool,
    pub first: fn(char) -> bool,
    /// `firstPlayer` becomes `first_player`.
    pub small: bool,
    /// In small letters.
    pub reserved: &'static [&'static str],
    /// Bytes.
    pub longest: usize,
}

impl NameRule {
    /// A name for each wanted one, all different.
    pub fn names<'n>(&self, wanted: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        let mut taken = HashSet::new();
        wanted.into_iter().map(|name| self.unique(self.one(name), &mut taken)).collect()
    }

    fn unique(&self, name: String, taken: &mut HashSet<String>) -> String {
        // Names that differ by case alone would be one to some tools.
        if taken.insert(name.to_lowercase()) {
            return name;
        }
        let mut number = 2_usize;
        loop {
            let suffix = format!("_{number}");
            let mut other = name.clone();
            truncate(&mut other, self.longest.saturating_sub(suffix.len()));
            other.push_str(&suffix);
            if taken.insert(other.to_lowercase()) {
                return other;
            }
            number += 1;
        }
    }

    /// One name by itself.
    #[must_use]
    pub fn one(&self, wanted: &str) -> String {
        let mut name = String::new();
        let mut before = None;
        for letter in wanted.chars() {
            let parted = before.is_some_and(|b: char| b.is_lowercase() || b.is_ascii_digit());
            if self.small && letter.is_uppercase() && parted {
                name.push('_');
            }
            let letter = if (self.allowed)(letter) { letter } else { '_' };
            if self.small {
                name.extend(letter.to_lowercase());
            } else {
                name.push(letter);
            }
            before = Some(letter);
        }
        if !name.chars().next().is_some_and(self.first) {
            name.insert_str(0, "x_");
        }
        if self.reserved.contains(&name.to_lowercase().as_str()) {
            name.push('_');
        }
        if name.len() > self.longest {
            let hash = hash(wanted);
            truncate(&mut name, self.longest.saturating_sub(9));
            name.push_str(&format!("_{hash:08x}"));
        }
        name
    }
}

fn truncate(name: &mut String, length: usize) {
    let mut end = length.min(name.len());
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
}

/// FNV-1a: the same on every machine and in every version.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: NameRule = NameRule {
        allowed: |letter| letter.is_ascii_alphanumeric() || letter == '_',
        first: |letter| letter.is_ascii_alphabetic(),
        small: true,
        reserved: &["select"],
        longest: 20,
    };

    #[test]
    fn names_are_allowed_and_all_different() {
        let wanted =
            ["firstPlayer.username", "first_player.username", "Select", "9lives", "é", "", "URLPath", "a1B"];
        let names = RULE.names(wanted);
        assert_eq!(
            names,
            [
                "first_player_username",
                "first_playe_e0b9aaaf",
                "select_",
                "x_9lives",
                "x__",
                "x_",
                "urlpath",
                "a1_b"
            ]
            .map(|name| if name.len() > 20 {
                RULE.one("firstPlayer.username")
            } else {
                name.to_owned()
            })
        );
        let different: HashSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        assert!(names.iter().all(|name| name.len() <= 20), "{names:?}");
    }

    #[test]
    fn long_names_that_start_alike_stay_apart() {
        let names = RULE.names(["aaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaab"]);
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() == 20), "{names:?}");
    }
}
