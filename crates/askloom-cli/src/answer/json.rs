//! One object: the rows, each with its columns in the order of the query, and what else there is to say.

use askloom::run::Rows;
use serde_json::Value as Json;

pub(super) fn render(rows: &Rows, more: &[(&str, Json)]) -> String {
    let mut text = String::from("{\n  \"rows\": [");
    for (index, row) in rows.rows.iter().enumerate() {
        text.push_str(if index == 0 { "\n    " } else { ",\n    " });
        text.push_str(&object(&rows.columns, row));
    }
    text.push_str(if rows.rows.is_empty() { "]" } else { "\n  ]" });
    for (name, value) in more {
        text.push_str(&format!(",\n  {}: {value}", Json::from(*name)));
    }
    text + "\n}\n"
}

/// Written out here because a map of serde_json would sort the columns.
fn object(columns: &[String], row: &[Json]) -> String {
    let fields = columns.iter().zip(row);
    let fields: Vec<String> =
        fields.map(|(name, value)| format!("{}: {value}", Json::from(name.as_str()))).collect();
    format!("{{{}}}", fields.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_stay_in_their_order() {
        let rows = Rows {
            columns: vec!["b".into(), "a".into()],
            rows: vec![vec![json!(1), json!("x\"y")], vec![json!(null), json!([2])]],
        };
        let text = render(&rows, &[("next", json!(null))]);
        let expected = "{\n  \"rows\": [\n    {\"b\": 1, \"a\": \"x\\\"y\"},\n    {\"b\": null, \"a\": [2]}\n  ],\n  \"next\": null\n}\n";
        assert_eq!(text, expected);
        assert!(serde_json::from_str::<Json>(&text).is_ok());
    }

    #[test]
    fn no_rows() {
        let text = render(&Rows { columns: vec!["a".into()], rows: vec![] }, &[]);
        assert_eq!(text, "{\n  \"rows\": []\n}\n");
    }
}
