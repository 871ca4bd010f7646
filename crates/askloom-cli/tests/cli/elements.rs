//! Copies with a row for each element of a list, a set or a list of parts, beside what is expected: `tests/generated`.

use crate::generated::expect;
use crate::project::Project;

const MODEL: &str = "entity Actor { id name: text }
entity Video { id videoId: text, title: text, added: timestamp, tags: text[*], part chapters: Chapter[*], ref cast: Actor[*] }
value Chapter { heading: text, at: int }

collection VideosByTag of Video { key tags; sort added; keep title; }
collection VideosByActor of Video { key cast; sort added; keep title; }
collection VideosByHeading of Video { key chapters.heading; sort added; keep title; }

query tagged: SELECT videoId, title FROM Video WHERE tags = :tag ORDER BY added DESC LIMIT 20
query starring: SELECT videoId, title FROM Video WHERE cast = :actor ORDER BY added DESC
query about: SELECT videoId, title FROM Video WHERE chapters.heading = :heading ORDER BY added DESC
write hire: INSERT Actor
write upload: INSERT Video
write tag: ADD :tag TO Video.tags WHERE videoId = :videoId
write untag: REMOVE FROM Video.tags WHERE videoId = :videoId AND tags = :tag
write chapter: ADD :chapter TO Video.chapters WHERE videoId = :videoId
write cast: CONNECT Video.cast TO :actor WHERE videoId = :videoId
write retitle: UPDATE Video SET title = :title WHERE videoId = :videoId
write drop: DELETE Video WHERE videoId = :videoId
";

#[test]
fn rows_per_element_are_tables_of_their_own() {
    for (target, files) in [
        ("dynamodb", ["schema.sh", "statements.sh"]),
        ("cassandra", ["schema.cql", "statements.cql"]),
        ("mongodb", ["schema.js", "statements.js"]),
    ] {
        let project = Project::new().with("m.loom", MODEL);
        project.run(&["generate", "m.loom", "--method", "given", "--target", target, "-o", "out"]).exits(0);
        let text: String = files
            .iter()
            .map(|file| format!("== {file}\n{}\n", project.read(&format!("out/{file}"))))
            .collect();
        expect(&format!("elements.{target}.txt"), &text);
    }
}

#[test]
fn a_video_is_under_each_of_its_tags() {
    let store = ["--store", "file:db"];
    let project = Project::new().with("m.loom", MODEL);
    let run = |args: &[&str]| project.run(&[&["run", "m.loom"], args, &store].concat()).exits(0).stdout;
    let rows = |args: &[&str]| -> Vec<String> {
        run(&[args, &["--format", "csv"]].concat()).lines().skip(1).map(str::to_owned).collect()
    };
    let by_tag = |tag: &str| rows(&["tagged", &format!("tag={tag}")]);
    project.run(&[&["apply", "m.loom"], &store[..]].concat()).exits(0);
    run(&["hire", "name=Ann"]);
    for (id, added) in [("a", "08"), ("b", "09")] {
        let id = format!("videoId={id}");
        run(&["upload", &id, "title=t", &format!("added=2026-11-17T{added}:00:00Z")]);
        for tag in ["tag=sea", "tag=sky", "tag=sea"] {
            run(&["tag", &id, tag]);
        }
    }
    assert_eq!(by_tag("sea"), ["b,t", "a,t"], "the newest first, each once");
    run(&["cast", "videoId=a", "actor=Ann"]);
    run(&["chapter", "videoId=a", r#"chapter={"heading": "one", "at": 1}"#]);
    assert_eq!(
        (rows(&["starring", "actor=Ann"]), rows(&["about", "heading=one"])),
        (vec!["a,t".to_owned()], vec!["a,t".to_owned()])
    );
    run(&["retitle", "videoId=a", "title=u"]);
    assert_eq!(by_tag("sky"), ["b,t", "a,u"]);
    run(&["untag", "videoId=b", "tag=sky"]);
    run(&["drop", "videoId=a"]);
    assert_eq!((by_tag("sky"), by_tag("sea")), (Vec::new(), vec!["b,t".to_owned()]));
    project.run(&[&["verify", "m.loom"], &store[..]].concat()).exits(0);
}
