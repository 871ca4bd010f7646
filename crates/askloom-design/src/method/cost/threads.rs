//! Work that does not depend on each other, on as many threads as the machine has cores.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder, ScopedJoinHandle};

/// What is made of each, in their order, whoever made it.
pub(super) fn each<T: Sync, R: Send>(all: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    on(cores(), all, make)
}

/// Two things at once.
pub(super) fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl Fn() -> B + Sync) -> (A, B) {
    if cores() < 2 {
        return (one(), other());
    }
    thread::scope(|scope| {
        let spawned = Builder::new().spawn_scoped(scope, &other);
        let one = one();
        // A system that gives no more threads has it done here.
        (one, spawned.map_or_else(|_| other(), joined))
    })
}

// A machine that does not say how many cores it has, as a browser, may have no threads either.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

fn joined<T>(other: ScopedJoinHandle<'_, T>) -> T {
    other.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
}

/// The same on so many threads.
fn on<T: Sync, R: Send>(cores: usize, all: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let count = cores.min(all.len());
    if count < 2 {
        return all.iter().map(make).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(at) else { return made };
            made.push((at, make(one)));
        }
    };
    let mut made = thread::scope(|scope| {
        let others = (1..count).filter_map(|_| Builder::new().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let mut made = work();
        others.into_iter().for_each(|other| made.extend(joined(other)));
        made
    });
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_made_is_in_order_however_many_make_it() {
        let all: Vec<usize> = (0..1_000).collect();
        let expected: Vec<usize> = all.iter().map(|n| n * n).collect();
        for cores in [0, 1, 2, 7] {
            assert_eq!(super::on(cores, &all, |n| n * n), expected);
        }
        assert_eq!(super::both(|| 1, || "two"), (1, "two"));
        assert_eq!(super::each(&[] as &[usize], |n| n + 1), Vec::<usize>::new());
    }
}
