//! Vectors: what the texts of a segment mean, as directions in the spaces of models.
//!
//! A model turns a text into numbers; only their direction counts. A *code* keeps each number in
//! eight bits, scaled so that the largest is 127, so that a cosine is a sum of products of small
//! integers, the same on every machine. A *sketch* keeps the signs alone, an eighth of that: a
//! large store looks at sketches first and at the codes of the best.
//!
//! A segment may hold codes of several spaces, and of any of its rows that own a text. Spaces
//! are told apart by their ids and never mixed. Not here: models, and comparing codes; only how
//! they lie.
//!
//! Invariants: rows ascend; a code's bytes past its dimensions are zero; the norm and the sketch
//! of a code follow from it, so a check recomputes them. A text that points nowhere has a code
//! of zeros and the norm zero: it was looked at, and is like nothing.

use crate::error::Result;
use crate::frame::FrameWriter;
use crate::read::Segment;
use crate::{Flags, Section};

/// Rows are padded to this many dimensions: a cache line, and no tail for any kernel.
const STEP: usize = 64;
/// The section's own header, then 64 bytes for each space.
const HEADER: usize = 64;
const ENTRY: usize = 64;
/// Largest number of dimensions: four times that of any model in use.
const DIMS: usize = 1 << 14;
/// Codes of a space from which their sketches are stored; of fewer they are made when asked for.
const SKETCHED: usize = 8192;

/// What vectors are comparable with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Space {
    /// Stands for the model, its file and its dimensions.
    pub id: u128,
    /// Numbers of a vector.
    pub dims: u32,
}

impl Space {
    /// Bytes of a code: the dimensions, rounded up to a multiple of 64.
    pub fn stride(&self) -> usize {
        (self.dims as usize).div_ceil(STEP) * STEP
    }

    /// The code of a vector: each number times 127 over the largest, rounded half away from
    /// zero. All zeros if it points nowhere: no number, one that is not finite, or zeros only.
    pub fn code(&self, vector: &[f32]) -> Vec<u8> {
        let mut code = vec![0; self.stride()];
        let most = vector.iter().fold(0f32, |most, number| most.max(number.abs()));
        let whole = vector.len() == self.dims as usize && vector.iter().all(|it| it.is_finite());
        if whole && most > 0.0 {
            let scale = 127.0 / f64::from(most);
            for (byte, number) in code.iter_mut().zip(vector) {
                *byte = (f64::from(*number) * scale).round() as i8 as u8;
            }
        }
        code
    }
}

/// What a cosine divides by: one over the length of a code, zero if it has none.
pub fn norm(code: &[u8]) -> f32 {
    let square: i64 = code.iter().map(|byte| i64::from(*byte as i8).pow(2)).sum();
    if square == 0 { 0.0 } else { (1.0 / (square as f64).sqrt()) as f32 }
}

/// The signs of a code, a bit each, lowest first: set where the number is above zero.
pub fn sketch(code: &[u8]) -> Vec<u8> {
    let byte = |eight: &[u8]| {
        eight.iter().rev().fold(0u8, |all, one| all << 1 | u8::from((*one as i8) > 0))
    };
    code.chunks(8).map(byte).collect()
}

/// Codes of one space in the making.
#[derive(Debug)]
pub(crate) struct Codes {
    pub(crate) space: Space,
    /// The rows that have one, ascending.
    pub(crate) rows: Vec<u32>,
    /// Their codes end to end; empty if they are streamed.
    pub(crate) bytes: Vec<u8>,
}

/// Adds a code to the codes of its space.
pub(crate) fn gather(all: &mut Vec<Codes>, space: Space, row: u32, code: &[u8]) {
    if code.len() != space.stride() || space.dims == 0 {
        return;
    }
    let at = match all.iter().position(|codes| codes.space == space) {
        Some(at) => at,
        None => {
            all.push(Codes { space, rows: Vec::new(), bytes: Vec::new() });
            all.len() - 1
        }
    };
    if let Some(codes) = all.get_mut(at) {
        codes.rows.push(row);
        codes.bytes.extend_from_slice(code);
    }
}

/// Writes the section, none if there is no code. `code` hands out the code at a place of a
/// space, asked for in order.
pub(crate) fn write(
    frame: &mut FrameWriter<'_>,
    all: &[Codes],
    mut code: impl FnMut(&Codes, usize, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let all: Vec<&Codes> = all.iter().filter(|codes| !codes.rows.is_empty()).collect();
    if all.is_empty() {
        return Ok(());
    }
    let total: u64 = all.iter().map(|codes| codes.rows.len() as u64).sum();
    frame.open(Section::Vectors, total)?;
    let mut header = Vec::with_capacity(HEADER + all.len() * ENTRY);
    header.extend_from_slice(&(all.len() as u32).to_le_bytes());
    header.resize(HEADER, 0);
    let mut at = HEADER + all.len() * ENTRY;
    let mut placed = Vec::with_capacity(all.len());
    for codes in &all {
        let layout = Layout::of(codes.space, codes.rows.len(), at);
        header.extend_from_slice(&codes.space.id.to_be_bytes());
        header.extend_from_slice(&codes.space.dims.to_le_bytes());
        header.extend_from_slice(&(codes.rows.len() as u32).to_le_bytes());
        header.extend_from_slice(&(at as u64).to_le_bytes());
        header.extend_from_slice(&u32::from(layout.sketched).to_le_bytes());
        header.resize(header.len().div_ceil(ENTRY) * ENTRY, 0);
        at = layout.end;
        placed.push(layout);
    }
    frame.put(&header)?;
    let mut buffer = Vec::new();
    for (codes, layout) in all.into_iter().zip(placed) {
        let rows: Vec<u8> = codes.rows.iter().flat_map(|row| row.to_le_bytes()).collect();
        padded(frame, &rows)?;
        let mut norms = Vec::with_capacity(4 * codes.rows.len());
        let mut sketches = Vec::new();
        for place in 0..codes.rows.len() {
            buffer.clear();
            code(codes, place, &mut buffer)?;
            buffer.resize(codes.space.stride(), 0);
            frame.put(&buffer)?;
            norms.extend_from_slice(&norm(&buffer).to_le_bytes());
            if layout.sketched {
                sketches.extend_from_slice(&sketch(&buffer));
            }
        }
        padded(frame, &norms)?;
        padded(frame, &sketches)?;
    }
    Ok(())
}

fn padded(frame: &mut FrameWriter<'_>, bytes: &[u8]) -> Result<()> {
    frame.put(bytes)?;
    let over = bytes.len() % STEP;
    if over > 0 {
        frame.put([0u8; STEP].get(over..).unwrap_or_default())?;
    }
    Ok(())
}

/// Where the parts of one space lie in the section.
#[derive(Clone, Copy, Debug)]
struct Layout {
    rows: usize,
    codes: usize,
    norms: usize,
    sketches: usize,
    sketched: bool,
    end: usize,
}

impl Layout {
    fn of(space: Space, count: usize, at: usize) -> Self {
        Self::with(space, count, at, count >= SKETCHED)
    }

    fn with(space: Space, count: usize, at: usize, sketched: bool) -> Self {
        // Counts and dimensions are bounded where they are read: this does not overflow.
        let up = |bytes: usize| bytes.div_ceil(STEP) * STEP;
        let codes = at + up(4 * count);
        let norms = codes + space.stride() * count;
        let sketches = norms + up(4 * count);
        let end = sketches + if sketched { up(space.stride() / 8 * count) } else { 0 };
        Self { rows: at, codes, norms, sketches, sketched, end }
    }
}

/// The codes of one space in a segment.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'a> {
    space: Space,
    rows: &'a [u8],
    codes: &'a [u8],
    norms: &'a [u8],
    sketches: &'a [u8],
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|word| u32::from_le_bytes(*word))
}

impl<'a> Vectors<'a> {
    /// The space.
    pub fn space(&self) -> Space {
        self.space
    }

    /// How many rows have a code.
    pub fn len(&self) -> usize {
        self.rows.len() / 4
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row of the code at a place, below [`Vectors::len`].
    pub fn row(&self, place: usize) -> Option<u32> {
        word(self.rows, place.checked_mul(4)?)
    }

    /// The place of a row's code. Usually every row has one, and then this is one look.
    pub fn place(&self, row: u32) -> Option<usize> {
        if self.row(row as usize) == Some(row) {
            return Some(row as usize);
        }
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.row(middle)? < row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (self.row(low) == Some(row)).then_some(low)
    }

    /// The code at a place: [`Space::stride`] signed bytes.
    pub fn code(&self, place: usize) -> Option<&'a [u8]> {
        let stride = self.space.stride();
        let start = place.checked_mul(stride)?;
        self.codes.get(start..start.checked_add(stride)?)
    }

    /// All codes, end to end.
    pub fn codes(&self) -> &'a [u8] {
        self.codes
    }

    /// One over the length of the code at a place; zero if it has none.
    pub fn norm(&self, place: usize) -> f32 {
        place.checked_mul(4).and_then(|at| word(self.norms, at)).map_or(0.0, f32::from_bits)
    }

    /// All sketches end to end, an eighth of a code each; none if they are not stored.
    pub fn sketches(&self) -> Option<&'a [u8]> {
        (!self.sketches.is_empty()).then_some(self.sketches)
    }
}

impl Segment {
    /// The spaces that some row has a code in.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`].
    pub fn spaces(&self) -> Result<Vec<Space>> {
        Ok(self.placed()?.into_iter().map(|(space, ..)| space).collect())
    }

    /// The codes of a space; none if no row has one.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`].
    pub fn vectors(&self, space: u128) -> Result<Option<Vectors<'_>>> {
        let Some((space, count, layout)) =
            self.placed()?.into_iter().find(|(found, ..)| found.id == space)
        else {
            return Ok(None);
        };
        let section = self.section(Section::Vectors);
        let part = |start: usize, len: usize| {
            section.get(start..start + len).ok_or_else(|| self.corrupt("vectors", OUTSIDE))
        };
        let sketches = if layout.sketched { space.stride() / 8 * count } else { 0 };
        Ok(Some(Vectors {
            space,
            rows: part(layout.rows, 4 * count)?,
            codes: part(layout.codes, space.stride() * count)?,
            norms: part(layout.norms, 4 * count)?,
            sketches: part(layout.sketches, sketches)?,
        }))
    }

    /// The spaces with their counts and where they lie, all inside the section.
    fn placed(&self) -> Result<Vec<(Space, usize, Layout)>> {
        let section = self.section(Section::Vectors);
        if section.is_empty() {
            return Ok(Vec::new());
        }
        let bad = |what| self.corrupt("vectors", what);
        let count = word(section, 0).ok_or_else(|| bad("a short header"))? as usize;
        let head = count.checked_mul(ENTRY).and_then(|len| len.checked_add(HEADER));
        let head = head.filter(|head| *head <= section.len()).ok_or_else(|| bad(OUTSIDE))?;
        let mut at = head;
        let mut placed = Vec::with_capacity(count);
        for entry in section.get(HEADER..head).unwrap_or_default().chunks_exact(ENTRY) {
            let id = entry.first_chunk::<16>().map(|id| u128::from_be_bytes(*id));
            let fields = || Some((id?, word(entry, 16)?, word(entry, 20)?, word(entry, 24)?));
            let (id, dims, count, start) = fields().ok_or_else(|| bad("a short entry"))?;
            let sketched = word(entry, 32) == Some(1);
            let space = Space { id, dims };
            if dims == 0 || dims as usize > DIMS || count > self.rows() {
                return Err(bad("a space that no writer made"));
            }
            let layout = Layout::with(space, count as usize, at, sketched);
            let high = word(entry, 28).unwrap_or_default();
            let said = u64::from(high) << 32 | u64::from(start);
            if said != at as u64 || layout.end > section.len() {
                return Err(bad(OUTSIDE));
            }
            at = layout.end;
            placed.push((space, count as usize, layout));
        }
        if at == section.len() { Ok(placed) } else { Err(bad(OUTSIDE)) }
    }

    /// Checks every code, and that norms and sketches are theirs.
    pub(crate) fn check_vectors(&self) -> Result<()> {
        let bad = |what| self.corrupt("vectors", what);
        for space in self.spaces()? {
            let Some(vectors) = self.vectors(space.id)? else { continue };
            let mut next = 0;
            for place in 0..vectors.len() {
                let row = vectors.row(place).filter(|row| *row >= next && *row < self.rows());
                let row = row.ok_or_else(|| bad("the rows are not sorted"))?;
                next = row + 1;
                if !self.flags(row).contains(Flags::OWNER) {
                    return Err(bad("a vector of a row without a text"));
                }
                let code = vectors.code(place).unwrap_or_default();
                let over = code.get(space.dims as usize..).unwrap_or_default();
                if over.iter().any(|byte| *byte != 0) || code.contains(&0x80) {
                    return Err(bad("a code that no writer made"));
                }
                if vectors.norm(place).to_bits() != norm(code).to_bits() {
                    return Err(bad("a norm is not that of its code"));
                }
                let len = space.stride() / 8;
                let stored = vectors.sketches().map(|all| all.get(place * len..(place + 1) * len));
                if stored.is_some_and(|stored| stored != Some(&sketch(code)[..])) {
                    return Err(bad("a sketch is not that of its code"));
                }
            }
        }
        Ok(())
    }
}

const OUTSIDE: &str = "a part lies outside it";
