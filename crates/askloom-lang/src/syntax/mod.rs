//! Text as a lossless tree: every byte of a file belongs to exactly one token, broken or not.

mod keyword;
mod lexer;
mod parser;
mod token;
mod tree;

pub(crate) mod ast;

pub(crate) use keyword::Keyword;
pub(crate) use lexer::lex;
pub(crate) use parser::{parse, rewritten_comment};
pub(crate) use token::{Token, TokenKind};
pub(crate) use tree::{Element, NodeId, NodeKind, TokenId, Tree, TreeBuilder};

/// How deep brackets may nest. Deep enough for any person and any generator, shallow enough for any stack.
pub(crate) const MAX_DEPTH: u32 = 256;
