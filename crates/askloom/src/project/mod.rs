//! A project: a model file and what lies beside it, which is `askloom.toml`, saved designs and files of costs.
//!
//! The files of projects are read and written here and nowhere else. What is in them is understood by functions of
//! text, so that whoever has no files (a page in a browser) uses those.

mod designed;
mod disk;
mod replace;
mod settings;

pub use designed::{DEFAULT_METHOD, Designed, EMBEDDED, Origin, designable};
pub use disk::{Disk, drain, read_reason};
pub use replace::replace;
pub use settings::{FILE as SETTINGS_FILE, Settings, StoreSettings, TargetSettings};

use crate::designer::{Designer, DesignerOptions};
use crate::error::{Error, RefusedDesign};
use crate::pricing::Pricing;
use crate::store::{DEFAULT_URL, StoreUrl};
use askloom_design::method::{Method, Options, Progress};
use askloom_design::saved;
use askloom_lang::Checked;
use askloom_model::{Design, Model};
use askloom_plan::cost::Costing;
use askloom_target::{Target, target, targets};
use settings::variable;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file of costs has some twenty numbers with comments, and never more bytes than this.
const LARGEST_COST_FILE: u64 = 64 * 1024;

/// A model file, and what lies beside it. Nothing is read before it is needed.
#[derive(Debug, Clone)]
pub struct Project {
    file: PathBuf,
}

/// By which costs somebody wants a design.
#[derive(Debug, Clone, Default)]
pub struct CostChoice {
    /// A name, or a file whose name ends in `.toml`.
    pub cost_model: Option<String>,
    /// A price list. It wins over the cost model.
    pub prices: Option<PathBuf>,
}

impl Project {
    /// The project of a model file.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into() }
    }

    /// The model file, as it was named.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The file's name without its folder.
    #[must_use]
    pub fn name(&self) -> String {
        self.file.file_name().unwrap_or(self.file.as_os_str()).to_string_lossy().into_owned()
    }

    /// What `askloom.toml` says; nothing if there is no such file.
    pub fn settings(&self) -> Result<Settings, Error> {
        let path = self.folder().join(SETTINGS_FILE);
        match self.text(&path)? {
            Some(text) => Settings::parse(&path, &text),
            None => Ok(Settings::default()),
        }
    }

    /// The store to design for: the one that is named, else by `ASKLOOM_TARGET`, else by the settings, else the
    /// embedded store.
    pub fn target(&self, named: Option<&str>) -> Result<&'static Target, Error> {
        let named = named.map(str::to_owned).or_else(|| variable("ASKLOOM_TARGET"));
        let name = match named {
            Some(name) => name,
            None => self.settings()?.target.name().unwrap_or_else(|| EMBEDDED.to_owned()),
        };
        target(&name).ok_or_else(|| {
            let known: Vec<&str> = targets().iter().map(|target| target.capability.target).collect();
            Error::Call(format!("there is no store `{name}`; there are {}", known.join(", ")))
        })
    }

    /// The costs to design by: those that are named, else by `ASKLOOM_COST_MODEL`, else by the settings, else the
    /// store's own.
    pub fn pricing(&self, target: &'static Target, choice: &CostChoice) -> Result<Pricing, Error> {
        // A list of prices is for what the store is paid, whatever else the settings name.
        if let Some(file) = &choice.prices {
            return Pricing::at_prices(target, file, cost_file);
        }
        if let Some(name) = choice.cost_model.clone().or_else(|| variable("ASKLOOM_COST_MODEL")) {
            return Pricing::named(target, &name, Path::new(""), cost_file);
        }
        match self.settings()?.cost_model {
            // What the settings name is beside them, wherever the program was started.
            Some(name) => Pricing::named(target, &name, &self.folder(), cost_file),
            None => Pricing::own(target),
        }
    }

    /// The store that data is in: the one that is named, else by `ASKLOOM_STORE`, else by the settings, else
    /// `file:data/`.
    pub fn store(&self, url: Option<&str>) -> Result<StoreUrl, Error> {
        let here = Path::new("");
        if let Some(url) = url.map(str::to_owned).or_else(|| variable("ASKLOOM_STORE")) {
            return StoreUrl::parse(&url, here);
        }
        match self.settings()?.store.url {
            // What the settings name is beside them, wherever the program was started.
            Some(url) => StoreUrl::parse(&url, &self.folder()),
            None => StoreUrl::parse(DEFAULT_URL, here),
        }
    }

    /// The model, with every diagnostic. It never fails: what is wrong is among the diagnostics.
    #[must_use]
    pub fn check(&self) -> Checked {
        askloom_lang::check(&Disk::of(&self.file), &self.file)
    }

    /// The model, if it has no errors and can be designed.
    pub fn checked(&self) -> Result<Checked, Error> {
        designable(&self.file, self.check())
    }

    /// A design for a store: of a method, else the saved one, else of the method that is taken when nobody says.
    pub fn designed(
        &self,
        target: &str,
        costing: &Costing<'_>,
        method: Option<Method>,
        progress: Progress,
    ) -> Result<Designed, Error> {
        let named = Designed::named(self.checked()?);
        let saved = if method.is_none() { self.saved_design(target, &named.model)? } else { None };
        Ok(match saved {
            Some(design) => named.with(design),
            None => {
                let options = Options { progress, ..Options::default() };
                named.by(method.unwrap_or(DEFAULT_METHOD), costing, &options)
            }
        })
    }

    /// The design that data in the embedded store is stored by.
    pub fn designed_embedded(&self, progress: Progress) -> Result<Designed, Error> {
        self.designed(EMBEDDED, &askloom_target::embedded::costing(), None, progress)
    }

    /// The model with all that designs are made by.
    pub fn designer(&self, options: DesignerOptions) -> Result<Designer, Error> {
        let target = self.target(options.target.as_deref())?;
        let pricing = self.pricing(target, &options.costs)?;
        Designer::new(self.name(), self.checked()?, target, pricing, options)
    }

    /// Where the design for a store is saved.
    #[must_use]
    pub fn saved_path(&self, target: &str) -> PathBuf {
        self.file.with_extension(format!("{target}.design"))
    }

    /// The design for a store that is saved beside the model; nothing if there is none.
    pub fn saved_design(&self, target: &str, model: &Model) -> Result<Option<Design>, Error> {
        let path = self.saved_path(target);
        let Some(text) = self.text(&path)? else { return Ok(None) };
        match saved::from_json(model, &text) {
            Ok(design) => Ok(Some(design)),
            Err(diagnostics) => Err(Error::SavedDesign(Box::new(RefusedDesign { path, text, diagnostics }))),
        }
    }

    /// Saves a design beside the model, and says where.
    pub fn save_design(&self, target: &str, model: &Model, design: &Design) -> Result<PathBuf, Error> {
        let path = self.saved_path(target);
        let text = saved::to_json(model, design);
        replace(&path, &text).map_err(|error| Error::writing(&path, &error))?;
        Ok(path)
    }

    /// The folder that the model is in; empty for the current one.
    fn folder(&self) -> PathBuf {
        self.file.parent().map_or_else(PathBuf::new, Path::to_owned)
    }

    /// The text of a file; nothing if there is none.
    fn text(&self, path: &Path) -> Result<Option<String>, Error> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::reading(path, &error)),
        }
    }
}

/// The text of a cost model or a price list.
fn cost_file(path: &Path) -> Result<String, Error> {
    let failed = |why: &str| Error::Input(format!("cannot read {}: {why}", path.display()));
    let file = File::open(path).map_err(|error| Error::reading(path, &error))?;
    let mut bytes = Vec::new();
    file.take(LARGEST_COST_FILE + 1).read_to_end(&mut bytes).map_err(|error| Error::reading(path, &error))?;
    if bytes.len() as u64 > LARGEST_COST_FILE {
        return Err(failed("it is larger than 64 KB"));
    }
    String::from_utf8(bytes).map_err(|_| failed("it is no text in UTF-8"))
}
