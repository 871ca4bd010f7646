//! Which copies a store can keep as indexes that lead to the records of a master.

use crate::{
    Capability, ClassId, Collection, ColumnValue, Comparison, Conceptual, Condition, Constant, Contents,
    Home, HomePlace, Id, IndexKeys, IndexedFields, Keeper, KeyType, Leaf, Member, Operand, Path, Plan,
    RelationshipKind, StoredKeys, Type, Value, identity_types, typed,
};

/// What is true of every row of an index: a field and a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexTerm<'t> {
    pub path: &'t Path,
    pub op: Comparison,
    pub constant: &'t Constant,
}

impl IndexTerm<'_> {
    /// Whether it compares an attribute that is no part of an id with a value of its own type.
    fn is_plain(&self, conceptual: &Conceptual) -> bool {
        let Leaf::Attribute(id) = self.path.leaf else { return false };
        let attribute = &conceptual.attributes[id];
        let value = Value::of_constant(self.constant).ok();
        !attribute.id && value.is_some_and(|value| typed::basic(&value, &attribute.ty).is_some())
    }
}

impl Capability {
    /// Whether the store keeps this as an index that leads to the records of its master: whoever reads by it has those.
    #[must_use]
    pub fn leads_to_records(&self, conceptual: &Conceptual, collection: &Collection) -> bool {
        self.stored_keys(conceptual, collection).is_some()
    }

    /// How the store keeps this as an index that leads to the records of its master, if it does.
    #[must_use]
    pub fn stored_keys(&self, conceptual: &Conceptual, collection: &Collection) -> Option<StoredKeys> {
        self.indexes?.value.keys.stored_for(conceptual, collection)
    }

    /// Whether it gives records in no order, though it has keys.
    #[must_use]
    pub fn gives_no_order(&self, conceptual: &Conceptual, collection: &Collection) -> bool {
        let keys = self.stored_keys(conceptual, collection);
        keys.is_some_and(|keys| IndexKeys::Stored(keys).gives_no_order())
    }
}

impl IndexKeys {
    /// How an index of such keys leads to the records of a copy's master, if it does.
    #[must_use]
    pub fn stored_for(self, conceptual: &Conceptual, collection: &Collection) -> Option<StoredKeys> {
        // What holds more than keys is not what was made for such a store.
        if collection.keeper != Keeper::Store || !collection.fields().is_empty() {
            return None;
        }
        match self {
            Self::Stored(keys) => Some(keys).filter(|keys| keys.can_be_of(conceptual, collection)),
            Self::Computed => None,
        }
    }

    /// Whether no index gives records in an order.
    #[must_use]
    pub const fn gives_no_order(self) -> bool {
        match self {
            Self::Stored(keys) => match keys.of {
                IndexedFields::One => true,
                IndexedFields::Several => false,
            },
            Self::Computed => false,
        }
    }
}

impl StoredKeys {
    /// Whether an index can stand for a copy, which then holds keys alone: its rows are the instances of a root, all of
    /// them or those that a condition names, and each component of its key is a field of the root's record.
    #[must_use]
    pub fn can_be_of(self, conceptual: &Conceptual, copy: &Collection) -> bool {
        let root = copy.source.root;
        let alone = [Home { root, place: HomePlace::Root }];
        let main = copy.source.positions.iter().map(|(_, position)| position.class);
        let rows = matches!(copy.contents, Contents::Fields(_)) && copy.role.is_table_of_rows();
        let by_id = copy.block_key.iter().any(|field| field.path.leaf == Leaf::Itself);
        let mut keys = copy.block_key.iter().chain(&copy.entry_key);
        // By the id alone there is an index already.
        let more = keys.any(|field| !is_identity(conceptual, root, field.path.leaf));
        rows && more
            && !by_id
            && main.eq([Some(root)])
            && conceptual.homes(root) == alone
            && copy.block_key.iter().all(|field| self.is_field(conceptual, &field.path, self.equal))
            && copy.entry_key.iter().all(|field| self.is_field(conceptual, &field.path, self.ordered))
            && match self.of {
                IndexedFields::Several => self.can_sort(conceptual, copy),
                IndexedFields::One => {
                    copy.block_key.len() + copy.entry_key.len() == 1 && copy.source.condition.is_none()
                }
            }
    }

    /// Whether it has the order of a copy, and only the rows of that.
    fn can_sort(self, conceptual: &Conceptual, copy: &Collection) -> bool {
        let identity = identity_types(conceptual, copy.source.root);
        copy.entry_key.iter().all(|field| sorts(conceptual, field.path.leaf))
            // The identity decides among rows that are equal else.
            && identity.iter().all(|ty| self.ordered.contains(&ty.into()))
            && copy.source.condition.as_ref().is_none_or(|condition| self.can_say(conceptual, condition))
    }

    /// Whether a path is one field of the root's record, of one of these types.
    fn is_field(self, conceptual: &Conceptual, path: &Path, types: &[KeyType]) -> bool {
        let is = |ty: &Type| types.contains(&ty.into());
        let own = path.hops.is_empty() && path.position.index() == 0;
        own && match path.leaf {
            Leaf::Attribute(id) => {
                let attribute = &conceptual.attributes[id];
                !attribute.list && is(&attribute.ty)
            }
            Leaf::Reference(id) => {
                let end = &conceptual.ends[id];
                let single = end.stored && !end.cardinality.is_many() && end.inverse != Some(id);
                let part = end.kind == RelationshipKind::Composition;
                // An id of several parts is a document, of which equality asks for the order of its fields.
                let types = identity_types(conceptual, end.target);
                single && !part && matches!(types.as_slice(), [only] if is(only))
            }
            Leaf::Itself => true,
            // An aggregate does not hold its bucket.
            Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
        }
    }

    fn can_say(self, conceptual: &Conceptual, condition: &Condition) -> bool {
        condition.index_terms().is_some_and(|terms| {
            terms.iter().all(|term| {
                let types = match term.op {
                    Comparison::Equal => self.equal,
                    Comparison::Less
                    | Comparison::LessOrEqual
                    | Comparison::Greater
                    | Comparison::GreaterOrEqual => self.ordered,
                    Comparison::NotEqual => return false,
                };
                term.is_plain(conceptual) && self.is_field(conceptual, term.path, types)
            })
        })
    }
}

/// A reference may be stored with the name of its class before the id, as text: what is not text would sort otherwise.
fn sorts(conceptual: &Conceptual, leaf: Leaf) -> bool {
    match leaf {
        Leaf::Reference(id) => {
            let types = identity_types(conceptual, conceptual.ends[id].target);
            matches!(types.as_slice(), [Type::Text | Type::Uuid])
        }
        Leaf::Attribute(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => true,
    }
}

fn is_identity(conceptual: &Conceptual, root: ClassId, leaf: Leaf) -> bool {
    let identifier = &conceptual.classes[root].identifier;
    match leaf {
        Leaf::Itself => true,
        Leaf::Attribute(id) => *identifier == [Member::Attribute(id)],
        Leaf::Reference(id) => *identifier == [Member::End(id)],
        Leaf::Bucket(_) | Leaf::TimeBucket(..) => false,
    }
}

impl Plan {
    /// The members of the records that an index leads to, if no more of them is needed; else nothing. What the index
    /// holds is needed whatever the plan does with it.
    #[must_use]
    pub fn members_of_records(&self, conceptual: &Conceptual) -> Option<Vec<Member>> {
        // What has expired is told by more than members.
        let expires = conceptual.classes.iter().any(|(_, class)| class.ttl.is_some());
        let position = self.access.positions.first().copied().flatten()?;
        if expires || !self.joins.is_empty() || self.takes_wholes() {
            return None;
        }
        let mut members = Vec::new();
        for path in self.paths() {
            if path.position != position {
                return None;
            }
            // What is beyond a link is looked up by it.
            let leaf = path.hops.first().map_or(path.leaf, |&hop| Leaf::Reference(hop));
            let member = match leaf {
                Leaf::Attribute(id) => Member::Attribute(id),
                Leaf::Reference(id) => {
                    let end = &conceptual.ends[id];
                    let stored = end.stored && end.inverse != Some(id);
                    Some(Member::End(id)).filter(|_| stored)?
                }
                Leaf::Itself => continue,
                Leaf::Bucket(_) | Leaf::TimeBucket(..) => return None,
            };
            if !members.contains(&member) {
                members.push(member);
            }
        }
        Some(members)
    }

    fn takes_wholes(&self) -> bool {
        self.columns.iter().any(|column| matches!(column.value, ColumnValue::Whole(_)))
    }
}

impl Condition {
    /// The terms of a condition that compares fields with constants, all of which must hold. Nothing if it says more.
    #[must_use]
    pub fn index_terms(&self) -> Option<Vec<IndexTerm<'_>>> {
        match self {
            Self::And(all) => {
                let each = all.iter().map(Self::index_terms).collect::<Option<Vec<_>>>()?;
                Some(each.into_iter().flatten().collect())
            }
            Self::Compare { left, op, right } => match (left, right) {
                (Operand::Path(path), Operand::Constant(constant)) => {
                    Some(vec![IndexTerm { path, op: *op, constant }])
                }
                (Operand::Constant(constant), Operand::Path(path)) => {
                    Some(vec![IndexTerm { path, op: op.turned(), constant }])
                }
                (Operand::Path(_) | Operand::Constant(_) | Operand::Parameter(_), _) => None,
            },
            Self::Or(_)
            | Self::Not(_)
            | Self::Negated(_)
            | Self::Between { .. }
            | Self::In { .. }
            | Self::StartsWith { .. }
            | Self::IsNull { .. }
            | Self::Matches { .. }
            | Self::Under { .. }
            | Self::Above { .. }
            | Self::Within { .. }
            | Self::InBox { .. } => None,
        }
    }
}

impl From<&Type> for KeyType {
    fn from(ty: &Type) -> Self {
        match ty {
            Type::Text => Self::Text,
            Type::Int => Self::Int,
            Type::Long => Self::Long,
            Type::Decimal => Self::Decimal,
            Type::Double => Self::Double,
            Type::Bool => Self::Bool,
            Type::Date => Self::Date,
            Type::Time => Self::Time,
            Type::Timestamp(_) => Self::Timestamp,
            Type::Uuid => Self::Uuid,
            Type::Blob => Self::Blob,
            Type::Geo => Self::Geo,
            Type::Json => Self::Json,
            Type::Enum(_) => Self::Enum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AttributeId;

    fn compared(left: Operand, op: Comparison, right: Operand) -> Condition {
        Condition::Compare { left, op, right }
    }

    #[test]
    fn a_condition_of_an_index_compares_fields_with_constants_and_nothing_else() {
        let leaf = Leaf::Attribute(AttributeId::from_index(0));
        let path = Path { position: Id::from_index(0), hops: Vec::new(), leaf };
        let (field, five) = (Operand::Path(path.clone()), Operand::Constant(Constant::Int(5)));
        let turned = compared(five.clone(), Comparison::Less, field.clone());
        let equal = compared(field.clone(), Comparison::Equal, five.clone());
        let both = Condition::And(vec![turned, equal]);
        let constant = &Constant::Int(5);
        let term = |op| IndexTerm { path: &path, op, constant };
        assert_eq!(both.index_terms(), Some(vec![term(Comparison::Greater), term(Comparison::Equal)]));
        let given = compared(field.clone(), Comparison::Equal, Operand::Parameter(0));
        let null = Condition::IsNull { value: field.clone() };
        let fields = compared(field.clone(), Comparison::Equal, field);
        for other in [given, null, fields, Condition::Not(Box::new(both.clone())), Condition::Or(vec![both])]
        {
            assert_eq!(other.index_terms(), None, "{other:?}");
        }
    }
}
