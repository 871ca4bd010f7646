//! Where a process meets the scheduler: each operation waits until somebody decides that it has taken effect.

use crate::double::{Op, Reply};
use crate::toy::{Ending, Entry, Id, Key, Program, Row, Rules, Toy, run};
use askloom_engine::intents::{Anchor, Block, Blocks, Hint, Lost, Revision, Swap};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

#[derive(Debug, Default)]
struct Mailbox {
    op: Option<Op>,
    reply: Option<Reply>,
    /// What the process knows: the replies it has had, and of parts that are over only what came of them. Two
    /// processes of one program that know the same go on in the same way.
    knows: Vec<u64>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Port(Rc<RefCell<Mailbox>>);

impl Port {
    async fn ask(&self, op: Op) -> Reply {
        self.0.borrow_mut().op = Some(op);
        let reply = poll_fn(|_| match self.0.borrow_mut().reply.take() {
            Some(reply) => Poll::Ready(reply),
            None => Poll::Pending,
        });
        let reply = reply.await;
        self.0.borrow_mut().knows.push(digest(&reply));
        reply
    }

    async fn ask_swap(&self, op: Op) -> Result<Swap, Lost> {
        match self.ask(op).await {
            Reply::Swap(swap) => Ok(swap),
            reply => lost(&reply),
        }
    }

    async fn ask_done(&self, op: Op) -> Result<(), Lost> {
        match self.ask(op).await {
            Reply::Done => Ok(()),
            reply => lost(&reply),
        }
    }
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn lost<X>(reply: &Reply) -> Result<X, Lost> {
    assert_eq!(*reply, Reply::Lost, "not a reply to this");
    Err(Lost)
}

impl Blocks for Port {
    type Terms = Toy;

    async fn read(&self, id: &Id) -> Result<Block<Toy>, Lost> {
        match self.ask(Op::Read(*id)).await {
            Reply::Block(block) => Ok(block),
            reply => lost(&reply),
        }
    }

    async fn swap(&self, id: &Id, from: Revision, to: Block<Toy>) -> Result<Swap, Lost> {
        self.ask_swap(Op::Swap(*id, from, to)).await
    }

    async fn read_anchor(&self, row: &Row) -> Result<Anchor<Toy>, Lost> {
        match self.ask(Op::ReadAnchor(*row)).await {
            Reply::Anchor(anchor) => Ok(anchor),
            reply => lost(&reply),
        }
    }

    async fn swap_anchor(&self, row: &Row, from: u64, to: Anchor<Toy>) -> Result<Swap, Lost> {
        self.ask_swap(Op::SwapAnchor(*row, from, to)).await
    }

    async fn put(&self, key: &Key, stamp: u64, entry: Option<Entry>) -> Result<(), Lost> {
        self.ask_done(Op::Put(*key, stamp, entry)).await
    }

    async fn put_referrer(&self, target: &Id, referrer: &Id, stamp: u64, there: bool) -> Result<(), Lost> {
        self.ask_done(Op::PutReferrer(*target, *referrer, stamp, there)).await
    }

    async fn referrers(&self, target: &Id) -> Result<BTreeSet<Id>, Lost> {
        match self.ask(Op::Referrers(*target)).await {
            Reply::Ids(ids) => Ok(ids),
            reply => lost(&reply),
        }
    }

    async fn put_hint(&self, hint: &Hint<Toy>) -> Result<(), Lost> {
        self.ask_done(Op::PutHint(hint.clone())).await
    }

    async fn drop_hint(&self, hint: &Hint<Toy>) -> Result<(), Lost> {
        self.ask_done(Op::DropHint(hint.clone())).await
    }

    async fn hints(&self, _bucket: u16) -> Result<Vec<Hint<Toy>>, Lost> {
        match self.ask(Op::Hints).await {
            Reply::Hints(hints) => Ok(hints),
            reply => lost(&reply),
        }
    }

    async fn part<X: Hash>(&self, part: impl Future<Output = X>) -> X {
        let before = self.0.borrow().knows.len();
        // Inside a part is another place than after it.
        self.0.borrow_mut().knows.push(0);
        let result = part.await;
        let mut mailbox = self.0.borrow_mut();
        mailbox.knows.truncate(before);
        mailbox.knows.push(digest(&result));
        result
    }

    fn buckets(&self) -> u16 {
        1
    }
}

/// A program that runs. Dropping it is a crash.
pub(crate) struct Process {
    port: Port,
    future: Pin<Box<dyn Future<Output = Ending>>>,
}

/// What a process waits for, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Waits {
    For(Op),
    Ended(Ending),
}

impl Process {
    pub(crate) fn start(rules: Rules, program: Program) -> (Self, Waits) {
        let port = Port::default();
        let mut process = Self { port: port.clone(), future: Box::pin(run(rules, program, port)) };
        let waits = process.poll();
        (process, waits)
    }

    pub(crate) fn answer(&mut self, reply: Reply) -> Waits {
        self.port.0.borrow_mut().reply = Some(reply);
        self.poll()
    }

    pub(crate) fn knows(&self) -> Vec<u64> {
        self.port.0.borrow().knows.clone()
    }

    fn poll(&mut self) -> Waits {
        match self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(ending) => Waits::Ended(ending),
            Poll::Pending => Waits::For(self.port.0.borrow_mut().op.take().expect("waits for an operation")),
        }
    }
}
