//! Posting lists: which rows hold a term, how often, and how good a block can get.
//!
//! A list of `n` rows is `n / 128` full blocks (gaps and frequencies bit-packed) and a tail of
//! varints. Each full block has an entry in the blocks section with its last row and its
//! *impacts*: the (frequency, length) pairs that no other pair of the block beats, at most four.
//! BM25's term part rises with frequency and falls with length whatever the average length is,
//! so those pairs bound every score of the block for ever, also after the corpus has changed.
//!
//! Not here: scoring. Invariants: rows ascend strictly and stay below the segment's row count;
//! a frequency is at least 1; a reader that meets anything else says so and stops.

#![deny(clippy::indexing_slicing)]

/// Rows per full block.
pub const BLOCK: usize = 128;
/// Bytes of a block's entry.
pub(crate) const BLOCK_ENTRY: usize = 20;
/// Impacts kept per block.
const IMPACTS: usize = 4;

/// Lengths up to here are exact; past it each code stands for about 6 % more.
const EXACT_LENGTHS: u32 = 40;

/// Codes a document length in one byte: exact to 40, then in steps of 1/16 of an octave.
pub fn len_code(length: u32) -> u8 {
    if length <= EXACT_LENGTHS {
        return length as u8;
    }
    let steps = (f64::from(length) / f64::from(EXACT_LENGTHS)).log2() * 16.0;
    (f64::from(EXACT_LENGTHS) + steps.round()).min(255.0) as u8
}

/// The length that a code stands for; 255 stands for 445,000 and more.
pub fn len_of(code: u8) -> f32 {
    if u32::from(code) <= EXACT_LENGTHS {
        return f32::from(code);
    }
    let steps = (f64::from(code) - f64::from(EXACT_LENGTHS)) / 16.0;
    (f64::from(EXACT_LENGTHS) * steps.exp2()) as f32
}

/// A frequency and a length code that together bound a block's scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impact {
    /// Term frequency, at most 255 (255 stands for any more).
    pub frequency: u8,
    /// Length code.
    pub length: u8,
}

/// Writes posting lists one after the other.
#[derive(Default)]
pub(crate) struct PostingsWriter {
    pub(crate) bytes: Vec<u8>,
    pub(crate) blocks: Vec<u8>,
}

impl PostingsWriter {
    /// Appends a list of at least two (row, frequency) pairs and returns where it starts.
    pub(crate) fn push(&mut self, list: &[(u32, u32)], length_of: impl Fn(u32) -> u8) -> u64 {
        let place = self.bytes.len() as u64;
        let full = list.len() / BLOCK;
        if full > 0 {
            write_varint(&mut self.bytes, (self.blocks.len() / BLOCK_ENTRY) as u64);
        }
        let mut previous: i64 = -1;
        let mut chunks = list.chunks_exact(BLOCK);
        for block in &mut chunks {
            let mut gaps = [0u32; BLOCK];
            let mut extras = [0u32; BLOCK];
            for ((gap, extra), (row, frequency)) in
                gaps.iter_mut().zip(extras.iter_mut()).zip(block)
            {
                *gap = (i64::from(*row) - previous - 1) as u32;
                *extra = frequency - 1;
                previous = i64::from(*row);
            }
            let offset = self.bytes.len() as u32;
            let gap_bits = bits_of(&gaps);
            let extra_bits = bits_of(&extras);
            pack_bits(&mut self.bytes, &gaps, gap_bits);
            pack_bits(&mut self.bytes, &extras, extra_bits);
            self.blocks.extend_from_slice(&(previous as u32).to_le_bytes());
            self.blocks.extend_from_slice(&offset.to_le_bytes());
            self.blocks.extend_from_slice(&[gap_bits, extra_bits, 0, 0]);
            for impact in impacts_of(block, &length_of) {
                self.blocks.extend_from_slice(&[impact.frequency, impact.length]);
            }
        }
        for (row, frequency) in chunks.remainder() {
            let gap = (i64::from(*row) - previous - 1) as u64;
            write_varint(&mut self.bytes, (gap << 1) | u64::from(*frequency == 1));
            if *frequency != 1 {
                write_varint(&mut self.bytes, u64::from(*frequency));
            }
            previous = i64::from(*row);
        }
        place
    }
}

/// The pairs that no other pair beats; merged into bounds if there are more than four.
fn impacts_of(block: &[(u32, u32)], length_of: &impl Fn(u32) -> u8) -> [Impact; IMPACTS] {
    let mut best = [u8::MAX; 256];
    for (row, frequency) in block {
        if let Some(length) = best.get_mut((*frequency).min(255) as usize) {
            *length = (*length).min(length_of(*row));
        }
    }
    let mut pairs: Vec<Impact> = Vec::with_capacity(IMPACTS);
    let mut shortest = u8::MAX;
    let mut first = true;
    for (frequency, length) in best.iter().enumerate().rev() {
        let present = block.iter().any(|(_, f)| (*f).min(255) as usize == frequency);
        if present && (first || *length < shortest) {
            pairs.push(Impact { frequency: frequency as u8, length: *length });
            shortest = *length;
            first = false;
        }
    }
    // More than four: the tail (lowest frequencies, shortest lengths) becomes one pair that
    // bounds all of it, the highest frequency with the shortest length.
    if let (Some(head), Some(last)) = (pairs.get(IMPACTS - 1).copied(), pairs.last().copied()) {
        pairs.truncate(IMPACTS - 1);
        pairs.push(Impact { frequency: head.frequency, length: last.length });
    }
    let fill = pairs.last().copied().unwrap_or(Impact { frequency: 1, length: 0 });
    let mut all = [fill; IMPACTS];
    for (slot, pair) in all.iter_mut().zip(pairs) {
        *slot = pair;
    }
    all
}

fn bits_of(values: &[u32; BLOCK]) -> u8 {
    let all = values.iter().fold(0, |a, b| a | b);
    (32 - all.leading_zeros()) as u8
}

fn pack_bits(out: &mut Vec<u8>, values: &[u32; BLOCK], bits: u8) {
    let mut word = 0u64;
    let mut filled = 0u32;
    for value in values {
        word |= u64::from(*value) << filled;
        filled += u32::from(bits);
        while filled >= 8 {
            out.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
    }
}

/// Bytes of a packed block: 128 values are always a whole number of bytes.
fn packed_len(bits: u8) -> usize {
    bits as usize * BLOCK / 8
}

fn unpack_bits(bytes: &[u8], bits: u8, out: &mut [u32; BLOCK]) -> Option<()> {
    if bits == 0 {
        *out = [0; BLOCK];
        return Some(());
    }
    let mask = (1u64 << bits) - 1;
    let mut word = 0u64;
    let mut filled = 0u32;
    let mut words = bytes.get(..packed_len(bits))?.chunks_exact(4);
    for value in out.iter_mut() {
        if filled < u32::from(bits) {
            let next = u32::from_le_bytes(*words.next()?.first_chunk::<4>()?);
            word |= u64::from(next) << filled;
            filled += 32;
        }
        *value = (word & mask) as u32;
        word >>= bits;
        filled -= u32::from(bits);
    }
    Some(())
}

pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn read_varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// What a cursor over a damaged list answers; the segment names the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Walks one posting list in row order.
///
/// Decodes a block at a time; `rows()` of the list and the segment are bounds that every decoded
/// value is checked against.
pub struct Cursor<'a> {
    postings: &'a [u8],
    blocks: &'a [u8],
    /// Rows of the segment: an exclusive bound.
    bound: u32,
    /// Full blocks not yet decoded.
    full_left: usize,
    tail_left: usize,
    block: usize,
    at: usize,
    previous: i64,
    rows: [u32; BLOCK],
    extras: [u32; BLOCK],
    next: usize,
    loaded: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor over the single row of a term that one row holds.
    pub(crate) fn single(row: u32, frequency: u32, bound: u32) -> Result<Self, Damaged> {
        if row >= bound || frequency == 0 {
            return Err(Damaged);
        }
        let mut cursor = Self::empty(bound);
        if let (Some(first), Some(extra)) = (cursor.rows.first_mut(), cursor.extras.first_mut()) {
            *first = row;
            *extra = frequency - 1;
        }
        cursor.loaded = 1;
        Ok(cursor)
    }

    fn empty(bound: u32) -> Self {
        Self {
            postings: &[],
            blocks: &[],
            bound,
            full_left: 0,
            tail_left: 0,
            block: 0,
            at: 0,
            previous: -1,
            rows: [0; BLOCK],
            extras: [0; BLOCK],
            next: 0,
            loaded: 0,
        }
    }

    /// A cursor over the list of `count` rows at `place`.
    pub(crate) fn open(
        postings: &'a [u8],
        blocks: &'a [u8],
        place: u64,
        count: u32,
        bound: u32,
    ) -> Result<Self, Damaged> {
        let mut cursor = Self::empty(bound);
        cursor.postings = postings;
        cursor.blocks = blocks;
        cursor.full_left = count as usize / BLOCK;
        cursor.tail_left = count as usize % BLOCK;
        cursor.at = usize::try_from(place).map_err(|_| Damaged)?;
        if count > bound {
            return Err(Damaged);
        }
        if cursor.full_left > 0 {
            let first = read_varint(postings, &mut cursor.at).ok_or(Damaged)?;
            cursor.block = usize::try_from(first).map_err(|_| Damaged)?;
        }
        cursor.load()?;
        Ok(cursor)
    }

    fn entry(&self, block: usize) -> Option<(u32, usize, u8, u8)> {
        let start = block.checked_mul(BLOCK_ENTRY)?;
        let entry = self.blocks.get(start..start.checked_add(BLOCK_ENTRY)?)?;
        let last = u32::from_le_bytes(*entry.first_chunk::<4>()?);
        let offset = u32::from_le_bytes(*entry.get(4..)?.first_chunk::<4>()?);
        Some((last, offset as usize, *entry.get(8)?, *entry.get(9)?))
    }

    fn load(&mut self) -> Result<(), Damaged> {
        self.next = 0;
        self.loaded = 0;
        if self.full_left > 0 {
            let (last, offset, gap_bits, extra_bits) = self.entry(self.block).ok_or(Damaged)?;
            if gap_bits > 32 || extra_bits > 32 || last >= self.bound {
                return Err(Damaged);
            }
            let gaps = self.postings.get(offset..).ok_or(Damaged)?;
            unpack_bits(gaps, gap_bits, &mut self.rows).ok_or(Damaged)?;
            let extras = gaps.get(packed_len(gap_bits)..).ok_or(Damaged)?;
            unpack_bits(extras, extra_bits, &mut self.extras).ok_or(Damaged)?;
            let mut previous = self.previous;
            for row in &mut self.rows {
                previous += i64::from(*row) + 1;
                *row = previous as u32;
            }
            if previous != i64::from(last) {
                return Err(Damaged);
            }
            self.previous = previous;
            self.at = offset + packed_len(gap_bits) + packed_len(extra_bits);
            self.block += 1;
            self.full_left -= 1;
            self.loaded = BLOCK;
        } else if self.tail_left > 0 {
            for (row, extra) in
                self.rows.iter_mut().zip(self.extras.iter_mut()).take(self.tail_left)
            {
                let coded = read_varint(self.postings, &mut self.at).ok_or(Damaged)?;
                let frequency = match coded & 1 {
                    1 => 1,
                    _ => read_varint(self.postings, &mut self.at).ok_or(Damaged)?,
                };
                let gap = i64::try_from(coded >> 1).map_err(|_| Damaged)?;
                let value = self.previous.checked_add(gap).and_then(|v| v.checked_add(1));
                let value = value.filter(|v| *v < i64::from(self.bound)).ok_or(Damaged)?;
                *row = value as u32;
                *extra =
                    frequency.checked_sub(1).and_then(|f| u32::try_from(f).ok()).ok_or(Damaged)?;
                self.previous = value;
            }
            self.loaded = self.tail_left;
            self.tail_left = 0;
        }
        Ok(())
    }

    /// The row the cursor stands on, or none at the end.
    #[inline]
    pub fn row(&self) -> Option<u32> {
        if self.next < self.loaded { self.rows.get(self.next).copied() } else { None }
    }

    /// Calls `visit(row, frequency)` for every row below `end` and stops there.
    ///
    /// # Errors
    /// [`Damaged`] when the list is not one that a writer of ours made.
    pub fn walk(&mut self, end: u32, mut visit: impl FnMut(u32, u32)) -> Result<(), Damaged> {
        loop {
            let (Some(rows), Some(extras)) =
                (self.rows.get(self.next..self.loaded), self.extras.get(self.next..self.loaded))
            else {
                return Err(Damaged);
            };
            for (row, extra) in rows.iter().zip(extras) {
                if *row >= end {
                    return Ok(());
                }
                self.next += 1;
                visit(*row, extra.saturating_add(1));
            }
            if self.full_left == 0 && self.tail_left == 0 {
                return Ok(());
            }
            self.load()?;
        }
    }

    /// Moves to the first row not below `target`, passing over whole blocks undecoded.
    ///
    /// # Errors
    /// As [`Cursor::walk`].
    pub fn seek(&mut self, target: u32) -> Result<(), Damaged> {
        loop {
            if let Some(last) = self.loaded.checked_sub(1).and_then(|i| self.rows.get(i))
                && *last >= target
            {
                let rest = self.rows.get(self.next..self.loaded).ok_or(Damaged)?;
                self.next += rest.partition_point(|row| *row < target);
                return Ok(());
            }
            while self.full_left > 0 {
                let (last, offset, gap_bits, extra_bits) = self.entry(self.block).ok_or(Damaged)?;
                if last >= target {
                    break;
                }
                self.previous = i64::from(last);
                self.at = offset + packed_len(gap_bits) + packed_len(extra_bits);
                self.block += 1;
                self.full_left -= 1;
            }
            if self.full_left == 0 && self.tail_left == 0 {
                self.next = self.loaded;
                return Ok(());
            }
            self.load()?;
        }
    }

    fn impacts_at(&self, block: usize) -> impl Iterator<Item = Impact> + use<'a> {
        let start = block.checked_mul(BLOCK_ENTRY).and_then(|at| at.checked_add(12));
        let pairs = start.and_then(|at| self.blocks.get(at..at.checked_add(2 * IMPACTS)?));
        pairs.unwrap_or_default().chunks_exact(2).filter_map(|pair| match pair {
            [frequency, length] => Some(Impact { frequency: *frequency, length: *length }),
            _ => None,
        })
    }

    /// As [`Cursor::walk`] to the end, with the impacts of the full block that each row stands
    /// in, which are none for a row outside full blocks. For checking; searching has no use.
    pub(crate) fn audit(
        &mut self,
        mut visit: impl FnMut(u32, u32, &[Impact]),
    ) -> Result<(), Damaged> {
        loop {
            let block = self.block.checked_sub(1).filter(|_| self.loaded == BLOCK);
            let impacts: Vec<Impact> = block.into_iter().flat_map(|b| self.impacts_at(b)).collect();
            let rows = self.rows.get(self.next..self.loaded).ok_or(Damaged)?;
            let extras = self.extras.get(self.next..self.loaded).ok_or(Damaged)?;
            for (row, extra) in rows.iter().zip(extras) {
                visit(*row, extra.saturating_add(1), &impacts);
            }
            self.next = self.loaded;
            if self.full_left == 0 && self.tail_left == 0 {
                return Ok(());
            }
            self.load()?;
        }
    }

    /// Calls `visit` with the impacts of each full block that may hold rows in `start..end` and
    /// has not been decoded yet. Returns whether rows outside full blocks may lie there too, for
    /// which the caller must assume the worst.
    pub fn impacts(&self, start: u32, end: u32, mut visit: impl FnMut(Impact)) -> bool {
        let mut before = self.previous;
        let loaded_here = self
            .rows
            .get(self.next..self.loaded)
            .is_some_and(|rows| rows.iter().any(|row| (start..end).contains(row)));
        for block in self.block..self.block.saturating_add(self.full_left) {
            let Some((last, ..)) = self.entry(block) else { return true };
            if before + 1 >= i64::from(end) {
                return loaded_here;
            }
            if last >= start {
                self.impacts_at(block).for_each(&mut visit);
            }
            before = i64::from(last);
        }
        loaded_here || (self.tail_left > 0 && before + 1 < i64::from(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(list: &[(u32, u32)], bound: u32) {
        let mut writer = PostingsWriter::default();
        writer.push(&[(0, 1), (1, 1)], |_| 3);
        let place = writer.push(list, |row| (row % 40) as u8);
        let open = || {
            Cursor::open(&writer.bytes, &writer.blocks, place, list.len() as u32, bound).unwrap()
        };
        let mut got = Vec::new();
        open().walk(u32::MAX, |row, frequency| got.push((row, frequency))).unwrap();
        assert_eq!(got, list);
        // In windows, and by seeking to every row and to the gap before it.
        let mut got = Vec::new();
        let mut cursor = open();
        for end in (0..=bound).step_by(100).chain([u32::MAX]) {
            cursor.walk(end, |row, frequency| got.push((row, frequency))).unwrap();
        }
        assert_eq!(got, list);
        for (index, (row, _)) in list.iter().enumerate().step_by(7) {
            let mut cursor = open();
            cursor.seek(*row).unwrap();
            assert_eq!(cursor.row(), Some(*row));
            let mut cursor = open();
            cursor.seek(row + 1).unwrap();
            assert_eq!(cursor.row(), list.get(index + 1).map(|(row, _)| *row));
        }
    }

    #[test]
    fn lists_of_every_boundary_length_come_back() {
        for length in [2usize, 127, 128, 129, 255, 256, 257, 1000] {
            let list: Vec<_> = (0..length as u32).map(|i| (i * 3 + i % 2, 1 + i % 5)).collect();
            round(&list, 4000);
            let dense: Vec<_> = (0..length as u32).map(|i| (i, 1)).collect();
            round(&dense, length as u32);
        }
    }

    #[test]
    fn wide_gaps_and_frequencies_come_back() {
        let mut list = vec![(0, 1), (1, 255), (2, 256), (u32::MAX - 1, u32::MAX)];
        round(&list, u32::MAX);
        list = (0..130).map(|i| (i, 1)).collect();
        list.push((u32::MAX - 1, 300));
        round(&list, u32::MAX);
    }

    #[test]
    fn a_list_past_the_bound_is_damage() {
        let mut writer = PostingsWriter::default();
        let place = writer.push(&[(1, 1), (9, 1)], |_| 3);
        let open = |count, bound| Cursor::open(&writer.bytes, &writer.blocks, place, count, bound);
        assert!(open(2, 10).is_ok());
        assert!(open(2, 9).is_err());
        assert!(open(3, 10).is_err());
        assert!(Cursor::single(4, 1, 4).is_err());
    }

    #[test]
    fn impacts_bound_every_pair_of_the_block() {
        // Six different frequencies, each with its own shortest length: more than fit.
        let list: Vec<_> = (0..128u32).map(|i| (i, 1 + i % 6)).collect();
        let length = |row: u32| 10 + 2 * (row % 6) as u8 + (row / 6) as u8;
        let impacts = impacts_of(&list, &length);
        for (row, frequency) in &list {
            assert!(
                impacts
                    .iter()
                    .any(|i| u32::from(i.frequency) >= *frequency && i.length <= length(*row)),
                "{row} {frequency}"
            );
        }
        // One frequency: one pair, its shortest length.
        let flat: Vec<_> = (0..128u32).map(|i| (i, 1)).collect();
        assert_eq!(impacts_of(&flat, &length), [Impact { frequency: 1, length: 10 }; 4]);
    }

    #[test]
    fn length_codes_are_exact_to_forty_and_monotone() {
        for length in 0..=40 {
            assert_eq!(len_of(len_code(length)), length as f32);
        }
        let mut last = 40.0;
        for length in 41..200_000 {
            let back = len_of(len_code(length));
            assert!(back >= last);
            assert!((back - length as f32).abs() <= 0.025 * length as f32, "{length} {back}");
            last = back;
        }
        assert_eq!(len_code(u32::MAX), 255);
    }
}
