//! Representation rules as text, as the language writes them, and back.

use super::path::{split, unquoted};
use askloom_model::{Conceptual, Rule, RuleStep, Span};
use askloom_plan::naming::name;

/// `/Game/*/rounds[*]`
#[must_use]
pub fn write(conceptual: &Conceptual, rule: &Rule) -> String {
    let class = rule.class.map_or_else(|| "*".to_owned(), |class| name(&conceptual.classes[class].name));
    let mut text = format!("/{class}/*");
    for step in &rule.steps {
        text.push('/');
        let (step, each) = match step {
            RuleStep::Field { name: field, each } => (name(field), *each),
            RuleStep::AnyField { each } => ("*".to_owned(), *each),
            RuleStep::EachAtom => ("**".to_owned(), false),
        };
        text.push_str(&step);
        if each {
            text.push_str("[*]");
        }
    }
    text
}

pub(super) fn read(conceptual: &Conceptual, text: &str) -> Result<Rule, String> {
    let parts = split(text, "/");
    let [start, class, any, steps @ ..] = parts.as_slice() else { return Err(malformed(text)) };
    if !start.is_empty() || *any != "*" {
        return Err(malformed(text));
    }
    let class = match *class {
        "*" => None,
        class => {
            let class = unquoted(class);
            let found = conceptual.classes.iter().find(|(_, row)| row.name == class);
            Some(found.map(|(id, _)| id).ok_or_else(|| format!("no entity is called `{class}`"))?)
        }
    };
    let steps = steps.iter().map(|step| read_step(conceptual, step)).collect::<Result<_, _>>()?;
    Ok(Rule { class, steps, span: Span::default() })
}

fn read_step(conceptual: &Conceptual, text: &str) -> Result<RuleStep, String> {
    let (field, each) = text.strip_suffix("[*]").map_or((text, false), |field| (field, true));
    match (field, each) {
        ("*", _) => Ok(RuleStep::AnyField { each }),
        ("**", false) => Ok(RuleStep::EachAtom),
        (field, _) => {
            let field = unquoted(field);
            let attribute = conceptual.attributes.iter().any(|(_, attribute)| attribute.name == field);
            if attribute || conceptual.ends.iter().any(|(_, end)| end.name == field) {
                Ok(RuleStep::Field { name: field.to_owned(), each })
            } else {
                Err(format!("no class has a field `{field}`"))
            }
        }
    }
}

fn malformed(text: &str) -> String {
    format!("`{text}` is no rule; one is `/Game/*/rounds[*]`")
}
