use crate::project::Project;
use std::time::Instant;

#[test]
fn the_tour_fits_a_screen_and_writes_nothing() {
    let project = Project::new();
    let start = Instant::now();
    let tour = project.run(&["tour"]).exits(0).stdout;
    assert!(start.elapsed().as_millis() < 1000, "{:?}", start.elapsed());
    assert!(tour.lines().count() <= 60, "{} lines:\n{tour}", tour.lines().count());
    for line in tour.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
    }
    assert!(project.names().is_empty());
}

#[test]
fn the_tour_shows_the_language_the_design_and_the_store() {
    let tour = Project::new().run(&["tour"]).exits(0).stdout;
    for part in [
        "game.loom: ok, 2 entities, 1 value object, 2 queries, 4 writes",
        "error[AL0401]: `Game` has no member `startdAt`",
        "COLLECTION LobbyView (copy)",
        "query lobby on embedded",
        "setScore: 1 matched",
        "nothing is wrong",
    ] {
        assert!(tour.contains(part), "no {part} in:\n{tour}");
    }
    // The write has changed the copy.
    assert!(tour.contains("ada         310\n") && tour.contains("ada        1200\n"), "{tour}");
    let (_, next) = tour.split_once("Try next\n").unwrap();
    assert_eq!(next.lines().count(), 3);
}
