//! The plan of a write as an indented tree.

use super::copies::spared_by;
use super::step::Step;
use crate::planner::Line;
use crate::planner::print::{Printer, print_relied_on};
use crate::planner::table::{Tree, price};
use askloom_model::{
    CheckOf, CopyLevel, CopyWrite, Design, EndId, Estimate, Joining, Keeper, Member, Model, OnDelete, Query,
    ReferenceCheck, RelationshipKind, Reservation, SupportOf, Write, WriteAction, WriteOf, WritePlan,
    WriteStepPlan,
};

/// The plan in words, one step a line, each with what it takes. `write` is the statement, if it is one.
#[must_use]
pub fn print(model: &Model, design: &Design, write: Option<&Write>, plan: &WritePlan) -> String {
    let printer = WritePrinter { model, design };
    let name = match &plan.of {
        WriteOf::Statement(name) => name.clone(),
        WriteOf::Create(class) => format!("create {}", model.conceptual.classes[*class].name),
        WriteOf::Store(class) => format!("store {}", model.conceptual.classes[*class].name),
        WriteOf::Delete(class) => format!("delete {}", model.conceptual.classes[*class].name),
        WriteOf::Relink(end) => {
            let row = &model.conceptual.ends[*end];
            format!("change {}.{}", model.conceptual.classes[row.class].name, row.name)
        }
    };
    let heading = format!(
        "write {name} on {}: {} {}, {}",
        plan.target,
        price(plan.estimate.cost),
        plan.unit,
        match write.is_some_and(|write| write.apart) {
            true => "each statement by itself, in order (`@apart`)",
            false => together(plan.level),
        }
    );
    let mut tree = Tree::new(&heading, &["calls", "rows", "puts", "dels"], &plan.unit);
    let steps = steps(model, write, plan);
    for (index, step) in plan.steps.iter().enumerate() {
        printer.step(&mut tree, step, steps.get(index).map(|step| &step.find));
    }
    tree.into_text() + &print_relied_on(model, relied_on(model, design, write, plan))
}

/// What the plan of a write is about.
fn steps(model: &Model, write: Option<&Write>, plan: &WritePlan) -> Vec<Step> {
    match plan.of {
        WriteOf::Statement(_) => {
            let of =
                |write: &Write| write.steps.iter().map(|step| Step::of_write(model, write, step)).collect();
            write.map(of).unwrap_or_default()
        }
        WriteOf::Create(class) => vec![Step::create(model, class)],
        WriteOf::Store(class) => vec![Step::store(model, class)],
        WriteOf::Delete(class) => vec![Step::delete(model, class)],
        WriteOf::Relink(end) => vec![Step::relink(model, end)],
    }
}

/// The references that a write relies on: to find what it is about, and for not looking at copies.
#[must_use]
pub fn relied_on(model: &Model, design: &Design, write: Option<&Write>, plan: &WritePlan) -> Vec<EndId> {
    let found = plan.steps.iter().flat_map(|step| crate::planner::relied_on(&step.find));
    let steps = steps(model, write, plan);
    let spared = steps.iter().flat_map(|step| spared_by(&model.conceptual, design, step));
    found.chain(spared).collect()
}

/// The same as a list.
pub(in crate::planner) fn outline(
    model: &Model,
    design: &Design,
    write: &Write,
    plan: &WritePlan,
) -> Vec<Line> {
    let printer = WritePrinter { model, design };
    let mut lines = Vec::new();
    for (step, statement) in plan.steps.iter().zip(&write.steps) {
        let find = Step::of_write(model, write, statement).find;
        lines.extend(super::super::outline(model, design, &find, &step.find));
        printer.outline(step, &mut lines);
    }
    lines
}

fn together(level: CopyLevel) -> &'static str {
    match level {
        CopyLevel::AtomicUnit => "all in one atomic unit (level 1)",
        CopyLevel::Transaction => "all in one transaction (level 2)",
        CopyLevel::Intents => "copies follow by intents (level 3)",
    }
}

struct WritePrinter<'p> {
    model: &'p Model,
    design: &'p Design,
}

impl WritePrinter<'_> {
    fn outline(&self, step: &WriteStepPlan, lines: &mut Vec<Line>) {
        for reservation in &step.reservations {
            let words = self.reservation(reservation);
            lines.push(Line::write("reserve", words, reservation.index, &reservation.estimate));
        }
        for check in &step.checks {
            let read = check.what.how().collections().first().copied();
            lines.push(Line::write("check", self.check(check), read, &check.estimate));
        }
        let master = step.master.collection;
        let words = format!("{} in {}", self.action(step), self.design.collections[master].name);
        lines.push(Line::write("put", words, Some(master), &step.master.estimate));
        for copy in &step.copies {
            for support in copy.support.iter().filter(|support| !support.shared) {
                let words = self.support(&support.of, copy);
                lines.push(Line::read("support_read", words, None, &support.estimate));
            }
            let words = format!("bring {} after", self.design.collections[copy.collection].name);
            lines.push(Line::write("copy", words, Some(copy.collection), &copy.estimate));
        }
    }

    fn step(&self, tree: &mut Tree, step: &WriteStepPlan, query: Option<&Query>) {
        let master = &self.design.collections[step.master.collection].name;
        line(tree, 0, &format!("{} in {master}", self.action(step)), &step.master.estimate);
        if let Some(query) = query {
            let printer = Printer::new(self.model, self.design, query, &step.find);
            let found = printer.shown().map(|step| (printer.step(&step.of), step.estimate));
            let first = step.find.first.iter().map(|first| (printer.find_list(), first.plan.estimate));
            for (deeper, (words, estimate)) in found.chain(first).enumerate() {
                tree.step(1 + deeper, &words, &[estimate.requests, estimate.rows], estimate.cost);
            }
        }
        for reservation in &step.reservations {
            line(tree, 1, &self.reservation(reservation), &reservation.estimate);
        }
        for check in &step.checks {
            line(tree, 1, &self.check(check), &check.estimate);
        }
        for copy in &step.copies {
            self.copy(tree, copy);
        }
    }

    fn action(&self, step: &WriteStepPlan) -> String {
        let conceptual = &self.model.conceptual;
        let class = &conceptual.classes[step.class].name;
        let member = |member: Member| conceptual.member_name(member);
        match step.action {
            WriteAction::Insert | WriteAction::Upsert if step.blind => format!("blind put of {class}"),
            WriteAction::Insert => format!("insert {class}"),
            WriteAction::Upsert => format!("upsert {class}"),
            WriteAction::Store => format!("store {class}"),
            WriteAction::Update => format!("update {class}"),
            WriteAction::UpdateElements(list) => format!("update elements of {class}.{}", member(list)),
            WriteAction::Delete => format!("delete {class}"),
            WriteAction::Add(list) => format!("add to {class}.{}", member(list)),
            WriteAction::Remove(list) => format!("remove from {class}.{}", member(list)),
            WriteAction::Connect(end) => format!("connect {class}.{}", member(Member::End(end))),
            WriteAction::Disconnect(end) => format!("disconnect {class}.{}", member(Member::End(end))),
        }
    }

    fn path(&self, path: &[Member]) -> String {
        let names = path.iter().map(|&member| self.model.conceptual.member_name(member));
        names.collect::<Vec<_>>().join(".")
    }

    fn reservation(&self, reservation: &Reservation) -> String {
        let part = matches!(reservation.path.last(), Some(&Member::End(end))
            if self.model.conceptual.ends[end].kind == RelationshipKind::Composition);
        let path = self.path(&reservation.path);
        let path = if part { format!("id in {path}") } else { path };
        match reservation.index {
            Some(index) => format!("reserve {path} in {}", self.design.collections[index].name),
            None => format!("see that no other has this {path}, by a scan"),
        }
    }

    fn check(&self, check: &ReferenceCheck) -> String {
        let end = &self.model.conceptual.ends[check.end];
        let holder = &self.model.conceptual.classes[end.class].name;
        let first = check.what.how().collections().first().map(|&id| &self.design.collections[id].name);
        let by = match (check.what.how(), first) {
            (Joining::Inside, _) | (_, None) => "in the aggregate".to_owned(),
            (Joining::PartByScan { .. } | Joining::BackByScan { .. }, Some(name)) => {
                format!("by a scan of {name}")
            }
            (Joining::LookUp { .. }, Some(name)) => format!("in {name}"),
            (Joining::PartByIndex { .. } | Joining::Back { .. }, Some(name)) => format!("by {name}"),
        };
        match check.what {
            CheckOf::TargetLives { .. } => format!("check that {} exists, {by}", end.name),
            CheckOf::Partner { .. } => format!("read the other end of {holder}.{}, {by}", end.name),
            CheckOf::Holders { .. } => format!("find who holds {holder}.{}, {by}", end.name),
            CheckOf::Referrers { .. } => {
                let then = match end.on_delete() {
                    Some(OnDelete::Refuse) | None => "refuse if any",
                    Some(OnDelete::Cascade) => "delete them",
                    Some(OnDelete::Clear) => "clear it",
                };
                format!("who has it as {holder}.{}, {by}: {then}", end.name)
            }
        }
    }

    fn copy(&self, tree: &mut Tree, copy: &CopyWrite) {
        let collection = &self.design.collections[copy.collection];
        let name = &collection.name;
        let by = match collection.keeper {
            Keeper::Ours => format!("level {}", copy.level.number()),
            Keeper::Store => "by the store itself".to_owned(),
        };
        line(tree, 1, &format!("bring {name} after, {by}"), &copy.estimate);
        for support in &copy.support {
            let numbers = [support.estimate.requests, support.estimate.rows];
            let again = if support.shared { ", as above" } else { "" };
            let words = format!("{}{again}", self.support(&support.of, copy));
            tree.step(2, &words, &numbers, support.estimate.cost);
        }
    }

    fn support(&self, of: &SupportOf, copy: &CopyWrite) -> String {
        let name = |id: askloom_model::CollectionId| &self.design.collections[id].name;
        match of {
            SupportOf::Back(back) => {
                let end = &self.model.conceptual.ends[back.end];
                let holder = &self.model.conceptual.classes[end.class].name;
                match back.index {
                    Some(index) => format!("who has it as {holder}.{}, by {}", end.name, name(index)),
                    None => format!("who has it as {holder}.{}, by a scan", end.name),
                }
            }
            SupportOf::Rebuild { steps, how } => {
                let root = self.design.collections[copy.collection].source.root;
                let what = match self.path(steps) {
                    path if path.is_empty() => self.model.conceptual.classes[root].name.clone(),
                    path => path,
                };
                match how {
                    Joining::Inside => format!("its {what}"),
                    Joining::LookUp { master } => format!("get {what} from {}", name(*master)),
                    Joining::PartByIndex { index, master } | Joining::Back { index, master } => {
                        format!("find {what} by {}, get from {}", name(*index), name(*master))
                    }
                    Joining::PartByScan { master } | Joining::BackByScan { master } => {
                        format!("find {what} by a scan of {}", name(*master))
                    }
                }
            }
        }
    }
}

fn line(tree: &mut Tree, depth: usize, words: &str, estimate: &Estimate) {
    let numbers = [estimate.requests, estimate.rows, estimate.puts, estimate.deletes];
    tree.step(depth, words, &numbers, estimate.cost);
}
