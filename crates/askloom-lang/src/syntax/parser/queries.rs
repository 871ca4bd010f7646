//! SELECT and its clauses.

use super::Parser;
use crate::syntax::{Keyword, NodeKind, TokenKind};
use askloom_model::{Code, Diagnostic};

/// The clauses in the order in which they may stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Clause {
    From,
    Join,
    Where,
    GroupBy,
    OrderBy,
    PerGroup,
    Limit,
    Page,
}

impl Clause {
    fn name(self) -> &'static str {
        match self {
            Self::From => "FROM",
            Self::Join => "JOIN",
            Self::Where => "WHERE",
            Self::GroupBy => "GROUP BY",
            Self::OrderBy => "ORDER BY",
            Self::PerGroup => "LIMIT … PER",
            Self::Limit => "LIMIT",
            Self::Page => "PAGE",
        }
    }
}

impl Parser<'_, '_> {
    pub(super) fn select(&mut self) {
        if !self.sees_keyword(Keyword::Select) {
            self.expected("`SELECT`");
            return self.skip_until(|p| p.starts_line() && p.at_statement_end());
        }
        let started = self.start();
        self.bump();
        self.columns();
        self.finish(&started, NodeKind::SelectClause);
        self.clauses();
    }

    fn clauses(&mut self) {
        let mut last: Option<Clause> = None;
        loop {
            if self.block_comment() {
                continue;
            }
            let Some(clause) = self.clause() else { break };
            self.check_order(last, clause);
            last = last.max(Some(clause));
            self.parse_clause(clause);
        }
        if last.is_none() {
            self.expected("`FROM` and the entity that is asked for");
        }
    }

    fn clause(&self) -> Option<Clause> {
        Some(match self.keyword(0)? {
            Keyword::From => Clause::From,
            Keyword::Join | Keyword::Include | Keyword::Including => Clause::Join,
            Keyword::Left if self.keyword(1) == Some(Keyword::Join) => Clause::Join,
            Keyword::Where => Clause::Where,
            Keyword::Group => Clause::GroupBy,
            Keyword::Order | Keyword::OrderBy => Clause::OrderBy,
            Keyword::Limit if self.limits_groups() => Clause::PerGroup,
            Keyword::Limit => Clause::Limit,
            Keyword::Page => Clause::Page,
            _other => return None,
        })
    }

    /// Whether PER follows the number of rows.
    fn limits_groups(&self) -> bool {
        let operand = match (self.kind(1), self.kind(2)) {
            (TokenKind::Colon | TokenKind::Minus, _) | (TokenKind::Question, TokenKind::Number) => 2,
            (_, _) => 1,
        };
        self.keyword(operand + 1) == Some(Keyword::Per)
    }

    fn check_order(&mut self, last: Option<Clause>, clause: Clause) {
        let Some(last) = last else {
            if clause != Clause::From {
                self.expected("`FROM` and the entity that is asked for");
            }
            return;
        };
        let span = self.span_here();
        if matches!((last, clause), (Clause::Limit, Clause::Page) | (Clause::Page, Clause::Limit)) {
            self.mark_broken();
            self.diagnostics.push(
                Diagnostic::new(Code::LimitAndPage, span, "a query has LIMIT or PAGE, not both")
                    .hint("LIMIT n gives the first n rows, PAGE n the whole list in pages of n"),
            );
        } else if clause < last || (clause == last && clause != Clause::Join) {
            self.mark_broken();
            let message = match clause == last {
                true => format!("{} stands twice", clause.name()),
                false => format!("{} comes before {}", clause.name(), last.name()),
            };
            self.diagnostics.push(Diagnostic::new(Code::ClauseOrder, span, message).hint(
                "the order is SELECT, FROM, JOIN, WHERE, GROUP BY, ORDER BY, LIMIT … PER, LIMIT or PAGE",
            ));
        }
    }

    fn parse_clause(&mut self, clause: Clause) {
        let started = self.start();
        let kind = match clause {
            Clause::From => self.main_entity(),
            Clause::Join => self.join_clause(),
            Clause::Where => {
                self.bump();
                self.condition();
                NodeKind::WhereClause
            }
            Clause::GroupBy => {
                self.bump();
                self.expect_keyword(Keyword::By);
                self.comma_separated(|p| p.path("a path to group by"));
                NodeKind::GroupByClause
            }
            Clause::OrderBy => {
                if self.eat_keyword(Keyword::Order) {
                    self.expect_keyword(Keyword::By);
                } else {
                    self.bump();
                }
                self.comma_separated(Self::order_term);
                NodeKind::OrderByClause
            }
            Clause::PerGroup => {
                self.bump();
                self.operand();
                self.expect_keyword(Keyword::Per);
                self.comma_separated(|p| p.path("a path whose values make the groups"));
                NodeKind::PerGroupClause
            }
            Clause::Limit => {
                self.bump();
                self.operand();
                NodeKind::LimitClause
            }
            Clause::Page => {
                self.bump();
                self.operand();
                NodeKind::PageClause
            }
        };
        self.finish(&started, kind);
    }

    pub(super) fn comma_separated(&mut self, mut item: impl FnMut(&mut Self) -> bool) {
        while item(self) && self.eat(TokenKind::Comma) {}
    }

    fn main_entity(&mut self) -> NodeKind {
        self.bump();
        self.path("the entity that is asked for");
        self.alias();
        NodeKind::FromClause
    }

    fn join_clause(&mut self) -> NodeKind {
        self.eat_keyword(Keyword::Left);
        self.bump();
        self.comma_separated(|p| {
            let started = p.start();
            let path = p.path("a path to join");
            p.alias();
            p.finish(&started, NodeKind::JoinItem);
            path
        });
        NodeKind::JoinClause
    }

    fn alias(&mut self) {
        if self.eat_keyword(Keyword::As) {
            self.name("a name after AS");
        }
    }

    fn columns(&mut self) {
        self.comma_separated(|p| {
            let started = p.start();
            let ok = p.column();
            p.finish(&started, NodeKind::Column);
            ok
        });
    }

    fn column(&mut self) -> bool {
        if self.sees(TokenKind::Star) {
            let started = self.start();
            self.bump();
            self.finish(&started, NodeKind::Star);
            return true;
        }
        let aggregate =
            self.keyword(0).is_some_and(Keyword::is_aggregate) && self.kind(1) == TokenKind::LeftParen;
        let ok = if aggregate {
            self.aggregate()
        } else if self.is_reserved_here() {
            self.expected("a column: a path, `*` or an aggregate");
            false
        } else {
            self.path("a column: a path, `*` or an aggregate")
        };
        self.alias();
        ok
    }

    fn order_term(&mut self) -> bool {
        let started = self.start();
        let aggregate =
            self.keyword(0).is_some_and(Keyword::is_aggregate) && self.kind(1) == TokenKind::LeftParen;
        let ok = if aggregate { self.aggregate() } else { self.path("a path to order by") };
        if matches!(self.keyword(0), Some(Keyword::Asc | Keyword::Desc)) {
            self.bump();
        }
        self.finish(&started, NodeKind::OrderTerm);
        ok
    }
}
