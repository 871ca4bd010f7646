//! INSERT, UPSERT and STORE in SQL: rows and what lies inside them. What conflicts with a key that is there is what
//! `ON CONFLICT … DO UPDATE` decides: with all columns, those given, or never.

use super::arguments::Arguments;
use super::blueprint::{Blueprint, ClassKind, Extent, Inverse, Preset, Size};
use super::engine::{Engine, Refusals};
use super::facts::shown;
use super::statement::LinkEnd;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value as Json};

type Fields = Map<String, Json>;

/// What happens to a row of the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conflict {
    Refuse,
    /// All columns get new values, and everything inside is replaced.
    Replace,
    /// Columns and single parts that are given get new values.
    SetGiven,
}

/// The row of an owner that a part lies in, with the part's number and its ordinal in a list.
#[derive(Debug, Clone, Copy)]
struct Slot {
    class: usize,
    part: usize,
    owner: i64,
    ordinal: Option<i64>,
}

impl Engine<'_> {
    pub(super) fn insert(&mut self, extent: Extent, arguments: &Arguments) -> Result<u64, Refusals> {
        self.put_root(extent, arguments, Conflict::Refuse)
    }

    pub(super) fn store(&mut self, extent: Extent, arguments: &Arguments) -> Result<u64, Refusals> {
        self.put_root(extent, arguments, Conflict::Replace)
    }

    pub(super) fn upsert(&mut self, extent: Extent, arguments: &Arguments) -> Result<u64, Refusals> {
        let class = &self.blueprint.classes[extent.class];
        match class.kind {
            ClassKind::ImmutableRoot => self.repeat(extent, arguments),
            ClassKind::Root | ClassKind::PartEntity | ClassKind::Value => {
                self.put_root(extent, arguments, Conflict::SetGiven)
            }
        }
    }

    /// UPSERT of an immutable entity: an instance that is there has the value that INSERT would give it.
    fn repeat(&mut self, extent: Extent, arguments: &Arguments) -> Result<u64, Refusals> {
        let class = &self.blueprint.classes[extent.class];
        let columns = self.columns(extent.class, &arguments.json);
        if self.row_of_key(extent.class, &columns).is_none() {
            return self.put_columns(extent, columns, &arguments.json, Conflict::Refuse);
        }
        let before = self.facts();
        self.batch("SAVEPOINT repeat");
        let done = self.put_columns(extent, columns, &arguments.json, Conflict::Replace);
        let same = done == Ok(1) && before == self.facts();
        self.batch("ROLLBACK TO repeat; RELEASE repeat");
        match same {
            true => Ok(1),
            false => Err(Refusals::from([format!("ImmutableEntity {}", class.name)])),
        }
    }

    fn put_root(
        &mut self,
        extent: Extent,
        arguments: &Arguments,
        conflict: Conflict,
    ) -> Result<u64, Refusals> {
        let fields = self.blueprint.fields_of(extent, &arguments.json);
        let columns = self.columns(extent.class, &fields);
        self.put_columns(extent, columns, &fields, conflict)
    }

    fn put_columns(
        &mut self,
        extent: Extent,
        mut columns: Vec<(String, Sql)>,
        fields: &Fields,
        conflict: Conflict,
    ) -> Result<u64, Refusals> {
        let path = self.entity_path(extent.class, &columns);
        columns.push(("path".to_owned(), Sql::Text(path)));
        columns.push(("cls".to_owned(), Sql::Integer(i64::from(extent.sub))));
        columns.push(("created".to_owned(), Sql::Integer(self.now)));
        let existing = self.row_of_key(extent.class, &columns);
        let guard = match conflict {
            Conflict::Refuse | Conflict::Replace => "cls = excluded.cls",
            // An instance of a subclass is one of its parent, too.
            Conflict::SetGiven => "cls >= excluded.cls",
        };
        let mut refusals = Refusals::new();

        let put = self.put_row(extent.class, &columns, fields, conflict, guard);
        let row = put.unwrap_or_else(|| {
            refusals.insert(format!("AlreadyExists {}", self.blueprint.extent_name(extent)));
            self.put_elsewhere(extent.class, &columns, fields)
        });
        let conflict = if existing.is_some() { conflict } else { Conflict::Refuse };
        self.put_inside(extent.class, row, fields, conflict, &mut refusals);
        self.put_given_links();
        if refusals.is_empty() { Ok(1) } else { Err(refusals) }
    }

    /// The columns that a record gives a value: those left out get their default from the table, if it is a constant.
    fn columns(&mut self, class: usize, fields: &Fields) -> Vec<(String, Sql)> {
        let row = &self.blueprint.classes[class];
        let mut columns = Vec::new();
        for (name, scalar) in row.key.iter().filter_map(|member| member.plain()) {
            columns.push((name.to_owned(), scalar.sql(&fields[name])));
        }
        for attribute in &row.attributes {
            // A part is a record, in which null is the same as left out.
            let given = fields.get(&attribute.name).filter(|value| row.owner.is_none() || !value.is_null());
            let value = match (given, &attribute.preset) {
                (Some(value), _) => attribute.scalar.sql(value),
                (None, Some(Preset::Now)) => Sql::Integer(self.now),
                (None, Some(Preset::NewUuid)) => Sql::Text(self.uuids.next().unwrap()),
                (None, Some(Preset::Constant(_)) | None) => continue,
            };
            columns.push((attribute.name.clone(), value));
        }
        for (number, reference) in row.references.iter().enumerate() {
            if !reference.size.is_many() {
                let names = self.blueprint.reference_columns(class, number, "");
                let id = fields.get(&reference.name).unwrap_or(&Json::Null);
                columns.extend(names.into_iter().zip(self.blueprint.identity(reference.target.class, id)));
            }
        }
        columns
    }

    fn entity_path(&self, class: usize, columns: &[(String, Sql)]) -> String {
        let key = self.blueprint.key_columns(class, "");
        let value =
            |name: &String| columns.iter().find(|(column, _)| column == name).map(|(_, value)| shown(value));
        let key: Vec<String> = key.iter().filter_map(value).collect();
        format!("{}({})", self.blueprint.classes[class].name, key.join(","))
    }

    fn row_of_key(&mut self, class: usize, columns: &[(String, Sql)]) -> Option<i64> {
        self.bind_columns(columns);
        let table = &self.blueprint.classes[class].name;
        let same = Blueprint::same(
            &self.blueprint.key_columns(class, ""),
            &self.blueprint.key_columns(class, ":c__"),
        );
        self.number(&format!("SELECT rid FROM {table} WHERE {same}")).unwrap()
    }

    fn bind_columns(&mut self, columns: &[(String, Sql)]) {
        for (name, value) in columns {
            self.values.insert(format!("c__{name}"), value.clone());
        }
    }

    /// The number of the row that is made or changed; none if another one has its key.
    fn put_row(
        &mut self,
        class: usize,
        columns: &[(String, Sql)],
        given: &Fields,
        conflict: Conflict,
        guard: &str,
    ) -> Option<i64> {
        self.bind_columns(columns);
        self.take_partners(class, given);
        let row = &self.blueprint.classes[class];
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<String> = names.iter().map(|name| format!(":c__{name}")).collect();
        let table = &row.name;
        let on_conflict = match conflict {
            Conflict::Refuse => String::new(),
            Conflict::Replace | Conflict::SetGiven => {
                let set = self.overwritten(class, given, conflict);
                let set: Vec<String> =
                    set.iter().map(|column| format!("{column} = excluded.{column}")).collect();
                let key = self.blueprint.key_columns(class, "").join(", ");
                format!(" ON CONFLICT ({key}) DO UPDATE SET {} WHERE {table}.{guard}", set.join(", "))
            }
        };
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES ({}){on_conflict} RETURNING rid",
            names.join(", "),
            values.join(", ")
        );
        match self.number(&sql) {
            Ok(row) => row,
            Err(rusqlite::Error::SqliteFailure(error, _))
                if error.code == rusqlite::ErrorCode::ConstraintViolation =>
            {
                None
            }
            Err(error) => panic!("{error}\n{sql}\n{:?}", self.values),
        }
    }

    /// Puts a row whose key is taken under a key that nothing else has, so that the other rules that it breaks are
    /// found, too. The statement is refused in any case.
    fn put_elsewhere(&mut self, class: usize, columns: &[(String, Sql)], given: &Fields) -> i64 {
        self.elsewhere -= 1;
        let key = self.blueprint.classes[class].key.iter().find_map(|member| member.plain());
        let (key, _) = key.unwrap();
        let mut columns = columns.to_vec();
        let own = columns.iter_mut().filter(|(name, _)| name == key);
        own.for_each(|(_, value)| *value = Sql::Integer(self.elsewhere));
        self.put_row(class, &columns, given, Conflict::Refuse, "").unwrap()
    }

    /// The columns that a row of the same key gets new values for.
    fn overwritten(&self, class: usize, given: &Fields, conflict: Conflict) -> Vec<String> {
        let row = &self.blueprint.classes[class];
        let wanted = |name: &str| conflict == Conflict::Replace || given.contains_key(name);
        let mut columns: Vec<String> =
            row.attributes.iter().filter(|a| wanted(&a.name)).map(|a| a.name.clone()).collect();
        for (number, reference) in row.references.iter().enumerate() {
            let column = !reference.size.is_many() && !reference.id;
            if column && wanted(&reference.name) {
                columns.extend(self.blueprint.reference_columns(class, number, ""));
            }
        }
        if row.owner.is_some() {
            columns.push("ord".to_owned());
        }
        // SET needs something; a row keeps its path.
        columns.push("path".to_owned());
        columns
    }

    /// Others lose the partners that a new row has and that can have only one link.
    fn take_partners(&mut self, class: usize, given: &Fields) {
        let blueprint = self.blueprint;
        for (number, reference) in blueprint.classes[class].references.iter().enumerate() {
            let id = given.get(&reference.name).unwrap_or(&Json::Null);
            if !reference.is_exclusive() || id.is_null() {
                continue;
            }
            let taken = blueprint.reference_columns(class, number, ":c__");
            let taken = Blueprint::same(&blueprint.reference_columns(class, number, ""), &taken);
            let own =
                Blueprint::same(&blueprint.key_columns(class, ""), &blueprint.key_columns(class, ":c__"));
            self.take_over(
                LinkEnd { holder: class, reference: number, derived: false },
                &format!("{taken} AND NOT {own}"),
            );
        }
    }

    fn put_inside(
        &mut self,
        class: usize,
        row: i64,
        fields: &Fields,
        conflict: Conflict,
        refusals: &mut Refusals,
    ) {
        let blueprint = self.blueprint;
        let of_class = &blueprint.classes[class];
        for (number, reference) in of_class.references.iter().enumerate() {
            if reference.size.is_many() && conflict != Conflict::SetGiven {
                self.put_links(class, number, row, elements(fields.get(&reference.name)), conflict);
            }
        }
        if conflict != Conflict::SetGiven {
            self.put_values(class, row, fields);
        }
        for part in 0..of_class.parts.len() {
            let given = fields.get(&of_class.parts[part].name);
            match (of_class.parts[part].size, conflict) {
                (Size::Many { .. }, Conflict::SetGiven) => {}
                (Size::Many { .. }, Conflict::Refuse | Conflict::Replace) => {
                    self.put_parts(class, part, row, elements(given), refusals);
                }
                (Size::Required | Size::Optional, Conflict::SetGiven) if given.is_none() => {}
                (Size::Required | Size::Optional, _) => {
                    let done = self.replace_part(class, part, row, given.unwrap_or(&Json::Null));
                    refusals.extend(done.err().into_iter().flatten());
                }
            }
        }
    }

    fn put_values(&mut self, class: usize, row: i64, fields: &Fields) {
        let blueprint = self.blueprint;
        for list in &blueprint.classes[class].lists {
            let table = format!("{}_{}", blueprint.classes[class].name, list.name);
            self.run(&format!("DELETE FROM {table} WHERE o = {row}"));
            let given = elements(fields.get(&list.name));
            for (ordinal, value) in given.iter().enumerate() {
                self.values.insert("element".to_owned(), list.scalar.sql(value));
                self.run(&format!("INSERT INTO {table} (o, ord, v) VALUES ({row}, {ordinal}, :element)"));
            }
            self.count_up(class, row, &list.name, given.len());
        }
    }

    /// The counter of a list is behind the elements that were given, and never goes back.
    fn count_up(&mut self, class: usize, row: i64, list: &str, given: usize) {
        let list = format!("{}.{list}", self.place_of(class, row));
        self.values.insert("list".to_owned(), Sql::Text(list));
        self.values.insert("given".to_owned(), Sql::Integer(i64::try_from(given).unwrap()));
        self.run(
            "INSERT INTO counters VALUES (:list, :given) \
             ON CONFLICT (list) DO UPDATE SET n = max(n, excluded.n)",
        );
    }

    /// The ordinal for a new element of a list.
    pub(super) fn next_ordinal(&mut self, class: usize, row: i64, list: &str) -> i64 {
        let list = format!("{}.{list}", self.place_of(class, row));
        self.values.insert("list".to_owned(), Sql::Text(list));
        let next = self.number(
            "INSERT INTO counters VALUES (:list, 1) ON CONFLICT (list) DO UPDATE SET n = n + 1 RETURNING n - 1",
        );
        next.unwrap().unwrap()
    }

    /// Where a row is: in which aggregate, and where inside it.
    fn place_of(&self, class: usize, row: i64) -> String {
        let of_class = &self.blueprint.classes[class];
        let Some((owner, part)) = of_class.owner else { return format!("{}#{row}", of_class.name) };
        let sql = format!("SELECT o, coalesce(ord, '') FROM {} WHERE rid = ?1", of_class.name);
        let mut statement = self.database.prepare_cached(&sql).unwrap();
        let (holder, ordinal): (i64, Sql) =
            statement.query_row([row], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let name = &self.blueprint.classes[owner].parts[part].name;
        format!("{}.{name}[{}]", self.place_of(owner, holder), shown(&ordinal).trim_matches('"'))
    }

    /// The links of a set of a row, in place of those it has.
    fn put_links(&mut self, class: usize, number: usize, row: i64, given: &[Json], conflict: Conflict) {
        let reference = &self.blueprint.classes[class].references[number];
        let end = LinkEnd { holder: class, reference: number, derived: false };
        if conflict != Conflict::Refuse {
            let links =
                format!("SELECT COUNT(*) FROM {}_{}", self.blueprint.classes[class].name, reference.name);
            let before = self.count(&links);
            self.disconnect(end, &format!("SELECT {row} AS rid"), None);
            let part = self.blueprint.classes[class].owner.is_some();
            if part && reference.inverse == Inverse::Symmetric && self.count(&links) < before {
                self.notes.insert("symmetric links of a replaced part");
            }
        }
        let target = reference.target.class;
        self.given_links.extend(given.iter().map(|id| (end, row, self.blueprint.identity(target, id))));
    }

    /// Makes the links that were given, after all that an aggregate had before are gone: its parts may be linked to
    /// each other.
    fn put_given_links(&mut self) {
        for (end, row, id) in std::mem::take(&mut self.given_links) {
            let columns = self.blueprint.key_columns(self.blueprint.other_side(end).class, "link__");
            self.values.extend(columns.into_iter().zip(id));
            let holder = &self.blueprint.classes[end.holder].name;
            // The row may be gone by now, with a part of its own that it refers to.
            self.connect(end, &format!("SELECT rid FROM {holder} WHERE rid = {row}"), "link");
        }
    }

    /// The parts of a list, in place of those it has. A part entity that is there already lives on.
    fn put_parts(&mut self, class: usize, part: usize, owner: i64, given: &[Json], refusals: &mut Refusals) {
        let inner = self.blueprint.classes[class].parts[part].class;
        self.drop_parts(inner, owner, given);
        let mut seen: Vec<Vec<Sql>> = Vec::new();
        for (ordinal, element) in (0..).zip(given.iter().filter_map(Json::as_object)) {
            let row = &self.blueprint.classes[inner];
            let key: Vec<Sql> = row
                .key
                .iter()
                .filter_map(|member| member.plain())
                .map(|(name, scalar)| scalar.sql(&element[name]))
                .collect();
            let mut element = element.clone();
            if row.is_entity() && seen.contains(&key) {
                refusals.insert(format!("AlreadyExists {}", row.name));
                self.elsewhere -= 1;
                element.insert(self.blueprint.key_columns(inner, "").remove(0), Json::from(self.elsewhere));
            }
            seen.push(key);
            let slot = Slot { class, part, owner, ordinal: Some(ordinal) };
            refusals.extend(self.put_part(slot, &element, Conflict::Replace).err().into_iter().flatten());
        }
        let blueprint = self.blueprint;
        self.count_up(class, owner, &blueprint.classes[class].parts[part].name, given.len());
    }

    /// Ends the parts of an owner that are not among those given.
    fn drop_parts(&mut self, inner: usize, owner: i64, given: &[Json]) {
        let row = &self.blueprint.classes[inner];
        let mut kept = Vec::new();
        if row.is_entity() {
            for element in given.iter().filter_map(Json::as_object) {
                let plain = row.key.iter().filter_map(|member| member.plain());
                kept.extend(plain.map(|(name, scalar)| scalar.sql_literal(&element[name])));
            }
        }
        let but = match kept.is_empty() {
            true => String::new(),
            false => {
                format!(" AND {} NOT IN ({})", self.blueprint.key_columns(inner, "")[0], kept.join(", "))
            }
        };
        self.run(&format!("DELETE FROM {} WHERE o = {owner}{but}", row.name));
    }

    pub(super) fn append_part(
        &mut self,
        class: usize,
        part: usize,
        owner: i64,
        fields: &Fields,
    ) -> Result<(), Refusals> {
        let blueprint = self.blueprint;
        let part_row = &blueprint.classes[class].parts[part];
        let ordinal = Some(self.next_ordinal(class, owner, &part_row.name));
        self.note_gap(&blueprint.classes[part_row.class].name, owner, ordinal);
        let done = self.put_part(Slot { class, part, owner, ordinal }, fields, Conflict::Refuse);
        self.put_given_links();
        done
    }

    /// A single part in place of the one that is there, with its links.
    pub(super) fn set_part(
        &mut self,
        class: usize,
        part: usize,
        owner: i64,
        given: &Json,
    ) -> Result<(), Refusals> {
        let done = self.replace_part(class, part, owner, given);
        self.put_given_links();
        done
    }

    fn replace_part(&mut self, class: usize, part: usize, owner: i64, given: &Json) -> Result<(), Refusals> {
        let inner = self.blueprint.classes[class].parts[part].class;
        self.drop_parts(inner, owner, std::slice::from_ref(given));
        match given {
            Json::Object(fields) => {
                self.put_part(Slot { class, part, owner, ordinal: None }, fields, Conflict::Replace)
            }
            _null => Ok(()),
        }
    }

    fn put_part(&mut self, slot: Slot, fields: &Fields, conflict: Conflict) -> Result<(), Refusals> {
        let blueprint = self.blueprint;
        // An owner that refers to its own part by a reference that cascades dies with it.
        let owner = &blueprint.classes[slot.class].name;
        if self.number(&format!("SELECT rid FROM {owner} WHERE rid = {}", slot.owner)) == Ok(None) {
            return Ok(());
        }
        let part = &blueprint.classes[slot.class].parts[slot.part];
        let inner = &blueprint.classes[part.class];
        let mut columns = self.columns(part.class, fields);
        let path = match inner.is_entity() {
            true => self.entity_path(part.class, &columns),
            false => {
                let owner = self.path_of(slot.class, slot.owner);
                let ordinal = slot.ordinal.map(|ordinal| format!("[{ordinal}]")).unwrap_or_default();
                format!("{owner}.{}{ordinal}", part.name)
            }
        };
        columns.push(("path".to_owned(), Sql::Text(path)));
        columns.push(("cls".to_owned(), Sql::Integer(0)));
        columns.push(("o".to_owned(), Sql::Integer(slot.owner)));
        columns.push(("ord".to_owned(), slot.ordinal.map_or(Sql::Null, Sql::Integer)));
        let (existed, conflict) = match inner.is_entity() {
            true => (self.row_of_key(part.class, &columns).is_some(), conflict),
            false => (false, Conflict::Refuse),
        };
        let mut refusals = Refusals::new();
        let put = self.put_row(part.class, &columns, fields, conflict, "o = excluded.o");
        let row = put.unwrap_or_else(|| {
            refusals.insert(format!("AlreadyExists {}", inner.name));
            self.put_elsewhere(part.class, &columns, fields)
        });
        let conflict = if existed { conflict } else { Conflict::Refuse };
        self.put_inside(part.class, row, fields, conflict, &mut refusals);
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    fn path_of(&self, class: usize, row: i64) -> String {
        let table = &self.blueprint.classes[class].name;
        let sql = format!("SELECT path FROM {table} WHERE rid = ?1");
        self.database.prepare_cached(&sql).unwrap().query_row([row], |row| row.get(0)).unwrap()
    }
}

/// The elements of a list that is given; absent, null and empty are the same.
fn elements(given: Option<&Json>) -> &[Json] {
    given.and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

impl Blueprint {
    /// The columns of an identifier from JSON: one value, or an array of several.
    pub(super) fn identity(&self, class: usize, id: &Json) -> Vec<Sql> {
        let scalars = self.key_scalars(class);
        match id {
            Json::Null => vec![Sql::Null; scalars.len()],
            Json::Array(values) => {
                scalars.iter().zip(values).map(|(scalar, value)| scalar.sql(value)).collect()
            }
            one => vec![scalars[0].sql(one)],
        }
    }
}
