//! Tables of integer columns: the one shape that rkyv archives here.
//!
//! A [`Table`] is a set of columns, each `count` integers packed to the same number of bytes
//! above a base. That keeps a column random-access and flat while a batch that was written at one
//! instant pays nothing for its times. Only primitives and byte vectors are archived, so rkyv's
//! validation costs microseconds and is always on; counts are checked against the section's row
//! count and every access is bounds-checked, because validation proves layout, not content.
//!
//! Not here: what a column means; see [`crate::tag`].

#![deny(clippy::indexing_slicing)]

use std::path::Path;

use rkyv::rancor;

use crate::error::{Error, Result};

/// The value of an absent entry, and of an interval that never ends.
pub const NULL: i64 = i64::MAX;

/// Bytes past the last packed value, so that one eight-byte load serves every width.
const PAD: usize = 8;

/// A table as it is archived.
#[derive(rkyv::Archive, rkyv::Serialize)]
struct Table {
    columns: Vec<Column>,
}

/// One column as it is archived.
#[derive(rkyv::Archive, rkyv::Serialize)]
struct Column {
    /// Meaning, from [`crate::tag`].
    tag: u16,
    /// Bytes per value, 0 to 8.
    width: u8,
    /// 1 if a packed 0 stands for [`NULL`] and every other value is one higher.
    nullable: u8,
    /// Number of values.
    count: u32,
    /// What the packed values are added to.
    base: i64,
    /// `count * width` bytes, little-endian, and `PAD` zero bytes.
    bytes: Vec<u8>,
}

/// Collects columns and archives them as one section.
#[derive(Default)]
pub struct TableBuilder {
    columns: Vec<Column>,
}

impl TableBuilder {
    /// Packs one column. [`NULL`] is an absent entry.
    pub fn push(&mut self, tag: u16, values: &[i64]) {
        self.columns.push(pack(tag, values));
    }

    /// The archived bytes.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when the table outgrows what relative pointers can reach (2 GiB).
    pub fn finish(self) -> Result<rkyv::util::AlignedVec> {
        rkyv::to_bytes::<rancor::Error>(&Table { columns: self.columns })
            .map_err(|_| Error::TooLarge { what: "a table", limit: i32::MAX as u64 })
    }
}

fn pack(tag: u16, values: &[i64]) -> Column {
    let mut least = NULL;
    let mut most = i64::MIN;
    let mut nullable = false;
    for &value in values {
        if value == NULL {
            nullable = true;
        } else {
            least = least.min(value);
            most = most.max(value);
        }
    }
    let base = if least == NULL { 0 } else { least };
    let span = if most < base { 0 } else { most.wrapping_sub(base) as u64 };
    // No value is i64::MAX, so the span is at most 2^64 - 2 and the null code always has room.
    let top = span + u64::from(nullable);
    let width = (64 - top.leading_zeros()).div_ceil(8) as usize;
    let mut bytes = Vec::with_capacity(values.len() * width + PAD);
    if width > 0 {
        for &value in values {
            let raw = match (value == NULL, nullable) {
                (true, _) => 0,
                (false, shift) => (value.wrapping_sub(base) as u64).wrapping_add(u64::from(shift)),
            };
            bytes.extend(raw.to_le_bytes().into_iter().take(width));
        }
    }
    bytes.extend_from_slice(&[0; PAD]);
    Column {
        tag,
        width: width as u8,
        nullable: u8::from(nullable),
        count: values.len() as u32,
        base,
        bytes,
    }
}

/// Where one column lies in the file, with everything needed to read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnPlace {
    pub(crate) tag: u16,
    pub(crate) count: u32,
    width: u8,
    nullable: bool,
    base: i64,
    /// Offset of the packed bytes from the start of the file.
    start: usize,
    len: usize,
}

/// Reads the columns of a section that starts at `start` in `file`.
///
/// # Errors
/// [`Error::Corrupt`] when the archive is not one of ours or a column is shorter than it says.
pub(crate) fn columns_of(
    path: &Path,
    section: &'static str,
    file: &[u8],
    start: usize,
    len: usize,
) -> Result<Vec<ColumnPlace>> {
    let bytes = start
        .checked_add(len)
        .and_then(|end| file.get(start..end))
        .ok_or_else(|| Error::corrupt(path, section, "the section lies outside the file"))?;
    let table = rkyv::access::<ArchivedTable, rancor::Failure>(bytes)
        .map_err(|_| Error::corrupt(path, section, "the columns do not validate"))?;
    let mut places = Vec::with_capacity(table.columns.len());
    for column in table.columns.iter() {
        let count = column.count.to_native();
        let width = column.width;
        let packed = column.bytes.as_slice();
        let wanted = (count as usize).checked_mul(width as usize).and_then(|n| n.checked_add(PAD));
        // Every table has a column whose values differ, which takes a byte per entry: a count
        // past the section's length is damage, and callers may allocate by it.
        if count as usize > len || width > 8 || column.nullable > 1 || wanted != Some(packed.len())
        {
            return Err(Error::corrupt(path, section, "a column is not as long as it says"));
        }
        places.push(ColumnPlace {
            tag: column.tag.to_native(),
            count,
            width,
            nullable: column.nullable == 1,
            base: column.base.to_native(),
            start: start + (packed.as_ptr() as usize - bytes.as_ptr() as usize),
            len: packed.len(),
        });
    }
    Ok(places)
}

/// One column, ready to read.
#[derive(Clone, Copy, Debug)]
pub struct ColumnView<'a> {
    bytes: &'a [u8],
    width: usize,
    mask: u64,
    nullable: bool,
    base: i64,
    count: u32,
}

impl<'a> ColumnView<'a> {
    pub(crate) fn new(file: &'a [u8], place: &ColumnPlace) -> Self {
        let bytes = file.get(place.start..place.start + place.len).unwrap_or_default();
        let width = place.width as usize;
        Self {
            bytes,
            width,
            mask: if width == 8 { u64::MAX } else { (1u64 << (8 * width)) - 1 },
            nullable: place.nullable,
            base: place.base,
            count: place.count,
        }
    }

    /// Number of values.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The value at `index`; [`NULL`] where absent or out of range. One load, no allocation.
    #[inline]
    pub fn get(&self, index: u32) -> i64 {
        if index >= self.count {
            return NULL;
        }
        let at = index as usize * self.width;
        let Some(word) = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            return NULL;
        };
        let raw = u64::from_le_bytes(*word) & self.mask;
        if self.nullable {
            if raw == 0 { NULL } else { self.base.wrapping_add((raw - 1) as i64) }
        } else {
            self.base.wrapping_add(raw as i64)
        }
    }

    /// The first index in a sorted column whose value is not below `value`.
    pub fn lower_bound(&self, value: i64) -> u32 {
        self.lower_bound_in(value, 0, self.count)
    }

    /// As [`ColumnView::lower_bound`], looking around `guess` first: where values are spread
    /// evenly, as hashes are, that spares most of the cache misses.
    pub fn lower_bound_near(&self, value: i64, guess: u32) -> u32 {
        let mut step = 32u32;
        let (mut low, mut high) = (0, self.count);
        if guess < high && self.get(guess) < value {
            low = guess + 1;
            while let Some(next) = low.checked_add(step).filter(|next| *next < high) {
                if self.get(next) >= value {
                    high = next;
                    break;
                }
                low = next + 1;
                step = step.saturating_mul(2);
            }
        } else {
            high = guess.min(high);
            while let Some(next) = high.checked_sub(step) {
                if self.get(next) < value {
                    low = next + 1;
                    break;
                }
                high = next;
                step = step.saturating_mul(2);
            }
        }
        self.lower_bound_in(value, low, high)
    }

    pub(crate) fn lower_bound_in(&self, value: i64, mut low: u32, mut high: u32) -> u32 {
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle) < value {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(values: &[i64]) -> (u8, Vec<i64>) {
        let mut builder = TableBuilder::default();
        builder.push(7, values);
        let bytes = builder.finish().unwrap();
        let places = columns_of(Path::new("t"), "t", &bytes, 0, bytes.len()).unwrap();
        let view = ColumnView::new(&bytes, &places[0]);
        (places[0].width, (0..view.len()).map(|i| view.get(i)).collect())
    }

    #[test]
    fn every_width_comes_back() {
        let cases: &[(u8, &[i64])] = &[
            (0, &[]),
            (0, &[0]),
            (0, &[1_780_000_000_000_000; 5]),
            (1, &[10, 265]),
            (2, &[10, 266]),
            (3, &[0, 1 << 16]),
            (4, &[-5, 1 << 30]),
            (5, &[0, 1 << 32]),
            (6, &[0, 1 << 40]),
            (7, &[0, 1 << 48]),
            (8, &[0, 1 << 56]),
            (8, &[i64::MIN, i64::MAX - 1]),
            (0, &[NULL, NULL]),
            (1, &[NULL, 5]),
            (1, &[5, NULL, 259]),
            (2, &[5, NULL, 260]),
            (8, &[i64::MIN, NULL, 0]),
            (8, &[i64::MIN, NULL, i64::MAX - 1]),
        ];
        for (width, values) in cases {
            let (got_width, got) = round(values);
            assert_eq!(&got, values);
            // All-null columns need one bit for the null code only if a value exists beside it.
            if values.iter().all(|v| *v == NULL) && !values.is_empty() {
                continue;
            }
            assert_eq!(got_width, *width, "{values:?}");
        }
    }

    #[test]
    fn out_of_range_reads_are_null() {
        let mut builder = TableBuilder::default();
        builder.push(1, &[1, 2, 3]);
        let bytes = builder.finish().unwrap();
        let places = columns_of(Path::new("t"), "t", &bytes, 0, bytes.len()).unwrap();
        let view = ColumnView::new(&bytes, &places[0]);
        assert_eq!(view.get(3), NULL);
        assert_eq!((view.lower_bound(2), view.lower_bound(9), view.lower_bound(-1)), (1, 3, 0));
    }

    #[test]
    fn a_guess_changes_no_answer() {
        let values: Vec<i64> = (0..500).map(|i| i / 3 * 10).collect();
        let mut builder = TableBuilder::default();
        builder.push(1, &values);
        let bytes = builder.finish().unwrap();
        let places = columns_of(Path::new("t"), "t", &bytes, 0, bytes.len()).unwrap();
        let view = ColumnView::new(&bytes, &places[0]);
        for value in [-1, 0, 1, 10, 700, 705, 1650, 1660, 1661] {
            let wanted = values.partition_point(|v| *v < value) as u32;
            for guess in [0, 1, 40, 210, 211, 212, 498, 499, 500, u32::MAX] {
                assert_eq!(view.lower_bound_near(value, guess), wanted, "{value} from {guess}");
            }
        }
    }

    #[test]
    fn a_count_that_no_bytes_back_is_refused() {
        // One value repeated has width 0: only the section's length bounds the count.
        let mut builder = TableBuilder::default();
        builder.push(1, &[7; 300]);
        let bytes = builder.finish().unwrap();
        assert!(bytes.len() < 300);
        assert!(columns_of(Path::new("t"), "t", &bytes, 0, bytes.len()).is_err());
    }

    #[test]
    fn truncated_archives_are_refused() {
        let mut builder = TableBuilder::default();
        builder.push(1, &[1, 2, 300]);
        builder.push(2, &[NULL, 2, 300]);
        let bytes = builder.finish().unwrap();
        for len in 0..bytes.len() {
            let copy = crate::Bytes::copy_of(&bytes[..len]);
            // A shorter archive has its root elsewhere: it is refused, or its columns still
            // lie wholly inside the bytes that are left.
            if let Ok(places) = columns_of(Path::new("t"), "t", &copy, 0, len) {
                assert!(places.iter().all(|p| p.start + p.len <= len));
            }
        }
    }
}
