//! Up, down, and up for as long as something takes.

use super::launch::{Launch, PORT_TAKEN};
use super::place::Place;
use super::registry::{Server, find};
use super::state::{Health, Keeper, Running};
use crate::repository::{Outcome, root};
use std::fs::File;
use std::time::Instant;

/// A port that was free may be taken before the server takes it.
const TRIES: usize = 3;

pub(super) fn up(place: &Place, server: &Server, keeper: Keeper) -> Outcome<Running> {
    let _alone = place.lock(&format!("server-{}", server.name))?;
    if let Some(running) = Running::load(place, server.name)? {
        match running.health() {
            Health::Running => return Ok(running),
            Health::Broken | Health::Stopped => {
                eprintln!("{} is not whole: it is started afresh", server.name);
                running.stop(place)?;
            }
        }
    }
    start(place, server, keeper).map_err(|message| format!("{} does not start: {message}", server.name))
}

fn start(place: &Place, server: &Server, keeper: Keeper) -> Outcome<Running> {
    for package in server.packages {
        package.ensure(place)?;
    }
    for _ in 1..TRIES {
        match attempt(place, server, keeper) {
            Err(message) if message.contains(PORT_TAKEN) => eprintln!("{message}\nonce more"),
            other => return other,
        }
    }
    attempt(place, server, keeper)
}

fn attempt(place: &Place, server: &Server, keeper: Keeper) -> Outcome<Running> {
    let begin = Instant::now();
    let mut launch = Launch::new(place, server.name, server.version, keeper)?;
    match (server.start)(&mut launch) {
        Ok(url) => {
            eprintln!("started {} in {:.1} s", server.name, begin.elapsed().as_secs_f64());
            launch.ready(url)
        }
        Err(message) => {
            launch.state().stop(place)?;
            Err(message)
        }
    }
}

/// What another checkout started is left alone unless it is said to be meant: its tests may be under way.
pub(super) fn down(place: &Place, server: &Server, whose: Whose) -> Outcome {
    let _alone = place.lock(&format!("server-{}", server.name))?;
    let Some(running) = Running::load(place, server.name)? else { return Ok(()) };
    // A checkout that is gone stops nothing any more.
    let ours = running.checkout == root() || !running.checkout.exists();
    let from = format!("{} was started from {}", server.name, running.checkout.display());
    match whose {
        Whose::Anybodys => stop(place, server),
        Whose::Ours | Whose::Named if ours => stop(place, server),
        Whose::Named => Err(format!("{from}: stop it there, or with --anybodys")),
        Whose::Ours => {
            eprintln!("{from} and is left running");
            Ok(())
        }
    }
}

/// Which servers may be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// This checkout's; others are passed over.
    Ours,
    /// This checkout's; it is a mistake to ask for others.
    Named,
    Anybodys,
}

fn stop(place: &Place, server: &Server) -> Outcome {
    let Some(running) = Running::load(place, server.name)? else { return Ok(()) };
    running.stop(place).map_err(|message| format!("{} does not stop: {message}", server.name))?;
    eprintln!("stopped {}", server.name);
    Ok(())
}

/// The server, which must be up.
pub(super) fn running(place: &Place, server: &Server) -> Outcome<Running> {
    let state = Running::load(place, server.name)?.filter(|running| running.health() == Health::Running);
    state.ok_or_else(|| format!("{0} does not run: cargo xtask servers up {0}", server.name))
}

/// Does something while servers are up. It is given variables with their URLs. What was started for this is
/// stopped afterwards, unless another run of tests uses it too: the last one stops it.
pub(crate) fn with<T>(names: &[&str], work: impl FnOnce(&[(String, String)]) -> Outcome<T>) -> Outcome<T> {
    let place = Place::of_user()?;
    let mut uses = Vec::new();
    let done = enter(&place, names, &mut uses).and_then(|urls| work(&urls));
    let left: Outcome<Vec<()>> = uses.into_iter().map(|used| leave(&place, used)).collect();
    let done = done?;
    left.map(|_| done)
}

/// A server that is used, and a lock that all who use it share.
type Use = (&'static Server, File);

fn enter(place: &Place, names: &[&str], uses: &mut Vec<Use>) -> Outcome<Vec<(String, String)>> {
    let mut urls = Vec::new();
    for name in names {
        let server = find(name)?;
        let file = place.lock_file(&format!("use-{name}"))?;
        file.lock_shared().map_err(|error| format!("cannot lock {name}: {error}"))?;
        uses.push((server, file));
        urls.push((variable(name), up(place, server, Keeper::Suite)?.url));
    }
    Ok(urls)
}

fn leave(place: &Place, (server, file): Use) -> Outcome {
    drop(file);
    let _alone = place.lock(&format!("server-{}", server.name))?;
    let kept = Running::load(place, server.name)?.is_none_or(|running| running.keeper == Keeper::Person);
    let last = place.lock_file(&format!("use-{}", server.name))?;
    if kept || last.try_lock().is_err() {
        return Ok(());
    }
    stop(place, server)
}

/// `redis-cluster` is `ASKLOOM_SERVER_REDIS_CLUSTER`.
fn variable(name: &str) -> String {
    format!("ASKLOOM_SERVER_{}", name.to_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::super::launch::Launch;
    use super::super::place::scratch;
    use super::super::registry::Size;
    use super::super::wire::exchange;
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn sleeper(launch: &mut Launch) -> Outcome<String> {
        launch.spawn("sleeper", "127.0.0.1:1", Command::new("sleep").arg("600"))?;
        Ok("sleep://here".to_owned())
    }

    fn mute(launch: &mut Launch) -> Outcome<String> {
        launch.spawn("sleeper", "127.0.0.1:1", Command::new("sleep").arg("600"))?;
        launch.spawn("mute", "127.0.0.1:2", Command::new("sh").args(["-c", "echo no licence; exit 1"]))?;
        launch.wait(|| Err("silence".to_owned()))?;
        Ok(String::new())
    }

    fn server(start: fn(&mut Launch) -> Outcome<String>) -> Server {
        Server { name: "sleeper", version: "1", size: Size::Single, packages: &[], start, shells: &[] }
    }

    #[test]
    fn up_twice_starts_once_and_down_twice_stops_once() {
        let root = scratch("twice");
        let place = Place::at(root.clone());
        let server = server(sleeper);
        let first = up(&place, &server, Keeper::Person).unwrap();
        assert_eq!(up(&place, &server, Keeper::Suite).unwrap(), first);
        assert_eq!(running(&place, &server).unwrap(), first);
        down(&place, &server, Whose::Ours).unwrap();
        assert!(!first.members[0].process.is_alive());
        down(&place, &server, Whose::Ours).unwrap();
        assert!(running(&place, &server).unwrap_err().contains("cargo xtask servers up sleeper"));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_another_checkout_started_is_used_and_not_stopped() {
        let root = scratch("another");
        let place = Place::at(root.clone());
        let server = server(sleeper);
        let mut theirs = up(&place, &server, Keeper::Person).unwrap();
        theirs.checkout = std::env::temp_dir();
        theirs.save(&place).unwrap();
        assert_eq!(up(&place, &server, Keeper::Person).unwrap(), theirs);
        down(&place, &server, Whose::Ours).unwrap();
        let message = down(&place, &server, Whose::Named).unwrap_err();
        assert!(message.contains("--anybodys"), "{message}");
        assert_eq!(theirs.health(), Health::Running);
        down(&place, &server, Whose::Anybodys).unwrap();
        assert!(!theirs.members[0].process.is_alive());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_has_lost_a_process_is_started_afresh() {
        let root = scratch("afresh");
        let place = Place::at(root.clone());
        let server = server(sleeper);
        let first = up(&place, &server, Keeper::Person).unwrap();
        first.members[0].process.kill().unwrap();
        let second = up(&place, &server, Keeper::Person).unwrap();
        assert_ne!(first.members, second.members);
        assert_eq!(second.health(), Health::Running);
        down(&place, &server, Whose::Ours).unwrap();
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_start_that_fails_says_why_and_leaves_nothing() {
        let root = scratch("fails");
        let place = Place::at(root.clone());
        let message = up(&place, &server(mute), Keeper::Person).unwrap_err();
        assert!(message.contains("no licence"), "{message}");
        assert!(!place.run("sleeper").exists());
        fs::remove_dir_all(root).unwrap();
    }

    /// Says so far above its end, the first two times.
    fn crowded(launch: &mut Launch) -> Outcome<String> {
        let data = launch.data("data")?;
        let outside = data.ancestors().nth(2).unwrap_or(Path::new(""));
        let tries = outside.join("tries");
        let script = "echo >> tries; [ $(wc -l < tries) -ge 3 ] && exec sleep 600
                      echo Address already in use; seq 1 50; exit 1";
        let mut shell = Command::new("sh");
        launch.spawn("crowded", "127.0.0.1:1", shell.args(["-c", script]).current_dir(outside))?;
        launch.wait(|| {
            let tries = fs::read_to_string(&tries).unwrap_or_default().len();
            if tries == 3 { Ok(()) } else { Err("not yet".to_owned()) }
        })?;
        Ok("sleep://here".to_owned())
    }

    #[test]
    fn a_port_that_was_taken_meanwhile_is_no_failure() {
        let root = scratch("crowded");
        let place = Place::at(root.clone());
        assert!(up(&place, &server(crowded), Keeper::Person).is_ok());
        down(&place, &server(crowded), Whose::Ours).unwrap();
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_run_of_tests_stops_only_what_nobody_else_uses() {
        let root = scratch("uses");
        let place = Place::at(root.clone());
        let server: &'static Server = Box::leak(Box::new(server(sleeper)));
        let used = || {
            let file = place.lock_file("use-sleeper").unwrap();
            file.lock_shared().unwrap();
            (server, file)
        };
        let (first, second) = (used(), used());
        up(&place, server, Keeper::Suite).unwrap();
        leave(&place, first).unwrap();
        assert!(running(&place, server).is_ok());
        leave(&place, second).unwrap();
        assert!(running(&place, server).is_err());
        let third = used();
        up(&place, server, Keeper::Person).unwrap();
        leave(&place, third).unwrap();
        assert!(running(&place, server).is_ok());
        down(&place, server, Whose::Ours).unwrap();
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    #[ignore = "slow"]
    fn a_real_server_is_up_for_as_long_as_something_takes() {
        let reply = with(&["redis"], |urls| {
            let (name, url) = &urls[0];
            assert_eq!(name, "ASKLOOM_SERVER_REDIS");
            exchange(url.strip_prefix("redis://").unwrap(), "PING\r\nQUIT\r\n")
        });
        assert_eq!(reply.unwrap(), "+PONG\r\n+OK\r\n");
    }

    #[test]
    fn a_variable_is_named_after_its_server() {
        assert_eq!(variable("redis-cluster"), "ASKLOOM_SERVER_REDIS_CLUSTER");
    }
}
