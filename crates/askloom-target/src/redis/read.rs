//! Reads as commands: HGETALL for one record, a function for the records of a block, another for everything, and where
//! there is an index and something is known of the rows, FT.SEARCH or FT.AGGREGATE.

use super::command::{Arg, Command};
use super::schema::{Index, Kind, LONGEST_TAG, Number, RedisTable, Shadow, tag};
use super::value::{number, number_of, ordered, sorted_bytes};
use askloom_model::{Id, Value};
use askloom_plan::layout::{Column, Place};
use askloom_plan::ordered_bytes::prefix_end;
use askloom_plan::program::{Bounds, ColumnPredicate, How, Pushdown, Range, Read, Term};

/// Everything, some at a time.
pub(super) const PAGES: &str = "FCALL_RO askloom_page";
/// How many keys a page looks at.
const PAGE: &str = "1000";
/// More rows than an index may give: an answer of so many is refused, for it may not be all of them.
const CAP: &str = "1000000";

/// The command of a read.
#[must_use]
pub fn command(tables: &[RedisTable], read: &Read) -> Option<Command> {
    let table = tables.get(read.table.index())?;
    Some(match &read.how {
        How::Block(terms) if table.kind == Kind::Spread => {
            spread(table.block_key(terms), Arg::text("-"), Arg::text("+"), false, None)
        }
        How::Record(terms) if table.kind == Kind::Spread => {
            let key = table.block_key(terms).then(Arg::text(":")).then(table.member(terms));
            Command::new("HGETALL").arg(key)
        }
        How::Block(terms) | How::Record(terms) => Command::new("HGETALL").arg(table.aggregate_key(terms)),
        How::Range(range) if matches!(table.kind, Kind::Spread | Kind::Clustered) => {
            self::range(table, range)
        }
        How::Range(range) => Command::new("HGETALL").arg(table.block_key(&range.block)),
        How::All => match read.pushdown.as_deref().and_then(|pushdown| search(table, pushdown)) {
            Some(search) => search,
            None => Command::new(PAGES).word("0").word("0").word(&table.pattern()).word(PAGE),
        },
    })
}

fn spread(key: Arg, low: Arg, high: Arg, backwards: bool, limit: Option<Arg>) -> Command {
    Command::new("FCALL_RO askloom_range 1")
        .arg(key)
        .arg(low)
        .arg(high)
        .word(if backwards { "desc" } else { "asc" })
        .arg(limit.unwrap_or_else(|| Arg::text("-1")))
}

fn range(table: &RedisTable, range: &Range) -> Command {
    let key = table.block_key(&range.block);
    let limit = range.limit.as_ref().map(|limit| match &limit.value {
        Some(Value::Int(rows)) => Arg::text(&rows.to_string()),
        Some(_) | None => Arg::slot(&limit.name),
    });
    let (low, high) = match edges(table, range) {
        Some((low, high)) => (start(low.as_deref()), end(high.as_deref())),
        None => open_edges(table, range),
    };
    spread(key, low, high, range.backwards, limit)
}

/// Where nothing can start, it starts behind the last.
fn start(bytes: Option<&[u8]>) -> Arg {
    match bytes {
        Some([]) => Arg::text("-"),
        Some(bytes) => Arg::known([b"[", bytes].concat()),
        None => Arg::text("+"),
    }
}

fn end(bytes: Option<&[u8]>) -> Arg {
    bytes.map_or_else(|| Arg::text("+"), |bytes| Arg::known([b"(", bytes].concat()))
}

/// What the bounds are made of, while something of it is open.
fn open_edges(table: &RedisTable, range: &Range) -> (Arg, Arg) {
    let name = |term: &Term| term.name.to_string();
    let equal: Vec<String> = range.equal.iter().map(name).collect();
    let with = |last: Option<String>| {
        let names: Vec<String> = equal.iter().cloned().chain(last).collect();
        names.join(",")
    };
    let all = |mark: &str, last: Option<String>, end: &str| {
        let names = with(last);
        if names.is_empty() {
            None
        } else {
            Some(Arg::text(mark).then(Arg::slot(&format!("{end}({names})"))))
        }
    };
    let Some(bounds) = &range.bounds else {
        let low = all("[", None, "bytes").unwrap_or_else(|| Arg::text("-"));
        return (low, all("(", None, "after").unwrap_or_else(|| Arg::text("+")));
    };
    let side = |side: &Option<(Term, bool)>| {
        side.as_ref().map(|(term, inclusive)| (term.name.to_string(), *inclusive))
    };
    if let Some(prefix) = &bounds.prefix {
        let start = Some(format!("{}…", prefix.name));
        let low = all("[", start.clone(), "bytes").unwrap_or_else(|| Arg::text("-"));
        return (low, all("(", start, "after").unwrap_or_else(|| Arg::text("+")));
    }
    let column = table.columns.get(bounds.column).map(|column| &column.of);
    let (first, last) = if column.is_some_and(descends) {
        (side(&bounds.high), side(&bounds.low))
    } else {
        (side(&bounds.low), side(&bounds.high))
    };
    let low = match first {
        Some((name, inclusive)) => all("[", Some(name), if inclusive { "bytes" } else { "after" }),
        None => {
            all("[", Some("null".to_owned()), if column.is_some_and(descends) { "before" } else { "after" })
        }
    };
    let high = match last {
        Some((name, inclusive)) => all("(", Some(name), if inclusive { "after" } else { "bytes" }),
        None => all("(", None, "after"),
    };
    (low.unwrap_or_else(|| Arg::text("-")), high.unwrap_or_else(|| Arg::text("+")))
}

fn descends(column: &Column) -> bool {
    column.place == Place::Sort { descending: true }
}

/// From where, nothing if nowhere, and to before where, nothing if to the end.
type Edges = (Option<Vec<u8>>, Option<Vec<u8>>);

/// The bytes between which the members are. Nothing while a value is open.
fn edges(table: &RedisTable, range: &Range) -> Option<Edges> {
    let mut before = Vec::new();
    for term in &range.equal {
        let column = table.column(term)?;
        before.extend(ordered(&column.of, term.value.as_ref()?));
    }
    let Some(bounds) = &range.bounds else {
        let end = if before.is_empty() { None } else { prefix_end(&before) };
        return Some((Some(before), end));
    };
    let column = &table.columns.get(bounds.column)?.of;
    between(&before, column, bounds)
}

/// The bytes of a range of one column behind some others. Null is in no range; it comes first, and last if descending.
fn between(before: &[u8], column: &Column, bounds: &Bounds) -> Option<Edges> {
    let behind = |value: &Value| [before, &ordered(column, value)].concat();
    if let Some(prefix) = &bounds.prefix {
        // A text ends with two bytes, which what goes on does not have.
        const END_MARK: usize = 2;
        let mut start = behind(prefix.value.as_ref()?);
        start.truncate(start.len().saturating_sub(END_MARK));
        let end = prefix_end(&start);
        return Some((Some(start), end));
    }
    if bounds.low.iter().chain(&bounds.high).any(|(term, _)| term.value == Some(Value::Null)) {
        return Some((None, None));
    }
    let side = |side: &Option<(Term, bool)>| match side {
        Some((term, inclusive)) => term.value.as_ref().map(|value| Some((behind(value), *inclusive))),
        None => Some(None),
    };
    let (low, high) = (side(&bounds.low)?, side(&bounds.high)?);
    let null = behind(&Value::Null);
    let down = descends(column);
    let (first, last) = if down { (high, low) } else { (low, high) };
    let from = match first {
        Some((bytes, true)) => Some(bytes),
        Some((bytes, false)) => prefix_end(&bytes),
        None if down => Some(before.to_vec()),
        None => prefix_end(&null),
    };
    let to = match last {
        Some((bytes, true)) => prefix_end(&bytes),
        Some((bytes, false)) => Some(bytes),
        None if down => Some(null),
        None if before.is_empty() => None,
        None => prefix_end(before),
    };
    Some((from, to))
}

/// What a search asks for.
#[derive(Default)]
struct Query<'i> {
    /// Fields that are equal to values: what an index leads to.
    equal: Vec<Arg>,
    /// Numbers that are near to being between values, too.
    between: Vec<Span<'i>>,
    /// Comparisons of what these find.
    filters: Vec<Arg>,
}

struct Span<'i> {
    of: &'i Number,
    low: Option<Arg>,
    high: Option<Arg>,
}

/// FT.SEARCH by the predicates and in the order of a pushdown, or FT.AGGREGATE if digits are to be compared. `None` if the
/// index supports neither.
fn search(table: &RedisTable, pushdown: &Pushdown) -> Option<Command> {
    let index = table.search.as_ref()?;
    let query = Query::of(table, index, pushdown);
    let order = index.shadows.iter().find(|shadow| shadow.of == pushdown.order);
    let terms: Vec<Arg> = query.equal.into_iter().chain(query.between.into_iter().map(Span::text)).collect();
    if terms.is_empty() && query.filters.is_empty() && order.is_none() {
        return None;
    }
    let terms = terms.into_iter().reduce(|all, one| all.then(Arg::text(" ")).then(one));
    let terms = terms.unwrap_or_else(|| Arg::text("*"));
    let filter = query.filters.into_iter().reduce(|all, one| all.then(Arg::text(" && ")).then(one));
    let by = order.map(|order| order.field.as_str());
    let command = match filter {
        Some(filter) => aggregate(&index.name, terms, filter, by),
        None => {
            let mut command = Command::new("FT.SEARCH").word(&index.name).arg(terms);
            if let Some(by) = by {
                command = command.word("SORTBY").word(by).word("ASC");
            }
            command.word("LIMIT").word("0").word(CAP)
        }
    };
    Some(command.word("TIMEOUT").word("0").word("DIALECT").word("2"))
}

fn aggregate(index: &str, terms: Arg, filter: Arg, by: Option<&str>) -> Command {
    let mut command = Command::new("FT.AGGREGATE").word(index).arg(terms).word("FILTER").arg(filter);
    if let Some(by) = by {
        let by = format!("@{by}");
        command = command.word("SORTBY").word("2").word(&by).word("ASC").word("MAX").word(CAP);
    }
    command.word("LIMIT").word("0").word(CAP).word("LOAD").word("*")
}

impl<'i> Query<'i> {
    fn of(table: &RedisTable, index: &'i Index, pushdown: &Pushdown) -> Self {
        let shadow = |column: usize| index.shadows.iter().find(|shadow| shadow.of == [(column, false)]);
        let mut query = Self::default();
        for predicate in &pushdown.predicates {
            match predicate {
                ColumnPredicate::Equal(term) => {
                    let shadow = term.column.and_then(shadow);
                    query.equal.extend(shadow.map(|shadow| equal_to(shadow, term)));
                }
                ColumnPredicate::Between(bounds) => {
                    let number = index.numbers.iter().find(|number| number.of == bounds.column);
                    match number.filter(|_| bounds.prefix.is_none()) {
                        Some(number) => query.near(table, number, bounds),
                        None => {
                            let shadow = shadow(bounds.column);
                            query.filters.extend(shadow.into_iter().flat_map(|own| within(own, bounds)));
                        }
                    }
                }
            }
        }
        query
    }

    /// Numbers between others, as doubles: what is equal to a bound as a double may be on either side of it.
    fn near(&mut self, table: &RedisTable, of: &'i Number, bounds: &Bounds) {
        let column = table.columns.get(of.of).map(|column| &column.of);
        let side = |side: &Option<(Term, bool)>| {
            let (term, _) = side.as_ref()?;
            match &term.value {
                Some(value) => number(value).map(|digits| Arg::text(&digits)),
                None => Some(Arg::slot(&number_of(column, &term.name))),
            }
        };
        let (low, high) = (side(&bounds.low), side(&bounds.high));
        let other = self.between.iter_mut().find(|span| {
            let free = (span.low.is_none() || low.is_none()) && (span.high.is_none() || high.is_none());
            span.of == of && free
        });
        match other {
            Some(span) => {
                span.low = span.low.take().or(low);
                span.high = span.high.take().or(high);
            }
            None => self.between.push(Span { of, low, high }),
        }
    }
}

impl Span<'_> {
    fn text(self) -> Arg {
        let (low, high) = (self.low.unwrap_or_else(|| Arg::text("-inf")), self.high);
        let high = high.unwrap_or_else(|| Arg::text("+inf"));
        let start = Arg::text(&format!("@{}:[", self.of.field));
        start.then(low).then(Arg::text(" ")).then(high).then(Arg::text("]"))
    }
}

fn equal_to(shadow: &Shadow, term: &Term) -> Arg {
    let digits = match &term.value {
        Some(value) => Arg::text(&tag(&sorted_bytes(value, false))),
        None => Arg::slot(&format!("hex({})", term.name)),
    };
    Arg::text(&format!("@{}:{{", shadow.field)).then(digits).then(Arg::text("}"))
}

/// Comparisons of digits, which sort as the bytes do. Those of long texts are left to the client.
fn within(shadow: &Shadow, bounds: &Bounds) -> Vec<Arg> {
    let name = format!("@{}", shadow.field);
    let compared = |operator: &str, digits: Arg| {
        Arg::text(&format!("{name} {operator} '")).then(digits).then(Arg::text("'"))
    };
    let known = |bytes: &[u8]| {
        let digits = super::value::hex(bytes);
        (digits.len() < LONGEST_TAG / 2).then(|| Arg::text(&digits))
    };
    let digits = |term: &Term| match &term.value {
        Some(value) => known(&sorted_bytes(value, false)),
        None => Some(Arg::slot(&format!("hex({})", term.name))),
    };
    let mut all = Vec::new();
    if let Some(prefix) = &bounds.prefix {
        // STARTS WITH of a slot is left to the client: its end is not known.
        let Some(value) = &prefix.value else { return all };
        let mut start = sorted_bytes(value, false);
        start.truncate(start.len().saturating_sub(2));
        all.extend(known(&start).map(|from| compared(">=", from)));
        all.extend(prefix_end(&start).and_then(|end| known(&end)).map(|to| compared("<", to)));
        return all;
    }
    match &bounds.low {
        Some((term, inclusive)) => {
            all.extend(digits(term).map(|from| compared(if *inclusive { ">=" } else { ">" }, from)));
        }
        // Null has the smallest digits, and is in no range.
        None => all.push(compared(">", Arg::text(&tag(&sorted_bytes(&Value::Null, false))))),
    }
    if let Some((term, inclusive)) = &bounds.high {
        all.extend(digits(term).map(|to| compared(if *inclusive { "<=" } else { "<" }, to)));
    }
    all
}
