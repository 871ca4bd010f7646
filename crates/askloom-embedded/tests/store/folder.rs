//! Folders that are taken, foreign, half made or damaged.

use super::{Scratch, committed, found, small};
use askloom_embedded::store::{Batch, Error, Store};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn refused(folder: &Scratch) -> Error {
    Store::open(folder, &small()).unwrap_err()
}

#[test]
fn a_second_handle_is_refused_until_the_first_is_gone() {
    let folder = Scratch::new();
    let store = folder.open();
    assert!(refused(&folder).is_in_use());
    drop(store);
    folder.open();
}

#[test]
fn a_second_process_is_refused_until_the_first_is_gone() {
    let folder = Scratch::new();
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "folder::hold_a_folder", "--nocapture", "--ignored"])
        .env("ASKLOOM_HOLD", &folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("held")));
    let error = refused(&folder);
    assert!(error.is_in_use(), "{error}");
    assert!(error.to_string().contains("another process"), "{error}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(found(&folder.open(), b"held").as_deref(), Some(&b"yes"[..]));
}

/// Not a test: what the other process does, until it is killed or its input ends.
#[test]
#[ignore = "slow"]
fn hold_a_folder() {
    let Some(folder) = std::env::var_os("ASKLOOM_HOLD") else { return };
    let store = Store::open(folder, &small()).unwrap();
    committed(&store, Batch::new().put("held", "yes"));
    println!("held");
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn foreign_folders_are_refused_and_left_alone() {
    let folder = Scratch::new();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.0.join("notes.txt"), "mine").unwrap();
    let error = refused(&folder);
    assert!(error.is_not_a_store() && error.to_string().contains("notes.txt"), "{error}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing was added");

    fs::write(folder.0.join("askloom"), "some other file\n").unwrap();
    assert!(refused(&folder).is_not_a_store());

    fs::write(folder.0.join("askloom"), "askloom embedded store\nformat 2\n").unwrap();
    let error = refused(&folder);
    assert!(error.is_not_a_store() && error.to_string().contains("format 2"), "{error}");

    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "a file").unwrap();
    assert!(refused(&folder).is_not_a_store());
    fs::remove_file(&folder).unwrap();
}

#[test]
fn folders_above_are_made_too() {
    let folder = Scratch::new();
    let deep = folder.0.join("several/levels/down");
    committed(&Store::open(&deep, &small()).unwrap(), Batch::new().put("a", "1"));
    assert_eq!(found(&Store::open(&deep, &small()).unwrap(), b"a").as_deref(), Some(&b"1"[..]));
}

#[test]
fn a_store_that_was_not_finished_is_made_again() {
    let folder = Scratch::new();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.0.join("lock"), "").unwrap();
    fs::write(folder.0.join("askloom.new"), "askl").unwrap();
    drop(folder.open());
    fs::write(folder.0.join("askloom"), "askloom embedded store\nformat 1\nbeing made\n").unwrap();
    fs::write(folder.0.join("tree.redb"), "ha").unwrap();
    committed(&folder.open(), Batch::new().put("a", "1"));
    assert_eq!(found(&folder.open(), b"a").as_deref(), Some(&b"1"[..]));
}

#[test]
fn lost_and_broken_files_are_named_not_replaced() {
    for file in ["tree.redb", "log"] {
        let folder = Scratch::new();
        committed(&folder.open(), Batch::new().put("a", "1"));
        fs::rename(folder.0.join(file), folder.0.join("elsewhere")).unwrap();
        let error = refused(&folder);
        assert!(error.is_corrupted() && error.to_string().contains(file), "{error}");
        fs::rename(folder.0.join("elsewhere"), folder.0.join(file)).unwrap();
        folder.open();
    }
    let folder = Scratch::new();
    committed(&folder.open(), Batch::new().put("a", "1"));
    let tree = folder.0.join("tree.redb");
    let bytes = fs::read(&tree).unwrap();
    for broken in
        [Vec::new(), bytes[..1000].to_vec(), vec![b'x'; bytes.len()], bytes[..bytes.len() / 2].to_vec()]
    {
        fs::write(&tree, &broken).unwrap();
        let error = refused(&folder);
        assert!(error.is_corrupted(), "{} bytes: {error}", broken.len());
    }
}

/// Any byte of the header and some of the pages: the store opens, or says that it is corrupted.
#[test]
fn a_broken_byte_is_an_error_at_worst() {
    let folder = Scratch::new();
    let store = folder.open();
    for n in 0..300_u32 {
        committed(&store, Batch::new().put(n.to_be_bytes(), vec![7; 200]));
    }
    drop(store);
    let tree = folder.0.join("tree.redb");
    let bytes = fs::read(&tree).unwrap();
    let pages = (4096..bytes.len()).filter(|at| bytes[*at] != 0).step_by(997);
    let mut refused = 0;
    for at in (0..320).chain(pages) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x40;
        fs::write(&tree, &broken).unwrap();
        if let Err(error) = Store::open(&folder, &small()) {
            assert!(error.is_corrupted() || error.is_not_a_store(), "byte {at}: {error}");
            refused += 1;
        }
    }
    assert!(refused > 50, "{refused}");
    fs::write(&tree, &bytes).unwrap();
    assert_eq!(folder.open().snapshot().position(), 300);
}
