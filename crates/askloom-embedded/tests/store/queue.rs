//! Many writers, groups, futures, the end.

use super::{Scratch, committed, found};
use askloom_embedded::store::{Batch, Outcome, Store};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The smallest runtime: the futures need no other.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn of_writers_that_build_on_one_version_one_wins_each_round() {
    let folder = Scratch::new();
    let store = folder.open();
    committed(&store, Batch::new().put("#", 0_u64.to_be_bytes()));
    let (won, lost) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut done = 0;
                while done < 50 {
                    let now = found(&store, b"#").unwrap();
                    let next = u64::from_be_bytes(now[..8].try_into().unwrap()) + 1;
                    let batch = Batch::new().when_starting("#", &now[..8]).put("#", next.to_be_bytes());
                    match store.commit(batch.put(next.to_be_bytes(), "")).unwrap() {
                        Outcome::Committed { .. } => {
                            won.fetch_add(1, Ordering::Relaxed);
                            done += 1;
                        }
                        Outcome::Conflict(conflict) => {
                            assert!(conflict.found.unwrap() > now);
                            lost.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(won.into_inner(), 400);
    assert_eq!(found(&store, b"#"), Some(400_u64.to_be_bytes().to_vec()));
    assert!(lost.into_inner() > 0, "the writers never met");
}

/// A queue that is filled while the committer is busy with a large batch becomes one group: its members are
/// validated in their order, each against what those before it leave.
#[test]
fn in_one_group_the_first_wins_and_the_next_sees_it() {
    let folder = Scratch::new();
    let store = folder.open();
    let busy = store.submit(Batch::new().put("large", vec![0; 32 << 20]));
    let first = store.submit(Batch::new().when_absent("k").put("k", "first"));
    let second = store.submit(Batch::new().when_absent("k").put("k", "second").put("never", ""));
    let third = store.submit(Batch::new().when_equal("k", "first").delete("k"));
    let fourth = store.submit(Batch::new().when_absent("k").put("k", "fourth"));
    let mut futures = [busy, first, second, third, fourth].map(Box::pin);
    for future in &mut futures {
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let outcomes = futures.map(|future| block_on(future).unwrap());
    let position = |number: usize| match &outcomes[number] {
        Outcome::Committed { position } => *position,
        Outcome::Conflict(conflict) => panic!("{conflict:?}"),
    };
    assert!(position(1) < position(3) && position(3) < position(4));
    let Outcome::Conflict(conflict) = &outcomes[2] else { panic!("the second won as well") };
    assert_eq!((conflict.condition, conflict.found.as_deref()), (0, Some(&b"first"[..])));
    assert_eq!(found(&store, b"k").as_deref(), Some(&b"fourth"[..]));
    assert_eq!(found(&store, b"never"), None);
}

#[test]
fn a_dropped_future_gives_up_the_answer_not_the_write() {
    let folder = Scratch::new();
    let store = folder.open();
    for n in 0..100_u32 {
        let mut future = Box::pin(store.submit(Batch::new().put(n.to_be_bytes(), "")));
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(future);
    }
    // One queue, one order: what is answered after them has them before it.
    committed(&store, Batch::new().put("last", ""));
    let there = (0..100_u32).filter(|n| found(&store, &n.to_be_bytes()).is_some()).count();
    assert_eq!(there, 100);
}

#[test]
fn a_future_that_was_never_polled_writes_nothing() {
    let folder = Scratch::new();
    let store = folder.open();
    drop(store.submit(Batch::new().put("a", "")));
    committed(&store, Batch::new().put("b", ""));
    assert_eq!(found(&store, b"a"), None);
}

#[test]
fn a_full_queue_makes_callers_wait_and_loses_none() {
    let folder = Scratch::new();
    let store = Store::open(&folder, &super::small().queue(2)).unwrap();
    let mut futures: Vec<_> =
        (0..200_u32).map(|n| Box::pin(store.submit(Batch::new().put(n.to_be_bytes(), "")))).collect();
    for future in &mut futures {
        let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    thread::scope(|scope| {
        let writer = scope.spawn(|| committed(&store, Batch::new().put("blocking", "")));
        // All in turn: who waited in the queue and was told that there is room must be asked, or nobody gets it.
        while !futures.is_empty() {
            futures.retain_mut(|future| {
                match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(outcome) => {
                        assert!(matches!(outcome.unwrap(), Outcome::Committed { .. }));
                        false
                    }
                    Poll::Pending => true,
                }
            });
            thread::yield_now();
        }
        writer.join().unwrap();
    });
    assert_eq!(store.snapshot().position(), 201);
}

#[test]
fn closing_commits_what_waits_and_refuses_what_comes() {
    let folder = Scratch::new();
    let store = folder.open();
    let mut futures: Vec<_> = (0..500_u32)
        .map(|n| Box::pin(store.submit(Batch::new().put(n.to_be_bytes(), vec![7; 300]))))
        .collect();
    let late = store.submit(Batch::new().put("late", ""));
    for future in &mut futures {
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    store.close().unwrap();
    for future in futures {
        assert!(matches!(block_on(future), Ok(Outcome::Committed { .. })));
    }
    assert!(block_on(late).unwrap_err().is_closed());
    let store = folder.open();
    assert_eq!(store.snapshot().position(), 500);
    assert_eq!(found(&store, b"late"), None);
}
