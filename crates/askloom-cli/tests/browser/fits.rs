//! Every example's page at the widths of a telephone and of a desk, on screen and on paper.

use crate::design::Page;
use crate::devtools::Browser;

const EXAMPLES: [&str; 6] = ["game", "noam-game", "airline", "inbox", "blog", "shop"];

/// What reaches over the right edge, but for what is inside a box that scrolls.
const TOO_WIDE: &str = "[...document.body.querySelectorAll('*')]
    .filter((one) => !one.closest('.scroll table, .skip') && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 40)}`)";

const SCROLLS: &str = "document.documentElement.scrollWidth > document.documentElement.clientWidth";

#[test]
#[ignore = "slow"]
fn nothing_is_wider_than_the_window_and_nothing_complains() {
    let mut browser = Browser::start();
    for example in EXAMPLES {
        fits(&mut browser, example, "embedded");
    }
}

/// Statements of the stores are long lines, which scroll in a box of their own.
#[test]
#[ignore = "slow"]
fn nothing_is_wider_than_the_window_for_any_store() {
    let mut browser = Browser::start();
    for target in ["redis", "mongodb", "dynamodb", "cassandra", "hbase", "oracle-nosql"] {
        fits(&mut browser, "shop", target);
    }
}

fn fits(browser: &mut Browser, example: &str, target: &str) {
    let page = Page::of_example_with(example, &["--target", target]);
    for (width, scheme) in [(400, "light"), (1400, "dark")] {
        browser.open(&page.file(), width, scheme);
        assert_eq!(browser.value("innerWidth"), width);
        let wide = browser.texts(&format!(
            "[null, ...design.plans.map((plan) => plan.statement)].flatMap((name) => {{ pick(name); return {TOO_WIDE}; }})"
        ));
        assert_eq!(wide, [""; 0], "{example} on {target} at {width}");
        assert_eq!(browser.value(SCROLLS), false, "{example} on {target} at {width}");
        assert_eq!(browser.complaints(), [""; 0], "{example} on {target} at {width}");
    }
}

#[test]
#[ignore = "slow"]
fn paper_shows_every_statement_and_every_item_within_its_edges() {
    let mut browser = Browser::start();
    for example in EXAMPLES {
        let page = Page::of_example(example);
        browser.open(&page.file(), 794, "dark");
        let statements = browser.texts("design.plans.map((plan) => plan.statement)");
        browser.pick(statements.first().unwrap());
        browser.media("print", "dark");
        let hidden = browser.texts(
            "[...document.querySelectorAll('.detail, .grid')]
                .filter((one) => one.getClientRects().length === 0).map((one) => one.className)",
        );
        assert!(hidden.is_empty(), "{example}: {hidden:?}");
        assert_eq!(browser.value("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
        assert_eq!(browser.value(SCROLLS), false, "{example}");
    }
}

#[test]
#[ignore = "slow"]
fn a_dark_screen_gets_a_dark_page() {
    let page = Page::of_example("game");
    let mut browser = Browser::start();
    let brightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]";
    browser.open(&page.file(), 1400, "light");
    assert!(browser.value(brightness).as_f64().unwrap() > 200.0);
    browser.open(&page.file(), 1400, "dark");
    assert!(browser.value(brightness).as_f64().unwrap() < 60.0);
}
