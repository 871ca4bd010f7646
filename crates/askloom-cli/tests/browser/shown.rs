//! What is in the document is on the page.

use crate::design::Page;
use crate::devtools::Browser;

#[test]
#[ignore = "slow"]
fn the_page_says_what_the_document_says() {
    for example in ["game", "airline"] {
        let page = Page::of_example(example);
        let mut browser = Browser::start();
        browser.open(&page.file(), 1400, "light");
        let missing = browser.texts(
            "(() => {
                const text = document.body.innerText;
                const wanted = [
                    design.sentence, ...design.collections.map((one) => one.name),
                    ...design.plans.map((one) => one.statement), ...[...design.assumed, ...design.watch].map((one) => one.text),
                    ...design.decisions.map((one) => one.says), ...design.decisions.map((one) => one.source),
                    ...design.comparison.methods.map((one) => one.sentence),
                ];
                return wanted.filter((one) => !text.includes(one));
            })()",
        );
        assert_eq!(missing, [""; 0], "{example}");
        assert_eq!(browser.value("document.title"), format!("{example}.loom on the embedded store"));
    }
}

#[test]
#[ignore = "slow"]
fn bars_are_as_long_as_their_shares() {
    let page = Page::of_example("game");
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    let wrong = browser.texts(
        "(() => {
            const largest = Math.max(...design.plans.map((plan) => plan.share));
            return design.plans.filter((plan) => {
                const fill = document.querySelector(`.pick[data-statement=${plan.statement}] .fill`);
                const track = fill.parentElement.getBoundingClientRect().width;
                const part = fill.getBoundingClientRect().width / track;
                return Math.abs(part - Math.max(plan.share / largest, 0.006)) > 0.01;
            }).map((plan) => plan.statement);
        })()",
    );
    assert_eq!(wrong, [""; 0]);
}

#[test]
#[ignore = "slow"]
fn links_lead_to_lines_of_the_model_and_to_collections() {
    let page = Page::of_example("airline");
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    let links =
        "[...document.querySelectorAll('a[href^=\"#\"]')].map((one) => one.getAttribute('href').slice(1))";
    let ids = browser.texts(links);
    assert!(ids.iter().any(|id| id.starts_with("line-")));
    let unlinked = browser.texts(
        "[...design.assumed, ...design.watch].filter((one) => one.line).map((one) => one.text).filter((text) =>
            ![...document.querySelectorAll('.notes li')].some((item) => item.textContent.startsWith(text) && item.querySelector('a')))",
    );
    assert_eq!(unlinked, [""; 0]);
    let wrong = browser.texts(
        "design.plans.filter((plan) => {
            const line = document.getElementById(`line-0-${plan.line}`);
            return !line.textContent.includes(plan.statement);
        }).map((plan) => plan.statement)",
    );
    assert_eq!(wrong, [""; 0]);
    let broken = browser.texts(&format!("{links}.filter((id) => !document.getElementById(id))"));
    assert_eq!(broken, [""; 0]);
}
