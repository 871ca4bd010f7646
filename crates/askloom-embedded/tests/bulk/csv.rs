//! CSV: columns by path, JSON in cells, and what is wrong with a row at its line.

use crate::equal::inputs;
use crate::{Folder, class, now, parse};
use askloom_embedded::bulk::{CsvRows, CsvWriter, Export, Fate, Incoming, Loader, Mark, Rows};
use askloom_engine::write::Expect;
use std::io::Cursor;

const MODEL: &str = "
abstract entity Account { id k: int, name: text, nick: text? }
entity Customer extends Account { part home: Address?, tags: text[*], since: date?, at: geo?, extra: json? }
entity Clerk extends Account { pay: decimal?, ref boss: Account?, ref helps: Customer[*] }
value Address { street: text, part spot: Spot? }
value Spot { x: double, lit: bool }
";

fn rows(text: &str, class_name: &str) -> Vec<(u64, Result<String, String>)> {
    let model = parse(MODEL);
    let class = class(&model, class_name);
    let mut rows = CsvRows::new(&model.conceptual, class, Cursor::new(text), 0, 0).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let content = row.content.and_then(|json| {
            Incoming::read(&model.conceptual, class, json.clone()).map(|_| json.to_string())
        });
        found.push((row.line, content.map_err(|refusal| refusal.to_string())));
        // Reading on from the end of a row is reading on.
        let on = CsvRows::new(&model.conceptual, class, Cursor::new(text), row.end, row.last_line).unwrap();
        let (mut on, mut all) =
            (on, CsvRows::new(&model.conceptual, class, Cursor::new(text), 0, 0).unwrap());
        let next = on.next().unwrap().map(|row| (row.line, row.start, row.end));
        let same = std::iter::from_fn(|| all.next().unwrap()).find(|other| other.start >= row.end);
        assert_eq!(next, same.map(|row| (row.line, row.start, row.end)));
    }
    found
}

#[test]
fn columns_and_cells() {
    let text = "\u{feff}k,name,nick,home.street,home.spot.x,home.spot.lit,tags,at,extra\r\n\
                1,,,Hill,1.5,true,\"[\"\"a\"\", \"\"b\"\"]\",\"1.5,2\",\"{\"\"a\"\": 1}\"\r\n\
                2,\"a\nb\",x,,,,,,\r\n\
                3,c,,,,,,,\r\n";
    let expected = [
        (
            2,
            "{\"at\":[1.5,2],\"extra\":{\"a\":1},\"home\":{\"spot\":{\"lit\":true,\"x\":1.5},\"street\":\"Hill\"},\"k\":1,\"name\":\"\",\"tags\":[\"a\",\"b\"]}",
        ),
        (3, "{\"k\":2,\"name\":\"a\\nb\",\"nick\":\"x\"}"),
        (5, "{\"k\":3,\"name\":\"c\"}"),
    ];
    assert_eq!(rows(text, "Customer"), expected.map(|(line, text)| (line, Ok(text.to_owned()))));
}

#[test]
fn what_is_wrong_is_said_at_its_line() {
    let text = "k,name,colour,tags\nx,a,,\n1,a,red,\n2,a\n3,a,,[1\n4,a,,\n,a,,\n";
    let expected = [
        (2, Err("k: \"x\" is not of type int")),
        (3, Err("colour: Customer has no such field")),
        (4, Err("the row has 2 cells, and the header has 4")),
        (5, Err("tags: the cell is not JSON: EOF while parsing a list at line 1 column 2")),
        (6, Ok("{\"k\":4,\"name\":\"a\"}")),
        (7, Err("k: is missing")),
    ];
    let expected = expected.map(|(line, said)| (line, said.map(str::to_owned).map_err(str::to_owned)));
    assert_eq!(rows(text, "Customer"), expected);
}

#[test]
fn what_is_written_is_read() {
    let model = parse(MODEL);
    let account = class(&model, "Account");
    let (from, to) = (Folder::new(), Folder::new());
    let (from, mut to) = (from.open(&model), to.open(&model));
    for (class_name, row) in [
        (
            "Customer",
            "{\"k\":1,\"name\":\"a,\\\"b\",\"home\":{\"street\":\"s\",\"spot\":{\"x\":0.1,\"lit\":false}},\"tags\":[\"\",\"x\"]}",
        ),
        ("Customer", "{\"k\":2,\"name\":\"\",\"since\":\"2026-01-02\",\"at\":[1,2],\"extra\":\"text\"}"),
        ("Clerk", "{\"k\":3,\"name\":\"c\",\"pay\":12.50,\"boss\":1,\"helps\":[1,2]}"),
    ] {
        let incoming =
            Incoming::read(&model.conceptual, class(&model, class_name), serde_json::from_str(row).unwrap());
        from.put(&incoming.unwrap().record, Expect::Absent, &inputs(now())).unwrap();
    }
    let export = Export::new(&from, now());
    let writer = CsvWriter::new(&model.conceptual, account);
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(writer.header()).unwrap();
    export
        .each(account, &mut |exported| {
            out.write_record(writer.row(exported)).unwrap();
            Ok(())
        })
        .unwrap();
    let text = String::from_utf8(out.into_inner().unwrap()).unwrap();
    let mut rows = CsvRows::new(&model.conceptual, account, Cursor::new(&text), 0, 0).unwrap();
    let mut loader = Loader::new(&mut to, now()).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let incoming = Incoming::read(&model.conceptual, account, row.content.unwrap())
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(loader.row(incoming).unwrap(), Fate::Loaded);
    }
    loader.flush("f", &Mark::default()).unwrap();
    loader.finish(&mut |_, _| {}).unwrap();
    assert!(crate::keyspace(&from) == crate::keyspace(&to), "{text}");
}
