//! The oracle's fixtures: after each of their statements every question, by every plan over several designs.

use crate::mirror::{Mirror, designs, parse};
use askloom_model::{
    Conceptual, Model, Parameter, ParameterType, Record, Type, Value, identity_from_json, parameter_from_json,
};
use askloom_oracle::{Inputs, Parameters, State, uuids_needed};
use jiff::Timestamp;
use serde_json::Value as Json;
use std::path::Path;

struct Run {
    model: Model,
    state: State,
    mirrors: Vec<Mirror>,
    now: Timestamp,
    made: u128,
    compared: usize,
}

fn class(model: &Model, name: &str) -> askloom_model::ClassId {
    model.conceptual.classes.iter().find(|(_, class)| class.name == name).unwrap().0
}

impl Run {
    fn section(&mut self, head: &str, body: &[&str]) {
        let mut words = head.splitn(3, ' ');
        let (kind, name) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let argument = words.next().unwrap_or("{}");
        match kind {
            "model" => {
                self.model = parse(&body.join("\n"));
                self.mirrors =
                    designs(&self.model).into_iter().map(|d| Mirror::new(&self.model, d)).collect();
                return;
            }
            "now" => {
                self.now = name.parse().unwrap();
                return;
            }
            _other => {}
        }
        match kind {
            "data" => self.load(body),
            "query" | "page" => self.query(name, &serde_json::from_str(argument).unwrap()),
            "ask" => self.ask(name, &serde_json::from_str(argument).unwrap()),
            "write" => self.write(name, &serde_json::from_str(argument).unwrap()),
            "create" | "replace" => self.store(kind, name, &serde_json::from_str(argument).unwrap()),
            "delete" => self.delete(name, &serde_json::from_str(argument).unwrap()),
            other => panic!("no section is called {other}"),
        }
        for mirror in &mut self.mirrors {
            mirror.follow(&self.state, self.now);
        }
        self.questions_without_parameters();
    }

    fn questions_without_parameters(&mut self) {
        for query in self.model.workload.queries.iter().filter(|query| query.parameters.is_empty()) {
            for mirror in &self.mirrors {
                self.compared += mirror.compare(&self.state, query, &Parameters::new(), self.now);
            }
        }
    }

    fn query(&mut self, name: &str, argument: &Json) {
        let query = self.model.workload.queries.iter().find(|query| query.header.name == name).unwrap();
        let given = parameters(&self.model.conceptual, &query.parameters, argument);
        if self.state.query(&self.model, query, &given, self.now).is_ok() {
            for mirror in &self.mirrors {
                self.compared += mirror.compare(&self.state, query, &given, self.now);
            }
        }
    }

    fn ask(&mut self, name: &str, argument: &Json) {
        let ask = self.model.workload.asks.iter().find(|ask| ask.header.name == name).unwrap();
        let ids = argument.as_array().unwrap().iter().zip(&ask.keys);
        let ids: Vec<_> =
            ids.map(|(id, &class)| identity_from_json(&self.model.conceptual, class, id).unwrap()).collect();
        for mirror in &self.mirrors {
            self.compared += mirror.compare_ask(&self.state, ask, &ids, self.now);
        }
    }

    fn inputs(&mut self, uuids: usize) -> Inputs {
        let mut made = || {
            self.made += 1;
            uuid::Uuid::from_u128(0x7000_8000_0000_0000_0000 + self.made)
        };
        let uuids = (0..uuids).map(|_| made()).collect();
        Inputs { now: self.now, uuids }
    }

    fn load(&mut self, body: &[&str]) {
        let record = |line: &&str| {
            let (name, json) = line.split_once(' ').unwrap();
            let json = serde_json::from_str(json).unwrap();
            Record::from_json(&self.model.conceptual, class(&self.model, name), &json).unwrap()
        };
        let records: Vec<Record> = body.iter().map(record).collect();
        let inputs = self.inputs(records.len() * 4);
        self.state.load(&self.model, &records, &inputs).unwrap();
    }

    fn write(&mut self, name: &str, argument: &Json) {
        let write =
            self.model.workload.writes.iter().find(|write| write.header.name == name).unwrap().clone();
        let conceptual = &self.model.conceptual;
        let mut declared = write.parameters.clone();
        for step in &write.steps {
            let Some(class) = step.fields_of() else { continue };
            for member in conceptual.all_members(class) {
                let Some((ty, _)) = conceptual.insertable(member) else { continue };
                let name = conceptual.member_name(member).to_owned();
                declared.push(Parameter { name, ty, span: Default::default() });
            }
        }
        let given = parameters(conceptual, &declared, argument);
        // What the oracle refuses changes nothing, and is tested there.
        if let Ok(needed) = uuids_needed(&self.model, &write, &given) {
            let inputs = self.inputs(needed);
            let _ = self.state.write(&self.model, &write, &given, &inputs);
        }
    }

    fn store(&mut self, kind: &str, name: &str, json: &Json) {
        let Ok(record) = Record::from_json(&self.model.conceptual, class(&self.model, name), json) else {
            return;
        };
        let inputs = self.inputs(8);
        let _ = match kind {
            "create" => self.state.create(&self.model, &record, &inputs).map(drop),
            _replace => self.state.replace(&self.model, &record, &inputs),
        };
    }

    fn delete(&mut self, name: &str, id: &Json) {
        let class = class(&self.model, name);
        let identity = identity_from_json(&self.model.conceptual, class, id).unwrap();
        let _ = self.state.delete(&self.model, class, &identity, self.now);
    }
}

fn parameters(conceptual: &Conceptual, declared: &[Parameter], argument: &Json) -> Parameters {
    let mut given = Parameters::new();
    for (name, json) in argument.as_object().unwrap() {
        let parameter = declared.iter().find(|parameter| parameter.name == *name);
        let ty = parameter.map_or(ParameterType::Basic(Type::Json), |p| p.ty.clone());
        let value = parameter_from_json(conceptual, &ty, json).unwrap_or(Value::Json(json.clone()));
        given.insert(name.clone(), value);
    }
    given
}

fn run(text: &str) -> usize {
    let mut run = Run {
        model: Model::default(),
        state: State::new(),
        mirrors: Vec::new(),
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
        made: 0,
        compared: 0,
    };
    let mut sections: Vec<(usize, &str, Vec<&str>)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix("== "), sections.last_mut()) {
            (Some(head), _) => sections.push((index + 1, head, Vec::new())),
            (None, Some((_, "model", body))) => body.push(line),
            (None, Some((_, _, body))) if !line.is_empty() && !line.starts_with('#') => body.push(line),
            (None, _) => {}
        }
    }
    for (line, head, body) in sections {
        println!("line {line}: {head}");
        run.section(head, &body);
    }
    run.compared
}

#[test]
#[ignore = "slow"]
fn the_fixtures_of_the_oracle_by_every_plan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../askloom-oracle/tests/answers");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        match std::panic::catch_unwind(|| run(&text)) {
            Ok(plans) => compared += plans,
            Err(_) => wrong.push(file.display().to_string()),
        }
    }
    assert!(wrong.is_empty(), "wrong in {wrong:?}");
    println!("{compared} answers of plans");
    assert!(compared > 2000, "only {compared} answers were compared");
}
