//! Texts that nearly are models: pieces deleted, doubled, swapped and put in, the same ones for the same seed.

/// A small generator of numbers that are random enough.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % bound.max(1)
    }
}

/// What is put in: all that has a meaning of its own, and some that has none.
const PIECES: [&str; 44] = [
    "// c\n",
    "\n// c\n",
    " /* c */ ",
    "/* c\n c */",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    ",",
    ";",
    ":",
    ".",
    "..",
    "@",
    "?",
    "%",
    "/",
    "*",
    "**",
    "->",
    "<>",
    "{",
    "}",
    "(",
    ")",
    "[*]",
    "'",
    "\"",
    "`",
    "#",
    "\u{feff}",
    "é",
    "@rate(1/s) ",
    "value ",
    "add ",
    "entity A ",
    "import \"x.loom\"",
    " inverse x",
    "\"?1\"",
    "ORDERBY ",
    "AND ",
    "INSERT X ",
    "= 5 ",
];

pub(super) fn mutated(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        let (start, end) = piece(&text, random);
        match random.below(5) {
            0 => text.replace_range(start..end, ""),
            1 => {
                let piece = text[start..end].to_owned();
                text.insert_str(end, &piece);
            }
            2 => {
                let piece = text[start..end].to_owned();
                text.replace_range(start..end, "");
                let at = boundary(&text, random);
                text.insert_str(at, &piece);
            }
            _put_in => text.insert_str(start, PIECES[random.below(PIECES.len())]),
        }
    }
    text
}

fn piece(text: &str, random: &mut Random) -> (usize, usize) {
    let start = boundary(text, random);
    let longest = if random.below(3) == 0 { 60 } else { 4 };
    let mut end = (start + random.below(longest)).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (start, end)
}

fn boundary(text: &str, random: &mut Random) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Puts numbered comments, or whatever `piece` makes of a number, into every nth gap between words on average.
pub(super) fn sprinkled(
    text: &str,
    random: &mut Random,
    piece: impl Fn(&mut Random, usize) -> String,
) -> String {
    let one_in = 2 + random.below(12);
    let mut sprinkled = String::new();
    let mut quote: Option<char> = None;
    let (mut comment, mut count) = (false, 0);
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('\n' | '\r', _) => (quote, comment) = (None, false),
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"' | '`', None) if !comment => quote = Some(c),
            _other if text[at..].starts_with("//") => comment = true,
            _other => {}
        }
        sprinkled.push(c);
        if c.is_whitespace() && quote.is_none() && !comment && random.below(one_in) == 0 {
            count += 1;
            sprinkled += &piece(random, count);
        }
    }
    sprinkled
}
