//! A model is text, and stays text on the page.

use crate::design::Page;
use crate::devtools::Browser;

const HOSTILE: &str = r#"
@count(10)
entity Note {
  id noteId: int
  body: text
}

@rate(1/s)
query byBody: SELECT noteId FROM Note WHERE body = '</script><script>window.bad = 1</script><img src=x onerror="window.bad = 2">{{js}}'

@rate(1/s)
write add: INSERT Note
"#;

#[test]
#[ignore = "slow"]
fn text_of_a_model_does_not_become_part_of_the_page() {
    let page = Page::of_text(HOSTILE);
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    browser.pick("byBody");
    assert_eq!(browser.value("typeof window.bad"), "undefined");
    assert_eq!(browser.value("document.images.length"), 0);
    let text = browser.value("document.querySelector('.detail:not([hidden]) pre').textContent");
    assert!(text.as_str().unwrap().contains("</script><script>window.bad = 1</script><img"), "{text}");
    assert!(text.as_str().unwrap().contains("{{js}}"), "{text}");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
#[ignore = "slow"]
fn the_policy_of_the_page_stops_scripts_that_are_not_its_own() {
    let page = Page::of_example("game");
    let mut browser = Browser::start();
    browser.open(&page.file(), 1400, "light");
    browser.value(
        "{ const script = document.createElement('script'); script.textContent = 'window.bad = 1';
           document.body.append(script); }",
    );
    assert_eq!(browser.value("typeof window.bad"), "undefined");
    assert_ne!(browser.complaints(), [""; 0]);
    let policy = browser.value("document.querySelector('meta[http-equiv]').content");
    let policy = policy.as_str().unwrap();
    assert!(policy.contains("script-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
}
