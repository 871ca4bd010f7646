//! One statement of a write: what it matches, and what it does to that.

use super::Expect;
use super::draft::{Address, Draft};
use super::make::{Given, Maker};
use super::upkeep::aggregate_of;
use crate::execute::Inner;
use crate::stop::each;
use crate::{RunError, Stop};
use askloom_model::{
    Assigned, Assignment, AttributeId, ClassId, Condition, Element, EndId, Id, Identity, Leaf, Member,
    Operand, Position, PositionId, Record, RelationshipKind, Table, Type, Value, WriteStep, fault, typed,
};
use askloom_plan::planner::write::finding;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a WHERE matches: the instance, and the element if the statement is about elements.
pub(super) type Matched = Vec<Address>;

/// The ordinals of the elements of one list.
struct Elements {
    owner: Address,
    ordinals: HashMap<Value, u64>,
}

impl Draft<'_> {
    /// Carries out one statement; how many instances it matched.
    pub(super) fn step(
        &mut self,
        step: &WriteStep,
        given: &Given<'_>,
        maker: &mut Maker<'_>,
    ) -> Result<u64, Stop> {
        match step {
            WriteStep::Insert { class } => {
                let record = maker.inserted(*class, given)?;
                self.insert(record).map(|_| 1)
            }
            WriteStep::Upsert { class } => self.upsert(*class, given, maker),
            WriteStep::Store { class } => {
                let record = maker.inserted(*class, given)?;
                self.store(record, Expect::Anything).map(|_| 1)
            }
            WriteStep::Update { set, condition, positions, .. } => {
                let values = maker.assigned(set, given)?;
                let rows = self.matching(positions, condition.as_ref(), given)?;
                self.update(set, &values, &rows)
            }
            WriteStep::UpdateElements { list, set, condition, positions, .. } => {
                let values = maker.assigned(set, given)?;
                let rows = self.matching(positions, condition.as_ref(), given)?;
                self.update_elements(*list, set, &values, &rows)
            }
            WriteStep::Delete { condition, positions, .. } => {
                let rows = self.matching(positions, condition.as_ref(), given)?;
                each(rows.iter().filter_map(|row| row.first()), |address| self.remove_record(address))?;
                Ok(rows.len() as u64)
            }
            WriteStep::Add { list, value, condition, positions, .. } => {
                let value = maker.added(*list, value, given)?;
                let rows = self.matching(positions, condition.as_ref(), given)?;
                self.add(*list, &value, &rows)
            }
            WriteStep::Remove { list, at, condition, positions, .. } => {
                let rows = self.matching(positions, condition.as_ref(), given)?;
                self.remove(*list, at.as_ref(), &rows, given)
            }
            WriteStep::Connect { end, to, condition, positions, .. } => {
                let rows = self.matching(positions, condition.as_ref(), given)?;
                self.connect_all(*end, to, &rows, given)
            }
            WriteStep::Disconnect { end, from, condition, positions, .. } => {
                let rows = self.matching(positions, condition.as_ref(), given)?;
                self.disconnect_all(*end, from.as_ref(), &rows, given)
            }
        }
    }

    /// What a WHERE matches, in the order of identities.
    fn matching(
        &self,
        positions: &Table<PositionId, Position>,
        condition: Option<&Condition>,
        given: &Given<'_>,
    ) -> Result<Vec<Matched>, Stop> {
        let main = positions[PositionId::from_index(0)].class;
        let class = main.ok_or_else(|| RunError::Corrupted("a statement is about no class".to_owned()))?;
        let parameters = given.parameters.to_vec();
        let query = finding(self.conceptual(), class, positions.clone(), condition.cloned(), parameters);
        let prepared = self.schema.prepared(&query)?;
        let rows = prepared.rows(self.before.source(), &given.bound, self.now)?;
        let mut rows: Vec<(Vec<Value>, Option<Inner>)> =
            rows.iter().map(|row| (row.keys().cloned().collect(), row.main())).collect();
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut list = None;
        let found = each(rows, |(keys, main)| self.addresses(positions, &keys, main.as_ref(), &mut list))?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Where the instance of a row is, and its element if the statement is about one.
    fn addresses(
        &self,
        positions: &Table<PositionId, Position>,
        row: &[Value],
        instance: Option<&Inner>,
        list: &mut Option<Elements>,
    ) -> Result<Option<Matched>, Stop> {
        let main = &positions[PositionId::from_index(0)];
        let (Some(class), Some(Value::Reference(id))) = (main.class, row.first()) else { return Ok(None) };
        let owner = match self.root_of(class) {
            Some(root) => Some(Address::root((root, id.clone()))),
            None => instance.and_then(|instance| self.address_of(instance)),
        };
        let Some(owner) = owner else { return Ok(None) };
        let second = positions.iter().nth(1).and_then(|(_, position)| position.from);
        let (Some(hop), Some(key)) = (second, row.get(1)) else { return Ok(Some(vec![owner])) };
        // Rows of one owner come one after the other.
        let known = list.take().filter(|known| known.owner == owner);
        let elements = match known {
            Some(known) => list.insert(known),
            None => list.insert(self.elements(owner.clone(), hop.step)?),
        };
        let element = elements.ordinals.get(key).map(|&ordinal| owner.below(hop.step, Some(ordinal)));
        Ok(Some(std::iter::once(owner).chain(element).collect()))
    }

    /// The root class of a hierarchy whose instances are no parts: a row says that one is there, and its id says where.
    fn root_of(&self, class: ClassId) -> Option<ClassId> {
        match self.conceptual().occurrences(class).as_slice() {
            [only] if only.hops.is_empty() => Some(only.root),
            _parts => None,
        }
    }

    /// Where an instance is that the reads of a statement have brought: nobody has to look for the owner of a part.
    fn address_of(&self, instance: &Inner) -> Option<Address> {
        Some(Address { aggregate: aggregate_of(self.conceptual(), instance)?, place: instance.place() })
    }

    /// The elements of a list by what rows know them by: the id of an entity, or else the ordinal.
    fn elements(&self, owner: Address, list: Member) -> Result<Elements, Stop> {
        let key = |element: &Element| {
            let part = match &element.value {
                Value::Record(part) => part.identity(self.conceptual()).map(Value::Reference),
                _plain => None,
            };
            part.or_else(|| i64::try_from(element.ordinal).ok().map(Value::Int))
        };
        let of = |record: &Record| {
            let elements = record.list(list).iter();
            elements.filter_map(|element| Some((key(element)?, element.ordinal))).collect()
        };
        let ordinals = self.look(&owner, of)?.unwrap_or_default();
        Ok(Elements { owner, ordinals })
    }

    /// Makes a complete record a new aggregate.
    pub(super) fn insert(&mut self, record: Record) -> Result<Identity, Stop> {
        let conceptual = self.conceptual();
        let identity = self.identity_of(&record)?;
        let top = conceptual.lineage(record.class).last().copied().unwrap_or(record.class);
        if self.find(top, &identity)?.is_some() {
            return Err(Stop::Failed(RunError::AlreadyExists));
        }
        let aggregate = (top, identity.clone());
        self.made.push((record.class, identity.clone()));
        self.place_root(aggregate.clone(), record, None)?;
        self.claim_all(&Address::root(aggregate))?;
        Ok(identity)
    }

    /// The id of a record that is to be a root.
    pub(super) fn identity_of(&self, record: &Record) -> Result<Identity, Stop> {
        let conceptual = self.conceptual();
        let identity = record.identity(conceptual).ok_or_else(|| {
            let class = &conceptual.classes[record.class];
            match class.identifier.iter().find(|&&member| record.get(member).is_null()) {
                Some(&member) => RunError::Required { field: self.field(member) },
                None => RunError::NotARoot { class: class.name.clone() },
            }
        });
        Ok(identity?)
    }

    /// INSERT if there is none of that id, else sets the given fields; lists stay.
    fn upsert(&mut self, class: ClassId, given: &Given<'_>, maker: &mut Maker<'_>) -> Result<u64, Stop> {
        let conceptual = self.conceptual();
        let record = maker.inserted(class, given)?;
        let identity = self.identity_of(&record)?;
        let Some(address) = self.find(class, &identity)? else {
            // An instance of another class of the hierarchy may have that id.
            return self.insert(record).map(|_| 1);
        };
        if conceptual.classes[class].immutable {
            // The same id means the same value, and changes nothing.
            let same = self.record(&address)?.is_some_and(|there| there == record);
            return if same { Ok(1) } else { Err(self.immutable_entity(class).into()) };
        }
        let mut changes = Vec::new();
        for member in conceptual.all_members(class) {
            let settable = conceptual.insertable(member).is_some()
                && (!conceptual.is_many(member) || fault!(UpsertReplacesLists));
            let identifies = conceptual.classes[class].identifier.contains(&member);
            if settable && !identifies && given.named.contains_key(conceptual.member_name(member)) {
                changes.push((address.clone(), member, record.get(member).clone()));
            }
        }
        self.assign_all(changes)?;
        Ok(1)
    }

    /// Sets members of records one after the other. A part entity that only changes its place lives on.
    pub(super) fn assign_all(&mut self, changes: Vec<(Address, Member, Value)>) -> Result<(), Stop> {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for (address, member, value) in &changes {
            if let Member::End(end) = member
                && self.conceptual().ends[*end].kind == RelationshipKind::Composition
            {
                old.extend(self.record(&address.below(*member, None))?);
                new.extend(match value {
                    Value::Record(part) => Some(&**part),
                    _null => None,
                });
            }
        }
        self.forget_symmetric(&old.iter().collect::<Vec<_>>(), &new)?;
        each(changes, |(address, member, value)| self.assign(&address, member, value))?;
        Ok(())
    }

    /// Sets one member of the record at an address to a value of its type.
    fn assign(&mut self, address: &Address, member: Member, value: Value) -> Result<(), Stop> {
        let conceptual = self.conceptual();
        let end = match member {
            Member::Attribute(id) if value.is_null() && !conceptual.attributes[id].optional => {
                return Err(Stop::Failed(RunError::Required { field: self.field(member) }));
            }
            Member::Attribute(_) => return self.set(address, member, value).map(drop),
            Member::End(end) => end,
        };
        if conceptual.ends[end].kind != RelationshipKind::Composition {
            return match value {
                Value::Reference(target) => self.connect(address, end, &target).map(drop),
                _null => self.disconnect(address, end, None),
            };
        }
        if value.is_null() && conceptual.ends[end].cardinality.min > 0 {
            return Err(Stop::Failed(RunError::RequiredLink { field: self.field(member) }));
        }
        // Through null, so that nothing is left of the part that was there.
        self.set(address, member, Value::Null)?;
        if value.is_null() {
            return Ok(());
        }
        self.set(address, member, value)?;
        self.claim_all(&address.below(member, None))
    }

    /// Every new value is computed on the prior state, then all are set.
    fn update(&mut self, set: &[Assignment], values: &[Value], rows: &[Matched]) -> Result<u64, Stop> {
        let mut changes: Vec<(Address, Member, Value)> = Vec::new();
        each(rows.iter().filter_map(|row| row.first()), |address| {
            for (assignment, value) in set.iter().zip(values) {
                changes.extend(self.change_at(address, assignment, value)?);
            }
            Ok(())
        })?;
        self.assign_all(changes)?;
        Ok(rows.len() as u64)
    }

    /// Where an assignment leads from the record at an address, and what it sets there. Nothing if a part on the way is
    /// not there: it has no fields to set.
    pub(super) fn change_at(
        &self,
        address: &Address,
        assignment: &Assignment,
        value: &Value,
    ) -> Result<Option<(Address, Member, Value)>, Stop> {
        let hops = assignment.hops.iter();
        let place = hops.fold(address.clone(), |at, &hop| at.below(Member::End(hop), None));
        let new = self.look(&place, |record| self.new_value(record, assignment, value))?.transpose()?;
        Ok(new.map(|new| (place, assignment.member, new)))
    }

    fn new_value(&self, record: &Record, assignment: &Assignment, value: &Value) -> Result<Value, Stop> {
        let member = assignment.member;
        let new = match &assignment.value {
            Assigned::Plus { negative, .. } => {
                return self.sum(member, record.get(member), value, *negative);
            }
            // A bare word that is the name of another field of the same enum.
            Assigned::To(Operand::Path(path)) => match path.leaf {
                Leaf::Attribute(id) => record.get(Member::Attribute(id)).clone(),
                Leaf::Reference(_) | Leaf::Itself | Leaf::Bucket(_) | Leaf::TimeBucket(..) => Value::Null,
            },
            Assigned::To(_) | Assigned::Now | Assigned::NewUuid => value.clone(),
        };
        match (member, new) {
            (_, Value::Null) => Ok(Value::Null),
            (Member::Attribute(id), new) => self.fitted(id, &new),
            (Member::End(_), part @ Value::Record(_)) => Ok(part),
            (Member::End(id), new) => self.target(id, &new).map(Value::Reference),
        }
    }

    /// The value in the type of an attribute. A parameter that is used elsewhere, too, can be of a wider one.
    pub(super) fn fitted(&self, attribute: AttributeId, value: &Value) -> Result<Value, Stop> {
        let fitted = typed::basic(value, &self.conceptual().attributes[attribute].ty);
        let out_of_range = || RunError::OutOfRange { field: self.field(Member::Attribute(attribute)) };
        Ok(fitted.ok_or_else(out_of_range)?)
    }

    /// `n + :d`: null if either is. Whole numbers and decimals are exact, doubles are added as doubles are.
    pub(super) fn sum(
        &self,
        member: Member,
        current: &Value,
        amount: &Value,
        negative: bool,
    ) -> Result<Value, Stop> {
        let out_of_range = || RunError::OutOfRange { field: self.field(member) };
        let Member::Attribute(id) = member else { return Err(out_of_range().into()) };
        let (Some(a), Some(b)) = (typed::exact(current), typed::exact(amount)) else {
            return Ok(Value::Null);
        };
        if self.conceptual().attributes[id].ty == Type::Double
            && let (Value::Double(a), Value::Double(b)) = (current, amount)
        {
            let sum = if negative { a - b } else { a + b };
            return Ok(Value::double(sum).map_err(|_| out_of_range())?);
        }
        let sum = if negative { a - b } else { a + b };
        self.fitted(id, &Value::Decimal(sum))
    }

    fn target(&self, end: EndId, value: &Value) -> Result<Identity, Stop> {
        match typed::reference(self.conceptual(), value, self.conceptual().ends[end].target) {
            Some(Value::Reference(identity)) => Ok(identity),
            _another_type => Err(Stop::Failed(RunError::OutOfRange { field: self.field(Member::End(end)) })),
        }
    }

    /// Appends one element to the list of each owner.
    fn add(&mut self, list: Member, value: &Value, rows: &[Matched]) -> Result<u64, Stop> {
        each(rows.iter().filter_map(|row| row.first()), |owner| {
            let Some(ordinal) = self.next_ordinal(owner, list)? else { return Ok(()) };
            let Some(record) = self.record(owner)? else { return Ok(()) };
            let mut elements = record.list(list).to_vec();
            elements.push(Element { ordinal, value: value.clone() });
            self.set(owner, list, Value::List(elements))?;
            self.claim_all(&owner.below(list, Some(ordinal)))
        })?;
        Ok(rows.len() as u64)
    }

    /// Removes every matching element, or only the one at a position in list order. The answer is how many owners
    /// lost one.
    fn remove(
        &mut self,
        list: Member,
        at: Option<&Operand>,
        rows: &[Matched],
        given: &Given<'_>,
    ) -> Result<u64, Stop> {
        let mut owners: BTreeSet<&Address> = BTreeSet::new();
        let mut doomed: Vec<(&Address, u64)> = Vec::new();
        let mut at_position: BTreeMap<&Address, Option<u64>> = BTreeMap::new();
        for row in rows {
            let [owner, element] = row.as_slice() else { continue };
            let Some(ordinal) = element.place.0.last().and_then(|step| step.ordinal) else { continue };
            let wanted = match (at, at_position.get(owner)) {
                (None, _) => true,
                (Some(_), Some(only)) => *only == Some(ordinal),
                (Some(at), None) => {
                    let only = self.ordinal_at(owner, list, &given.value(at))?;
                    at_position.insert(owner, only);
                    only == Some(ordinal)
                }
            };
            if wanted {
                owners.insert(owner);
                doomed.push((owner, ordinal));
            }
        }
        for (owner, ordinal) in doomed {
            self.remove_element(owner, list, ordinal)?;
        }
        Ok(owners.len() as u64)
    }

    /// The ordinal of the n-th element, counted from 0.
    fn ordinal_at(&self, owner: &Address, list: Member, position: &Value) -> Result<Option<u64>, Stop> {
        let Value::Int(position) = position else { return Ok(None) };
        if fault!(RemoveByOrdinal) {
            return Ok(u64::try_from(*position).ok());
        }
        let Ok(position) = usize::try_from(*position) else { return Ok(None) };
        let found = self.look(owner, |record| record.list(list).get(position).map(|element| element.ordinal));
        Ok(found?.flatten())
    }

    /// CONNECT. An instance counts as matched if the link can be held.
    fn connect_all(
        &mut self,
        end: EndId,
        to: &Operand,
        rows: &[Matched],
        given: &Given<'_>,
    ) -> Result<u64, Stop> {
        let value = given.value(to);
        let target = if value.is_null() { None } else { Some(self.target(end, &value)?) };
        let matched = each(rows.iter().filter_map(|row| row.first()), |address| match &target {
            Some(target) => self.connect(address, end, target),
            // Nothing is put into a set.
            None if self.conceptual().ends[end].cardinality.is_many() => Ok(true),
            // Like SET to null.
            None => self.disconnect(address, end, None).map(|()| true),
        })?;
        Ok(matched.into_iter().map(u64::from).sum())
    }

    /// DISCONNECT: one link, or all of them. From null is from nothing.
    fn disconnect_all(
        &mut self,
        end: EndId,
        from: Option<&Operand>,
        rows: &[Matched],
        given: &Given<'_>,
    ) -> Result<u64, Stop> {
        let target = match from.map(|from| given.value(from)) {
            Some(Value::Null) => return Ok(rows.len() as u64),
            Some(value) => Some(self.target(end, &value)?),
            None => None,
        };
        each(rows.iter().filter_map(|row| row.first()), |address| {
            self.disconnect(address, end, target.as_ref())
        })?;
        Ok(rows.len() as u64)
    }
}
