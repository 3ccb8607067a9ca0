//! The numbers that name columns, sections, flags and corpora on disk.
//!
//! They are the format: a number is never reused for another meaning. The layers above may
//! declare integer columns of their own from [`DECLARED`] up; what those mean is theirs.

/// When the pack learned this version, microseconds since 1970 UTC.
pub const RECORDED: u16 = 1;
/// Start of the window in which the record is true; null: since ever.
pub const VALID_FROM: u16 = 2;
/// End of that window, exclusive; null: open.
pub const VALID_TO: u16 = 3;
/// Dictionary code of the record's kind.
pub const KIND: u16 = 4;
/// Dictionary code of the record's shape (how its JSON is put together again).
pub const SHAPE: u16 = 5;
/// Bits of [`crate::Flags`].
pub const FLAGS: u16 = 6;
/// Document length, coded by [`crate::postings::len_code`].
pub const LENGTH: u16 = 7;
/// The row of this segment that holds this version's text; null: itself, an older segment, or
/// no text at all.
pub const OWNER: u16 = 8;
/// `rows + 1` offsets into the text section.
pub const TEXT_AT: u16 = 9;
/// `rows + 1` offsets into the rest section.
pub const REST_AT: u16 = 10;
/// Rows in the order of (id, row).
pub const ID_ORDER: u16 = 11;
/// The first tag that the layers above may give a meaning.
pub const DECLARED: u16 = 32;

/// Terms: `terms + 1` offsets into the term bytes.
pub const TERM_AT: u16 = 1;
/// Terms: rows of this segment that hold the term.
pub const TERM_ROWS: u16 = 2;
/// Terms: change of the store's live document frequency that this segment makes.
pub const TERM_LIVE: u16 = 3;
/// Terms: the row itself if one row holds the term, else an offset into the postings.
pub const TERM_PLACE: u16 = 4;

/// Keys: 32-bit fingerprints, ascending.
pub const KEY_PRINT: u16 = 1;
/// Keys: the row that bears the key.
pub const KEY_ROW: u16 = 2;

/// Ends and overlay: the row that ended.
pub const END_ROW: u16 = 1;
/// Ends and overlay: when, microseconds.
pub const END_AT: u16 = 2;
/// Ends and overlay: a [`crate::Reason`].
pub const END_REASON: u16 = 3;
/// Overlay: index into the list of target segments.
pub const END_SEGMENT: u16 = 4;
/// Overlay: first eight bytes of each target segment's id (a column of its own length).
pub const TARGET_HIGH: u16 = 5;
/// Overlay: last eight bytes of each target segment's id.
pub const TARGET_LOW: u16 = 6;

/// Counts: dictionary code of the kind.
pub const COUNT_KIND: u16 = 1;
/// Counts: the corpus its documents are searched in.
pub const COUNT_CORPUS: u16 = 2;
/// Counts: change of the number of live records.
pub const COUNT_LIVE: u16 = 3;
/// Counts: change of the number of tokens in live records.
pub const COUNT_TOKENS: u16 = 4;
