//! What is printed for DynamoDB, beside what is expected: `tests/generated/dynamodb`.

use crate::project::{Project, expect_file, repository};
use std::path::PathBuf;

fn expected(name: &str) -> PathBuf {
    repository().join("crates/askloom-cli/tests/generated/dynamodb").join(name)
}

fn made(example: &str) -> Project {
    let project = Project::new();
    project.run(&["new", ".", "--example", example]).exits(0);
    project
}

#[test]
fn the_game_as_commands_and_templates() {
    let project = made("game");
    let params = r#"{"continueGame": {"gameId": "01890a5d-ac96-774b-bcce-b302099a8057"},
        "setScore": {"username": "it's \"}{*$where\n$(x)", "score": 7, "$version": 3}}"#;
    std::fs::write(project.path("params.json"), params).unwrap();
    let args = [
        "generate",
        "game.loom",
        "--method",
        "noam",
        "--target",
        "dynamodb",
        "--params",
        "params.json",
        "--sample",
    ];
    let ran = project.run(&args).exits(0);
    expect_file(&expected("game.txt"), &ran.stdout);
}

#[test]
fn the_shop_with_slots() {
    let ran =
        made("shop").run(&["generate", "shop.loom", "--method", "noam", "--target", "dynamodb"]).exits(0);
    expect_file(&expected("shop.txt"), &ran.stdout);
}

#[test]
fn settings_go_into_every_definition() {
    let project = made("game");
    let settings = "[target]\nname = \"dynamodb\"\n[target.dynamodb]\nbilling_mode = \"provisioned\"\n\
                    read_units = 5\nwrite_units = 6\npoint_in_time_recovery = true\n\
                    deletion_protection = true\ntags = { team = \"${games}\" }\n";
    std::fs::write(project.path("askloom.toml"), settings).unwrap();
    let ran = project.run(&["generate", "game.loom"]).exits(0);
    for part in [
        "update-continuous-backups --table-name 'Game'",
        "\"PointInTimeRecoverySpecification\": {\"PointInTimeRecoveryEnabled\": true}",
        "\"ProvisionedThroughput\": {\"ReadCapacityUnits\": 5, \"WriteCapacityUnits\": 6}",
        "\"DeletionProtectionEnabled\": true",
        "\"Tags\": [{\"Key\": \"team\", \"Value\": \"${games}\"}]",
        "\"read_capacity\": 5",
        "\"deletion_protection_enabled\": true",
        "\"tags\": {\"team\": \"$${games}\"}",
    ] {
        assert!(ran.stdout.contains(part), "no {part} in {}", ran.stdout);
    }
    std::fs::write(project.path("askloom.toml"), "[target.dynamodb]\nkeys = { Gme = \"G#\" }\n").unwrap();
    let ran = project.run(&["generate", "game.loom", "--target", "dynamodb", "-o", "out"]).exits(1);
    assert!(ran.stderr.contains("[target.dynamodb]: `keys` names `Gme`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("there are Player, Game") && !project.exists("out"), "{}", ran.stderr);
    std::fs::write(project.path("askloom.toml"), "[target.dynamodb]\nbiling = 1\n").unwrap();
    let ran = project.run(&["generate", "game.loom", "--target", "dynamodb"]).exits(1);
    assert!(ran.stderr.contains("[target.dynamodb]: there is no `biling`"), "{}", ran.stderr);
}
