//! A store by its URL, and how it is opened for a model.

use crate::error::Error;
use crate::project::{Designed, Origin, Project};
use askloom_embedded::database::{Applied, Database, OpenError, preview};
use askloom_embedded::store::{Durability, Options};
use std::path::{Path, PathBuf};

/// Where data is when nothing says otherwise.
pub const DEFAULT_URL: &str = "file:data/";

/// Schemes of stores that have no driver in this program.
const OTHERS: [&str; 10] = [
    "redis",
    "rediss",
    "redis+cluster",
    "redis+sentinel",
    "mongodb",
    "mongodb+srv",
    "dynamodb",
    "cassandra",
    "oracle",
    "hbase",
];

/// An embedded store that is named, and not open yet.
#[derive(Debug)]
pub struct StoreUrl {
    pub folder: PathBuf,
    pub options: Options,
    pub read_only: bool,
}

impl StoreUrl {
    /// The store of a URL. A folder that is not absolute is below `base`.
    pub fn parse(url: &str, base: &Path) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Call(format!("the store `{}` {why}", masked(url)));
        let Some((scheme, rest)) = url.split_once(':') else {
            return Err(wrong("is no URL; `file:FOLDER` is the embedded store"));
        };
        if OTHERS.contains(&scheme) {
            let why =
                format!("cannot be used: this program has no driver for {scheme}; it has `file:FOLDER`");
            return Err(Error::Store(format!("the store `{}` {why}", masked(url))));
        }
        if scheme != "file" {
            return Err(wrong("is of no kind that is known; `file:FOLDER` is the embedded store"));
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        // `file:///data` is as usual as `file:/data`.
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() {
            return Err(wrong("names no folder"));
        }
        let mut parsed = Self { folder: base.join(path), options: Options::default(), read_only: false };
        for option in query.split('&').filter(|option| !option.is_empty()) {
            parsed.set(option).map_err(|why| wrong(&why))?;
        }
        Ok(parsed)
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        match option.split_once('=').unwrap_or((option, "")) {
            ("durability", "power") => self.options.durability = Durability::Power,
            ("durability", "process") => self.options.durability = Durability::Process,
            ("read_only", "true") => self.read_only = true,
            ("read_only", "false") => self.read_only = false,
            ("durability", other) => {
                return Err(format!("has the durability `{other}`; it is power or process"));
            }
            ("read_only", other) => return Err(format!("has read_only `{other}`; it is true or false")),
            (name, _) => {
                return Err(format!("has an option `{name}`; there are durability and read_only"));
            }
        }
        Ok(())
    }

    /// Refuses what would change a store that is to be read only.
    pub fn writable(&self) -> Result<(), Error> {
        if self.read_only {
            return Err(Error::Store("the store is opened with read_only=true".to_owned()));
        }
        Ok(())
    }

    /// Opens the store for a model that has been applied to it.
    pub fn open(&self, project: &Project, designed: &Designed) -> Result<Database, Error> {
        let apply = || format!("`askloom apply {} --store {}`", project.file().display(), self.name());
        if !self.exists() {
            let why = format!("there is no store at {}; {} makes one", self.name(), apply());
            return Err(Error::Store(why));
        }
        let model = designed.model.clone();
        let opened = match designed.origin {
            Origin::Saved => Database::open(&self.folder, &self.options, model, designed.design.clone()),
            Origin::Made => Database::open_as_applied(&self.folder, &self.options, model),
        };
        opened.map_err(|error| match error {
            OpenError::NotApplied => Error::Store(format!("{error}; {} does it", apply())),
            OpenError::Different(_) => {
                Error::Store(format!("{error}\nIf all of it adds to the model, {} brings it there", apply()))
            }
            OpenError::SameName(_) | OpenError::Store(_) => error.into(),
        })
    }

    /// Makes the store ready for a model and its design, or extends it. New copies are still empty: [`Database::fill`].
    pub fn apply(&self, designed: &Designed) -> Result<(Database, Applied), Error> {
        self.writable()?;
        let (model, design) = (designed.model.clone(), designed.design.clone());
        Ok(Database::apply(&self.folder, &self.options, model, design)?)
    }

    /// What [`StoreUrl::apply`] would do.
    pub fn preview(&self, designed: &Designed) -> Result<Applied, Error> {
        Ok(preview(&self.folder, &self.options, &designed.model, &designed.design)?)
    }

    /// As a URL, without options.
    #[must_use]
    pub fn name(&self) -> String {
        format!("file:{}", self.folder.display())
    }

    /// Whether there is anything in the folder.
    pub fn exists(&self) -> bool {
        std::fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_some())
    }
}

/// The URL without what nobody should read over a shoulder or in a log.
pub fn masked(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}:***@{host}")
        }
        None => authority.to_owned(),
    };
    format!("{scheme}://{authority}{}", masked_options(tail))
}

/// Options that hold a secret by their name.
fn masked_options(tail: &str) -> String {
    let Some((path, query)) = tail.split_once('?') else { return tail.to_owned() };
    let secret = |name: &str| {
        let name = name.to_lowercase();
        ["password", "secret", "token", "key"].iter().any(|word| name.contains(word))
    };
    let options: Vec<String> = query
        .split('&')
        .map(|option| match option.split_once('=') {
            Some((name, _)) if secret(name) => format!("{name}=***"),
            Some(_) | None => option.to_owned(),
        })
        .collect();
    format!("{path}?{}", options.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> Result<StoreUrl, String> {
        StoreUrl::parse(url, Path::new("base")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_folder_with_options() {
        let place = place("file:data/?durability=process&read_only=true").unwrap();
        assert_eq!(place.folder, Path::new("base/data/"));
        assert_eq!(place.options.durability, Durability::Process);
        assert!(place.writable().is_err());
    }

    #[test]
    fn an_absolute_folder_stays() {
        assert_eq!(place("file:///var/games").unwrap().folder, Path::new("/var/games"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, part) in [
            ("data", "is no URL"),
            ("file:", "no folder"),
            ("ftp://x", "no kind that is known"),
            ("redis://localhost", "no driver for redis"),
            ("file:x?durability=maybe", "power or process"),
            ("file:x?speed=high", "option `speed`"),
        ] {
            let error = place(url).unwrap_err();
            assert!(error.contains(part), "{url}: {error}");
        }
    }

    #[test]
    fn secrets_are_masked() {
        assert_eq!(masked("redis://me:hush@host:6379/0"), "redis://me:***@host:6379/0");
        assert_eq!(
            masked("mongodb://me:a@b@host/?authSecret=x&w=1"),
            "mongodb://me:***@host/?authSecret=***&w=1"
        );
        assert_eq!(masked("file:data/"), "file:data/");
    }
}
