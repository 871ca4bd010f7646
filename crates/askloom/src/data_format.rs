//! What a file of data holds.

/// How the rows of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataFormat {
    /// One JSON object a line.
    Jsonl,
    Csv,
}

impl DataFormat {
    /// The end of a file's name.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }
}
