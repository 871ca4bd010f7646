//! Picking a statement lights what it touches.

use crate::design::Page;
use crate::devtools::Browser;

/// What is lit, as `collection: column or field`, each once.
const LIT: &str = "[...new Set([...document.querySelectorAll('.grid .lit')].map((one) => {
    const card = one.closest('.collection').querySelector('h3').textContent;
    const field = one.querySelector(':scope > i');
    if (field && one.classList.contains('field')) return `${card}: ${field.textContent}`;
    const names = [...one.closest('table').querySelectorAll('.names th')].map((head) => head.textContent);
    const { rows } = [...grids.values()].find((grid) => grid.card.contains(one));
    const cell = rows.flatMap((row) => row.cells).find((found) => found.element === one);
    return `${card}: ${names.includes(cell.column) ? cell.column : `${cell.column}?`}`;
}))].sort()";

/// The keys of the items that carry the mark of a step.
fn items(browser: &mut Browser, collection: &str, step: usize) -> Vec<String> {
    browser.texts(&format!(
        "grids.get('{collection}').rows
            .filter((row) => [...row.order.children].some((mark) => mark.textContent === '{step}'))
            .map((row) => row.values.slice(0, grids.get('{collection}').sample.keys).join(' '))"
    ))
}

/// By what the model declares: a method that learns to choose better must not change what is lit here.
fn game() -> (Browser, Page) {
    game_with(&["--method", "given"])
}

fn game_with(more: &[&str]) -> (Browser, Page) {
    let page = Page::of_example_with("game", more);
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    (browser, page)
}

#[test]
#[ignore = "slow"]
fn nothing_is_lit_before_a_statement_is_picked_and_after_it_is_left() {
    let (mut browser, _page) = game();
    assert_eq!(browser.texts(LIT), [""; 0]);
    browser.pick("lobby");
    assert_ne!(browser.texts(LIT), [""; 0]);
    browser.pick("lobby");
    assert_eq!(browser.texts(LIT), [""; 0]);
}

#[test]
#[ignore = "slow"]
fn a_query_lights_the_fields_it_needs_of_the_items_it_finds() {
    let (mut browser, _page) = game();
    browser.pick("lobby");
    let lit = [
        "Game: firstPlayer",
        "Game: gameId",
        "Game: startedAt",
        "Game: status",
        "LobbyIndex: Game id",
        "LobbyIndex: startedAt",
        "LobbyIndex: status",
        "Player: score",
        "Player: username",
    ];
    assert_eq!(browser.texts(LIT), lit);
    let status = "[...document.querySelectorAll('.field.lit')]
        .filter((one) => one.firstChild.textContent === 'status').map((one) => one.lastChild.textContent)";
    let status = browser.texts(status);
    assert!(!status.is_empty() && status.iter().all(|text| text == "waiting"), "{status:?}");
}

#[test]
#[ignore = "slow"]
fn a_query_of_everything_lights_one_whole_block() {
    let (mut browser, _page) = game();
    browser.pick("continueGame");
    let lit = browser.texts(LIT);
    assert_eq!(lit, ["Game: entry", "Game: gameId", "Game: value"]);
    let found = items(&mut browser, "Game", 1);
    let first = found.first().unwrap().split(' ').next().unwrap().to_owned();
    assert!(found.len() > 1 && found.iter().all(|key| key.starts_with(&first)), "{found:?}");
    let dim = browser.texts("[...document.querySelectorAll('.dim h3')].map((one) => one.textContent)");
    assert_eq!(dim, ["Player", "LobbyIndex"]);
}

#[test]
#[ignore = "slow"]
fn a_write_lights_the_entry_it_puts() {
    let (mut browser, _page) = game();
    browser.pick("setScore");
    let put = put(&mut browser, "setScore");
    let only = format!(
        "document.querySelector('.detail:not([hidden]) [aria-label=\"Light step {put} only\"]').click()"
    );
    browser.value(&only);
    assert_eq!(browser.texts(LIT), ["Player: score"]);
    assert_eq!(items(&mut browser, "Player", put).len(), 1);
}

/// A new entry is not in the sample: the entry of the game is put, and the round is said to be new.
#[test]
#[ignore = "slow"]
fn what_is_new_is_said_and_not_lit() {
    let (mut browser, _page) = game();
    browser.pick("addRound");
    let put = put(&mut browser, "addRound");
    let entries = items(&mut browser, "Game", put);
    assert!(entries.len() == 1 && entries.iter().all(|key| !key.contains("rounds[")), "{entries:?}");
    let said = browser.texts(
        "[...document.querySelectorAll('.detail:not([hidden]) .besides')].map((one) => one.textContent)",
    );
    assert!(said.iter().any(|text| text.contains("makes 1 new item")), "{said:?}");
}

/// The parameters are those of the lit items.
#[test]
#[ignore = "slow"]
fn what_is_lit_is_what_the_parameters_name() {
    let (mut browser, _page) = game();
    for (statement, parameter, collection) in [
        ("continueGame", "gameId", "Game"),
        ("setScore", "username", "Player"),
        ("joinGame", "gameId", "Game"),
    ] {
        browser.pick(statement);
        let given = browser.value(&format!(
            "design.plans.find((plan) => plan.statement === '{statement}').sample.parameters
                .find((one) => one.name === '{parameter}').value"
        ));
        let lit = items(&mut browser, collection, 1);
        let given = given.as_str().unwrap();
        assert!(
            !lit.is_empty() && lit.iter().all(|key| key.starts_with(given)),
            "{statement}: {given} {lit:?}"
        );
        let shown = browser.value("document.querySelector('.detail:not([hidden]) .given').textContent");
        assert!(shown.as_str().unwrap().contains(parameter), "{shown}");
    }
}

/// The same twice in one write cannot be carried out.
#[test]
#[ignore = "slow"]
fn what_is_not_known_is_said_and_lights_nothing() {
    let page = Page::of_text(
        "@count(10)\nentity Note {\n  id noteId: int\n  body: text\n}\n
@rate(1/s)\nwrite add {\n  INSERT Note\n  INSERT Note\n}\n",
    );
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    browser.pick("add");
    assert_eq!(browser.texts(LIT), [""; 0]);
    let said = browser
        .texts("[...document.querySelectorAll('.detail:not([hidden]) .said')].map((one) => one.textContent)");
    assert!(
        said.iter().any(|text| text.starts_with("What it touches of the sample is not known")),
        "{said:?}"
    );
}

/// The number of the first step that puts.
fn put(browser: &mut Browser, statement: &str) -> usize {
    let number = browser.value(&format!(
        "design.plans.find((plan) => plan.statement === '{statement}').steps.findIndex((step) => step.op === 'put') + 1"
    ));
    usize::try_from(number.as_u64().unwrap()).unwrap()
}

#[test]
#[ignore = "slow"]
fn a_write_shows_every_copy_and_what_a_reader_sees() {
    for (target, seen) in [
        ("embedded", "change together with its master"),
        ("cassandra", "Until it is brought after, a reader sees the old"),
    ] {
        let (mut browser, _page) = game_with(&["--method", "given", "--target", target]);
        browser.pick("joinGame");
        let copies = browser.texts(
            "[...document.querySelectorAll('.detail:not([hidden]) .copies tbody tr')].map((row) => row.innerText)",
        );
        assert_eq!(copies.len(), 1, "{copies:?}");
        for part in ["LobbyIndex", "Read by lobby", seen] {
            assert!(copies.iter().all(|copy| copy.contains(part)), "{target}: {part} in {copies:?}");
        }
    }
}
