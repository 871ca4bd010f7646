//! Tests on media that lose power: what was written and not synced is then there or not, sector by sector, in
//! no order. A kill shows nothing of this, because the operating system writes its cache all the same.

use super::disk::{Disk, Medium};
use super::{Batch, Direction, Durability, Error, Options, Outcome, Store};
use redb::StorageBackend;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

const SECTOR: usize = 512;

/// Splitmix64: a failing case is named by its seed.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// One supply for both files: how many more writes and syncs there will be.
#[derive(Debug)]
struct Supply(Mutex<u64>);

impl Supply {
    /// Takes from the supply; the operation that finds nothing left does not happen.
    fn spend(&self) -> io::Result<()> {
        let mut left = self.0.lock().unwrap();
        *left = left.checked_sub(1).ok_or_else(|| io::Error::other("no power"))?;
        Ok(())
    }
}

#[derive(Debug)]
struct File {
    supply: Arc<Supply>,
    content: Mutex<Content>,
}

#[derive(Debug, Default, Clone)]
struct Content {
    synced: Vec<u8>,
    /// What the process sees.
    cached: Vec<u8>,
}

impl File {
    fn new(supply: &Arc<Supply>, bytes: Vec<u8>) -> Arc<Self> {
        let content = Content { synced: bytes.clone(), cached: bytes };
        Arc::new(Self { supply: supply.clone(), content: Mutex::new(content) })
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap()
    }

    /// What the medium has when the power is back: of each sector the synced or the cached bytes. The length is
    /// the longer one or, as likely, the synced one.
    fn after_power_loss(&self, random: &mut Random) -> Vec<u8> {
        let Content { synced, cached } = self.content().clone();
        let grown = synced.len().max(cached.len());
        let length = if random.below(2) == 0 { synced.len() } else { grown };
        let mut bytes = vec![0; length];
        // Sometimes nearly all, sometimes nearly nothing of the cache made it.
        let share = random.below(101);
        for (number, sector) in bytes.chunks_mut(SECTOR).enumerate() {
            let source = if random.below(100) < share { &cached } else { &synced };
            let kept = source.get(number * SECTOR..).unwrap_or_default();
            let length = sector.len().min(kept.len());
            sector[..length].copy_from_slice(&kept[..length]);
        }
        bytes
    }
}

impl StorageBackend for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.content().cached.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap();
        let content = self.content();
        let found = content.cached.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.supply.spend()?;
        self.content().cached.resize(usize::try_from(len).unwrap(), 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.supply.spend()?;
        let mut content = self.content();
        content.synced = content.cached.clone();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.supply.spend()?;
        let start = usize::try_from(offset).unwrap();
        self.content().cached[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }
}

/// What the store did before the power went.
#[derive(Debug, Default)]
struct Life {
    /// Batches that were given to the store, and of these the ones it acknowledged: always the first so many.
    given: u64,
    acknowledged: u64,
}

/// Batches of one size make records that end where older ones ended: what is left of those must stay dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Varied,
    Uniform,
}

fn options(durability: Durability) -> Options {
    Options::default().durability(durability).cache(1 << 20).log(24 << 10)
}

/// Writes until there is no power left. Several batches are under way at a time, so that groups form.
fn live(
    disk: &Disk,
    durability: Durability,
    shape: Shape,
    first: u64,
    random: &mut Random,
) -> Result<Life, Error> {
    let mut life = Life { given: first, acknowledged: first };
    let store = Store::on(disk.clone(), None, &options(durability))?;
    loop {
        let count = 1 + random.below(5);
        let results: Vec<_> = std::thread::scope(|scope| {
            let answers: Vec<_> = (life.given + 1..=life.given + count)
                .map(|number| {
                    let (request, answer) = super::handle::request(batch(number, shape)).unwrap();
                    store.send(request).map(|()| answer)
                })
                .collect();
            let wait = |answer: Result<async_channel::Receiver<_>, Error>| {
                answer.and_then(|answer| answer.recv_blocking().unwrap_or_else(|_| Err(Error::unanswered())))
            };
            scope.spawn(move || answers.into_iter().map(wait).collect()).join().unwrap()
        });
        life.given += count;
        for result in results {
            match result {
                Ok(outcome) => {
                    assert!(
                        matches!(outcome, Outcome::Committed { position } if position > life.acknowledged)
                    );
                    life.acknowledged += 1;
                }
                Err(_) => return Ok(life),
            }
        }
    }
}

/// Every batch puts its parts, replaces a key that all have, and deletes the parts of the batch five before it.
fn batch(number: u64, shape: Shape) -> Batch {
    let mut batch = Batch::new().put("last", number.to_be_bytes());
    for (key, value) in parts(number, shape) {
        batch = batch.put(key, value);
    }
    if let Some(old) = number.checked_sub(5) {
        batch = parts(old, shape).into_iter().fold(batch, |batch, (key, _)| batch.delete(key));
    }
    batch
}

fn parts(number: u64, shape: Shape) -> Vec<(Vec<u8>, Vec<u8>)> {
    let count = if shape == Shape::Uniform { 2 } else { 1 + number % 4 };
    (0..count)
        .map(|part| {
            let key = [&b"part"[..], &(number * 0x9e37_79b9).to_le_bytes(), &[u8::try_from(part).unwrap()]]
                .concat();
            let length = match shape {
                Shape::Uniform => 600,
                Shape::Varied if number.is_multiple_of(37) => 40_000,
                Shape::Varied => 20 + number * 131 % 3000,
            };
            (key, vec![u8::try_from(number % 251).unwrap(); usize::try_from(length).unwrap()])
        })
        .collect()
}

/// The store holds the first so many batches, completely, and no other: how many.
fn check(disk: &Disk, shape: Shape) -> u64 {
    let store = Store::on(disk.clone(), None, &options(Durability::Power)).unwrap();
    let snapshot = store.snapshot();
    let last = snapshot.get(b"last").unwrap();
    let last = last.map_or(0, |value| u64::from_be_bytes((*value).try_into().unwrap()));
    let expected: BTreeMap<_, _> =
        (last.saturating_sub(4).max(1)..=last).flat_map(|number| parts(number, shape)).collect();
    let found: BTreeMap<_, _> = snapshot
        .prefix(b"part", Direction::Ascending)
        .unwrap()
        .map(|entry| entry.map(|entry| (entry.key.to_vec(), entry.value.to_vec())).unwrap())
        .collect();
    assert!(found == expected, "at {last}: {} parts instead of {}", found.len(), expected.len());
    assert_eq!(snapshot.position(), last);
    last
}

/// Several lives on the same media, each ended by a loss of power, also in the midst of recovery.
fn lives(seed: u64, durability: Durability) {
    let mut random = Random(seed);
    let shape = if seed.is_multiple_of(2) { Shape::Varied } else { Shape::Uniform };
    let (mut tree, mut log) = (Vec::new(), Vec::new());
    let (mut last, mut made) = (0, false);
    for _ in 0..6 {
        let power = if random.below(4) == 0 { random.below(60) } else { random.below(1500) };
        let supply = Arc::new(Supply(Mutex::new(power)));
        let (tree_file, log_file) = (File::new(&supply, tree), File::new(&supply, log));
        let disk = Disk { tree: tree_file.clone() as Medium, log: log_file.clone() as Medium };
        let life = live(&disk, durability, shape, last, &mut random);
        (tree, log) = (tree_file.after_power_loss(&mut random), log_file.after_power_loss(&mut random));
        made |= life.is_ok();
        if !made {
            // The folder's marker says so, and the files are made again.
            (tree, log) = (Vec::new(), Vec::new());
            continue;
        }
        let life = life.unwrap_or(Life { given: last, acknowledged: last });
        let plenty = Arc::new(Supply(Mutex::new(u64::MAX)));
        let disk = Disk { tree: File::new(&plenty, tree.clone()), log: File::new(&plenty, log.clone()) };
        let before = last;
        last = check(&disk, shape);
        let least = match durability {
            Durability::Power => life.acknowledged,
            Durability::Process => 0,
        };
        assert!((least..=life.given).contains(&last), "{life:?}, and {last} were found; {before} before");
    }
}

#[test]
fn after_a_failure_writes_are_refused_and_reads_go_on() {
    let supply = Arc::new(Supply(Mutex::new(u64::MAX)));
    let disk = Disk { tree: File::new(&supply, Vec::new()), log: File::new(&supply, Vec::new()) };
    let store = Store::on(disk, None, &options(Durability::Power)).unwrap();
    assert!(matches!(store.commit(batch(1, Shape::Varied)), Ok(Outcome::Committed { position: 1 })));
    *supply.0.lock().unwrap() = 0;
    let error = store.commit(batch(2, Shape::Varied)).unwrap_err();
    assert!(error.is_io() && error.is_outcome_unknown(), "{error}");
    *supply.0.lock().unwrap() = u64::MAX;
    let error = store.commit(batch(3, Shape::Varied)).unwrap_err();
    assert!(error.is_closed() && !error.is_outcome_unknown(), "{error}");
    assert_eq!(store.snapshot().position(), 1);
    assert_eq!(&*store.snapshot().get(b"last").unwrap().unwrap(), &1_u64.to_be_bytes()[..]);
    assert!(store.close().unwrap_err().is_io());
}

fn many(seeds: std::ops::Range<u64>, durability: Durability) {
    for seed in seeds {
        let result = std::panic::catch_unwind(|| lives(seed, durability));
        assert!(result.is_ok(), "{durability:?}, seed {seed}");
    }
}

#[test]
#[ignore = "slow"]
fn acknowledged_batches_survive_a_loss_of_power() {
    many(0..40, Durability::Power);
}

/// Without a sync the last batches may go, but the store opens and holds a beginning of what was written.
#[test]
#[ignore = "slow"]
fn without_a_sync_a_loss_of_power_takes_only_the_last_batches() {
    many(0..40, Durability::Process);
}

#[test]
#[ignore = "slow"]
fn acknowledged_batches_survive_many_losses_of_power() {
    many(1000..1100, Durability::Power);
    many(1000..1100, Durability::Process);
}
