//! Replays the fuzz corpus and mutates it for some seconds. `cargo xtask fuzz lang` says how to go on for hours.

use crate::project::{files, root};
use crate::survive::survive;
use std::time::{Duration, Instant};

/// Seconds of mutation, unless `ASKLOOM_FUZZ_SECONDS` says otherwise.
const SECONDS: u64 = 4;

/// A small generator of its own, so that a seed means the same run for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }
}

/// Pieces that matter to the language, to be put in anywhere.
const PIECES: [&str; 48] = [
    "{",
    "}",
    "(",
    ")",
    "[*]",
    "?",
    ":",
    ";",
    ",",
    ".",
    "@",
    "@max(3)",
    "@rate(5/s)",
    "'",
    "\"",
    "\"?\"",
    "`",
    "//",
    "/*",
    "*/",
    "\n",
    "\r\n",
    "\0",
    "é",
    "entity A {",
    "value",
    "query q:",
    "write w {",
    "SELECT *",
    " FROM ",
    " WHERE ",
    " AND ",
    " OR ",
    " NOT ",
    " IN (",
    " BETWEEN ",
    "ORDER BY ",
    "LIMIT 5",
    "id ",
    "ref ",
    "part ",
    " inverse ",
    ": int",
    "= now()",
    "represent * { /*/* }",
    "workload w { q 1 }",
    "import \"m.loom\"",
    "-9999999999999999999999",
];

fn corpus() -> Vec<Vec<u8>> {
    let mut corpus: Vec<Vec<u8>> =
        files("fuzz/corpus/lang", "bin").iter().map(|path| std::fs::read(path).unwrap()).collect();
    let examples = [
        "game/game.loom",
        "noam-game/noam-game.loom",
        "inbox/inbox.loom",
        "blog/blog.loom",
        "shop/shop.loom",
    ];
    for example in examples {
        corpus
            .push([b"\0", std::fs::read(root().join("examples").join(example)).unwrap().as_slice()].concat());
    }
    corpus.push(
        [b"\x01", std::fs::read(root().join("examples/airline/airline.pidm")).unwrap().as_slice()].concat(),
    );
    for page in files("docs/diagnostics", "md") {
        let page = std::fs::read_to_string(page).unwrap();
        for (language, text) in crate::pages::fences(&page) {
            let first = match language.as_str() {
                "pidm" => 1,
                "gdm" => 2,
                _loom => 0,
            };
            corpus.push([&[first], text.as_bytes()].concat());
        }
    }
    corpus
}

fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(7) {
        0 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
        1 => drop(bytes.drain(at..(at + 1 + random.below(20)).min(bytes.len()))),
        2 => {
            let piece = PIECES[random.below(PIECES.len())];
            bytes.splice(at..at, piece.bytes());
        }
        3 => {
            let from = random.below(other.len());
            let piece = other[from..(from + random.below(80)).min(other.len())].to_vec();
            bytes.splice(at..at, piece);
        }
        4 => {
            let end = (at + random.below(40)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        5 => bytes.truncate(at.max(1)),
        _ => {
            let to = random.below(bytes.len());
            bytes.swap(at, to);
        }
    }
    bytes.truncate(20_000);
}

#[test]
fn the_corpus_is_survived() {
    for bytes in corpus() {
        survive(&bytes);
    }
}

#[test]
fn mutations_of_the_corpus_are_survived() {
    let seconds = std::env::var("ASKLOOM_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(SECONDS);
    let seed = std::env::var("ASKLOOM_FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        u64::from(now.subsec_nanos()) + now.as_secs()
    });
    let corpus = corpus();
    let mut random = Random(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut cases = 0_u64;
    while Instant::now() < end {
        let mut bytes = corpus[random.below(corpus.len())].clone();
        let other = &corpus[random.below(corpus.len())];
        for _ in 0..=random.below(6) {
            mutate(&mut bytes, other, &mut random);
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        // What fails is kept, so that it can be added to the corpus.
        let kept = bytes.clone();
        if std::panic::catch_unwind(|| survive(&bytes)).is_err() {
            let path = std::env::temp_dir().join(format!("askloom-fuzz-{seed}-{cases}.bin"));
            std::fs::write(&path, kept).unwrap();
            panic!("seed {seed}, case {cases}: kept in {}", path.display());
        }
        cases += 1;
    }
    println!("{cases} cases with seed {seed}");
}
