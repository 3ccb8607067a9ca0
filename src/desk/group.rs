//! Group commit: writes of one workspace that arrive while another is being made durable share
//! the next commit, so that a crowd of writers pays for one set of syncs.
//!
//! There is no thread of its own: of the writers that wait, one leads. It takes what has gathered,
//! runs it in one transaction, and when that is durable tells each writer what became of its part;
//! then the first of those that came meanwhile leads. A writer alone waits for nobody.
//!
//! Not here: the commit itself ([`Store::commit`]). Invariants: nobody is answered before the
//! commit is durable; work that is refused leaves nothing in the commit and does not disturb the
//! others; a commit that fails fails for all who were in it, and for nobody else.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::cli::Failure;
use crate::pack::{Committed, Store, Transaction};

/// Writes in one commit, at most: past this a commit takes longer than its syncs.
const MOST: usize = 512;

/// The queues of all workspaces that are written to just now.
#[derive(Default)]
pub struct Group {
    queues: Mutex<HashMap<PathBuf, Vec<Job>>>,
}

/// What a writer waits for.
enum State {
    Waiting,
    /// It is its turn to lead.
    Lead,
    /// Its work is durable, by this commit; none if it wrote nothing.
    Done(Option<Committed>),
    /// There is no such workspace.
    Absent,
    Failed(Failure),
}

struct Seat {
    state: Mutex<State>,
    changed: Condvar,
}

type Work = Box<dyn FnOnce(&mut Transaction<'_>) -> Result<(), Failure> + Send>;

struct Job {
    work: Work,
    /// Whether the workspace may be made for it.
    makes: bool,
    seat: Arc<Seat>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Group {
    /// Runs `work` in a commit that others may share; none if the workspace does not exist and
    /// is not to be made.
    ///
    /// # Errors
    /// `work`'s own, or what the pack says about the commit.
    pub fn commit<T: Send + 'static>(
        &self,
        store: &Store,
        makes: bool,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Option<(T, Option<Committed>)>, Failure> {
        let seat = Arc::new(Seat { state: Mutex::new(State::Waiting), changed: Condvar::new() });
        let result = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&result);
        let work: Work = Box::new(move |transaction| {
            *locked(&kept) = Some(work(transaction)?);
            Ok(())
        });
        let leads = {
            let mut queues = locked(&self.queues);
            // A queue stands there for as long as somebody leads, even an empty one.
            let leads = !queues.contains_key(store.dir());
            let queue = queues.entry(store.dir().to_owned()).or_default();
            queue.push(Job { work, makes, seat: Arc::clone(&seat) });
            leads
        };
        if leads {
            self.lead(store);
        }
        loop {
            let mut state = locked(&seat.state);
            while matches!(*state, State::Waiting) {
                state = seat.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            match std::mem::replace(&mut *state, State::Waiting) {
                State::Waiting => {}
                State::Lead => {
                    drop(state);
                    self.lead(store);
                }
                State::Absent => return Ok(None),
                State::Failed(failure) => return Err(failure),
                State::Done(committed) => {
                    let result = locked(&result).take();
                    return Ok(result.map(|result| (result, committed)));
                }
            }
        }
    }

    /// Makes one commit of what has gathered, then hands the lead on.
    fn lead(&self, store: &Store) {
        let mut jobs = {
            let mut queues = locked(&self.queues);
            let queue = queues.entry(store.dir().to_owned()).or_default();
            let rest = queue.split_off(queue.len().min(MOST));
            std::mem::replace(queue, rest)
        };
        let makes = jobs.iter().any(|job| job.makes);
        let mut seats = Vec::with_capacity(jobs.len());
        let run = |transaction: &mut Transaction<'_>| {
            let mut refused = Vec::with_capacity(jobs.len());
            for job in jobs.drain(..) {
                let done = transaction.attempt(job.work);
                refused.push(done.err());
                seats.push(job.seat);
            }
            Ok::<_, Failure>(refused)
        };
        let done = match makes {
            true => store.commit(run).map(Some),
            false => store.commit_existing(run),
        };
        // What was not run was not let in: its seats are still with the jobs.
        let unseated: Vec<Arc<Seat>> = jobs.into_iter().map(|job| job.seat).collect();
        match done {
            Ok(Some((refused, committed))) => {
                for (seat, refused) in seats.iter().zip(refused) {
                    seat.tell(match refused {
                        None => State::Done(committed),
                        Some(failure) => State::Failed(failure),
                    });
                }
            }
            Ok(None) => unseated.iter().for_each(|seat| seat.tell(State::Absent)),
            Err(failure) => {
                for seat in seats.iter().chain(&unseated) {
                    seat.tell(State::Failed(failure.clone()));
                }
            }
        }
        let mut queues = locked(&self.queues);
        match queues.get(store.dir()).and_then(|queue| queue.first()) {
            Some(next) => next.seat.tell(State::Lead),
            None => drop(queues.remove(store.dir())),
        }
    }
}

impl Seat {
    fn tell(&self, state: State) {
        *locked(&self.state) = state;
        self.changed.notify_one();
    }
}
