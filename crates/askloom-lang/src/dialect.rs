use std::path::Path;

/// Which language a file is written in. Decided by its extension, never guessed from its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Askloom's own.
    Loom,
    /// The KVMod paper's.
    Pidm,
    /// Mortadelo's.
    Gdm,
}

impl Dialect {
    pub const ALL: [Self; 3] = [Self::Loom, Self::Pidm, Self::Gdm];

    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|dialect| extension.eq_ignore_ascii_case(dialect.extension()))
    }

    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Pidm => "pidm",
            Self::Gdm => "gdm",
        }
    }

    /// `/* … */` is a comment. In `.loom` it would swallow the rule `/*/*`.
    #[must_use]
    pub fn has_block_comments(self) -> bool {
        match self {
            Self::Loom => false,
            Self::Pidm | Self::Gdm => true,
        }
    }

    /// `a or b and c` is `(a or b) and c`, the reverse of SQL.
    #[must_use]
    pub fn or_binds_tighter(self) -> bool {
        match self {
            Self::Gdm => true,
            Self::Loom | Self::Pidm => false,
        }
    }
}
