//! A pinned package: fetched once, checked, and kept under a name that changes with its pins. A folder gets its
//! name only when it is complete, so that an interrupted fetch leaves nothing that looks finished.

use super::place::{Place, create, remove, write};
use crate::repository::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// Pins and sources, written into the folder before `make` fills it.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Fetches what the pins name. The folder is renamed afterwards: nothing in it may know its own path. When
    /// this changes, the version has to change too, or machines keep what they have.
    pub(super) make: fn(&Path) -> Outcome,
}

impl Package {
    pub(super) fn folder(&self, place: &Place) -> PathBuf {
        place.packages().join(format!("{}-{}-{:016x}", self.name, self.version, self.fingerprint()))
    }

    pub(super) fn ensure(&self, place: &Place) -> Outcome<PathBuf> {
        let folder = self.folder(place);
        if folder.is_dir() {
            return Ok(folder);
        }
        let _alone = place.lock(&format!("package-{}", self.name))?;
        if !folder.is_dir() {
            self.fetch(&folder)?;
        }
        Ok(folder)
    }

    fn fetch(&self, folder: &Path) -> Outcome {
        let start = Instant::now();
        eprintln!("fetching {} {} into {}", self.name, self.version, folder.display());
        // Whoever holds the lock is alone: what is there was left by a run that was interrupted.
        let partial = partial(folder);
        remove(&partial)?;
        let made = self.fill(&partial).and_then(|()| {
            fs::rename(&partial, folder).map_err(|error| format!("{}: {error}", folder.display()))
        });
        if let Err(message) = made {
            let _ = fs::remove_dir_all(&partial);
            return Err(format!("cannot fetch {} {}: {message}", self.name, self.version));
        }
        eprintln!("fetched {} {} in {:.1} s", self.name, self.version, start.elapsed().as_secs_f64());
        Ok(())
    }

    fn fill(&self, partial: &Path) -> Outcome {
        create(partial)?;
        for (name, text) in self.files {
            write(&partial.join(name), text)?;
        }
        (self.make)(partial)
    }

    /// FNV-1a: a change of pins has to change the name, nothing more.
    fn fingerprint(&self) -> u64 {
        let pieces = self.files.iter().flat_map(|(name, text)| [*name, *text]);
        let bytes = pieces.flat_map(|piece| piece.bytes().chain([0]));
        bytes
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

/// Where a folder is filled before it gets its name.
fn partial(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::super::place::scratch;
    use super::*;

    fn package(files: &'static [(&'static str, &'static str)], make: fn(&Path) -> Outcome) -> Package {
        Package { name: "thing", version: "1", files, make }
    }

    fn fill(folder: &Path) -> Outcome {
        write(&folder.join("made"), "")
    }

    fn fail(folder: &Path) -> Outcome {
        write(&folder.join("half"), "")?;
        Err("the network is gone".to_owned())
    }

    #[test]
    fn a_failed_fetch_leaves_nothing_and_the_next_one_works() {
        let root = scratch("failed");
        let place = Place::at(root.clone());
        let message = package(&[("pin", "a")], fail).ensure(&place).unwrap_err();
        assert_eq!(message, "cannot fetch thing 1: the network is gone");
        assert_eq!(fs::read_dir(place.packages()).unwrap().count(), 0);
        let folder = package(&[("pin", "a")], fill).ensure(&place).unwrap();
        assert!(folder.join("made").is_file() && folder.join("pin").is_file());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_an_interrupted_fetch_left_is_not_taken_for_complete() {
        let root = scratch("interrupted");
        let place = Place::at(root.clone());
        let package = package(&[("pin", "a")], fill);
        let partial = partial(&package.folder(&place));
        fs::create_dir_all(&partial).unwrap();
        fs::write(partial.join("half"), "").unwrap();
        let folder = package.ensure(&place).unwrap();
        assert!(!folder.join("half").exists() && folder.join("made").is_file());
        assert!(!partial.exists());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_is_complete_is_not_fetched_again_and_other_pins_are_another_package() {
        let root = scratch("complete");
        let place = Place::at(root.clone());
        let first = package(&[("pin", "a")], fill).ensure(&place).unwrap();
        assert_eq!(package(&[("pin", "a")], fail).ensure(&place).unwrap(), first);
        assert_ne!(package(&[("pin", "b")], fill).ensure(&place).unwrap(), first);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn two_at_once_fetch_once() {
        let root = scratch("two");
        let once = |folder: &Path| {
            fs::create_dir(folder.parent().unwrap().join("fetched")).map_err(|error| error.to_string())
        };
        let package = package(&[("pin", "a")], once);
        let place = Place::at(root.clone());
        std::thread::scope(|scope| {
            let both = [(); 2].map(|()| scope.spawn(|| package.ensure(&place)));
            for one in both {
                one.join().unwrap().unwrap();
            }
        });
        fs::remove_dir_all(root).unwrap();
    }
}
