//! Words that mean something where a keyword can stand. Everywhere else they are names.

macro_rules! keywords {
    ($($name:ident $text:literal $upper:literal)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Keyword { $($name,)* }

        impl Keyword {
            /// As the canonical style writes it.
            pub(crate) fn canonical(self) -> &'static str {
                match self { $(Self::$name => $upper,)* }
            }

            fn of_lower(word: &[u8]) -> Option<Self> {
                match word { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

// Declarations are lower case in canonical style, statements upper case.
keywords! {
    Import b"import" "import"
    Entity b"entity" "entity"
    Value b"value" "value"
    Abstract b"abstract" "abstract"
    Extends b"extends" "extends"
    Query b"query" "query"
    Ask b"ask" "ask"
    Via b"via" "via"
    Write b"write" "write"
    Writes b"writes" "writes"
    Any b"any" "any"
    Collection b"collection" "collection"
    Of b"of" "of"
    Represent b"represent" "represent"
    Invariant b"invariant" "invariant"
    On b"on" "on"
    Workload b"workload" "workload"
    Id b"id" "id"
    Unique b"unique" "unique"
    Immutable b"immutable" "immutable"
    Checked b"checked" "checked"
    Loose b"loose" "loose"
    Ref b"ref" "ref"
    Has b"has" "has"
    Part b"part" "part"
    Inverse b"inverse" "inverse"
    Enum b"enum" "enum"
    Refuse b"refuse" "refuse"
    Cascade b"cascade" "cascade"
    Clear b"clear" "clear"
    Key b"key" "key"
    Sort b"sort" "sort"
    Keep b"keep" "keep"
    Master b"master" "master"
    Select b"select" "SELECT"
    From b"from" "FROM"
    Join b"join" "JOIN"
    Left b"left" "LEFT"
    Include b"include" "JOIN"
    Including b"including" "JOIN"
    As b"as" "AS"
    Where b"where" "WHERE"
    Group b"group" "GROUP"
    Order b"order" "ORDER"
    OrderBy b"orderby" "ORDER BY"
    By b"by" "BY"
    Limit b"limit" "LIMIT"
    Page b"page" "PAGE"
    Per b"per" "PER"
    Asc b"asc" "ASC"
    Desc b"desc" "DESC"
    And b"and" "AND"
    Or b"or" "OR"
    Not b"not" "NOT"
    Between b"between" "BETWEEN"
    In b"in" "IN"
    Starts b"starts" "STARTS"
    With b"with" "WITH"
    Is b"is" "IS"
    Null b"null" "NULL"
    True b"true" "true"
    False b"false" "false"
    Matches b"matches" "MATCHES"
    Under b"under" "UNDER"
    Above b"above" "ABOVE"
    Within b"within" "WITHIN"
    Km b"km" "KM"
    Box b"box" "BOX"
    Count b"count" "COUNT"
    Sum b"sum" "SUM"
    Avg b"avg" "AVG"
    Min b"min" "MIN"
    Max b"max" "MAX"
    Distinct b"distinct" "DISTINCT"
    Insert b"insert" "INSERT"
    Upsert b"upsert" "UPSERT"
    Store b"store" "STORE"
    Update b"update" "UPDATE"
    Set b"set" "SET"
    Delete b"delete" "DELETE"
    Add b"add" "ADD"
    To b"to" "TO"
    Remove b"remove" "REMOVE"
    At b"at" "AT"
    Connect b"connect" "CONNECT"
    Disconnect b"disconnect" "DISCONNECT"
}

const LONGEST: usize = 10;

impl Keyword {
    /// The keyword that this word can be, in any case.
    pub(crate) fn of(word: &[u8]) -> Option<Self> {
        let mut lower = [0_u8; LONGEST];
        let lower = lower.get_mut(..word.len())?;
        for (to, from) in lower.iter_mut().zip(word) {
            *to = from.to_ascii_lowercase();
        }
        Self::of_lower(lower)
    }

    /// Starts a declaration at the top of a file.
    pub(crate) fn starts_declaration(self) -> bool {
        matches!(
            self,
            Self::Import
                | Self::Entity
                | Self::Value
                | Self::Abstract
                | Self::Query
                | Self::Ask
                | Self::Write
                | Self::Writes
                | Self::Collection
                | Self::Represent
                | Self::Invariant
                | Self::Workload
        )
    }

    /// Starts a statement of a write.
    pub(crate) fn starts_write(self) -> bool {
        matches!(
            self,
            Self::Insert
                | Self::Upsert
                | Self::Store
                | Self::Update
                | Self::Delete
                | Self::Add
                | Self::Remove
                | Self::Connect
                | Self::Disconnect
        )
    }

    /// Starts or continues a clause of a query, so that it cannot be an alias without AS.
    pub(crate) fn is_clause(self) -> bool {
        matches!(
            self,
            Self::From
                | Self::Join
                | Self::Left
                | Self::Include
                | Self::Including
                | Self::Where
                | Self::Group
                | Self::Order
                | Self::OrderBy
                | Self::Limit
                | Self::Page
        )
    }

    pub(crate) fn is_aggregate(self) -> bool {
        matches!(self, Self::Count | Self::Sum | Self::Avg | Self::Min | Self::Max)
    }
}
