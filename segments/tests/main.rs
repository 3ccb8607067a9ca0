//! Proof of the format: damage is found, merging changes no answer, old files stay readable.
//!
//! Not here: files, locks and crashes (the crate's own `sim` and the store's tests).

#[cfg(test)]
mod allocation;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod drive;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod history;
#[cfg(test)]
mod merge;
#[cfg(test)]
mod mutants;
#[cfg(test)]
#[cfg(test)]
mod reading;
#[cfg(test)]
mod reseal;
#[cfg(test)]
mod samples;
