//! Random rules, as values and as text.

use crate::class;
use crate::models::{NAMES, ROOTS};
use askloom_model::{Conceptual, Rule, RuleStep, Span};
use fastrand::Rng;

pub(crate) fn rules(conceptual: &Conceptual, random: &mut Rng) -> Vec<Rule> {
    let mut rules: Vec<Rule> = (0..random.usize(0..5)).map(|_| rule(conceptual, random)).collect();
    // Most random rules leave something out; half of the sets have one at the end that does not.
    if random.bool() {
        let steps = [vec![], vec![RuleStep::AnyField { each: false }], vec![RuleStep::EachAtom]];
        let class = Some(class(conceptual, "E"));
        let steps = steps[random.usize(..3)].clone();
        rules.push(Rule { class, steps, span: Span::default() });
    }
    if rules.is_empty() { vec![rule(conceptual, random)] } else { rules }
}

fn rule(conceptual: &Conceptual, random: &mut Rng) -> Rule {
    let class = match random.usize(..12) {
        0..3 => None,
        3..8 => Some(class(conceptual, "E")),
        n => Some(class(conceptual, ROOTS[1 + n % (ROOTS.len() - 1)])),
    };
    let length = random.usize(..4);
    let steps = (0..length).map(|n| match random.usize(..6) {
        0 if n + 1 == length => RuleStep::EachAtom,
        0..3 => RuleStep::AnyField { each: random.bool() },
        5 => RuleStep::Field { name: "p".to_owned(), each: random.bool() },
        _ => {
            let name = NAMES[random.usize(..NAMES.len())].trim_matches('`').to_owned();
            RuleStep::Field { name, each: random.bool() }
        }
    });
    Rule { class, steps: steps.collect(), span: Span::default() }
}

pub(crate) fn text(conceptual: &Conceptual, rule: &Rule) -> String {
    let class = rule.class.map_or("*", |class| &conceptual.classes[class].name);
    let each = |each: bool| if each { "[*]" } else { "" };
    let steps = rule.steps.iter().map(|step| match step {
        RuleStep::Field { name, each: e } => format!("/`{name}`{}", each(*e)),
        RuleStep::AnyField { each: e } => format!("/*{}", each(*e)),
        RuleStep::EachAtom => "/**".to_owned(),
    });
    format!("/{class}/*{}", steps.collect::<String>())
}
