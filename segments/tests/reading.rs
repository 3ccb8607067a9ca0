//! Reads everything that a segment can be asked, in every way it can be asked.
//!
//! The answer is a checksum over all of it: two segments with one answer are the same to any
//! caller. Used by the fuzz targets too, so it knows nothing of the samples.

use packset_segments::{Result, Segment, tag};
use xxhash_rust::xxh3::xxh3_64;

/// Gathers numbers and strings so that no two sequences run together.
struct Answer(Vec<u8>);

impl Answer {
    fn number(&mut self, number: i128) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as i128);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads all of a segment. `keys` are looked up too.
pub fn read_all(segment: &Segment, keys: &[u64]) -> Result<u64> {
    let mut answer = Answer(Vec::new());
    let identity = segment.identity();
    for number in [identity.store, identity.segment, u128::from(identity.born)] {
        answer.number(number as i128);
    }
    let sealed = segment.sealed();
    answer.number(i128::from(sealed.len));
    rows(segment, &mut answer)?;
    for key in keys {
        for row in segment.rows_with_key(*key) {
            answer.number(i128::from(row));
        }
        answer.number(-1);
    }
    for (row, at, reason) in segment.ends() {
        answer.number(i128::from(row));
        answer.number(i128::from(at));
        answer.number(reason as i128);
    }
    for ended in segment.overlay() {
        answer.number(ended.segment as i128);
        answer.number(i128::from(ended.row));
        answer.number(i128::from(ended.at));
        answer.number(ended.reason as i128);
    }
    for count in segment.counts()? {
        answer.bytes(count.kind.as_bytes());
        answer.number(i128::from(count.corpus));
        answer.number(i128::from(count.live));
        answer.number(i128::from(count.tokens));
    }
    terms(segment, &mut answer)?;
    Ok(xxh3_64(&answer.0))
}

fn rows(segment: &Segment, answer: &mut Answer) -> Result<()> {
    answer.number(i128::from(segment.rows()));
    let tags: Vec<u16> = (tag::RECORDED..=tag::ID_ORDER).chain(segment.declared()).collect();
    for row in 0..segment.rows() {
        let id = segment.id(row).unwrap_or_default();
        answer.number(id as i128);
        answer.number(i128::from(segment.recorded(row)));
        answer.number(i128::from(segment.flags(row).bits()));
        for tag in &tags {
            let value = segment.column(*tag).map(|column| column.get(row));
            answer.number(value.map_or(-1, i128::from));
        }
        answer.bytes(segment.kind(row)?.as_bytes());
        answer.bytes(segment.shape(row)?);
        answer.bytes(segment.rest(row)?);
        answer.bytes(segment.text(row)?.as_bytes());
        answer.number(segment.owner(row).map_or(-1, i128::from));
        answer.number(segment.row_before(row).map_or(-1, i128::from));
        answer.number(segment.last_row_of(id).map_or(-1, i128::from));
        // A few are enough, and a damaged order may make every row a row of every record.
        for other in segment.rows_of(id).take(8) {
            answer.number(i128::from(other));
        }
        if let Some((at, reason)) = segment.end_of(row) {
            answer.number(i128::from(at));
            answer.number(reason as i128);
        }
        answer.number(segment.number_of(segment.shape(row)?).map_or(-1, i128::from));
    }
    Ok(())
}

fn terms(segment: &Segment, answer: &mut Answer) -> Result<()> {
    let damaged = |_| segment.corrupt("postings", "a list that no writer made");
    let terms = segment.terms();
    answer.number(i128::from(terms.len()));
    answer.bytes(terms.run(0..terms.len()).0);
    for corpus in [0, 1, 2, 3, 0xff] {
        let range = terms.corpus(corpus);
        answer.number(i128::from(range.start));
        answer.number(i128::from(range.end));
    }
    for number in 0..terms.len() {
        let term = terms.term(number);
        answer.bytes(term);
        answer.number(i128::from(terms.rows(number)));
        answer.number(i128::from(terms.live(number)));
        answer.number(terms.find(term).map_or(-1, i128::from));
        let short = term.get(..term.len().min(3)).unwrap_or_default();
        answer.number(i128::from(terms.with_prefix(short).end));
        let (_, start) = terms.run(number..number + 1);
        for offset in [start, start + 1, usize::MAX] {
            let (number, start, end) = terms.at_offset(offset).unwrap_or_default();
            answer.bytes(terms.run(number..number + 1).0.get(..1).unwrap_or_default());
            answer.number((start + end) as i128);
        }
        let mut rows = Vec::new();
        let walk = |end: u32, rows: &mut Vec<u32>, answer: &mut Answer| {
            let mut cursor = terms.cursor(number)?;
            for until in [end / 3, end / 2, end] {
                let walked = cursor.walk(until, |row, frequency| {
                    rows.push(row);
                    answer.number(i128::from(frequency));
                });
                walked.map_err(damaged)?;
            }
            Ok(())
        };
        walk(segment.rows(), &mut rows, answer)?;
        rows.iter().for_each(|row| answer.number(i128::from(*row)));
        for target in [0, 1, segment.rows() / 2, segment.rows(), u32::MAX] {
            let mut cursor = terms.cursor(number)?;
            cursor.seek(target).map_err(damaged)?;
            answer.number(cursor.row().map_or(-1, i128::from));
            let rest = cursor.impacts(target, u32::MAX, |impact| {
                answer.number(i128::from(impact.frequency) << 8 | i128::from(impact.length));
            });
            answer.number(i128::from(rest));
        }
        let mut cursor = terms.cursor(number)?;
        for target in (0..segment.rows()).step_by(97) {
            cursor.seek(target).map_err(damaged)?;
            answer.number(cursor.row().map_or(-1, i128::from));
        }
    }
    Ok(())
}
