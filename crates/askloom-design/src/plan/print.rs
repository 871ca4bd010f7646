//! A plan as an indented tree, the last step first, as people read plans.

use super::conjuncts;
use askloom_model::{Design, Joining, Limit, Model, Plan, Query, Reading};
use std::fmt::Write;

/// The plan in words, one step a line, with its estimate.
#[must_use]
pub fn print(model: &Model, design: &Design, query: &Query, plan: &Plan) -> String {
    let mut lines: Vec<String> = Vec::new();
    match &plan.limit {
        Some(Limit::Rows(_)) => lines.push("limit".to_owned()),
        Some(Limit::Page(_)) => lines.push("page".to_owned()),
        None => {}
    }
    if plan.sort.as_ref().is_some_and(|sort| !sort.is_empty()) {
        lines.push(format!("sort by {} fields, then identity", plan.sort.as_ref().map_or(0, Vec::len)));
    } else if plan.sort.is_some() {
        lines.push("sort by identity".to_owned());
    }
    if !plan.group_by.is_empty() {
        lines.push(format!("group by {} fields", plan.group_by.len()));
    }
    if plan.filter.is_some() {
        lines.push(format!("filter by {} terms", conjuncts(plan.filter.as_ref()).len()));
    }
    for join in plan.joins.iter().rev() {
        let hop = query.positions[join.position].from;
        let member = hop.map(|hop| model.conceptual.member_name(hop.step)).unwrap_or_default();
        lines.push(match &join.how {
            Joining::Inside => format!("for each row, its {member}"),
            Joining::LookUp { master } => {
                format!("for each row, look up {member} in {}", design.collections[*master].name)
            }
            Joining::Back { index, master } => format!(
                "for each row, find {member} by {}, look up in {}",
                design.collections[*index].name, design.collections[*master].name
            ),
            Joining::BackByScan { master } => {
                format!("for each row, find {member} by scanning {}", design.collections[*master].name)
            }
        });
    }
    let name = &design.collections[plan.access.collection].name;
    let mut how = &plan.access.how;
    while let Reading::Each { of, .. } = how {
        lines.push("for each value of a set".to_owned());
        how = of;
    }
    lines.push(match how {
        Reading::GetBlock { .. } => format!("get one block of {name}"),
        Reading::Scan | Reading::Each { .. } => format!("scan {name}"),
        Reading::Range { range, backwards, limited, equal, .. } => {
            let part = if range.is_some() || !equal.is_empty() { "a range" } else { "all" };
            let order = if *backwards { ", backwards" } else { "" };
            let most = if *limited { ", as far as the limit" } else { "" };
            format!("read {part} of one block of {name}{order}{most}")
        }
    });
    let mut text = String::new();
    for (depth, line) in lines.iter().enumerate() {
        let _ = writeln!(text, "{}{line}", "  ".repeat(depth));
    }
    let estimate = plan.estimate;
    let _ = writeln!(
        text,
        "about {} requests, {} rows, {} bytes",
        estimate.requests.ceil(),
        estimate.rows.ceil(),
        estimate.bytes.ceil()
    );
    text
}
