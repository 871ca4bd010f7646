//! Queries: positions from JOINs, columns, groups, order, limit.

use super::annotations::{Found, Target};
use super::operands::{Statement, ValueType};
use super::parameters::Parameters;
use super::scope::{Crossing, Scope};
use super::{Place, Resolver, first_position, owned, units};
use crate::positional::positional;
use crate::syntax::ast::{Ident, PathText};
use crate::syntax::{Keyword, NodeId, NodeKind, TokenKind, Tree};
use askloom_model::{
    Aggregate, AggregateFunction, Code, Column, ColumnValue, Constant, Diagnostic, Header, Limit, Operand,
    OrderBy, OrderTerm, ParameterType, Path, Query, Span, Type,
};
use std::collections::{HashMap, HashSet};

/// A column with the text it came from.
struct Selected {
    value: ColumnValue,
    /// The name it is given by AS.
    given: Option<(String, Span)>,
    /// The last name of its path, and the whole path.
    short: String,
    long: String,
    span: Span,
}

impl<'t, 'a> Resolver<'t, 'a, '_> {
    pub(super) fn header(&mut self, place: Place, found: &Found<'a>) -> Header {
        let name = self.tree(place).name(place.node);
        if let Some(name) = name {
            let before = self.statements.declare(name);
            self.declared_before(name, before);
        }
        let (name, span) = owned(name);
        Header {
            name,
            rate: found.rate,
            skew: found.skew,
            highly_updated: found.highly_updated,
            span,
            declaration: self.tree(place).span(place.node),
        }
    }

    pub(super) fn query(&mut self, place: Place) {
        let tree = self.tree(place);
        let found = self.annotations(place, Target::Query);
        let header = self.header(place, &found);
        let Some(mut st) = self.query_scope(place) else { return };
        let broken = tree.is_broken(place.node);
        let joined = self.joins(&mut st, place.node);
        let columns = self.columns(&mut st, place.node);
        let condition = self.where_clause(&mut st, place.node);
        let group_by = self.group_by(&mut st, place.node);
        let order_by = self.order_by(&mut st, place.node, columns.as_deref().unwrap_or_default());
        let per_group = self.per_group(&mut st, place.node);
        let limit = self.limit(&mut st, place.node);
        let (Some(columns), Ok(condition), Some(group_by), Some(order_by), Ok(limit), true, false) =
            (columns, condition, group_by, order_by, limit, joined, broken)
        else {
            return;
        };
        let Ok(per_group) = per_group else { return };
        if !self.check_groups(&columns, &group_by, &order_by, tree, place.node) {
            return;
        }
        let Some(columns) = self.name_columns(columns) else { return };
        let mut stated = st.stated.unwrap_or_default();
        stated.extend(self.state_query(&found, condition.as_ref()));
        self.model.workload.queries.push(Query {
            header,
            fresh: found.fresh,
            latency_ms: found.latency_ms,
            positions: st.scope.positions,
            columns,
            condition,
            group_by,
            order_by,
            per_group,
            limit,
            parameters: st.parameters.into_list(),
            identity: Vec::new(),
            stated,
        });
    }

    fn query_scope(&mut self, place: Place) -> Option<Statement<'t, 'a>> {
        let tree = self.tree(place);
        let from = tree.child(place.node, NodeKind::FromClause)?;
        let (main, name) = self.class_at(tree, from)?;
        if !self.model.conceptual.classes[main].kind.is_entity() {
            let message = format!("`{}` is a value object: it is asked for through its owner", name.text);
            self.say(
                Diagnostic::new(Code::UnknownClass, name.span, message)
                    .hint("name the entity, and JOIN the part"),
            );
            return None;
        }
        let mut scope = Scope::new(main);
        if let Some(alias) = tree.name(from) {
            self.introduce(&mut scope, alias, first_position());
        }
        let parameters = Parameters::new(positional(tree, place.node));
        Some(Statement { tree, scope, parameters, crossing: Crossing::Some, stated: Some(Vec::new()) })
    }

    fn joins(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> bool {
        let tree = st.tree;
        let mut ok = true;
        for clause in tree.children_of(node, NodeKind::JoinClause) {
            let outer = tree.has_keyword(clause, Keyword::Left);
            for item in tree.children_of(clause, NodeKind::JoinItem) {
                let Some(path) = tree.path_in(item) else { continue };
                let position = self.join_path(&mut st.scope, &path, outer);
                let alias = tree.name(item);
                match (position, alias) {
                    (Some(position), Some(alias)) => ok &= self.introduce(&mut st.scope, alias, position),
                    (Some(_), None) => {}
                    (None, alias) => {
                        alias.into_iter().for_each(|alias| st.scope.break_alias(alias));
                        ok = false;
                    }
                }
            }
        }
        ok
    }

    fn introduce(
        &mut self,
        scope: &mut Scope<'a>,
        alias: Ident<'a>,
        position: askloom_model::PositionId,
    ) -> bool {
        if let Some(before) = scope.introduce(alias, position) {
            let message = format!("the alias `{}` is introduced twice", alias.text);
            self.say(
                Diagnostic::new(Code::DuplicateAlias, alias.span, message).also(before.span, "first here"),
            );
            return false;
        }
        if let Some(hidden) = self.member_exactly(scope.main, alias.text)
            && !self.is_its_own_member(scope, hidden, position)
        {
            let message = format!("from here on `{}` is the alias, not the member of that name", alias.text);
            let declared = self.member_span(hidden);
            self.say(
                Diagnostic::new(Code::AliasShadows, alias.span, message)
                    .also(declared, "this member is hidden")
                    .hint("choose another alias"),
            );
        }
        true
    }

    /// `JOIN flights AS flights` hides nothing: both names mean the same.
    fn is_its_own_member(
        &self,
        scope: &Scope<'a>,
        member: askloom_model::Member,
        position: askloom_model::PositionId,
    ) -> bool {
        scope.positions[position].from.is_some_and(|hop| hop.parent == first_position() && hop.step == member)
    }

    fn columns(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Vec<Selected>> {
        let tree = st.tree;
        let clause = tree.child(node, NodeKind::SelectClause)?;
        let columns: Vec<_> =
            tree.children_of(clause, NodeKind::Column).map(|column| self.column(st, column)).collect();
        columns.into_iter().collect()
    }

    fn column(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Selected> {
        let tree = st.tree;
        let span = tree.span(node);
        let given = tree.name(node).map(|name| (name.text.to_owned(), name.span));
        let inner = tree.children(node).find(|&child| tree.kind(child) != NodeKind::Name)?;
        match tree.kind(inner) {
            NodeKind::Star => {
                let name = self.class_name(st.scope.main).to_owned();
                Some(Selected {
                    value: ColumnValue::Whole(first_position()),
                    given,
                    short: name.clone(),
                    long: name,
                    span,
                })
            }
            NodeKind::Aggregate => {
                let aggregate = self.aggregate(st, inner)?;
                let function = tree.word(inner).map(|word| word.text.to_lowercase()).unwrap_or_default();
                let of = tree.path_in(inner);
                let named = |name: Option<String>| match name {
                    Some(name) => format!("{function}_{name}"),
                    None => function.clone(),
                };
                let short =
                    named(of.as_ref().and_then(|path| path.segments.last()).map(|name| name.text.to_owned()));
                let long = named(of.as_ref().map(|path| path.joined("_")));
                Some(Selected { value: ColumnValue::Aggregate(aggregate), given, short, long, span })
            }
            NodeKind::Path => {
                let text = tree.path(inner);
                let long = text.joined("_");
                let short = text.segments.last().map(|name| name.text.to_owned()).unwrap_or_default();
                let value =
                    if text.star { self.whole_position(st, &text)? } else { self.selected_path(st, &text)? };
                Some(Selected { value, given, short, long, span })
            }
            _broken => None,
        }
    }

    /// `a.*`: the instance at a joined position.
    fn whole_position(&mut self, st: &Statement<'t, 'a>, text: &PathText<'a>) -> Option<ColumnValue> {
        let text = &PathText { star: false, ..text.clone() };
        let path = self.path(&st.scope, text, Crossing::NeedsJoin)?;
        if let Some(position) = self.joined_position(&st.scope, &path) {
            return Some(ColumnValue::Whole(position));
        }
        let joined = text.joined(".");
        let message = format!("`{joined}` is not joined: `.*` needs a position");
        self.say(
            Diagnostic::new(Code::ManyWithoutJoin, text.span, message)
                .hint(format!("`JOIN {joined} AS x`, then `x.*`")),
        );
        None
    }

    fn selected_path(&mut self, st: &Statement<'t, 'a>, text: &PathText<'a>) -> Option<ColumnValue> {
        self.path(&st.scope, text, Crossing::NeedsJoin).map(ColumnValue::Path)
    }

    fn aggregate(&mut self, st: &Statement<'t, 'a>, node: NodeId) -> Option<Aggregate> {
        let tree = st.tree;
        let function = function(tree, node)?;
        let distinct = tree.has_keyword(node, Keyword::Distinct);
        let Some(text) = tree.path_in(node) else {
            if function != AggregateFunction::Count || distinct {
                let message = "only COUNT counts rows with `*`";
                self.say(Diagnostic::new(Code::BadOperand, tree.span(node), message));
                return None;
            }
            return Some(Aggregate { function, distinct, of: None });
        };
        let path = self.path(&st.scope, &text, Crossing::NeedsJoin)?;
        let ty = self.value_type(&st.scope, &path);
        let fits = match function {
            AggregateFunction::Count => !distinct || !matches!(&ty, ValueType::Basic(Type::Json | Type::Geo)),
            AggregateFunction::Sum | AggregateFunction::Avg => {
                matches!(&ty, ValueType::Basic(ty) if ty.is_number())
            }
            AggregateFunction::Min | AggregateFunction::Max => ty.is_ordered(),
        };
        if !fits || self.is_list(&path) {
            let message = format!(
                "this aggregate does not apply to {}{}",
                if self.is_list(&path) { "a list of " } else { "" },
                self.describe(&ty)
            );
            self.say(
                Diagnostic::new(Code::BadOperand, text.span, message).hint(
                    "SUM and AVG are for numbers, MIN and MAX for what has an order; JOIN a list first",
                ),
            );
            return None;
        }
        if distinct && function != AggregateFunction::Count {
            let message = "DISTINCT stands only in COUNT(DISTINCT …)";
            self.say(Diagnostic::new(Code::BadOperand, tree.span(node), message));
            return None;
        }
        Some(Aggregate { function, distinct, of: Some(path) })
    }

    fn group_by(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Vec<Path>> {
        let tree = st.tree;
        let Some(clause) = tree.child(node, NodeKind::GroupByClause) else { return Some(Vec::new()) };
        let paths: Vec<_> = tree
            .children_of(clause, NodeKind::Path)
            .map(|path| self.ordered_path(st, &tree.path(path), "grouped"))
            .collect();
        paths.into_iter().collect()
    }

    /// A path whose values have an order and are not lists.
    pub(super) fn ordered_path(
        &mut self,
        st: &Statement<'t, 'a>,
        text: &PathText<'a>,
        what: &str,
    ) -> Option<Path> {
        let path = self.path(&st.scope, text, Crossing::NeedsJoin)?;
        self.check_ordered(st, path, text.span, what)
    }

    fn check_ordered(&mut self, st: &Statement<'t, 'a>, path: Path, span: Span, what: &str) -> Option<Path> {
        let ty = self.value_type(&st.scope, &path);
        let identity = matches!(ty, ValueType::Identity(_));
        let fits = (ty.is_ordered() || identity) && !self.is_list(&path);
        if !fits {
            let list = if self.is_list(&path) { "a list of " } else { "" };
            let message = format!("{list}{} cannot be {what} by", self.describe(&ty));
            self.say(Diagnostic::new(Code::BadOperand, span, message));
            return None;
        }
        Some(path)
    }

    fn order_by(
        &mut self,
        st: &mut Statement<'t, 'a>,
        node: NodeId,
        columns: &[Selected],
    ) -> Option<Vec<OrderTerm>> {
        let tree = st.tree;
        let Some(clause) = tree.child(node, NodeKind::OrderByClause) else { return Some(Vec::new()) };
        let given = columns.iter().filter_map(|column| Some((column.given.as_ref()?.0.as_str(), column)));
        let columns: HashMap<&str, &Selected> = given.collect();
        let terms: Vec<_> = tree
            .children_of(clause, NodeKind::OrderTerm)
            .map(|term| {
                let by = self.order_value(st, term, &columns)?;
                Some(OrderTerm { by, descending: tree.has_keyword(term, Keyword::Desc) })
            })
            .collect();
        terms.into_iter().collect()
    }

    fn order_value(
        &mut self,
        st: &Statement<'t, 'a>,
        term: NodeId,
        columns: &HashMap<&str, &Selected>,
    ) -> Option<OrderBy> {
        let tree = st.tree;
        if let Some(aggregate) = tree.child(term, NodeKind::Aggregate) {
            return self.aggregate(st, aggregate).map(OrderBy::Aggregate);
        }
        let text = tree.path_in(term)?;
        if let Some(column) = self.column_called(st, &text, columns) {
            return match &column.value {
                ColumnValue::Path(path) => {
                    self.check_ordered(st, path.clone(), text.span, "ordered").map(OrderBy::Path)
                }
                ColumnValue::Aggregate(aggregate) => Some(OrderBy::Aggregate(aggregate.clone())),
                ColumnValue::Whole(_) => {
                    let message = "a whole instance cannot be ordered by";
                    self.say(
                        Diagnostic::new(Code::BadOperand, text.span, message)
                            .hint("order by one of its attributes"),
                    );
                    None
                }
            };
        }
        self.ordered_path(st, &text, "ordered").map(OrderBy::Path)
    }

    /// A column by the name that AS gave it, if nothing in scope has that name.
    fn column_called<'s>(
        &self,
        st: &Statement<'t, 'a>,
        text: &PathText<'a>,
        columns: &HashMap<&str, &'s Selected>,
    ) -> Option<&'s Selected> {
        let [word] = text.segments.as_slice() else { return None };
        let taken =
            self.member_exactly(st.scope.main, word.text).is_some() || st.scope.alias(word.text).is_some();
        if taken {
            return None;
        }
        columns.get(word.text).copied()
    }

    fn limit(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Result<Option<Limit>, ()> {
        let tree = st.tree;
        let find = |kind| tree.child(node, kind).and_then(|clause| tree.children(clause).next());
        if let Some(value) = find(NodeKind::LimitClause) {
            return self.row_count(st, value).map(|rows| Some(Limit::Rows(rows))).ok_or(());
        }
        match find(NodeKind::PageClause) {
            Some(value) => self.row_count(st, value).map(|rows| Some(Limit::Page(rows))).ok_or(()),
            None => Ok(None),
        }
    }

    pub(super) fn row_count(&mut self, st: &mut Statement<'t, 'a>, node: NodeId) -> Option<Operand> {
        let tree = st.tree;
        let span = tree.span(node);
        let int = ParameterType::Basic(Type::Int);
        match tree.kind(node) {
            NodeKind::Parameter => {
                let name = tree.parameter_name(node)?;
                self.parameter(&mut st.parameters, name, int, span).map(Operand::Parameter)
            }
            NodeKind::Positional => {
                let name = st.parameters.positional.name(node).to_owned();
                self.parameter(&mut st.parameters, &name, int, span).map(Operand::Parameter)
            }
            _literal_or_other => {
                let whole = tree
                    .own_token(node, TokenKind::Number)
                    .and_then(|token| units::whole(tree.token_text(token)));
                let negative = tree.own_token(node, TokenKind::Minus).is_some();
                match whole.and_then(|n| i32::try_from(n).ok()).filter(|&n| n > 0 && !negative) {
                    Some(rows) => Some(Operand::Constant(Constant::Int(rows.into()))),
                    None => {
                        let message = "this is a whole number of rows, at least 1";
                        self.say(
                            Diagnostic::new(Code::BadLimit, span, message).hint("or a parameter: `LIMIT :n`"),
                        );
                        None
                    }
                }
            }
        }
    }

    /// Beside aggregates only grouping values can be selected or ordered by.
    fn check_groups(
        &mut self,
        columns: &[Selected],
        group_by: &[Path],
        order_by: &[OrderTerm],
        tree: &Tree<'a>,
        node: NodeId,
    ) -> bool {
        let is_aggregate = |column: &Selected| matches!(column.value, ColumnValue::Aggregate(_));
        let ordered_by_aggregate = order_by.iter().any(|term| matches!(term.by, OrderBy::Aggregate(_)));
        if group_by.is_empty() && !columns.iter().any(is_aggregate) && !ordered_by_aggregate {
            return true;
        }
        if let Some(clause) = tree.child(node, NodeKind::PerGroupClause) {
            self.per_group_of_groups(tree.span(clause));
            return false;
        }
        let group_by: HashSet<&Path> = group_by.iter().collect();
        let mut ok = true;
        for column in columns {
            if let ColumnValue::Path(path) = &column.value
                && self.is_list(path)
            {
                ok = false;
                self.list_of_groups(column.span);
                continue;
            }
            let grouped = match &column.value {
                ColumnValue::Aggregate(_) => true,
                ColumnValue::Path(path) => group_by.contains(path),
                ColumnValue::Whole(_) => false,
            };
            if !grouped {
                ok = false;
                self.not_grouped(column.span);
            }
        }
        for (term, node) in order_by.iter().zip(order_terms(tree, node)) {
            if let OrderBy::Path(path) = &term.by
                && !group_by.contains(path)
            {
                ok = false;
                self.not_grouped(tree.span(node));
            }
        }
        ok
    }

    fn not_grouped(&mut self, span: Span) {
        self.say(
            Diagnostic::new(Code::NotGrouped, span, "this is neither grouped by nor aggregated")
                .hint("add it to GROUP BY, or take MIN, MAX or COUNT of it"),
        );
    }

    /// A group has no list of its own: its rows may have several.
    fn list_of_groups(&mut self, span: Span) {
        self.say(
            Diagnostic::new(Code::NotGrouped, span, "a list cannot be selected in a query that groups")
                .hint("JOIN the list to group or aggregate its elements, or select it without GROUP BY"),
        );
    }

    /// AS, else the last name; on a clash the whole path joined by `_`.
    fn name_columns(&mut self, columns: Vec<Selected>) -> Option<Vec<Column>> {
        let mut uses: HashMap<String, usize> = HashMap::new();
        for column in &columns {
            let name = column.given.as_ref().map_or(&column.short, |(name, _)| name);
            *uses.entry(name.clone()).or_default() += 1;
        }
        let mut taken: HashMap<String, Span> = HashMap::new();
        let mut named = Vec::with_capacity(columns.len());
        for column in columns {
            let (name, span) = match column.given {
                Some((name, span)) => (name, span),
                None if uses.get(&column.short).is_some_and(|&n| n > 1) => (column.long, column.span),
                None => (column.short, column.span),
            };
            if let Some(before) = taken.insert(name.clone(), span) {
                let message = format!("two columns are called `{name}`");
                self.say(
                    Diagnostic::new(Code::DuplicateColumn, span, message)
                        .also(before, "the first one")
                        .hint("give one of them another name with AS"),
                );
                return None;
            }
            named.push(Column { name, value: column.value });
        }
        Some(named)
    }
}

fn order_terms<'t>(tree: &'t Tree<'_>, node: NodeId) -> impl Iterator<Item = NodeId> + 't {
    let clause = tree.child(node, NodeKind::OrderByClause);
    clause.into_iter().flat_map(|clause| tree.children_of(clause, NodeKind::OrderTerm))
}

fn function(tree: &Tree<'_>, node: NodeId) -> Option<AggregateFunction> {
    tree.own_tokens(node).find_map(|token| match tree.token(token).keyword? {
        Keyword::Count => Some(AggregateFunction::Count),
        Keyword::Sum => Some(AggregateFunction::Sum),
        Keyword::Avg => Some(AggregateFunction::Avg),
        Keyword::Min => Some(AggregateFunction::Min),
        Keyword::Max => Some(AggregateFunction::Max),
        _other => None,
    })
}
