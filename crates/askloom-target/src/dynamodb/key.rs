//! Texts that stand for keys. They sort as the values do, no two values share one, and people can read them.
//!
//! Parts are joined by `#`. In a part that another follows, `$` and two hexadecimal digits stand for what would sort
//! wrong or be taken for the join: of a sort key for each of the characters up to `$`, of a partition key, which has no
//! order, for `#` and `$` alone. The last part stands as it is.
//!
//! | value | in a sort key | in a partition key |
//! | --- | --- | --- |
//! | 7 | `000007` | `7` |
//! | 1234567 | `a1234567`: a letter for each digit past six | `1234567` |
//! | -1 | `-` and what is left from the smallest number, 19 digits | `-1` |
//! | a date before year 0 | `-` and the year counted from -9999 | the same |
//! | an instant | `2026-11-17T09:00:00.000Z`, with the digits of its precision | the same |
//! | a time of day | `09:00:00.000000000` | the same |
//! | a truth | `false`, `true` | the same |
//!
//! An item of an aggregate is told apart by its access path: `#` is the aggregate itself, `rounds#000007` a round,
//! `rounds#000007#.moves` a field of it, `friends#('mary')` a reference in a set.

use askloom_model::{AccessPath, AccessStep, Precision, ValueError};

/// Whether texts must sort as the values do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Kept,
    Free,
}

pub(super) const JOIN: char = '#';
const ESCAPE: char = '$';
/// What sorts right behind every key that starts with a part.
pub(super) const BEHIND: char = ESCAPE;
/// The item of an aggregate itself.
pub(super) const ITSELF: &str = "#";
/// The most bytes of a sort key.
pub(super) const LONGEST: usize = 1_024;

/// A part that another one follows.
pub(super) fn escaped(text: &str, order: Order) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let plain = match order {
            Order::Kept => letter > ESCAPE,
            Order::Free => letter != JOIN && letter != ESCAPE,
        };
        if plain {
            out.push(letter);
        } else {
            out.push_str(&format!("{ESCAPE}{:02x}", u32::from(letter)));
        }
    }
    out
}

pub(super) fn unescaped(text: &str) -> Result<String, ValueError> {
    let wrong = || ValueError(format!("`{text}` is no part of a key"));
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split(ESCAPE);
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).ok_or_else(wrong)?;
        let code = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        out.push(char::from_u32(code).ok_or_else(wrong)?);
        out.push_str(rest);
    }
    Ok(out)
}

const SHORT: usize = 6;

/// A number that sorts as text.
pub(super) fn number(number: i64) -> String {
    match u64::try_from(number) {
        Ok(number) => ordinal(number),
        Err(_negative) => format!("-{:019}", number.abs_diff(i64::MIN)),
    }
}

pub(super) fn ordinal(number: u64) -> String {
    let digits = number.to_string();
    match digits.len().checked_sub(SHORT + 1).and_then(|more| u8::try_from(more).ok()) {
        Some(more) => format!("{}{digits}", char::from(b'a' + more)),
        None => format!("{number:06}"),
    }
}

pub(super) fn number_back(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(digits) => {
            let above: u64 = digits.parse().ok()?;
            i64::MIN.checked_add_unsigned(above)
        }
        None => i64::try_from(ordinal_back(text)?).ok(),
    }
}

fn ordinal_back(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
    let number = digits.parse().ok()?;
    (ordinal(number) == text).then_some(number)
}

/// Which item of a block holds an entry.
#[must_use]
pub fn item_text(path: &AccessPath) -> String {
    let mut text = String::new();
    for (index, step) in path.0.iter().enumerate() {
        // What starts with a join starts with no field, which no aggregate has.
        if index > 0 || !matches!(step, AccessStep::Field(_)) {
            text.push(JOIN);
        }
        match step {
            AccessStep::Field(name) => {
                text.push_str(if index > 0 { "." } else { "" });
                text.push_str(&if name.is_empty() { ESCAPE.to_string() } else { escaped(name, Order::Kept) });
            }
            AccessStep::Element(number) => text.push_str(&ordinal(*number)),
            AccessStep::Link(_) => {
                text.push_str(&escaped(&AccessPath(vec![step.clone()]).to_string(), Order::Kept));
            }
        }
    }
    if text.is_empty() { ITSELF.to_owned() } else { text }
}

/// The entry that an item holds; none for the aggregate itself.
pub fn item_path(text: &str) -> Result<AccessPath, ValueError> {
    let mut steps = Vec::new();
    if text == ITSELF {
        return Ok(AccessPath(steps));
    }
    for (index, part) in text.split(JOIN).enumerate() {
        match (index, part) {
            (0, "") => {}
            (0, name) => steps.push(field(name)?),
            (_, part) => steps.push(step(part)?),
        }
    }
    Ok(AccessPath(steps))
}

fn field(name: &str) -> Result<AccessStep, ValueError> {
    let name = if name == "$" { String::new() } else { unescaped(name)? };
    Ok(AccessStep::Field(name))
}

fn step(part: &str) -> Result<AccessStep, ValueError> {
    if let Some(name) = part.strip_prefix('.') {
        return field(name);
    }
    if let Some(number) = ordinal_back(part) {
        return Ok(AccessStep::Element(number));
    }
    let link: Result<AccessPath, _> = unescaped(part)?.parse();
    let only = link.ok().and_then(|mut path| path.0.pop().filter(|_| path.0.is_empty()));
    let only = only.filter(|step| matches!(step, AccessStep::Link(_)));
    only.ok_or_else(|| ValueError(format!("`{part}` is no step of a path")))
}

/// The last text before one that a key can hold. Nothing for the empty text.
pub(super) fn text_before(text: &str) -> Option<String> {
    let mut letters: Vec<char> = text.chars().collect();
    let last = letters.pop()?;
    let mut before: String = letters.into_iter().collect();
    let Some(next) = (0..u32::from(last)).rev().find_map(char::from_u32) else {
        // Behind nothing but NUL is only what it follows.
        return Some(before);
    };
    before.push(next);
    for widest in ['\u{10ffff}', '\u{ffff}', '\u{7ff}', '\u{7f}'] {
        while before.len() + widest.len_utf8() <= LONGEST {
            before.push(widest);
        }
    }
    Some(before)
}

/// The last bytes before some that a key can hold. Nothing if there are none.
pub(super) fn bytes_before(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut before = bytes.to_vec();
    match before.pop()? {
        0 => return Some(before),
        last => before.push(last - 1),
    }
    before.resize(LONGEST.max(before.len()), 0xff);
    Some(before)
}

/// A date that sorts as text.
pub(super) fn date(date: jiff::civil::Date) -> String {
    if date.year() >= 0 {
        return date.to_string();
    }
    format!("-{:04}-{:02}-{:02}", i32::from(date.year()) + 9_999, date.month(), date.day())
}

/// An instant that sorts as text: always in UTC, and with the digits of its precision.
pub(super) fn instant(at: jiff::Timestamp, precision: Precision) -> String {
    let utc = jiff::tz::Offset::UTC.to_datetime(at);
    let (digits, unit) = match precision {
        Precision::Millis => (3, 1_000_000),
        Precision::Micros => (6, 1_000),
        Precision::Nanos => (9, 1),
    };
    let (time, fraction) = (utc.time(), utc.subsec_nanosecond() / unit);
    let clock = format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second());
    format!("{}T{clock}.{fraction:0digits$}Z", date(utc.date()))
}

pub(super) fn instant_back(text: &str) -> Option<jiff::Timestamp> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let at = date_back(day)?.to_datetime(time.parse().ok()?);
    jiff::tz::Offset::UTC.to_timestamp(at).ok()
}

/// The instant before or behind one.
pub(super) fn instant_beside(text: &str, precision: Precision, by: i64) -> Option<String> {
    let step = match precision {
        Precision::Millis => jiff::SignedDuration::from_millis(by),
        Precision::Micros => jiff::SignedDuration::from_micros(by),
        Precision::Nanos => jiff::SignedDuration::from_nanos(by),
    };
    Some(instant(instant_back(text)?.checked_add(step).ok()?, precision))
}

/// Always as long, so that it sorts.
pub(super) fn clock(time: jiff::civil::Time) -> String {
    let fraction = time.subsec_nanosecond();
    format!("{:02}:{:02}:{:02}.{fraction:09}", time.hour(), time.minute(), time.second())
}

pub(super) fn date_back(text: &str) -> Option<jiff::civil::Date> {
    let Some(counted) = text.strip_prefix('-') else { return text.parse().ok() };
    let mut parts = counted.split('-');
    let year: i16 = parts.next()?.parse().ok()?;
    let (month, day) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    jiff::civil::Date::new(year.checked_sub(9_999)?, month, day).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use askloom_model::Value;

    const TEXTS: [&str; 19] = [
        "",
        "\0",
        "\0a",
        "\u{1}",
        " ",
        "!",
        "\"",
        "#",
        "##",
        "$",
        "$23",
        "%",
        "a",
        "a b",
        "a#b",
        "a$",
        "ab",
        "é",
        "\u{10ffff}",
    ];

    #[test]
    fn parts_sort_as_texts_and_come_back() {
        let joined = |a: &str, b: &str| format!("{}{JOIN}{b}", escaped(a, Order::Kept));
        for a in TEXTS {
            for order in [Order::Kept, Order::Free] {
                let text = escaped(a, order);
                assert!(!text.contains(JOIN));
                assert_eq!(unescaped(&text).as_deref(), Ok(a));
            }
            for (b, c, d) in TEXTS.iter().flat_map(|b| TEXTS.map(|c| (*b, c, "x#"))) {
                assert_eq!(joined(a, b).cmp(&joined(c, d)), (a, b).cmp(&(c, d)), "{a:?} {b:?} {c:?} {d:?}");
            }
        }
    }

    #[test]
    fn numbers_sort_as_texts_and_come_back() {
        let mut numbers =
            vec![i64::MIN, i64::MIN + 1, -1_000_000, -10, -9, -1, 0, 1, 7, 10, 999_999, i64::MAX];
        numbers.extend((6..19).map(|digits| 10_i64.pow(digits)));
        numbers.sort_unstable();
        let texts: Vec<String> = numbers.iter().copied().map(number).collect();
        assert!(texts.is_sorted() && texts.iter().all(|text| !text.contains(JOIN)), "{texts:?}");
        let back: Vec<i64> = texts.iter().filter_map(|text| number_back(text)).collect();
        assert_eq!(back, numbers);
        assert_eq!((number(7).as_str(), ordinal(u64::MAX).as_str()), ("000007", "n18446744073709551615"));
        assert_eq!([number_back("7"), number_back("a7"), number_back("aa1234567")], [None; 3]);
    }

    #[test]
    fn items_say_which_entry_they_hold() {
        let field = |name: &str| AccessStep::Field(name.to_owned());
        let round = vec![field("rounds"), AccessStep::Element(7)];
        let link = AccessStep::Link(vec![Value::Text("ma#r y'".to_owned()), Value::Int(3)]);
        let paths = [
            (vec![], "#"),
            (round.clone(), "rounds#000007"),
            ([round.as_slice(), &[field("moves")]].concat(), "rounds#000007#.moves"),
            (vec![field("000007"), field("000007")], "000007#.000007"),
            (vec![field("friends"), link], "friends#('ma$23r$20y''',$203)"),
            (vec![field("")], "$"),
            (vec![field("a#b$"), field("")], "a$23b$24#.$"),
            (vec![AccessStep::Element(1)], "#000001"),
        ];
        for (steps, text) in paths {
            let path = AccessPath(steps);
            assert_eq!(item_text(&path), text);
            assert_eq!(item_path(text).as_ref(), Ok(&path));
        }
        assert!(item_path("rounds#7").is_err() && item_path("a$2").is_err());
    }

    #[test]
    fn nothing_fits_between_a_text_and_the_one_before() {
        for text in TEXTS.iter().filter(|text| !text.is_empty()) {
            let before = text_before(text).unwrap();
            assert!(before.as_str() < *text && before.len() <= LONGEST, "{text:?}");
            for other in TEXTS.iter().filter(|other| *other < text) {
                assert!(*other <= before.as_str(), "{other:?} {text:?}");
            }
        }
        assert_eq!(text_before(""), None);
        assert_eq!(bytes_before(&[]), None);
        assert_eq!(bytes_before(&[7, 0]), Some(vec![7]));
        assert!(
            bytes_before(&[7]).is_some_and(|bytes| bytes.len() == LONGEST && bytes.starts_with(&[6, 0xff]))
        );
    }

    #[test]
    fn dates_sort_as_texts_and_come_back() {
        let dates = [(-9_999, 1, 1), (-44, 3, 15), (-44, 12, 1), (-1, 1, 1), (0, 1, 1), (2026, 11, 16)];
        let dates = dates.map(|(year, month, day)| jiff::civil::date(year, month, day));
        let texts = dates.map(date);
        assert!(texts.is_sorted(), "{texts:?}");
        assert_eq!(texts.map(|text| date_back(&text)), dates.map(Some));
    }

    #[test]
    fn instants_sort_as_texts_and_come_back() {
        let mut random = fastrand::Rng::with_seed(5);
        let (first, last) = (jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
        let drawn = |random: &mut fastrand::Rng, unit: i32| {
            let second = match random.u8(..3) {
                0 => random.i64(first..=last),
                1 => random.i64(-2..=2),
                _ => [first, last][random.usize(..2)],
            };
            let fraction = [0, 1, 999_999_999 / unit, random.i32(0..1_000_000_000 / unit)];
            let nanos = fraction[random.usize(..4)] * unit;
            jiff::Timestamp::new(second, if second < 0 { -nanos } else { nanos })
        };
        let precisions = [(Precision::Millis, 1_000_000), (Precision::Micros, 1_000), (Precision::Nanos, 1)];
        for (precision, unit) in precisions {
            for _ in 0..5_000 {
                let (Ok(a), Ok(b)) = (drawn(&mut random, unit), drawn(&mut random, unit)) else { continue };
                let [one, other] = [a, b].map(|at| instant(at, precision));
                assert_eq!(one.cmp(&other), a.cmp(&b), "{one} {other}");
                assert_eq!(instant_back(&one), Some(a), "{one}");
                if let Some(next) = instant_beside(&one, precision, 1) {
                    assert!(next > one && instant_beside(&next, precision, -1) == Some(one));
                }
            }
        }
        let at = "2026-11-17T09:00:00.0057Z".parse().unwrap();
        assert_eq!(instant(at, Precision::Millis), "2026-11-17T09:00:00.005Z");
        assert_eq!(instant(at, Precision::Nanos), "2026-11-17T09:00:00.005700000Z");
    }
}
