//! Statements in the language of a store, and the button that copies them.

use crate::design::Page;
use crate::devtools::Browser;

/// A store, the keys of its tables as they are headed, and the start of a read of the game's lobby.
const STORES: [(&str, &[&str], &str); 8] = [
    ("redis", &["key", "sorted by"], "FCALL_RO askloom_range 1 \"LobbyIndex:{waiting}\""),
    ("redis-search", &["key", "sorted by"], "FCALL_RO askloom_range 1 \"LobbyIndex:{waiting}\""),
    ("redis-cluster", &["key", "sorted by"], "FCALL_RO askloom_range 1 \"LobbyIndex:{waiting}\""),
    ("mongodb", &["fields"], "db.Game.find({ status: 'waiting' }"),
    ("dynamodb", &["PK", "SK"], "aws dynamodb query --cli-input-json '{\n  \"TableName\": \"Game\""),
    (
        "cassandra",
        &["partition key", "clustering key"],
        "SELECT status, started_at, game_id FROM lobby_index",
    ),
    ("hbase", &["row key", "then"], "scan \"LobbyIndex\", {STARTROW => "),
    ("oracle-nosql", &["major key", "minor key"], "store.multiGetIterator(Direction.REVERSE, 20, "),
];

const SHOWN: &str = "document.querySelector('.detail:not([hidden]) .native').innerText";
const BUTTON: &str = "document.querySelector('.detail:not([hidden]) button.copy')";

/// Takes the place of the clipboard, which is the whole machine's.
fn with_clipboard(browser: &mut Browser, writes: &str) {
    browser.value(&format!(
        "{{ window.pasted = null; Object.defineProperty(navigator, 'clipboard', {{ configurable: true, value: {{ writeText: {writes} }} }}); }}"
    ));
}

#[test]
#[ignore = "slow"]
fn every_statement_is_there_in_the_language_of_its_store() {
    let mut browser = Browser::start();
    for (target, keys, read) in STORES {
        let page = Page::of_example_with("game", &["--method", "noam", "--target", target]);
        browser.open(&page.file(), 1400, "light");
        browser.pick("lobby");
        let shown = browser.value(SHOWN);
        assert!(shown.as_str().unwrap().contains(read), "{target}: {shown}");
        let without = browser.texts(
            "design.plans.map((plan) => plan.statement).filter((name) => {
                pick(name);
                const text = document.querySelector('.detail:not([hidden]) .native');
                return !text || !text.innerText.includes(name) || text.getClientRects().length === 0;
            })",
        );
        assert_eq!(without, [""; 0], "{target}");
        let heads = "[...document.querySelectorAll('[aria-labelledby=collection-LobbyIndex] .groups th')]
            .map((head) => head.textContent)";
        assert_eq!(browser.texts(heads)[..keys.len()], *keys, "{target}");
        assert_eq!(browser.value("/block key|entry key/.test(document.body.innerText)"), false, "{target}");
        assert_eq!(browser.complaints(), [""; 0], "{target}");
    }
}

#[test]
#[ignore = "slow"]
fn the_button_copies_what_is_shown() {
    let page = Page::of_example_with("game", &["--method", "noam", "--target", "dynamodb"]);
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    browser.pick("lobby");
    with_clipboard(&mut browser, "async (text) => { window.pasted = text; }");
    assert_eq!(browser.value(&format!("{BUTTON}.textContent")), "Copy");
    browser.value(&format!("{BUTTON}.click()"));
    let native = browser.value("design.plans.find((plan) => plan.statement === 'lobby').native");
    assert!(native.as_str().unwrap().contains("\"IndexName\": \"LobbyIndex\""), "{native}");
    assert_eq!(browser.value("window.pasted"), native);
    assert_eq!(browser.value(&format!("{BUTTON}.textContent")), "Copied");
    // Without a clipboard the text is selected, so that a key copies it.
    browser.pick("continueGame");
    with_clipboard(&mut browser, "async () => { throw new Error('none'); }");
    browser.value(&format!("{BUTTON}.click()"));
    let selected = browser.value("window.getSelection().toString()");
    assert_eq!(selected.as_str().unwrap().trim(), browser.value(SHOWN).as_str().unwrap().trim());
    let label = browser.value(&format!("{BUTTON}.textContent"));
    assert!(label == "Copied" || label == "Select and copy", "{label}");
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The embedded store has no language, so there is nothing to copy.
#[test]
#[ignore = "slow"]
fn without_a_language_there_is_no_button() {
    let page = Page::of_example("game");
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    browser.pick("lobby");
    assert_eq!(browser.value("document.querySelectorAll('.native, button.copy').length"), 0);
}

/// Where there is a bill, it is in dollars a month wherever a workload has a price.
#[test]
#[ignore = "slow"]
fn what_is_paid_for_is_in_dollars_a_month() {
    let page = Page::of_example_with("game", &["--target", "dynamodb"]);
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    assert_eq!(browser.value("/[$]\\/M a second/.test(document.body.innerText)"), false);
    let chosen = browser
        .value("Number(document.querySelector('.methods .chosen td.number').textContent.replace(/,/g, ''))");
    let requests = browser.value("design.money.requests").as_f64().unwrap();
    assert!((chosen.as_f64().unwrap() - requests).abs() <= 1.0, "{chosen} is not {requests}");
}
