//! The page without a mouse.

use crate::design::Page;
use crate::devtools::Browser;

const PICKED: &str =
    "[...document.querySelectorAll('.pick[aria-expanded=true]')].map((one) => one.dataset.statement)";

#[test]
#[ignore = "slow"]
fn statements_are_picked_by_keys() {
    let page = Page::of_example("game");
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    // First the link that leads past the top of the page, then the statements.
    browser.press("Tab", 9, "");
    browser.press("Tab", 9, "");
    assert_eq!(browser.value("document.activeElement.dataset.statement"), "continueGame");
    browser.press("ArrowDown", 40, "");
    browser.press("Enter", 13, "\r");
    assert_eq!(browser.texts(PICKED), ["lobby"]);
    assert_ne!(browser.value("document.querySelectorAll('.grid .lit').length"), 0);
    browser.press("Escape", 27, "");
    assert_eq!(browser.texts(PICKED), [""; 0]);
    assert_eq!(browser.value("document.querySelectorAll('.grid .lit').length"), 0);
}

#[test]
#[ignore = "slow"]
fn what_scrolls_inside_can_be_reached() {
    let page = Page::of_example("game");
    let mut browser = Browser::start();
    browser.open(&page.file(), 400, "light");
    browser.pick("lobby");
    let unreachable = "[...document.querySelectorAll('.scroll')]
        .filter((box) => box.scrollWidth > box.clientWidth && box.tabIndex !== 0).map((box) => box.getAttribute('aria-label'))";
    assert_eq!(browser.texts(unreachable), [""; 0]);
    assert_ne!(browser.value("document.querySelectorAll('.scroll[tabindex]').length"), 0);
}
