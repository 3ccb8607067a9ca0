//! Makes the checksums of a changed segment right again, so that a mutant gets past them.
//!
//! Written from FORMAT.md, not from the crate: where the two disagree, the tests fail. The fuzz
//! targets use this file too.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

const HEADER: usize = 64;
const FOOTER: usize = 64;
const ENTRY: usize = 40;

/// A section as the table of contents names it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its number.
    pub code: u32,
    /// Where it starts.
    pub start: usize,
    /// How long it is.
    pub len: usize,
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|b| u64::from_le_bytes(*b))
}

/// Where the table of contents starts and ends, as the footer has it.
fn toc(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.len().checked_sub(FOOTER)?;
    let start = usize::try_from(word(bytes, end)?).ok()?;
    (HEADER <= start && start <= end).then_some((start, end))
}

/// The sections, in the order of the table of contents.
pub fn sections(bytes: &[u8]) -> Vec<Place> {
    let Some(toc) = toc(bytes).and_then(|(start, end)| bytes.get(start..end)) else {
        return Vec::new();
    };
    let place = |entry: &[u8]| {
        Some(Place {
            code: word(entry, 0)? as u32,
            start: usize::try_from(word(entry, 8)?).ok()?,
            len: usize::try_from(word(entry, 16)?).ok()?,
        })
    };
    toc.chunks_exact(ENTRY).filter_map(place).collect()
}

/// Corrects the sums of the sections, the table of contents, the footer and the header, and the
/// length that the footer says, as far as they can be found.
pub fn reseal(bytes: &mut [u8]) {
    if let Some(header) = bytes.get_mut(..HEADER) {
        let sum = xxh3_64(&header[..56]);
        header[56..].copy_from_slice(&sum.to_le_bytes());
    }
    let Some((start, end)) = toc(bytes) else { return };
    for (index, place) in sections(bytes).into_iter().enumerate() {
        let section = place.start.checked_add(place.len).and_then(|e| bytes.get(place.start..e));
        if let Some(sum) = section.map(xxh3_64) {
            let at = start + index * ENTRY + 24;
            bytes[at..at + 8].copy_from_slice(&sum.to_le_bytes());
        }
    }
    let sum = xxh3_64(&bytes[start..end]);
    let len = bytes.len() as u64;
    bytes[end + 16..end + 24].copy_from_slice(&sum.to_le_bytes());
    bytes[end + 24..end + 32].copy_from_slice(&len.to_le_bytes());
    let sum = xxh3_64(&bytes[end..end + 48]);
    bytes[end + 48..end + 56].copy_from_slice(&sum.to_le_bytes());
}

/// Makes a section say that it has `count` entries; in a table, every column says so too, with
/// width 0, so that no bytes are needed for them.
pub fn promise(bytes: &mut [u8], code: u32, count: u32) {
    let Some((toc, _)) = toc(bytes) else { return };
    let Some((index, place)) =
        sections(bytes).into_iter().enumerate().find(|(_, place)| place.code == code)
    else {
        return;
    };
    let rows = toc + index * ENTRY + 32;
    if let Some(rows) = bytes.get_mut(rows..rows + 8) {
        rows.copy_from_slice(&u64::from(count).to_le_bytes());
    }
    if !matches!(code, 1 | 7 | 10..=13) {
        return;
    }
    // The root: a relative pointer to the records, and how many there are.
    let end = place.start.saturating_add(place.len);
    let Some(table) = bytes.get_mut(place.start..end) else { return };
    let Some((records, root)) = table.split_last_chunk_mut::<8>() else { return };
    let columns = u32::from_le_bytes([root[4], root[5], root[6], root[7]]) as usize;
    for record in records.rchunks_exact_mut(24).take(columns) {
        record[2] = 0;
        record[4..8].copy_from_slice(&count.to_le_bytes());
        record[20..24].copy_from_slice(&8u32.to_le_bytes());
    }
}

/// Corrects the first line of a changed manifest.
pub fn reseal_manifest(bytes: &[u8]) -> Vec<u8> {
    let body = bytes.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default();
    let mut sealed =
        format!("packset-manifest 1 {} {:032x}\n", body.len(), xxh3_128(body)).into_bytes();
    sealed.extend_from_slice(body);
    sealed
}
