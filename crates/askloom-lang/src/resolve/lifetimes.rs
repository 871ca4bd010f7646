//! `@ttl(90 days from at)`: the time to live of an entity, and the attribute from which it counts.

use super::Resolver;
use super::annotations::Lifetime;
use crate::syntax::ast::Ident;
use askloom_model::{AttributeId, ClassId, Code, Diagnostic, Member, Ttl, Type};

impl<'a> Resolver<'_, 'a, '_> {
    pub(super) fn lifetimes(&mut self) {
        for (class, lifetime) in std::mem::take(&mut self.lifetimes) {
            let from = match lifetime.from {
                // Without its attribute the annotation is wrong, and an error says so.
                Some(name) => match self.counted_from(class, lifetime, name) {
                    Some(attribute) => Some(attribute),
                    None => continue,
                },
                None => None,
            };
            self.model.conceptual.classes[class].ttl = Some(Ttl { ms: lifetime.ms, from });
        }
    }

    fn counted_from(
        &mut self,
        class: ClassId,
        lifetime: Lifetime<'a>,
        name: Ident<'a>,
    ) -> Option<AttributeId> {
        let member = self.member_exactly(class, name.text).or_else(|| self.member_in_any_case(class, name));
        let Some(member) = member else {
            self.unknown_member(class, name, &[]);
            return None;
        };
        let declared = self.member_span(member);
        let wrong = |message: String, hint: &str| {
            Some(
                Diagnostic::new(Code::BadLifetime, name.span, message)
                    .also(declared, "declared here")
                    .hint(hint),
            )
        };
        let problem = match member {
            Member::End(_) => {
                let message = format!("`{}` is no attribute: a time to live counts from a time", name.text);
                wrong(message, "name a required timestamp or date")
            }
            Member::Attribute(id) => {
                let attribute = &self.model.conceptual.attributes[id];
                let is_time = matches!(attribute.ty, Type::Timestamp(_) | Type::Date) && !attribute.list;
                let stays = attribute.immutable || attribute.id || self.model.conceptual.is_immutable(class);
                if !is_time {
                    let message = format!("a time to live cannot count from `{}`", name.text);
                    wrong(message, "name a timestamp or a date")
                } else if attribute.optional {
                    let message = format!("`{}` is optional: without it nothing would expire", name.text);
                    wrong(message, "make the attribute required: drop `?`")
                } else if stays {
                    None
                } else {
                    let message = format!("`{}` can change, and the expiry would move with it", name.text);
                    wrong(message, "make the attribute or the entity `immutable`")
                }
            }
        };
        if let Some(diagnostic) = problem {
            self.say(diagnostic);
            return None;
        }
        if self.is_part(class) {
            let message = format!(
                "`{}` is a part: its time to live counts from when it is added",
                self.class_name(class)
            );
            self.say(
                Diagnostic::new(Code::BadLifetime, lifetime.span, message)
                    .hint("drop `from`, or make it the root of an aggregate of its own"),
            );
            return None;
        }
        match member {
            Member::Attribute(id) => Some(id),
            Member::End(_) => None,
        }
    }

    /// Whether an entity has an owner, itself or by an ancestor.
    pub(super) fn is_part(&self, class: ClassId) -> bool {
        let conceptual = &self.model.conceptual;
        conceptual.lineage(class).into_iter().any(|class| conceptual.classes[class].owner.is_some())
    }
}
