//! What `[target.dynamodb]` in askloom.toml says about the tables.

use serde_json::{Map, Value as Json};

/// How tables are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub billing: Billing,
    pub point_in_time_recovery: bool,
    pub deletion_protection: bool,
    pub tags: Vec<(String, String)>,
    /// By the name of a collection, what its keys start with.
    pub keys: Vec<(String, Vec<String>)>,
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
    "billing_mode, read_units, write_units, point_in_time_recovery, deletion_protection, tags, keys";

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
                "keys" => settings.keys = keys(value).ok_or_else(|| wrong(KEYS))?,
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

const KEYS: &str =
    "by the names of collections what a partition key starts with, or a list of that and of the sort key's";

/// `Game = "GAME#"`, or `Game = ["GAME#", "AT#"]`.
fn keys(value: &Json) -> Option<Vec<(String, Vec<String>)>> {
    let start = |text: &Json| {
        let text = text.as_str()?;
        (!text.chars().any(char::is_control) && text.len() <= LONGEST_START).then(|| text.to_owned())
    };
    let one = |(name, starts): (&String, &Json)| {
        let starts: Option<Vec<String>> = match starts {
            Json::Array(both) if both.len() <= 2 => both.iter().map(start).collect(),
            single => start(single).map(|start| vec![start]),
        };
        Some((name.clone(), starts?))
    };
    value.as_object()?.iter().map(one).collect()
}

/// Of the 1,024 bytes of a sort key most are for what it is made of.
const LONGEST_START: usize = 64;

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
            "point_in_time_recovery": true, "tags": {"team": "games"}, "keys": {"Game": "GAME#", "A": ["A#", ""]}}"#;
        let settings = given(all).unwrap();
        assert_eq!(settings.billing, Billing::Provisioned { read_units: 5, write_units: 6 });
        assert!(settings.deletion_protection && settings.point_in_time_recovery);
        assert_eq!(settings.tags, [("team".to_owned(), "games".to_owned())]);
        let keys = [("Game", vec!["GAME#"]), ("A", vec!["A#", ""])];
        let keys =
            keys.map(|(name, starts)| (name.to_owned(), starts.into_iter().map(str::to_owned).collect()));
        assert!(keys.iter().all(|key| settings.keys.contains(key)), "{:?}", settings.keys);
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
            (r#"{"keys": {"Game": ["a", "b", "c"]}}"#, "takes by the names of collections"),
            (r#"{"keys": {"Game": "a\nb"}}"#, "takes by the names of collections"),
        ] {
            let error = given(json).unwrap_err();
            assert!(error.contains(said), "{json}: {error}");
        }
    }
}
