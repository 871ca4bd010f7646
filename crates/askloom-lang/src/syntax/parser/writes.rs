//! INSERT, UPDATE, ADD and the other statements of a write.

use super::Parser;
use crate::syntax::{Keyword, NodeKind, TokenKind};

impl Parser<'_, '_> {
    pub(super) fn write_statement(&mut self) {
        let started = self.start();
        let kind = match self.keyword(0) {
            Some(Keyword::Insert) => self.of_entity(NodeKind::Insert),
            Some(Keyword::Upsert) => self.of_entity(NodeKind::Upsert),
            Some(Keyword::Store) => self.of_entity(NodeKind::Store),
            Some(Keyword::Update) => self.update(),
            Some(Keyword::Delete) => self.delete(),
            Some(Keyword::Add) => self.add(),
            Some(Keyword::Remove) => self.remove(),
            Some(Keyword::Connect) => self.connect(),
            Some(Keyword::Disconnect) => self.disconnect(),
            Some(_) | None => {
                self.expected("INSERT, UPSERT, STORE, UPDATE, DELETE, ADD, REMOVE, CONNECT or DISCONNECT");
                self.skip_until(|p| p.starts_line() && p.at_statement_end() || p.sees(TokenKind::RightBrace));
                NodeKind::Broken
            }
        };
        self.finish(&started, kind);
    }

    fn of_entity(&mut self, kind: NodeKind) -> NodeKind {
        self.bump();
        self.path("the entity");
        kind
    }

    fn update(&mut self) -> NodeKind {
        self.bump();
        self.path("the entity to change, or a list of it as in `Game.rounds`");
        self.expect_keyword(Keyword::Set);
        self.comma_separated(Self::assignment);
        self.where_clause();
        NodeKind::Update
    }

    fn assignment(&mut self) -> bool {
        let started = self.start();
        let mut ok = self.path("a field to set") && self.expect(TokenKind::Equal) && self.operand();
        if ok && matches!(self.kind(0), TokenKind::Plus | TokenKind::Minus) {
            self.bump();
            ok = self.operand();
        }
        self.finish(&started, NodeKind::Assignment);
        ok
    }

    fn delete(&mut self) -> NodeKind {
        self.bump();
        self.eat_keyword(Keyword::From);
        self.path("the entity to delete");
        self.where_clause();
        NodeKind::Delete
    }

    fn add(&mut self) -> NodeKind {
        self.bump();
        self.operand();
        self.expect_keyword(Keyword::To);
        self.path("the list, as in `Game.rounds`");
        self.where_clause();
        NodeKind::Add
    }

    fn remove(&mut self) -> NodeKind {
        self.bump();
        self.expect_keyword(Keyword::From);
        self.path("the list, as in `Game.rounds`");
        if self.eat_keyword(Keyword::At) {
            self.operand();
        }
        self.where_clause();
        NodeKind::Remove
    }

    fn connect(&mut self) -> NodeKind {
        self.bump();
        self.path("the reference, as in `Game.secondPlayer`");
        self.expect_keyword(Keyword::To);
        self.operand();
        self.where_clause();
        NodeKind::Connect
    }

    fn disconnect(&mut self) -> NodeKind {
        self.bump();
        self.path("the reference, as in `Game.secondPlayer`");
        if self.eat_keyword(Keyword::From) {
            self.operand();
        }
        self.where_clause();
        NodeKind::Disconnect
    }

    fn where_clause(&mut self) {
        self.block_comment();
        if self.sees_keyword(Keyword::Where) {
            let started = self.start();
            self.bump();
            self.condition();
            self.finish(&started, NodeKind::WhereClause);
        }
    }
}
