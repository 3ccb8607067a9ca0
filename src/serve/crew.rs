//! Which request may run now, which waits, and which is sent away: the policy, without a socket.
//!
//! Cheap requests and reads share the workers; reads leave one of several free, so that status
//! and listings answer while searches grind. Writes spend their time waiting for a shared commit
//! and so take no worker, only one of [`WRITES`] places. What cannot run waits in one bounded
//! parking lane, served in the order of arrival among those whose kind has a place.
//!
//! Invariants: `running` never exceeds these bounds; no request waits while it could run, once
//! [`Crew::next`] has been asked until it had nothing; waiting bodies never exceed their bound,
//! except that one request always finds room for its body in an empty lane.

use std::collections::VecDeque;

use super::{Class, WRITES};

/// What becomes of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It runs; a place is taken for it.
    Run,
    /// It may wait; [`Crew::park`] it.
    Park,
    /// There is no room: nothing was done.
    Full,
}

struct Waiting<T> {
    turn: u64,
    bytes: usize,
    what: T,
}

/// The places and the parking lane. `T` is what waits.
pub(super) struct Crew<T> {
    workers: usize,
    readers: usize,
    queue: usize,
    bytes_max: usize,
    running: [usize; 3],
    waiting: [VecDeque<Waiting<T>>; 3],
    bytes: usize,
    turn: u64,
}

fn slot(class: Class) -> usize {
    match class {
        Class::Cheap => 0,
        Class::Read => 1,
        Class::Write => 2,
    }
}

impl<T> Crew<T> {
    pub(super) fn new(workers: usize, queue: usize, bytes_max: usize) -> Self {
        Self {
            workers: workers.max(1),
            readers: workers.saturating_sub(1).max(1),
            queue,
            bytes_max,
            running: [0; 3],
            waiting: [VecDeque::new(), VecDeque::new(), VecDeque::new()],
            bytes: 0,
            turn: 0,
        }
    }

    /// How many requests can run at once, whatever they are.
    pub(super) fn places(&self) -> usize {
        self.workers + WRITES
    }

    /// How many requests run now.
    pub(super) fn running(&self) -> usize {
        self.running.iter().sum()
    }

    /// How many requests wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    fn has_place(&self, class: Class) -> bool {
        let [cheap, reads, writes] = self.running;
        match class {
            Class::Cheap => cheap + reads < self.workers,
            Class::Read => cheap + reads < self.workers && reads < self.readers,
            Class::Write => writes < WRITES,
        }
    }

    /// Whether the parking lane has no room left.
    pub(super) fn is_full(&self) -> bool {
        self.waiting() >= self.queue
    }

    /// Decides about a request with a body of so many bytes. `open` is whether anything may start.
    pub(super) fn offer(&mut self, class: Class, bytes: usize, open: bool) -> Verdict {
        if open && self.has_place(class) {
            self.running[slot(class)] += 1;
            return Verdict::Run;
        }
        let fits = self.bytes == 0 || self.bytes.saturating_add(bytes) <= self.bytes_max;
        if self.is_full() || !fits { Verdict::Full } else { Verdict::Park }
    }

    /// Lets a request wait that was told to.
    pub(super) fn park(&mut self, class: Class, bytes: usize, what: T) {
        self.turn += 1;
        self.bytes += bytes;
        self.waiting[slot(class)].push_back(Waiting { turn: self.turn, bytes, what });
    }

    /// A request has run.
    pub(super) fn release(&mut self, class: Class) {
        let running = &mut self.running[slot(class)];
        *running = running.saturating_sub(1);
    }

    /// The next one that waits and may run now; its place is taken.
    pub(super) fn next(&mut self) -> Option<(Class, T)> {
        let (_, class) = [Class::Cheap, Class::Read, Class::Write]
            .into_iter()
            .filter(|&class| self.has_place(class))
            .filter_map(|class| Some((self.waiting[slot(class)].front()?.turn, class)))
            .min_by_key(|&(turn, _)| turn)?;
        let first = self.waiting[slot(class)].pop_front()?;
        self.bytes -= first.bytes;
        self.running[slot(class)] += 1;
        Some((class, first.what))
    }

    /// Takes those out of the parking lane whose client has left.
    pub(super) fn dismiss(&mut self, left: impl Fn(&T) -> bool) {
        for waiting in &mut self.waiting {
            waiting.retain(|one| {
                let goes = left(&one.what);
                if goes {
                    self.bytes -= one.bytes;
                }
                !goes
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crew(workers: usize, queue: usize) -> Crew<u32> {
        Crew::new(workers, queue, 100)
    }

    fn fill(crew: &mut Crew<u32>, class: Class) -> usize {
        (0..).take_while(|_| crew.offer(class, 0, true) == Verdict::Run).count()
    }

    #[test]
    fn reads_leave_a_worker_and_writes_take_none() {
        for (workers, reads, cheap_too) in [(1, 1, 0), (2, 1, 1), (4, 3, 1), (8, 7, 1)] {
            let mut crew = crew(workers, 8);
            assert_eq!(fill(&mut crew, Class::Read), reads);
            assert_eq!(fill(&mut crew, Class::Cheap), cheap_too);
            assert_eq!(fill(&mut crew, Class::Write), 64);
            assert_eq!(crew.running(), workers + 64);
            assert_eq!(crew.places(), workers + 64);
        }
        let mut crew = crew(4, 8);
        assert_eq!(fill(&mut crew, Class::Cheap), 4);
        assert_eq!(crew.offer(Class::Read, 0, true), Verdict::Park);
    }

    #[test]
    fn those_who_wait_run_in_order_as_places_come_free() {
        let mut crew = crew(2, 8);
        assert_eq!(fill(&mut crew, Class::Read), 1);
        assert_eq!(fill(&mut crew, Class::Cheap), 1);
        for (class, name) in [(Class::Read, 1), (Class::Cheap, 2), (Class::Read, 3)] {
            assert_eq!(crew.offer(class, 0, true), Verdict::Park);
            crew.park(class, 0, name);
        }
        assert_eq!(crew.next(), None);
        // A worker comes free, but the only place for reads is still taken: the second passes.
        crew.release(Class::Cheap);
        assert_eq!(crew.next(), Some((Class::Cheap, 2)));
        assert_eq!(crew.next(), None);
        crew.release(Class::Read);
        assert_eq!(crew.next(), Some((Class::Read, 1)));
        crew.release(Class::Read);
        assert_eq!(crew.next(), Some((Class::Read, 3)));
        assert_eq!((crew.waiting(), crew.running()), (0, 2));
    }

    #[test]
    fn the_parking_lane_is_bounded_in_number_and_bytes() {
        let mut crew = crew(1, 2);
        assert_eq!(fill(&mut crew, Class::Read), 1);
        // One body of any size finds room in an empty lane.
        assert_eq!(crew.offer(Class::Read, 1000, true), Verdict::Park);
        crew.park(Class::Read, 60, 1);
        assert_eq!(crew.offer(Class::Read, 41, true), Verdict::Full);
        assert_eq!(crew.offer(Class::Read, 40, true), Verdict::Park);
        assert!(!crew.is_full());
        crew.park(Class::Read, 40, 2);
        assert!(crew.is_full());
        assert_eq!(crew.offer(Class::Read, 0, true), Verdict::Full);
        crew.dismiss(|&name| name == 1);
        assert_eq!(crew.offer(Class::Read, 60, true), Verdict::Park);
        assert_eq!(crew.waiting(), 1);
        crew.release(Class::Read);
        assert_eq!(crew.next(), Some((Class::Read, 2)));
        assert_eq!(crew.offer(Class::Read, 1000, true), Verdict::Park);
    }

    #[test]
    fn nothing_starts_while_the_door_says_so() {
        let mut crew = crew(4, 1);
        assert_eq!(crew.offer(Class::Cheap, 0, false), Verdict::Park);
        crew.park(Class::Cheap, 0, 1);
        assert_eq!(crew.offer(Class::Write, 0, false), Verdict::Full);
        assert_eq!(crew.next(), Some((Class::Cheap, 1)));
    }
}
