use crate::embedded;
use crate::exit::Exit;
use crate::markdown;
use crate::screen::Screen;
use askloom::Error;
use askloom::model::Code;

/// The page of a code, or the list of all codes.
pub(super) fn run(code: Option<&str>, screen: &mut Screen) -> Result<Exit, Error> {
    let text = match code {
        None => lines(Code::ALL.iter().copied()),
        Some(text) => {
            let code = Code::parse(text).ok_or_else(|| Error::Call(unknown(text)))?;
            markdown::render(&embedded::page(code), screen.style().color)
        }
    };
    screen.print(&text)?;
    Ok(Exit::Done)
}

fn lines(codes: impl Iterator<Item = Code>) -> String {
    codes.map(|code| format!("{code}  {:<7}  {}\n", code.severity().name(), code.title())).collect()
}

fn unknown(text: &str) -> String {
    if looks_like_code(text) {
        return format!("there is no code `{text}`; near it are\n\n{}", lines(near(text)));
    }
    let speaking: Vec<Code> = Code::ALL.iter().copied().filter(|code| speaks_of(*code, text)).collect();
    match speaking.as_slice() {
        [] => format!("`{text}` is not a code such as AL0109; `askloom explain` lists them all"),
        codes => format!("`{text}` is not a code; these speak of it\n\n{}", lines(codes.iter().copied())),
    }
}

fn speaks_of(code: Code, word: &str) -> bool {
    code.title().to_lowercase().contains(&word.to_lowercase())
}

fn looks_like_code(text: &str) -> bool {
    let digits = text.trim_start_matches(['A', 'a', 'L', 'l']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The codes that a slip of the fingers away from this one.
fn near(text: &str) -> impl Iterator<Item = Code> {
    let wanted = text.to_uppercase();
    let mut codes: Vec<Code> = Code::ALL.to_vec();
    codes.sort_by_key(|code| strsim::damerau_levenshtein(code.number(), &wanted));
    codes.truncate(5);
    codes.sort();
    codes.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_finds_the_codes_that_speak_of_it() {
        let message = unknown("inverse");
        assert!(message.contains("AL0214") && message.contains("does not point back"), "{message}");
    }

    #[test]
    fn near_codes_are_near() {
        assert!(unknown("AL0199").contains("AL0109"));
        assert!(unknown("al01001").contains("AL0101"));
    }

    #[test]
    fn what_nothing_speaks_of_is_told_so() {
        assert!(unknown("zzz").contains("lists them all"));
    }
}
