//! RFC 4180: null is nothing, an empty text is two quotes, what is nested is JSON.

use super::plain;
use askloom::run::Rows;
use serde_json::Value as Json;

pub(super) fn render(rows: &Rows) -> String {
    let names = rows.columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
    let lines = rows.rows.iter().map(|row| row.iter().map(field).collect::<Vec<_>>().join(","));
    std::iter::once(names).chain(lines).map(|line| line + "\r\n").collect()
}

fn field(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) if text.is_empty() => "\"\"".to_owned(),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => {
            quoted(&plain(value))
        }
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_would_be_misread_is_quoted() {
        let row = vec![json!("a,b"), json!("say \"x\""), json!(""), json!(null), json!({"k": 1}), json!(1.5)];
        let columns = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
        let text = render(&Rows { columns, rows: vec![row] });
        assert_eq!(text, "a,b,c,d,e,f\r\n\"a,b\",\"say \"\"x\"\"\",\"\",,\"{\"\"k\"\":1}\",1.5\r\n");
    }
}
