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
fn the_tour_shows_the_checker_at_work() {
    let tour = Project::new().run(&["tour"]).exits(0).stdout;
    assert!(tour.contains("game.loom: ok, 2 entities, 1 value object, 2 queries, 4 writes"), "{tour}");
    for part in ["error[AL0401]", "warning[AL0109]", "error[AL04", "startdAt"] {
        assert!(tour.contains(part), "no {part} in:\n{tour}");
    }
}
