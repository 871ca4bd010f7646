//! JSON lines: one object a line. Lines of any length up to a bound, with either line end; empty ones are skipped.

use super::incoming::Refusal;
use super::{Row, Rows};
use std::io::{self, BufRead};

/// The longest line, in bytes: what the largest value of the store takes as text.
pub const MAX_LINE: usize = 128 << 20;

#[derive(Debug)]
pub struct JsonLines<R> {
    from: R,
    line: u64,
    offset: u64,
    most: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> JsonLines<R> {
    /// Reads on from an offset, after so many lines. A byte order mark at the beginning is not part of the first line.
    pub fn new(from: R, offset: u64, line: u64) -> Self {
        Self { from, line, offset, most: MAX_LINE, buffer: Vec::new() }
    }

    /// With another bound than [`MAX_LINE`].
    #[must_use]
    pub fn at_most(mut self, bytes: usize) -> Self {
        self.most = bytes;
        self
    }

    /// Reads a line without its end into the buffer: how many bytes it had, and whether it was too long to keep.
    fn read(&mut self) -> io::Result<(u64, bool)> {
        self.buffer.clear();
        let (mut length, mut too_long) = (0_u64, false);
        loop {
            let available = self.from.fill_buf()?;
            if available.is_empty() {
                break;
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let piece = available.get(..end.map_or(available.len(), |end| end + 1)).unwrap_or_default();
            if self.buffer.len() + piece.len() > self.most {
                too_long = true;
            } else {
                self.buffer.extend_from_slice(piece);
            }
            let used = piece.len();
            length += used as u64;
            self.from.consume(used);
            if end.is_some() {
                break;
            }
        }
        Ok((length, too_long))
    }
}

impl<R: BufRead> Rows for JsonLines<R> {
    fn next(&mut self) -> io::Result<Option<Row>> {
        loop {
            let start = self.offset;
            let (length, too_long) = self.read()?;
            if length == 0 {
                return Ok(None);
            }
            self.offset += length;
            self.line += 1;
            let mut bytes = self.buffer.as_slice();
            if start == 0 {
                bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            }
            let bytes = bytes.trim_ascii();
            if bytes.is_empty() && !too_long {
                continue;
            }
            let content = if too_long {
                Err(Refusal::of(format!("the line has {length} bytes, and may have {}", self.most)))
            } else {
                parsed(bytes)
            };
            return Ok(Some(Row { line: self.line, last_line: self.line, start, end: self.offset, content }));
        }
    }
}

fn parsed(bytes: &[u8]) -> Result<serde_json::Value, Refusal> {
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(Refusal::of(format!("byte {} is not UTF-8", error.valid_up_to() + 1)));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        // Every line is line 1 of its text.
        let text = error.to_string();
        let what = text.split(" at line ").next().unwrap_or_default();
        Refusal::of(format!("column {} is not JSON: {what}", error.column()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], capacity: usize) -> Vec<(u64, u64, u64, Result<String, String>)> {
        let mut rows = JsonLines::new(io::BufReader::with_capacity(capacity, text), 0, 0).at_most(24);
        let mut found = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let content = row.content.map(|json| json.to_string()).map_err(|refusal| refusal.to_string());
            found.push((row.line, row.start, row.end, content));
        }
        found
    }

    #[test]
    fn lines_of_all_kinds() {
        let text = b"\xef\xbb\xbf{\"a\":1}\r\n\r\n  \n{\"a\":2}\n{\"a\":\"0123456789012345678901\"}\n\xff\n{\n{\"a\":3}";
        let expected = vec![
            (1, 0, 12, Ok("{\"a\":1}".to_owned())),
            (4, 17, 25, Ok("{\"a\":2}".to_owned())),
            (5, 25, 56, Err("the line has 31 bytes, and may have 24".to_owned())),
            (6, 56, 58, Err("byte 1 is not UTF-8".to_owned())),
            (7, 58, 60, Err("column 1 is not JSON: EOF while parsing an object".to_owned())),
            (8, 60, 67, Ok("{\"a\":3}".to_owned())),
        ];
        for capacity in [1, 2, 3, 7, 1000] {
            assert_eq!(all(text, capacity), expected, "buffer of {capacity}");
        }
    }
}
