//! What `[target.dynamodb]` in askloom.toml says about the tables.

use serde_json::{Map, Value as Json};

/// How tables are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub billing: Billing,
    pub point_in_time_recovery: bool,
    pub deletion_protection: bool,
    pub tags: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Billing {
    #[default]
    OnDemand,
    Provisioned {
        read_units: u64,
        write_units: u64,
    },
}

const KNOWN: &str =
    "billing_mode, read_units, write_units, point_in_time_recovery, deletion_protection, tags";

impl Settings {
    /// Says what is wrong with them.
    pub fn new(given: &Map<String, Json>) -> Result<Self, String> {
        let mut settings = Self::default();
        let mut mode = None;
        let mut units = [None, None];
        for (name, value) in given {
            let wrong = |takes: &str| format!("`{name}` takes {takes}, not {value}");
            match name.as_str() {
                "billing_mode" => mode = Some(value.as_str().ok_or_else(|| wrong(MODES))?),
                "read_units" => units[0] = Some(positive(value).ok_or_else(|| wrong("a number from 1"))?),
                "write_units" => units[1] = Some(positive(value).ok_or_else(|| wrong("a number from 1"))?),
                "point_in_time_recovery" => {
                    settings.point_in_time_recovery =
                        value.as_bool().ok_or_else(|| wrong("true or false"))?;
                }
                "deletion_protection" => {
                    settings.deletion_protection = value.as_bool().ok_or_else(|| wrong("true or false"))?;
                }
                "tags" => settings.tags = tags(value).ok_or_else(|| wrong("texts by their names"))?,
                _unknown => return Err(format!("there is no `{name}`; there are {KNOWN}")),
            }
        }
        settings.billing = match (mode.unwrap_or("on-demand"), units) {
            ("on-demand", [None, None]) => Billing::OnDemand,
            ("on-demand", _) => {
                return Err("`read_units` and `write_units` are for `billing_mode` provisioned".to_owned());
            }
            ("provisioned", [Some(read_units), Some(write_units)]) => {
                Billing::Provisioned { read_units, write_units }
            }
            ("provisioned", _) => {
                return Err("`billing_mode` provisioned needs `read_units` and `write_units`".to_owned());
            }
            (other, _) => return Err(format!("`billing_mode` takes {MODES}, not \"{other}\"")),
        };
        Ok(settings)
    }
}

const MODES: &str = "\"on-demand\" or \"provisioned\"";

fn positive(value: &Json) -> Option<u64> {
    value.as_u64().filter(|&units| units > 0)
}

fn tags(value: &Json) -> Option<Vec<(String, String)>> {
    value.as_object()?.iter().map(|(name, tag)| Some((name.clone(), tag.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(json: &str) -> Result<Settings, String> {
        Settings::new(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn settings_are_read() {
        let all = r#"{"billing_mode": "provisioned", "read_units": 5, "write_units": 6, "deletion_protection": true,
            "point_in_time_recovery": true, "tags": {"team": "games"}}"#;
        let settings = given(all).unwrap();
        assert_eq!(settings.billing, Billing::Provisioned { read_units: 5, write_units: 6 });
        assert!(settings.deletion_protection && settings.point_in_time_recovery);
        assert_eq!(settings.tags, [("team".to_owned(), "games".to_owned())]);
        assert_eq!(given("{}"), Ok(Settings::default()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (json, said) in [
            (r#"{"biling_mode": "x"}"#, "there is no `biling_mode`; there are billing_mode"),
            (r#"{"billing_mode": "free"}"#, "takes \"on-demand\" or \"provisioned\", not \"free\""),
            (r#"{"billing_mode": "provisioned"}"#, "needs `read_units`"),
            (r#"{"read_units": 5}"#, "are for `billing_mode` provisioned"),
            (r#"{"read_units": 0}"#, "takes a number from 1, not 0"),
            (r#"{"deletion_protection": "yes"}"#, "takes true or false, not \"yes\""),
            (r#"{"tags": ["x"]}"#, "takes texts by their names"),
        ] {
            let error = given(json).unwrap_err();
            assert!(error.contains(said), "{json}: {error}");
        }
    }
}
