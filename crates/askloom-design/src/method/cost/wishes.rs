//! What a person wants of a choice besides that it is cheap.

use serde::Serialize;
use std::time::Duration;

/// What must be so.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Wishes {
    /// No more bytes than this.
    pub storage: Option<f64>,
    /// No more collections than this, masters and indexes included.
    pub max_collections: Option<usize>,
    /// Collections that are kept whatever they cost.
    pub pin: Vec<String>,
    /// Collections that are not kept.
    pub forbid: Vec<String>,
    /// How long it may take. Nothing: until it is proven.
    #[serde(skip)]
    pub time_limit: Option<Duration>,
}
