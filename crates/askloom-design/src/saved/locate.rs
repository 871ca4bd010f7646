//! Where something is in a JSON text, so that what is wrong with it can be pointed at.

/// From a JSON value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The bytes of the value at a place in a text that is valid JSON; those of the nearest value around it if there is
/// none.
pub(super) fn locate(text: &str, place: &[Step]) -> (usize, usize) {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    scanner.space();
    for step in place {
        let start = scanner.at;
        let found = match step {
            Step::Key(key) => scanner.enter_member(key),
            Step::Index(index) => scanner.enter_element(*index),
        };
        if !found {
            scanner.at = start;
            break;
        }
    }
    let start = scanner.at;
    scanner.value();
    (start, scanner.at.max(start))
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over a text and gives what is between its quotes.
    fn string(&mut self) -> &[u8] {
        let start = self.at + 1;
        self.at = start;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.at += 2,
                b'"' => break,
                _other => self.at += 1,
            }
        }
        let end = self.at.min(self.bytes.len());
        self.at = end + 1;
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Steps over a value of any kind.
    fn value(&mut self) {
        self.space();
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.string();
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => return,
                byte if byte.is_ascii_whitespace() && depth == 0 => return,
                _other => self.at += 1,
            }
            if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
                return;
            }
        }
    }

    fn enter_member(&mut self, key: &str) -> bool {
        if !self.take(b'{') {
            return false;
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return false;
            }
            let found = self.string() == key.as_bytes();
            self.take(b':');
            self.space();
            if found {
                return true;
            }
            self.value();
            if !self.take(b',') {
                return false;
            }
        }
    }

    fn enter_element(&mut self, index: usize) -> bool {
        if !self.take(b'[') {
            return false;
        }
        for _ in 0..index {
            self.value();
            if !self.take(b',') {
                return false;
            }
        }
        self.space();
        self.peek().is_some_and(|byte| byte != b']')
    }
}
