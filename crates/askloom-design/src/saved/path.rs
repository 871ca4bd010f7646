//! Positions and paths as text, and back.

use askloom_model::{
    ClassId, Conceptual, Id, Leaf, MAX_BUCKETS, Member, Path, Position, PositionId, Table, TimeBucket,
};
use askloom_plan::naming::name;

/// The instance or element itself.
const ITSELF: &str = "$self";
/// The bucket that the instance is in; how many there are follows.
const BUCKET: &str = "$bucket:";

/// Parts of a text between separators, those in back-quotes aside.
pub(super) fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut start, mut at, mut quoted) = (0, 0, false);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if !quoted && rest.starts_with(separator) {
            parts.push(text.get(start..at).unwrap_or_default());
            at += separator.len();
            start = at;
            continue;
        }
        if rest.starts_with('`') {
            quoted = !quoted;
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// The name that a text stands for.
pub(super) fn unquoted(text: &str) -> &str {
    text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(text)
}

/// The positions of one collection, by their texts.
#[derive(Debug)]
pub(super) struct Paths<'m> {
    pub(super) conceptual: &'m Conceptual,
    pub(super) positions: Table<PositionId, Position>,
    /// The root's is empty.
    pub(super) texts: Vec<String>,
}

impl<'m> Paths<'m> {
    pub(super) fn of(conceptual: &'m Conceptual, positions: &Table<PositionId, Position>) -> Self {
        let mut paths = Self { conceptual, positions: Table::default(), texts: Vec::new() };
        for (_, position) in positions.iter() {
            let text = paths.position_text(position);
            paths.positions.push(position.clone());
            paths.texts.push(text);
        }
        paths
    }

    fn text(&self, position: PositionId) -> &str {
        self.texts.get(position.index()).map_or("", String::as_str)
    }

    fn class(&self, position: PositionId) -> Option<ClassId> {
        (position.index() < self.positions.len()).then(|| self.positions[position].class)?
    }

    /// The way to a position that hangs on one before it.
    fn position_text(&self, position: &Position) -> String {
        let Some(hop) = position.from else { return String::new() };
        let step = self.member_text(self.class(hop.parent), hop.step);
        let mut text = below(self.text(hop.parent), &step);
        // The language makes one position of a path that is named twice; other methods may not.
        let taken = |text: &str| self.texts.iter().any(|known| known == text);
        if taken(&text) {
            let numbered = (2..=self.texts.len() + 2).map(|number| format!("{text}#{number}"));
            text = numbered.into_iter().find(|text| !taken(text)).unwrap_or(text);
        }
        text
    }

    /// A member as seen from a class.
    fn member_text(&self, class: Option<ClassId>, member: Member) -> String {
        let own = name(self.conceptual.member_name(member));
        let seen = class.is_some_and(|class| self.conceptual.all_members(class).any(|m| m == member));
        if seen {
            return own;
        }
        let declared = match member {
            Member::Attribute(id) => self.conceptual.attributes[id].class,
            Member::End(id) => self.conceptual.ends[id].class,
        };
        format!("{}::{own}", name(&self.conceptual.classes[declared].name))
    }

    pub(super) fn write(&self, path: &Path) -> String {
        let mut class = self.class(path.position);
        let mut steps = Vec::new();
        for &hop in &path.hops {
            steps.push(self.member_text(class, Member::End(hop)));
            class = Some(self.conceptual.ends[hop].target);
        }
        steps.push(match path.leaf {
            Leaf::Attribute(id) => self.member_text(class, Member::Attribute(id)),
            Leaf::Reference(id) => self.member_text(class, Member::End(id)),
            Leaf::Itself => ITSELF.to_owned(),
            Leaf::Bucket(of) => format!("{BUCKET}{of}"),
            Leaf::TimeBucket(id, unit) => {
                format!("${}:{}", unit.name(), self.member_text(class, Member::Attribute(id)))
            }
        });
        below(self.text(path.position), &steps.join("."))
    }

    /// A member of a class by its text.
    fn member(&self, class: Option<ClassId>, text: &str) -> Result<Member, String> {
        let Some(class) = class else {
            return Err(format!("a plain value has no member `{text}`"));
        };
        let conceptual = self.conceptual;
        let parts = split(text, "::");
        let (seen_from, own) = match parts.as_slice() {
            [sub, own] => {
                let sub = unquoted(sub);
                let found = conceptual.classes.iter().find(|(_, row)| row.name == sub);
                let found = found
                    .filter(|(id, _)| conceptual.is_kind_of(*id, class) || conceptual.is_kind_of(class, *id));
                let Some((id, _)) = found else {
                    return Err(format!("`{sub}` is no kind of {}", conceptual.classes[class].name));
                };
                (id, *own)
            }
            [own] => (class, *own),
            _several => return Err(format!("`{text}` is no name")),
        };
        let own = unquoted(own);
        // A way back that only an `ask` walks is an end of its class, and none of its members.
        let ways_back = conceptual.ends.iter().filter(|(_, end)| end.class == seen_from && !end.declared);
        let mut all = conceptual.all_members(seen_from).chain(ways_back.map(|(id, _)| Member::End(id)));
        let found = all.find(|&member| conceptual.member_name(member) == own);
        found.ok_or_else(|| format!("{} has no member `{own}`", conceptual.classes[seen_from].name))
    }

    /// The position that a text ends at, and what is left of the text.
    fn start<'t>(&self, text: &'t str) -> Result<(PositionId, &'t str), String> {
        let parts = split(text, "/");
        let last = parts.last().copied().unwrap_or_default();
        let before = text.len().saturating_sub(last.len());
        let way = text.get(..before.saturating_sub(1)).unwrap_or_default();
        match self.texts.iter().position(|known| known == way) {
            Some(index) => Ok((PositionId::from_index(index), last)),
            None => Err(format!("no path before this one is `{way}`")),
        }
    }

    /// The position that a text of `source.paths` stands for.
    pub(super) fn read_position(&self, text: &str) -> Result<(PositionId, Member), String> {
        let (parent, step) = self.start(text)?;
        let step = split(step, "#").first().copied().unwrap_or_default();
        Ok((parent, self.member(self.class(parent), step)?))
    }

    pub(super) fn read(&self, text: &str) -> Result<Path, String> {
        let (position, rest) = self.start(text)?;
        let mut class = self.class(position);
        let mut hops = Vec::new();
        let mut steps = split(rest, ".");
        let last = steps.pop().unwrap_or_default();
        for step in steps {
            match self.member(class, step)? {
                Member::End(end) => {
                    hops.push(end);
                    class = Some(self.conceptual.ends[end].target);
                }
                Member::Attribute(_) => return Err(format!("a path goes on after the attribute `{step}`")),
            }
        }
        let leaf = if last == ITSELF {
            Leaf::Itself
        } else if let Some(of) = last.strip_prefix(BUCKET) {
            let of = of.parse().ok().filter(|of| (1..=MAX_BUCKETS).contains(of));
            Leaf::Bucket(of.ok_or_else(|| format!("`{last}` is not 1 to {MAX_BUCKETS} buckets"))?)
        } else if let Some((unit, of)) = time_bucket(last) {
            match self.member(class, of)? {
                Member::Attribute(id) => Leaf::TimeBucket(id, unit),
                Member::End(_) => return Err(format!("`{of}` is not a timestamp")),
            }
        } else {
            match self.member(class, last)? {
                Member::Attribute(id) => Leaf::Attribute(id),
                Member::End(id) => Leaf::Reference(id),
            }
        };
        Ok(Path { position, hops, leaf })
    }
}

fn below(way: &str, step: &str) -> String {
    if way.is_empty() { step.to_owned() } else { format!("{way}/{step}") }
}

/// `$day:at`: the unit of a bucket, and the timestamp that it is of.
fn time_bucket(text: &str) -> Option<(TimeBucket, &str)> {
    let (unit, of) = text.strip_prefix('$')?.split_once(':')?;
    Some((TimeBucket::ALL.into_iter().find(|known| known.name() == unit)?, of))
}
