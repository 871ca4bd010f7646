//! Every diagnostic that Askloom can give has a row here and a page in `docs/diagnostics/`.
//!
//! Codes are stable: a number is never given a second meaning, and a retired one is not reused.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
    Note,
}

impl Severity {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

macro_rules! codes {
    ($($number:ident $name:ident $severity:ident $title:literal)*) => {
        /// The stable name of one kind of diagnostic.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $title] $name,)* }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// `AL0123`
            #[must_use]
            pub fn number(self) -> &'static str {
                match self { $(Self::$name => stringify!($number),)* }
            }

            /// One line that says what it is about.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// How grave it is unless the place says otherwise.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    // Files and characters.
    AL0001 NotUtf8 Error "the file is not UTF-8 text"
    AL0002 FileTooLarge Error "the file is larger than a model can be"
    AL0003 CannotRead Error "the file cannot be read"
    AL0004 UnknownExtension Error "the file's extension names no language"
    AL0005 UnexpectedCharacter Error "a character that has no meaning here"
    AL0006 UnterminatedText Error "a text literal or name has no closing quote"
    AL0007 UnterminatedComment Error "a block comment has no end"
    AL0008 TooDeep Error "nesting is deeper than 256"
    AL0009 TooManyDiagnostics Error "the list of diagnostics is cut off"
    AL0010 ImportCycle Error "files import each other in a circle"
    AL0011 ImportOutside Error "an import leaves the model's folder"
    AL0012 EmptyModel Warning "the file declares nothing"
    AL0013 BlockComment Error "a block comment in a .loom file"
    AL0014 TooMany Error "a list is longer than a model can have"

    // Syntax.
    AL0101 Expected Error "something else is expected here"
    AL0102 MissingColon Error "the colon between name and type is missing"
    AL0103 TypeBeforeName Error "the type stands before the name"
    AL0104 TargetBeforeName Error "a relationship's target stands before its name"
    AL0105 Unclosed Error "an opening bracket is never closed"
    AL0106 UnknownDeclaration Error "a declaration starts with an unknown word"
    AL0107 MissingSeparator Error "two members on one line without a comma"
    AL0108 StrayAnnotation Error "an annotation belongs to nothing"
    AL0109 MixedAndOr Warning "AND and OR are mixed without parentheses"
    AL0110 ClauseOrder Error "a clause is out of order or stands twice"
    AL0111 LimitAndPage Error "a query has both LIMIT and PAGE"
    AL0112 BadNumber Error "a number is malformed or out of range"

    // Classes and members.
    AL0201 UnknownClass Error "no entity or value object has this name"
    AL0202 WrongCase Warning "a name differs from the declared one in case only"
    AL0203 DuplicateDeclaration Error "a name is declared twice"
    AL0204 DuplicateMember Error "a class has two members of one name"
    AL0205 UnknownType Error "no type has this name"
    AL0206 FieldCalledId Warning "a field is called id but does not identify"
    AL0207 BadIdentifier Error "an identifier is optional, a list, or a to-many reference"
    AL0208 Surrogate Note "an entity without identifier gets a surrogate"
    AL0209 IdentifierInValue Error "a value object cannot have an identifier"
    AL0210 PartCycle Error "parts form a circle"
    AL0211 ExtendsCycle Error "extends forms a circle"
    AL0212 BadParent Error "a class cannot extend this one"
    AL0213 ReferenceToValue Error "a reference to a value object"
    AL0214 InverseMismatch Error "an inverse does not point back"
    AL0215 ProbableInverse Warning "two references are probably one relationship"
    AL0216 TwoOwners Error "an entity is part of two classes"
    AL0217 BadCardinality Error "a cardinality that nothing can satisfy"
    AL0218 BadDefault Error "a default does not fit its attribute"
    AL0219 BadEnum Error "an enum is empty or repeats a value"
    AL0220 ClassAsType Error "a class is used as the type of an attribute"
    AL0221 BadModifier Error "a modifier does not apply here"
    AL0222 IdentifierInSubclass Error "a subclass declares an identifier of its own"
    AL0223 BadOnDelete Error "on delete says what cannot be done"
    AL0224 AbstractWithoutSubclass Warning "an abstract entity has no subclass"
    AL0225 UnusedValue Warning "a value object is used nowhere"
    AL0226 RequiredCycle Error "required references form a circle within one identifier"
    AL0240 BadImmutable Error "a class cannot be immutable by itself"
    AL0241 ImmutableReference Error "another write would change a reference of an immutable entity"

    // Annotations and statistics.
    AL0301 UnknownAnnotation Error "no annotation has this name"
    AL0302 MisplacedAnnotation Error "an annotation does not apply here"
    AL0303 BadArgument Error "an annotation's argument is missing or malformed"
    AL0304 StatisticOutOfRange Error "a statistic is out of range"
    AL0305 RepeatedAnnotation Error "an annotation is given twice"
    AL0306 UnknownUnit Error "no unit has this name"
    AL0307 IgnoredAnnotation Note "an annotation of another tool is ignored"
    AL0340 BadLifetime Error "a time to live counts from what may change or be absent"
    AL0341 BadSelectivity Error "how many rows are selected is said twice, or of nothing"

    // Queries.
    AL0401 UnknownName Error "nothing in scope has this name"
    AL0402 PathThroughAttribute Error "a path goes on after an attribute"
    AL0403 AmbiguousName Error "a name fits several in different case"
    AL0404 ManyWithoutJoin Error "a to-many path without a JOIN"
    AL0405 TypeMismatch Error "two sides of a condition have different types"
    AL0406 ParameterTypes Error "a parameter is used with two types"
    AL0407 BadOperand Error "an operator does not apply to this type"
    AL0408 DuplicateAlias Error "an alias is introduced twice"
    AL0409 DuplicateColumn Error "two columns have one name"
    AL0410 NotGrouped Error "a selected value is neither grouped nor aggregated"
    AL0411 MisplacedAggregate Error "an aggregate function stands where none can be"
    AL0412 BadLimit Error "LIMIT or PAGE is not a positive whole number"
    AL0413 ComparedWithNull Warning "a comparison with NULL is never true"
    AL0414 UnknownEnumValue Error "an enum has no such value"
    AL0415 BadLiteral Error "a literal does not fit the type of its place"
    AL0416 NotATree Error "UNDER or ABOVE without a @tree"
    AL0417 NoSinglePath Error "an ask has no path, or several, between its classes"
    AL0418 JoinOfAttribute Error "a JOIN of something that leads nowhere"
    AL0419 AliasShadows Warning "an alias hides a name of the main entity"
    AL0420 ParameterOutside Error "a parameter where none can be given"
    AL0430 NotACondition Error "a value that is not a bool stands as a condition"
    AL0431 NegationOverMany Note "a negation about many values means some of them or none"
    AL0432 PerGroupOfGroups Error "LIMIT … PER in a query that groups or aggregates"

    // Writes.
    AL0501 InsertOfPart Error "a part is made by ADD and ended by REMOVE"
    AL0502 SetOfIdentifier Error "an identifier never changes"
    AL0503 SetOfImmutable Error "an immutable field is changed"
    AL0504 NotAList Error "ADD, REMOVE or UPDATE of elements on something that is not a list"
    AL0505 NotAReference Error "CONNECT or DISCONNECT on something that is not a reference"
    AL0506 DisconnectRequired Error "a required reference cannot be disconnected"
    AL0507 NoCondition Warning "a write without WHERE touches every instance"
    AL0508 BadArithmetic Error "arithmetic that SET cannot do"
    AL0509 InsertOfAbstract Error "an abstract entity has no instances of its own"
    AL0510 SetTwice Error "a field is set twice"
    AL0511 NullForRequired Error "null for a field that must have a value"
    AL0512 WriteOnValue Error "a value object is written with its owner"
    AL0513 SetOfMany Error "SET on a list or a to-many relationship"
    AL0514 EmptyWrite Error "a compound write without a statement"
    AL0515 SeveralAggregates Note "a compound write spans several aggregates"
    AL0516 UpsertWithoutId Error "UPSERT or STORE of an entity without an identifier"
    AL0517 ApartWithinOne Error "`@apart` on a write that changes one aggregate"
    AL0518 DeletesTrusted Note "a write deletes what a trusted reference may name"
    AL0540 WriteOnImmutable Error "an instance of an immutable entity is changed or deleted"

    // Rules.
    AL0601 InvariantSpans Error "an invariant spans two aggregates"
    AL0602 RuleNeverReached Warning "a representation rule takes nothing"
    AL0603 RuleMissesField Error "representation rules leave a field out"
    AL0604 RuleUnknownField Error "a representation rule names no field"
    AL0605 RepresentNotRoot Error "only an aggregate has a representation"
    AL0606 RuleOtherClass Error "a representation rule is about another class"
    AL0607 RuleMalformed Error "a representation rule is malformed"
    AL0608 CollectionWithoutKey Error "a collection has no key"
    AL0609 CollectionPath Error "a path that a collection cannot hold"
    AL0610 UnknownStatement Error "a workload names no statement"
    AL0611 RepeatedEntry Error "an entry stands twice"
    AL0640 BadMaster Error "a collection cannot be the master of its class"
    AL0641 BadBucket Error "a time bucket of something that is not a timestamp"
    AL0642 BadPartition Error "several classes do not share a partition"

    // Designs.
    AL0701 NoPlan Error "a statement has no plan on this store with this design"
    AL0702 NotTogether Error "a write spans aggregates that the store cannot change at once"
    AL0703 DesignMalformed Error "a saved design is not in its form"
    AL0704 DesignOfAnotherModel Error "a saved design does not fit its model"
    AL0705 TooLarge Error "a design does not fit into its store"
    AL0740 NotDesignedYet Error "a declared collection cannot be designed yet"
}

impl Code {
    /// The code of that number, in any case: `AL0123`, `al0123`, `123`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim_start_matches(['A', 'a']).trim_start_matches(['L', 'l']);
        let number: u32 = digits.parse().ok()?;
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.number().get(2..).and_then(|n| n.parse().ok()) == Some(number))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_parse_back() {
        for pair in Code::ALL.windows(2) {
            assert!(pair[0].number() < pair[1].number(), "{} before {}", pair[0], pair[1]);
        }
        for &code in Code::ALL {
            assert_eq!(Code::parse(code.number()), Some(code));
        }
        assert_eq!(Code::parse("al0101"), Some(Code::Expected));
        assert_eq!(Code::parse("101"), Some(Code::Expected));
        assert_eq!(Code::parse("AL9999"), None);
        assert_eq!(Code::parse(""), None);
    }
}
