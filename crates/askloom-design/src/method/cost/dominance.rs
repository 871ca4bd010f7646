//! Of many plans those that are worth choosing from: that no other one does with less, for less and, where that matters, in
//! less time.

use super::enumerate::Alternative;
use super::reads::{Reads, is_within};

/// So many pairs of plans are looked at where something is found first; of more, those of the plans at either end.
const PAIRS: usize = 2_048;
/// So many of the cheapest plans, and so many of those that need least.
const ENDS: (usize, usize) = (26, 19);

/// What is left, the cheapest first, and whether not every pair was looked at.
pub(super) struct Left {
    pub(super) alternatives: Vec<Alternative>,
    pub(super) capped: bool,
}

/// What counts between two plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The cheapest is taken, however long it takes.
    Cost,
    /// One that takes less time may be taken though it costs more.
    CostAndTime,
}

pub(super) fn undominated(all: Vec<Alternative>, by: By) -> Vec<Alternative> {
    with_pairs(&all, &[], &[], by).alternatives
}

/// Of some plans, and of those that do one of `first` and then one of `then`.
pub(super) fn with_pairs(all: &[Alternative], first: &[Alternative], then: &[Alternative], by: By) -> Left {
    let capped = first.len().saturating_mul(then.len()) > PAIRS;
    let mut plans = Plans::new(all.iter().chain(first).chain(then));
    let free = all.iter().filter(|one| one.reads.is_empty() && (by == By::Cost || one.takes.is_none()));
    let most = free.map(|one| one.cost).fold(f64::INFINITY, f64::min);
    for one in all {
        plans.add(one, None);
    }
    for one in ends(first, capped) {
        for other in ends(then, capped).filter(|other| one.cost + other.cost < most) {
            plans.add(one, Some(other));
        }
    }
    Left { alternatives: plans.undominated(by), capped }
}

/// All, or the first and the last of them: they come cheapest first, and who costs most needs least.
fn ends(all: &[Alternative], capped: bool) -> impl Iterator<Item = &Alternative> {
    let (cheap, few) = ENDS;
    let last = all.len().saturating_sub(few);
    all.iter().enumerate().filter(move |(at, _)| !capped || *at < cheap || *at >= last).map(|(_, one)| one)
}

/// Plans to compare with each other. There are many, and few are left: only what is left is put together.
struct Plans<'p> {
    all: Vec<Candidate<'p>>,
    /// By where a candidate is.
    reads: Reads,
}

struct Candidate<'p> {
    cost: f64,
    takes: Option<f64>,
    /// How much it reads.
    count: u32,
    at: usize,
    one: &'p Alternative,
    then: Option<&'p Alternative>,
}

impl<'p> Plans<'p> {
    fn new<'a>(of: impl Iterator<Item = &'a Alternative>) -> Self {
        Self { all: Vec::new(), reads: Reads::of(of.flat_map(|one| one.reads.iter().copied())) }
    }

    fn add(&mut self, one: &'p Alternative, then: Option<&'p Alternative>) {
        let cost = one.cost + then.map_or(0.0, |then| then.cost);
        if !cost.is_finite() {
            return;
        }
        let takes = match then {
            Some(then) => one.takes.zip(then.takes).map(|(one, then)| one + then),
            None => one.takes,
        };
        let row = self.reads.push(one.reads.iter().chain(then.into_iter().flat_map(|then| &then.reads)));
        let count = row.iter().map(|word| word.count_ones()).sum();
        self.all.push(Candidate { cost, takes, count, at: self.all.len(), one, then });
    }

    fn undominated(mut self, by: By) -> Vec<Alternative> {
        let reads = |of: &Candidate<'_>| self.reads.row(of.at);
        let takes = |of: &Candidate<'_>| of.takes.unwrap_or(0.0);
        // Of those that cost as much, the planner takes the quickest.
        self.all.sort_by(|a, b| {
            let by =
                a.cost.total_cmp(&b.cost).then(takes(a).total_cmp(&takes(b))).then(a.count.cmp(&b.count));
            by.then_with(|| reads(a).cmp(reads(b)))
        });
        let mut left: Vec<&Candidate<'p>> = Vec::new();
        // One after the other: most of the time goes into comparing with them.
        let mut rows: Vec<u64> = Vec::new();
        for one in &self.all {
            let own = reads(one);
            let as_quick = |other: &Candidate<'_>| match by {
                By::Cost => true,
                By::CostAndTime => one.takes.zip(other.takes).is_none_or(|(own, other)| other <= own),
            };
            let mut others = rows.chunks_exact(own.len().max(1)).zip(&left);
            if !others.any(|(row, other)| is_within(row, own) && as_quick(other)) {
                left.push(one);
                rows.extend_from_slice(own);
            }
        }
        left.into_iter().map(Candidate::put_together).collect()
    }
}

impl Candidate<'_> {
    fn put_together(&self) -> Alternative {
        let mut reads = self.one.reads.clone();
        reads.extend(self.then.into_iter().flat_map(|then| &then.reads));
        Alternative { cost: self.cost, takes: self.takes, reads }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(cost: f64, reads: &[usize]) -> Alternative {
        Alternative { cost, takes: None, reads: reads.iter().copied().collect() }
    }

    #[test]
    fn what_reads_more_must_cost_less() {
        let all = vec![plan(5.0, &[]), plan(3.0, &[1, 70]), plan(4.0, &[1, 2, 70]), plan(4.0, &[2])];
        let left = undominated(all, By::CostAndTime);
        assert_eq!(left, [plan(3.0, &[1, 70]), plan(4.0, &[2]), plan(5.0, &[])]);
    }

    #[test]
    fn a_plan_that_takes_less_time_is_left() {
        let timed = |cost, takes, reads| Alternative { takes: Some(takes), ..plan(cost, reads) };
        let all = vec![timed(1.0, 9.0, &[1]), timed(2.0, 5.0, &[1]), timed(3.0, 7.0, &[1])];
        assert_eq!(undominated(all, By::CostAndTime), [timed(1.0, 9.0, &[1]), timed(2.0, 5.0, &[1])]);
    }

    #[test]
    fn pairs_are_compared_with_each_other_and_with_plans_that_are_known() {
        let first = [plan(1.0, &[1]), plan(4.0, &[])];
        let then = [plan(1.0, &[2]), plan(2.0, &[1])];
        let left = with_pairs(&[plan(5.5, &[]), plan(2.5, &[1, 2])], &first, &then, By::Cost);
        // 1 + 1 with both is less than what is known with both; 4 + 1 with the second alone; 4 + 2 is more than with none.
        assert_eq!(left.alternatives, [plan(2.0, &[1, 2]), plan(3.0, &[1]), plan(5.0, &[2]), plan(5.5, &[])]);
        assert!(!left.capped);
    }

    #[test]
    fn of_too_many_pairs_the_ends_are_left_and_that_is_said() {
        let many: Vec<Alternative> = (0..200).map(|n| plan(f64::from(n), &[200 - n as usize])).collect();
        let left = with_pairs(&[], &many, &many, By::Cost);
        assert!(left.capped);
        assert_eq!(left.alternatives.first(), Some(&plan(0.0, &[200])));
    }
}
