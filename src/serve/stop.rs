//! The wish to stop serving: [`Stop`], a socket pair that a signal handler can write to.
//!
//! Not here: what stopping means (`super::door` drains). Invariants: a stop that was asked for
//! stays asked for; asking is allowed from any thread, and what a signal does is one send(2).

use std::io;
use std::os::unix::net::UnixStream;

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};

/// Tells [`super::serve`] to end.
#[derive(Debug)]
pub struct Stop {
    asks: UnixStream,
    hears: UnixStream,
    signals: Vec<SigId>,
}

impl Stop {
    /// One that only [`Stop::ask`] triggers.
    ///
    /// # Errors
    /// No descriptors left.
    pub fn new() -> io::Result<Self> {
        let (asks, hears) = UnixStream::pair()?;
        // Once is enough: what no longer fits into the pipe need not be said.
        asks.set_nonblocking(true)?;
        hears.set_nonblocking(true)?;
        Ok(Self { asks, hears, signals: Vec::new() })
    }

    /// One that SIGTERM and SIGINT trigger too, for as long as it lives.
    ///
    /// # Errors
    /// As [`Stop::new`], or what the system says about the handlers.
    pub fn on_signals() -> io::Result<Self> {
        let mut stop = Self::new()?;
        for signal in [SIGTERM, SIGINT] {
            stop.signals.push(pipe::register(signal, stop.asks.try_clone()?)?);
        }
        Ok(stop)
    }

    /// Asks to stop.
    pub fn ask(&self) {
        // It fails when the pipe is full, and then it was asked for often enough.
        let _ = io::Write::write(&mut &self.asks, b"!");
    }

    /// The end that becomes readable, and stays so, when it is time.
    pub(super) fn heard(&self) -> io::Result<mio::net::UnixStream> {
        self.hears.try_clone().map(mio::net::UnixStream::from_std)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        for signal in self.signals.drain(..) {
            unregister(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_stays_asked_for() {
        let stop = Stop::new().unwrap();
        let mut byte = [0];
        assert!(io::Read::read(&mut &stop.hears, &mut byte).is_err());
        // More often than the pipe has room for: none of it waits or fails.
        for _ in 0..100_000 {
            stop.ask();
        }
        assert_eq!(io::Read::read(&mut &stop.hears, &mut byte).unwrap(), 1);
        let mut heard = stop.heard().unwrap();
        assert_eq!(io::Read::read(&mut heard, &mut byte).unwrap(), 1);
    }

    #[test]
    fn a_signal_asks_and_no_longer_than_the_stop_lives() {
        let stop = Stop::on_signals().unwrap();
        let signals = stop.signals.clone();
        signal_hook::low_level::raise(SIGTERM).unwrap();
        let mut byte = [0; 8];
        assert_eq!(io::Read::read(&mut &stop.hears, &mut byte).unwrap(), 1);
        drop(stop);
        assert!(signals.into_iter().all(|signal| !unregister(signal)));
    }
}
