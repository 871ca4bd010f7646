//! Commands of Redis: a list of strings, each known or with slots.

/// A command as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub args: Vec<Arg>,
}

/// One string of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Known(Vec<u8>),
    /// Filled in when the statement runs.
    Slot(String),
}

impl Piece {
    pub(super) fn known(text: impl Into<String>) -> Self {
        Self::Known(text.into().into_bytes())
    }
}

impl Arg {
    pub(super) fn new(pieces: Vec<Piece>) -> Self {
        let mut merged: Vec<Piece> = Vec::new();
        for piece in pieces {
            match (merged.last_mut(), piece) {
                (Some(Piece::Known(before)), Piece::Known(bytes)) => before.extend(bytes),
                (_, piece) => merged.push(piece),
            }
        }
        Self { pieces: merged }
    }

    #[must_use]
    pub fn known(bytes: impl Into<Vec<u8>>) -> Self {
        Self { pieces: vec![Piece::Known(bytes.into())] }
    }

    pub(super) fn text(text: &str) -> Self {
        Self::known(text.as_bytes())
    }

    #[must_use]
    pub fn slot(name: &str) -> Self {
        Self { pieces: vec![Piece::Slot(name.to_owned())] }
    }

    /// Another piece behind it.
    #[must_use]
    pub(super) fn then(mut self, more: Self) -> Self {
        self.pieces.extend(more.pieces);
        Self::new(self.pieces)
    }

    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The bytes, if nothing is left open.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [Piece::Known(bytes)] => Some(bytes),
            _open => None,
        }
    }
}

impl Command {
    pub(super) fn new(name: &str) -> Self {
        Self { args: name.split(' ').map(Arg::text).collect() }
    }

    #[must_use]
    pub(super) fn arg(mut self, arg: Arg) -> Self {
        self.args.push(arg);
        self
    }

    #[must_use]
    pub(super) fn word(self, word: &str) -> Self {
        self.arg(Arg::text(word))
    }
}
