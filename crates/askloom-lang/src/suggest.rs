//! "Did you mean": the nearest name by edit distance.

use askloom_model::{Diagnostic, Edit, Span};

/// A name that was probably meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Near<'a> {
    pub(crate) name: &'a str,
    /// False if it is a guess: another name is as near, several letters differ, or a number does, as between
    /// `address1` and `address2`. Then a person has to agree.
    pub(crate) sure: bool,
}

/// The nearest name, if one is near enough. Of several that are as near, the first one.
pub(crate) fn closest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<Near<'a>> {
    let length = word.chars().count();
    // A third of the letters may be wrong; in a word of one or two letters anything would be near.
    let furthest = length / 3;
    if furthest == 0 {
        return None;
    }
    let mut best: Option<(usize, Near<'a>)> = None;
    for name in names {
        if name.chars().count().abs_diff(length) > furthest {
            continue;
        }
        let distance = strsim::osa_distance(word, name);
        match &mut best {
            _too_far if distance > furthest => {}
            Some((nearest, near)) if *nearest == distance => near.sure &= near.name == name,
            Some((nearest, _)) if *nearest < distance => {}
            Some(_) | None => best = Some((distance, Near { name, sure: is_sure(word, name, distance) })),
        }
    }
    best.map(|(_, near)| near)
}

/// At most two letters differ, and no digit.
fn is_sure(word: &str, name: &str, distance: usize) -> bool {
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    distance <= 2 && digits(word) == digits(name)
}

/// A diagnostic with the question whether this name was meant, and the answer as a fix.
pub(crate) fn did_you_mean(diagnostic: Diagnostic, span: Span, near: Near<'_>) -> Diagnostic {
    did_you_mean_text(diagnostic, span, near, &spelled(near.name), spelled(near.name))
}

/// The same where the name is shown or written in another form.
pub(crate) fn did_you_mean_text(
    diagnostic: Diagnostic,
    span: Span,
    near: Near<'_>,
    shown: &str,
    text: String,
) -> Diagnostic {
    let title = format!("did you mean `{shown}`?");
    let edits = vec![Edit { span, text }];
    if near.sure { diagnostic.fix(title, edits) } else { diagnostic.suggest(title, edits) }
}

/// A name as it has to be written: in back-quotes if it is not a plain word.
pub(crate) fn spelled(name: &str) -> String {
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|first| first.is_alphabetic() || first == '_');
    if starts && letters.all(|letter| letter.is_alphanumeric() || letter == '_') {
        name.to_owned()
    } else {
        format!("`{name}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let name = |word, names: [&'static str; 2]| closest(word, names).map(|near| near.name);
        assert_eq!(name("codeICAO", ["codeCAO", "country"]), Some("codeCAO"));
        assert_eq!(name("usrename", ["username", "score"]), Some("username"));
        assert_eq!(name("x", ["y", "z"]), None);
        assert_eq!(name("balance", ["score", "username"]), None);
    }

    #[test]
    fn of_two_names_as_near_the_first_is_a_guess() {
        assert_eq!(closest("Game", ["Gamb", "Gamc"]), Some(Near { name: "Gamb", sure: false }));
        assert_eq!(closest("Gamb", ["Gamb", "Gamc"]), Some(Near { name: "Gamb", sure: true }));
    }

    #[test]
    fn another_number_is_another_name() {
        assert_eq!(closest("address3", ["address1"]), Some(Near { name: "address1", sure: false }));
    }

    #[test]
    fn odd_names_are_spelled_in_back_quotes() {
        assert_eq!(spelled("größe_2"), "größe_2");
        assert_eq!(spelled("first name"), "`first name`");
        assert_eq!(spelled("2nd"), "`2nd`");
    }
}
