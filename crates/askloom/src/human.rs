//! Numbers for people.

/// `4.1 GB`, `75 KB`, `800 B`.
pub fn bytes(bytes: f64) -> String {
    // Nothing is not less than nothing.
    let (number, unit) = scaled(bytes.abs(), &["B", "KB", "MB", "GB", "TB", "PB", "EB"]);
    format!("{number} {unit}")
}

/// `1,684 MB`: with four digits or more of what is at least as large as another number, so that they can be told apart.
pub fn long_bytes(bytes: f64, least: f64) -> String {
    let (size, unit) = match least {
        least if least >= 1e12 => (1e9, "GB"),
        least if least >= 1e9 => (1e6, "MB"),
        least if least >= 1e6 => (1e3, "KB"),
        _small => (1.0, "B"),
    };
    format!("{} {unit}", count((bytes / size).round()))
}

/// `6,500,000`, and from a billion on `1.2 billion`.
pub fn count(count: f64) -> String {
    if count >= 999.5e12 {
        return past_units(count);
    }
    if count >= 1e9 {
        let (number, unit) = scaled(count / 1e9, &["billion", "trillion"]);
        return format!("{number} {unit}");
    }
    if count > 0.0 && count < 9.95 && (count - count.round()).abs() > 0.05 {
        return format!("{count:.1}");
    }
    let digits = format!("{:.0}", count.max(0.0));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Three digits that count: `0.213`, `41.2`, `2.5k`.
pub fn short(number: f64) -> String {
    match number {
        number if number <= 0.0 => "0".to_owned(),
        number if number < 0.001 => "<0.001".to_owned(),
        number if number < 0.9995 => format!("{number:.3}"),
        number if number < 9.995 => format!("{number:.2}"),
        number if number < 99.95 => format!("{number:.1}"),
        number => {
            let (number, unit) = scaled(number, &["", "k", "M", "G", "T", "P"]);
            format!("{number}{unit}")
        }
    }
}

/// `1 query`, `2 queries`.
#[must_use]
pub fn amount(n: usize, noun: &str) -> String {
    amount_of(n as u64, noun)
}

/// The same of a larger number.
#[must_use]
pub fn amount_of(n: u64, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (n, _) if noun.ends_with('x') || noun.ends_with("ch") => format!("{n} {noun}es"),
        (n, Some(stem)) => format!("{n} {stem}ies"),
        (n, None) => format!("{n} {noun}s"),
    }
}

/// More than any unit has a name for: `3e21`.
fn past_units(number: f64) -> String {
    format!("{number:.0e}")
}

fn scaled<'u>(number: f64, units: &[&'u str]) -> (String, &'u str) {
    let mut scaled = number;
    let mut names = units.iter().copied().peekable();
    let mut unit = names.next().unwrap_or_default();
    while scaled >= 999.5 && names.peek().is_some() {
        scaled /= 1000.0;
        unit = names.next().unwrap_or_default();
    }
    if scaled >= 999.5 {
        return (past_units(number), units.first().copied().unwrap_or_default());
    }
    let whole = scaled >= 9.95 || (scaled - scaled.round()).abs() < 0.05;
    (if whole { format!("{scaled:.0}") } else { format!("{scaled:.1}") }, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        assert_eq!(["0 B", "800 B", "4.1 GB", "75 KB"], [0.0, 800.0, 4.1e9, 75e3].map(bytes));
        assert_eq!(["0", "1.5", "12", "6,500,000", "1.2 billion"], [0.0, 1.5, 12.0, 6.5e6, 1.2e9].map(count));
        assert_eq!(["1,684 MB", "12,345 MB"], [1.6841e9, 12.345e9].map(|size| long_bytes(size, 1e9)));
        assert_eq!(["900 B", "2,001 KB"], [long_bytes(900.0, 900.0), long_bytes(2_000_900.0, 1e6)]);
        assert_eq!(["1e100", "4e30", "999 trillion"], [1e100, 4e30, 999e12].map(count));
        assert_eq!(["1e100 B", "1 EB"], [1e100, 1e18].map(bytes));
        assert_eq!(["1e100", "3e21"], [1e100, 3e21].map(short));
        assert_eq!(["0", "0.213", "41.2", "2.5k"], [0.0, 0.2127, 41.24, 2474.0].map(short));
    }

    #[test]
    fn words_are_counted_in_english() {
        assert_eq!(amount(0, "entity"), "0 entities");
        assert_eq!(amount(1, "query"), "1 query");
        assert_eq!(amount(2, "value object"), "2 value objects");
    }
}
