//! Deep verification of one segment: every byte, every row, every list.
//!
//! What [`Segment::parse`] leaves to use is checked here in full: section checksums, padding,
//! dictionary numbers, UTF-8, orders, posting lists and their bounds. Not here: whether segments
//! agree with each other and with the manifest; the store checks that.

#![deny(clippy::indexing_slicing)]

use crate::columns::NULL;
use crate::error::Result;
use crate::postings::len_code;
use crate::read::Segment;
use crate::{Flags, KEYWORDS, tag};

/// Checks everything that can be checked about a segment alone. Reads the whole file.
///
/// # Errors
/// [`crate::Error::Corrupt`] for the first thing that is wrong.
pub fn check(segment: &Segment) -> Result<()> {
    segment.frame().check(segment.path(), segment.bytes())?;
    let lengths = terms(segment)?;
    rows(segment, &lengths)?;
    orders(segment)?;
    segment.counts()?;
    segment.check_vectors()?;
    let ended = segment.overlay().count();
    let said = segment.frame().find(crate::Section::Overlay).map_or(0, |entry| entry.rows);
    if ended as u64 != said {
        return Err(segment.corrupt("overlay", "an entry that no writer made"));
    }
    Ok(())
}

/// Walks every list; returns how many tokens each row has.
fn terms(segment: &Segment) -> Result<Vec<u32>> {
    let bad = |what| segment.corrupt("terms", what);
    let terms = segment.terms();
    let mut lengths = vec![0u32; segment.rows() as usize];
    let mut previous: &[u8] = &[];
    for number in 0..terms.len() {
        let term = terms.term(number);
        let [corpus, text @ ..] = term else {
            return Err(bad("an empty term"));
        };
        if std::str::from_utf8(text).is_err() {
            return Err(bad("a term is not UTF-8"));
        }
        if number > 0 && term <= previous {
            return Err(bad("the terms are not sorted"));
        }
        previous = term;
        let mut cursor = terms.cursor(number)?;
        let mut count = 0u32;
        let mut wrong = None;
        let column = segment.column(tag::LENGTH);
        cursor
            .audit(|row, frequency, impacts| {
                count += 1;
                if !segment.flags(row).contains(Flags::OWNER) {
                    wrong = Some("a posting names a row without a text");
                }
                if *corpus != KEYWORDS
                    && let Some(length) = lengths.get_mut(row as usize)
                {
                    *length = length.saturating_add(frequency);
                }
                let length = column.map_or(0, |column| column.get(row)) as u8;
                let bounded = impacts.iter().any(|impact| {
                    u32::from(impact.frequency) >= frequency.min(255) && impact.length <= length
                });
                if !impacts.is_empty() && !bounded {
                    wrong = Some("a block promises less than it holds");
                }
            })
            .map_err(|_| segment.corrupt("postings", "a list that no writer made"))?;
        if let Some(what) = wrong {
            return Err(segment.corrupt("postings", what));
        }
        if count != terms.rows(number) {
            return Err(segment.corrupt("postings", "a list is not as long as it says"));
        }
    }
    Ok(lengths)
}

fn rows(segment: &Segment, lengths: &[u32]) -> Result<()> {
    let bad = |what| segment.corrupt("rows", what);
    for (row, length) in (0..segment.rows()).zip(lengths) {
        segment.kind(row)?;
        segment.shape(row)?;
        segment.rest(row)?;
        let text = segment.text(row)?;
        let flags = segment.flags(row);
        if segment.recorded(row) == NULL {
            return Err(bad("a row without a recorded time"));
        }
        let owns = flags.contains(Flags::OWNER);
        if !owns && !text.is_empty() {
            return Err(bad("a row that shares a text has one of its own"));
        }
        let coded = segment.column(tag::LENGTH).map_or(NULL, |column| column.get(row));
        if coded != i64::from(len_code(*length)) {
            return Err(bad("a row's length is not that of its postings"));
        }
        let owner = segment.column(tag::OWNER).map_or(NULL, |column| column.get(row));
        if owner != NULL {
            let named = u32::try_from(owner).ok().filter(|owner| *owner < segment.rows());
            let holds = named.is_some_and(|owner| {
                segment.flags(owner).contains(Flags::OWNER | Flags::SHARED)
                    && segment.id(owner) == segment.id(row)
            });
            if owns || !holds {
                return Err(bad("a row shares the text of a row that has none"));
            }
        }
    }
    Ok(())
}

fn orders(segment: &Segment) -> Result<()> {
    let order = segment.column(tag::ID_ORDER);
    let mut seen = vec![false; segment.rows() as usize];
    let mut previous = None;
    for index in 0..segment.rows() {
        let row = order.and_then(|order| u32::try_from(order.get(index)).ok());
        let slot = row.and_then(|row| seen.get_mut(row as usize));
        let key = row.and_then(|row| Some((segment.id(row)?, row)));
        match slot {
            Some(slot) if !*slot && key.is_some() && key > previous => *slot = true,
            _ => return Err(segment.corrupt("rows", "the id order is not an order")),
        }
        previous = key;
    }
    let mut last = 0;
    for (print, row) in segment.keys() {
        if print < last || row >= segment.rows() {
            return Err(segment.corrupt("keys", "the keys are not sorted"));
        }
        last = print;
    }
    let mut next = 0;
    let mut count = 0;
    for (row, ..) in segment.ends() {
        if row < next || row >= segment.rows() {
            return Err(segment.corrupt("ends", "the ends are not sorted"));
        }
        next = row.saturating_add(1);
        count += 1;
    }
    if count != segment.frame().find(crate::Section::Ends).map_or(0, |entry| entry.rows) {
        return Err(segment.corrupt("ends", "an entry that no writer made"));
    }
    Ok(())
}
