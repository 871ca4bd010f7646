//! Designs NoSQL databases from what an application stores and asks, and runs them.
//!
//! This is the library on which the program `askloom` stands, and on which servers, editors and applications can. It
//! takes a model through all that can be done with it:
//!
//! | step | here |
//! | --- | --- |
//! | a model file with its settings and saved designs | [`project`] |
//! | designs by several methods, compared, priced, with reasons | [`designer`], [`pricing`] |
//! | a design as one value, and pictures of it | [`document`], [`picture`] |
//! | how a statement is carried out, also in a store's own language | [`explain`], [`generate`](mod@generate), [`native`], [`limits`] |
//! | a store by its URL, opened for a model | [`store`] |
//! | statements with typed parameters, and running them | [`statement`], [`run`](mod@run) |
//! | data in and out | [`load`], [`export`] |
//!
//! Only [`project`], [`store`], [`load`] and [`export`] touch files; everything else is functions from values to values.
//! Nothing here prints: whoever calls shows what comes back. What cannot be done is a [`Error`], whose variants say
//! whether the call, the input or the store is to blame.
//!
//! The crates below are [`model`], [`lang`], [`design`], [`target`] and [`engine`], for those who need more of them.
//!
//! # Example
//!
//! ```
//! use askloom::Project;
//! use askloom::design::method::Progress;
//! use askloom::run::{Call, Reply, run};
//! use askloom::statement::{Statement, arguments};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("askloom-front-page-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let file = folder.join("notes.loom");
//! let model = "
//!     entity Note { id title: text, text: text }
//!     query note: SELECT text FROM Note WHERE title = :title
//!     write keep: UPSERT Note
//! ";
//! std::fs::write(&file, model)?;
//!
//! // A project is a model file; its design is the saved one, or the one that costs least.
//! let project = Project::new(file);
//! let designed = project.designed_embedded(Progress::default())?;
//!
//! // A store is a URL: the embedded store is a folder.
//! let store = project.store(Some(&format!("file:{}", folder.join("store").display())))?;
//! let (database, _) = store.apply(&designed)?;
//!
//! let keep = Statement::named(&designed.model, "keep")?;
//! let given = arguments(&designed.model, keep, &["title=milk", "text=two bottles"])?;
//! run(&database, &Call::new(keep, &given))?;
//!
//! let note = Statement::named(&designed.model, "note")?;
//! let given = arguments(&designed.model, note, &["title=milk"])?;
//! let Reply::Rows(page) = run(&database, &Call::new(note, &given))? else { unreachable!("it is a query") };
//! assert_eq!(page.rows.rows, [[json!("two bottles")]]);
//! # drop(database);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

pub mod data_format;
pub mod designer;
pub mod document;
pub mod error;
pub mod explain;
pub mod export;
mod fit;
pub mod generate;
pub mod human;
pub mod limits;
pub mod load;
pub mod native;
pub mod picture;
pub mod pricing;
pub mod project;
pub mod run;
pub mod statement;
pub mod store;
pub mod words;

pub use askloom_design as design;
pub use askloom_embedded as embedded;
pub use askloom_engine as engine;
pub use askloom_lang as lang;
pub use askloom_model as model;
pub use askloom_plan as plan;
pub use askloom_target as target;

pub use error::Error;
pub use project::{Designed, Project};
