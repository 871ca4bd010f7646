//! SHA-256 (FIPS 180-4), for the policy of a page: a browser runs only the script whose hash the policy names. A few
//! lines here in place of a package: nothing secret is hashed, and nothing large.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The hash as a policy writes it.
pub(super) fn policy_source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(sha256(text.as_bytes())))
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    let mut state = fractions(2);
    let rounds = constants();
    for block in padded.chunks_exact(64) {
        compress(&mut state, &schedule(block), &rounds);
    }
    let mut hash = [0; 32];
    for (bytes, word) in hash.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    hash
}

fn primes() -> impl Iterator<Item = u64> {
    (2_u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

/// The first 32 bits behind the point of the roots of the first eight primes.
fn fractions(degree: u32) -> [u32; 8] {
    let mut all = [0; 8];
    for (slot, prime) in all.iter_mut().zip(primes()) {
        *slot = fraction(prime, degree);
    }
    all
}

/// The same of the cube roots of the first 64 primes.
fn constants() -> [u32; 64] {
    let mut all = [0; 64];
    for (slot, prime) in all.iter_mut().zip(primes()) {
        *slot = fraction(prime, 3);
    }
    all
}

/// The largest `root` with `root ^ degree <= prime * 2 ^ (32 * degree)`; its low half is behind the point.
fn fraction(prime: u64, degree: u32) -> u32 {
    let whole = u128::from(prime) << (32 * degree);
    let mut root = 0_u128;
    for bit in (0..40).rev() {
        let next = root | 1 << bit;
        if next.checked_pow(degree).is_some_and(|power| power <= whole) {
            root = next;
        }
    }
    (root & u128::from(u32::MAX)) as u32
}

fn schedule(block: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let mut words: Vec<u32> = block.chunks_exact(4).map(word).collect();
    while let [.., w16, w15, _, _, _, _, _, _, _, w7, _, _, _, _, w2, _] = words.as_slice() {
        if words.len() == 64 {
            break;
        }
        let small = w15.rotate_right(7) ^ w15.rotate_right(18) ^ (w15 >> 3);
        let large = w2.rotate_right(17) ^ w2.rotate_right(19) ^ (w2 >> 10);
        words.push(w16.wrapping_add(small).wrapping_add(*w7).wrapping_add(large));
    }
    words
}

fn compress(state: &mut [u32; 8], words: &[u32], rounds: &[u32; 64]) {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, round) in words.iter().zip(rounds) {
        let mixed = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = (e & f) ^ (!e & g);
        let one = h.wrapping_add(mixed).wrapping_add(chosen).wrapping_add(*round).wrapping_add(*word);
        let turned = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let most = (a & b) ^ (a & c) ^ (b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(one));
        (d, c, b, a) = (c, b, a, one.wrapping_add(turned.wrapping_add(most)));
    }
    for (slot, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *slot = slot.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        sha256(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The examples of FIPS 180-4, and lengths around those of a block.
    #[test]
    fn published_hashes() {
        assert_eq!(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        for (length, start) in [(55, "9f4390f8"), (56, "b35439a4"), (63, "7d3e74a0"), (64, "ffe054fe")] {
            assert!(hex(&"a".repeat(length)).starts_with(start), "{length}: {}", hex(&"a".repeat(length)));
        }
    }

    #[test]
    fn as_a_policy_has_it() {
        assert_eq!(policy_source("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
    }
}
