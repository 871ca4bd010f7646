//! `LIMIT n PER paths`: the first rows of each group of the ordered rows.

use super::Resolver;
use super::operands::Statement;
use crate::syntax::{NodeId, NodeKind};
use askloom_model::{Code, Diagnostic, PerGroup, Span};

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn per_group(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
    ) -> Result<Option<PerGroup>, ()> {
        let tree = st.tree;
        let Some(clause) = tree.child(node, NodeKind::PerGroupClause) else { return Ok(None) };
        let rows = tree.children(clause).next().and_then(|value| self.row_count(st, value));
        let by: Vec<_> = tree
            .children_of(clause, NodeKind::Path)
            .map(|path| self.ordered_path(st, &tree.path(path), "grouped"))
            .collect();
        let by: Option<Vec<_>> = by.into_iter().collect();
        rows.zip(by).map(|(rows, by)| Some(PerGroup { rows, by })).ok_or(())
    }

    /// GROUP BY makes one row of each group already, and an aggregate one of all rows.
    pub(super) fn per_group_of_groups(&mut self, span: Span) {
        let message = "`LIMIT … PER` counts single rows, and this query gives groups";
        self.say(
            Diagnostic::new(Code::PerGroupOfGroups, span, message)
                .hint("leave out GROUP BY and aggregates, or use LIMIT without PER"),
        );
    }
}
