//! Columns that are a whole list or set, as text on both sides: `[1,null,"a"]`.

use super::question::{Expression, Maker};
use super::schema::{Field, Ref, Schema, Ty};
use super::steps::{Kind, Step, linked};
use askloom_model::{Conceptual, Element, Value};

impl Maker<'_> {
    /// A list at a position, or of what one to-one step leads to from there.
    pub(super) fn list(&mut self) -> Option<Expression> {
        let at = self.random.below(self.positions.len() as u64) as usize;
        let (kind, prefix) = (self.positions[at].kind, self.positions[at].prefix.clone());
        // What is joined is an element, not the list.
        let steps = self.unjoined(at);
        let alias = format!("p{at}");
        let to_one: Vec<Step> = steps.iter().filter(|step| !step.many).cloned().collect();
        if self.random.chance(0.3)
            && let Some(step) = self.random.pick(&to_one).cloned()
        {
            let inner = self.alias();
            let list = self.list_of(step.to, &format!("{prefix}.{}", step.name), &inner, None)?;
            self.features.insert("list column through to-one");
            let link = linked(&step.link, &alias, &inner);
            let table = self.schema.table(step.to);
            let sql = format!("(SELECT {} FROM {table} AS {inner} WHERE {link})", list.sql);
            return Some(Expression { sql, ..list });
        }
        self.list_of(kind, &prefix, &alias, Some(steps))
    }

    fn list_of(
        &mut self,
        kind: Kind,
        prefix: &str,
        alias: &str,
        steps: Option<Vec<Step>>,
    ) -> Option<Expression> {
        let steps = steps.unwrap_or_else(|| self.schema.steps(kind));
        let many: Vec<Step> = steps.into_iter().filter(|step| step.many).collect();
        let step = self.random.pick(&many)?.clone();
        let Kind::Entity(entity) = kind else { return None };
        self.features.insert("list column");
        let inner = self.alias();
        let Elements { from, text, order } = self.schema.elements(entity, &step, alias, &inner);
        let all =
            format!("SELECT group_concat(x, ',') FROM (SELECT {text} AS x FROM {from} ORDER BY {order})");
        let sql =
            format!("CASE WHEN {alias}.k IS NULL THEN NULL ELSE '[' || coalesce(({all}), '') || ']' END");
        Some(Expression { loom: format!("{prefix}.{}", step.name), sql, ty: Ty::Text })
    }
}

/// The elements of a list: where they are, what one of them is as text, and their order.
struct Elements {
    from: String,
    text: String,
    order: String,
}

impl Schema {
    fn elements(&self, entity: usize, step: &Step, owner: &str, inner: &str) -> Elements {
        let row = &self.entities[entity];
        let set = row.refs.iter().find(|to| to.many && to.name == step.name);
        let linked = linked(&step.link, owner, inner);
        let table = self.table(step.to);
        match (step.to, set) {
            // A set has ids also of what does not exist.
            (_, Some(to)) => {
                let own = self.equal(entity, &format!("{inner}.o_"), &format!("{owner}."));
                let from = format!("E{entity}_{} AS {inner} WHERE {own}", to.name);
                let key = format!("{inner}.t_");
                Elements {
                    from,
                    text: self.key_text(to.target, &key),
                    order: self.key_columns(to.target, &key).join(", "),
                }
            }
            (Kind::Entity(holder), None) => {
                let key = format!("{inner}.");
                Elements {
                    from: format!("{table} AS {inner} WHERE {linked}"),
                    text: self.key_text(holder, &key),
                    order: self.key_columns(holder, &key).join(", "),
                }
            }
            (Kind::Element(entity, list), None) => Elements {
                from: format!("{table} AS {inner} WHERE {linked}"),
                text: text(&format!("{inner}.v"), self.entities[entity].lists[list].ty),
                order: format!("{inner}.ord"),
            },
            (Kind::Part(entity, part), None) => {
                let part = &self.entities[entity].parts[part];
                Elements {
                    from: format!("{table} AS {inner} WHERE {linked}"),
                    text: self.part_text(&part.fields, part.to.as_ref(), inner),
                    order: format!("{inner}.ord"),
                }
            }
        }
    }

    fn key_text(&self, entity: usize, prefix: &str) -> String {
        let columns = self.key_columns(entity, prefix);
        let types = [Ty::Int, Ty::Text];
        let parts: Vec<String> = columns.iter().zip(types).map(|(column, ty)| text(column, ty)).collect();
        format!("({})", parts.join(" || '/' || "))
    }

    fn part_text(&self, fields: &[Field], to: Option<&Ref>, inner: &str) -> String {
        let field = |field: &Field| text(&format!("{inner}.{}", field.name), field.ty);
        let mut parts: Vec<String> = fields.iter().map(field).collect();
        parts.extend(to.map(|to| {
            let key = self.key_text(to.target, &format!("{inner}.to_"));
            format!("CASE WHEN {inner}.to_k IS NULL THEN 'null' ELSE {key} END")
        }));
        format!("'{{' || {} || '}}'", parts.join(" || ',' || "))
    }
}

/// A column as text, with quotes around texts.
fn text(column: &str, ty: Ty) -> String {
    match ty {
        Ty::Int | Ty::Bool => format!("coalesce({column}, 'null')"),
        Ty::Text => format!("coalesce('\"' || {column} || '\"', 'null')"),
    }
}

/// The same of what the oracle gives.
pub(super) fn shown_list(conceptual: &Conceptual, value: &Value) -> String {
    let texts: Vec<String> = match value {
        Value::List(elements) => {
            elements.iter().map(|Element { value, .. }| shown_element(conceptual, value)).collect()
        }
        Value::Set(ids) => {
            ids.iter().map(|id| super::shown(conceptual, &Value::Reference(id.clone()))).collect()
        }
        other => panic!("{other:?}"),
    };
    format!("{:?}", format!("[{}]", texts.join(",")))
}

fn shown_element(conceptual: &Conceptual, value: &Value) -> String {
    let Value::Record(record) = value else { return super::shown(conceptual, value) };
    let members = conceptual.all_members(record.class);
    let texts: Vec<String> = members.map(|member| super::shown(conceptual, record.get(member))).collect();
    format!("{{{}}}", texts.join(","))
}
