//! Meaning without a model: a text as the mean of what its pieces of words mean.
//!
//! A static table gives each of 29,528 pieces of words a vector of 256 numbers, kept in eight bits
//! with a scale each; the vector of a text is their sum. That costs microseconds, needs no file,
//! no library and no download, and finds a claim that shares no word with the question. The table
//! is potion-base-8M (MIT, MinishLab; see `LICENSE-potion`), made by `bin/gen-table.rs`, and lies
//! in the program as read-only data: of its eight megabytes only the pages that hold the pieces
//! in hand are ever read.
//!
//! Not here: comparing vectors ([`crate::search`]), models that are run ([`crate::encode`]).
//! Invariants: the same text has the same code on every machine; a table that this program
//! cannot read would have failed its tests, and reads as one without pieces.

pub mod wordpiece;

use packset_segments::Space;
use packset_segments::manifest::{Hex, SpaceEntry};
use packset_segments::merge::Fill;
use xxhash_rust::xxh3::xxh3_64;

/// The table, as [`bytes`] lays it out.
static TABLE: &[u8] = include_bytes!("potion-base-8M.table");

/// What the table is called where models have names.
pub const NAME: &str = "static";
/// Its model, as the manifest names it.
pub const MODEL: &str = "potion-base-8M";
/// XXH3-128 of the table, which names the space: another table is another space.
pub const HASH: u128 = 0xa5ae9a050df08c9956661e605f9f816f;
/// Numbers of a vector.
pub const DIMS: usize = 256;

/// A text is the sum of its first so many pieces, the bound that the model's own library sets.
const PIECES: usize = 512;

/// Begins the table.
const MAGIC: &[u8; 8] = b"pkstatic";
/// Magic, number of pieces, number of slots, bytes of the longest piece, bytes of all pieces.
const HEADER: usize = 24;
/// A slot that leads to no piece.
const EMPTY: u16 = u16::MAX;
/// What stands before a piece that continues a word.
const CONTINUES: &[u8] = b"##";

/// The space that the table spans.
pub fn space() -> Space {
    Space { id: HASH, dims: DIMS as u32 }
}

/// What the manifest says of the space.
pub fn entry() -> SpaceEntry {
    let file = format!("{HASH:032x}");
    SpaceEntry { id: Hex(HASH), model: MODEL.to_owned(), dims: DIMS as u32, file }
}

/// Gives the texts of a merge the codes that they lack.
pub fn fill() -> Fill<'static> {
    Fill { space: space(), every: true, code: &|text| Some(code(text)) }
}

/// The code of a text.
pub fn code(text: &str) -> Vec<u8> {
    space().code(&vector(text))
}

/// The vector of a text, of no particular length; zeros for a text without a known piece.
pub fn vector(text: &str) -> [f32; DIMS] {
    let table = Table::get();
    let mut sum = [0f32; DIMS];
    let mut left = PIECES;
    table.pieces(text, |piece| {
        table.add(piece, &mut sum);
        left -= 1;
        left > 0
    });
    sum
}

/// As [`vector`], with each word's pieces counted as often as `weigh` says of the word: in small
/// letters, without accents.
pub fn vector_weighed(text: &str, mut weigh: impl FnMut(&str) -> f32) -> [f32; DIMS] {
    let table = Table::get();
    let mut sum = [0f32; DIMS];
    let mut left = PIECES;
    table.words(text, |word, pieces| {
        let weight = weigh(word);
        for piece in pieces.iter().take(left) {
            table.add_scaled(*piece, weight, &mut sum);
        }
        left = left.saturating_sub(pieces.len());
        left > 0
    });
    sum
}

/// The parts of a table.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    longest: usize,
    slots: &'a [u8],
    ends: &'a [u8],
    words: &'a [u8],
    scales: &'a [u8],
    rows: &'a [u8],
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(2 * at..)?.first_chunk::<2>().map(|bytes| u16::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(4 * at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
}

impl Table<'static> {
    /// The one in the program.
    pub fn get() -> Self {
        Self::read(TABLE).unwrap_or(Self {
            longest: 0,
            slots: &[],
            ends: &[],
            words: &[],
            scales: &[],
            rows: &[],
        })
    }
}

impl<'a> Table<'a> {
    /// Reads a table; none if it is not whole.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (magic, sizes) = bytes.get(..HEADER)?.split_at(MAGIC.len());
        (magic == MAGIC).then_some(())?;
        let size = |at| long(sizes, at).map(|size| size as usize);
        let (pieces, slots, longest, words) = (size(0)?, size(1)?, size(2)?, size(3)?);
        let mut rest = bytes.get(HEADER..)?;
        let mut part = |len: usize| {
            let (part, after) = rest.split_at_checked(len)?;
            rest = after;
            Some(part)
        };
        let table = Self {
            longest,
            slots: part(2 * slots)?,
            ends: part(4 * pieces)?,
            words: part(words.next_multiple_of(4))?,
            scales: part(4 * pieces)?,
            rows: part(DIMS * pieces)?,
        };
        (slots.is_power_of_two() && slots > pieces).then_some(table)
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.ends.len() / 4
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A piece, as its vocabulary spells it.
    pub fn word(&self, piece: u32) -> &'a [u8] {
        let end = |at: Option<usize>| at.and_then(|at| long(self.ends, at)).unwrap_or_default();
        let range =
            end((piece as usize).checked_sub(1)) as usize..end(Some(piece as usize)) as usize;
        self.words.get(range).unwrap_or_default()
    }

    /// The number of a piece.
    fn find(&self, piece: &[u8], continues: bool) -> Option<u32> {
        let mask = (self.slots.len() / 2).checked_sub(1)?;
        let mut slot = slot_of(piece, continues, mask);
        loop {
            let number = short(self.slots, slot).filter(|number| *number != EMPTY)?;
            let word = self.word(u32::from(number));
            let same = match continues {
                true => word.strip_prefix(CONTINUES) == Some(piece),
                false => word == piece,
            };
            if same {
                return Some(u32::from(number));
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Names every known piece of a text, until `see` has had enough.
    pub fn pieces(&self, text: &str, mut see: impl FnMut(u32) -> bool) {
        self.words(text, |_, pieces| pieces.iter().all(|piece| see(*piece)));
    }

    /// Names every word of a text with its pieces, none if it is not known, until `see` has had
    /// enough.
    fn words(&self, text: &str, see: impl FnMut(&str, &[u32]) -> bool) {
        wordpiece::words(text, self.longest, |piece, continues| self.find(piece, continues), see);
    }

    /// Adds what a piece means.
    fn add(&self, piece: u32, sum: &mut [f32; DIMS]) {
        self.add_scaled(piece, 1.0, sum);
    }

    fn add_scaled(&self, piece: u32, weight: f32, sum: &mut [f32; DIMS]) {
        let start = piece as usize * DIMS;
        let row = self.rows.get(start..start + DIMS).unwrap_or_default();
        let scale = weight * long(self.scales, piece as usize).map_or(0.0, f32::from_bits);
        for (sum, number) in sum.iter_mut().zip(row) {
            *sum += scale * f32::from(*number as i8);
        }
    }
}

/// Where the search for a piece begins. A piece that is written with the marks of continuing and
/// one that continues must not be taken for each other: the search compares both.
fn slot_of(piece: &[u8], continues: bool, mask: usize) -> usize {
    let hash = xxh3_64(piece) as usize;
    (if continues { hash.rotate_left(29) } else { hash }) & mask
}

/// Lays a table out: pieces as their vocabulary spells them, and a row of [`DIMS`] for each. None
/// if there are more pieces than two bytes can number, or rows of another length.
pub fn bytes(pieces: &[String], rows: &[Vec<f32>]) -> Option<Vec<u8>> {
    let fits = pieces.len() < usize::from(EMPTY) && pieces.len() == rows.len();
    (fits && rows.iter().all(|row| row.len() == DIMS)).then_some(())?;
    let slots = (2 * pieces.len()).next_power_of_two();
    let mut table = vec![EMPTY; slots];
    let (mut words, mut ends, mut longest) = (Vec::new(), Vec::new(), 0);
    for (number, piece) in pieces.iter().enumerate() {
        let continues = piece.as_bytes().strip_prefix(CONTINUES).filter(|rest| !rest.is_empty());
        let bare = continues.unwrap_or(piece.as_bytes());
        longest = longest.max(bare.len());
        let mut slot = slot_of(bare, continues.is_some(), slots - 1);
        while table[slot] != EMPTY {
            slot = (slot + 1) & (slots - 1);
        }
        table[slot] = number as u16;
        words.extend_from_slice(piece.as_bytes());
        ends.push(words.len() as u32);
    }
    let mut bytes = MAGIC.to_vec();
    for size in [pieces.len(), slots, longest, words.len()] {
        bytes.extend_from_slice(&(size as u32).to_le_bytes());
    }
    bytes.extend(table.iter().flat_map(|slot| slot.to_le_bytes()));
    bytes.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
    words.resize(words.len().next_multiple_of(4), 0);
    bytes.extend_from_slice(&words);
    let most = |row: &Vec<f32>| row.iter().fold(0f32, |most, number| most.max(number.abs()));
    bytes.extend(rows.iter().flat_map(|row| (most(row) / 127.0).to_le_bytes()));
    let space = Space { id: 0, dims: DIMS as u32 };
    for row in rows {
        bytes.extend_from_slice(&space.code(row));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
