//! A record between its two lives: the JSON object that people see, and the row on disk.
//!
//! A row keeps of a record only what neither a column nor its *shape* can give back. A shape is
//! the record's skeleton, its keys in their order with a source for each value: a constant, a
//! column, the id, the text, or the next value of the row's rest. Records that were written by
//! one verb share one shape, so a plain claim needs no JSON of its own at all. Decoding gives
//! every value back as it was written, key order and number spelling included.
//!
//! Not here: what a claim must look like (`crate::atom`), or which version is visible.
//!
//! Invariant: `decode(encode(record)) == record` for any JSON object.

use packset_segments::{NULL, Segment, tag};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::atom::{self, Kind};
use crate::time::Micros;

/// A record: an object whose keys keep their order and whose numbers keep their spelling.
pub type Record = Map<String, Value>;

/// Declared column: when the record says it was first written, microseconds.
pub const TS: u16 = tag::DECLARED;
/// Declared column: when its review is due, microseconds.
pub const DUE_AT: u16 = tag::DECLARED + 1;
/// Declared column: when it was last reviewed, microseconds.
pub const LAST_REVIEW: u16 = tag::DECLARED + 2;
/// Declared column: stability in days, the bits of an `f32`.
pub const STABILITY: u16 = tag::DECLARED + 3;
/// Declared column: trust, the bits of an `f32`.
pub const TRUST: u16 = tag::DECLARED + 4;
/// Declared column: [`set_code`] of the set the record stands in.
pub const SET: u16 = tag::DECLARED + 5;

/// Declared column: the generation whose commit wrote the version.
pub const GENERATION: u16 = tag::DECLARED + 6;

/// Declared column: [`set_code`] of the session that the record says it was written in.
pub const SESSION: u16 = tag::DECLARED + 7;

/// Kind of the record in which a workspace notes the day of its last sweep.
pub const SWEEP: &str = "sweep";
/// Kind of the record in which it notes how many claims were let in past the live cap.
pub const ALLOWANCE: &str = "allowance";

/// Corpus of the claims that a plain search reads.
pub const CLAIMS: u8 = 1;
/// Corpus of mail, which only a search for its kind reads.
pub const MAIL: u8 = 2;
/// Corpus of all other records.
pub const RECORDS: u8 = 3;

/// Keys whose values are few: they stand in the shape.
const FEW: [&str; 9] =
    ["schema", "level", "origin", "tombstone", "hook", "content", "pinned", "forgotten", "basis"];
/// What a new review block holds; only these numbers are worth a place in a shape.
const FRESH: [(&str, &str); 5] = [
    ("reps", "0"),
    ("interval_s", "86400"),
    ("ease", "2.5"),
    ("stability", "1.0"),
    ("difficulty", "5.0"),
];

/// Room for the shape of a plain claim.
const SHAPE_BYTES: usize = 256;

/// Sources of a value in a shape.
mod source {
    pub const CONSTANT: u8 = b'C';
    pub const REST: u8 = b'R';
    pub const ID: u8 = b'I';
    pub const TEXT: u8 = b'T';
    pub const KIND: u8 = b'K';
    pub const NAME: u8 = b'W';
    pub const TIME: u8 = b'M';
    pub const OBJECT: u8 = b'O';
}

/// The key of a record id: our own ids are 32 hex digits and are their key; any other string is
/// hashed, and the store compares the string itself.
pub fn key(id: &str) -> u128 {
    own_id(id).unwrap_or_else(|| xxh3_128(id.as_bytes()))
}

fn own_id(id: &str) -> Option<u128> {
    let hex = id.len() == 32 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    hex.then(|| u128::from_str_radix(id, 16).ok()).flatten()
}

/// What [`SET`] holds for a set's name; equal codes are compared by the record itself.
pub fn set_code(name: &str) -> i64 {
    (xxh3_64(name.as_bytes()) >> 32) as i64
}

/// A string field.
pub fn string<'a>(record: &'a Record, key: &str) -> Option<&'a str> {
    record.get(key).and_then(Value::as_str)
}

/// A record's id.
pub fn id(record: &Record) -> &str {
    string(record, "id").unwrap_or_default()
}

/// A record's kind.
pub fn kind(record: &Record) -> &str {
    string(record, "kind").unwrap_or_default()
}

/// Whether the record says it was deleted.
pub fn tombstone(record: &Record) -> bool {
    record.get("tombstone") == Some(&Value::Bool(true))
}

/// Whether records of a kind are the writer's notes to itself: they are counted as nothing, and no
/// export, log, difference or undo shows or moves them.
pub fn is_note(kind: &str) -> bool {
    matches!(kind, SWEEP | ALLOWANCE)
}

/// Which corpus a kind is searched in.
pub fn corpus(kind: &str) -> u8 {
    match Kind::named(kind) {
        Some(kind) if kind.is_mail() => MAIL,
        Some(_) => CLAIMS,
        None => RECORDS,
    }
}

/// The fields that [`indexed`] looks at, with those that tell the record.
pub const INDEXED: [&str; 5] = ["id", "kind", "text", "title", "entities"];

/// The strings a record is found by, in order: its text, then what stands beside it.
/// `seat:` and `horizon:` names say who and how long, not what about, and match nothing.
pub fn indexed(record: &Record) -> impl Iterator<Item = &str> {
    let entities = record.get("entities").and_then(Value::as_array).into_iter().flatten();
    let names = entities.filter_map(Value::as_str);
    let names = names.filter(|name| !name.starts_with("seat:") && !name.starts_with("horizon:"));
    let title = string(record, "title").filter(|_| Kind::of(record).is_none());
    string(record, "text").into_iter().chain(title).chain(names)
}

/// Columns that a record may declare.
const COLUMNS: usize = 7;

/// A record as a row wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The skeleton.
    pub shape: Vec<u8>,
    /// The values that the skeleton leaves open.
    pub rest: Vec<u8>,
    /// Start of validity, microseconds, or [`NULL`].
    pub valid_from: i64,
    /// End of validity, microseconds, or [`NULL`].
    pub valid_to: i64,
    /// Declared columns.
    pub columns: [(u16, i64); COLUMNS],
}

impl Encoded {
    fn column(&self, tag: u16) -> i64 {
        match tag {
            tag::VALID_FROM => self.valid_from,
            tag::VALID_TO => self.valid_to,
            _ => self.columns.iter().find(|(known, _)| *known == tag).map_or(NULL, |(_, at)| *at),
        }
    }

    /// The record that was taken apart; the rest is what it was encoded beside.
    pub fn decode(&self, key: u128, kind: &str, text: &str, name: &str) -> Record {
        self.decode_some(key, kind, text, name, None)
    }

    /// As [`Encoded::decode`], but only the fields that are named, or all.
    pub fn decode_some(
        &self,
        key: u128,
        kind: &str,
        text: &str,
        name: &str,
        wanted: Option<&[&str]>,
    ) -> Record {
        let decoder = Decoder {
            wanted,
            id: Some(key),
            column: |tag| self.column(tag),
            text,
            name,
            kind,
            shape: Reader(&self.shape),
            rest: Reader(&self.rest),
        };
        // What was encoded here decodes: that is this module's invariant.
        decoder.record().unwrap_or_default()
    }
}

fn time_of(record: &Record, key: &str) -> i64 {
    string(record, key).and_then(Micros::parse).map_or(NULL, |at| at.0)
}

fn float_bits(value: Option<&Value>) -> i64 {
    match value.and_then(Value::as_f64).map(|v| v as f32).filter(|v| v.is_finite()) {
        Some(value) => i64::from(value.to_bits()),
        None => NULL,
    }
}

/// The trust that a record ranks with; none if it says nothing that changes the usual one.
fn trust_bits(record: &Record) -> i64 {
    let says = record.contains_key("trust") || record.contains_key("content");
    let trust = says.then(|| Value::from(atom::trust(record)));
    // A trust that is no number ranks as the usual one, like one that is missing.
    float_bits(trust.as_ref().filter(|trust| trust.as_f64() != Some(1.0)))
}

/// Takes a record apart. `name` is the workspace's.
pub fn encode(record: &Record, name: &str) -> Encoded {
    let review = record.get("review").and_then(Value::as_object);
    let kind = kind(record);
    let ts = time_of(record, "ts");
    let valid_to = time_of(record, "valid_to");
    let due_at = time_of(record, "due_at");
    let last_review = review.map_or(NULL, |review| time_of(review, "last"));
    let valid_from = match time_of(record, "valid_from") {
        NULL if Kind::named(kind).is_some() => ts,
        at => at,
    };
    let mut encoded = Encoded {
        shape: Vec::with_capacity(SHAPE_BYTES),
        rest: Vec::new(),
        valid_from,
        valid_to,
        columns: [
            (TS, ts),
            (DUE_AT, due_at),
            (LAST_REVIEW, last_review),
            (STABILITY, float_bits(review.and_then(|review| review.get("stability")))),
            (TRUST, trust_bits(record)),
            (SET, string(record, "set").map_or(NULL, set_code)),
            (SESSION, session(record).map_or(NULL, set_code)),
        ],
    };
    let mut encoder = Encoder { name, kind, encoded: &mut encoded };
    encoder.object(record, true);
    encoded
}

/// The session that a record says it was written in, by itself or by its source.
fn session(record: &Record) -> Option<&str> {
    let source = || record.get("source")?.as_object().and_then(|source| string(source, "session"));
    string(record, "session").or_else(source).filter(|session| !session.is_empty())
}

struct Encoder<'a> {
    name: &'a str,
    kind: &'a str,
    encoded: &'a mut Encoded,
}

impl Encoder<'_> {
    fn object(&mut self, object: &Record, top: bool) {
        put_number(&mut self.encoded.shape, object.len());
        for (key, value) in object {
            put_bytes(&mut self.encoded.shape, key.as_bytes());
            self.value(key, value, top);
        }
    }

    fn value(&mut self, key: &str, value: &Value, top: bool) {
        match value {
            Value::String(text) if top && self.special(key, text) => {}
            Value::String(text) if self.time(key, text) => {}
            Value::String(_) if FEW.contains(&key) => self.constant(value),
            Value::Bool(_) | Value::Null => self.constant(value),
            Value::Array(list) if list.is_empty() => self.constant(value),
            Value::Object(object) if object.is_empty() => self.constant(value),
            Value::Object(object) if top && key == "review" => {
                self.encoded.shape.push(source::OBJECT);
                self.object(object, false);
            }
            Value::Number(number)
                if !top && FRESH.iter().any(|(k, v)| *k == key && *v == number.as_str()) =>
            {
                self.constant(value);
            }
            _ => {
                self.encoded.shape.push(source::REST);
                put_bytes(&mut self.encoded.rest, &json(value));
            }
        }
    }

    fn special(&mut self, key: &str, text: &str) -> bool {
        let from = match key {
            "id" if own_id(text).is_some() => source::ID,
            "text" => source::TEXT,
            "kind" if text == self.kind => source::KIND,
            "workspace" if text == self.name => source::NAME,
            _ => return false,
        };
        self.encoded.shape.push(from);
        true
    }

    /// A time that a column gives back to the letter.
    fn time(&mut self, key: &str, text: &str) -> bool {
        // A claim is updated when it is first written or, if it brought a time, when its clock
        // starts.
        let columns: &[u16] = match key {
            "ts" => &[TS],
            "updated" => &[TS, LAST_REVIEW],
            "valid_from" => &[tag::VALID_FROM],
            "valid_to" => &[tag::VALID_TO],
            "due_at" => &[DUE_AT],
            "last" => &[LAST_REVIEW],
            _ => return false,
        };
        let holds = |tag: &&u16| {
            let at = self.encoded.column(**tag);
            at != NULL && Micros(at).is_written(text)
        };
        let Some(tag) = columns.iter().find(holds) else { return false };
        self.encoded.shape.extend([source::TIME, *tag as u8]);
        true
    }

    fn constant(&mut self, value: &Value) {
        self.encoded.shape.push(source::CONSTANT);
        put_bytes(&mut self.encoded.shape, &json(value));
    }
}

fn json(value: &Value) -> Vec<u8> {
    // A `Value` has string keys and no I/O: it always becomes JSON.
    serde_json::to_vec(value).unwrap_or_default()
}

fn put_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Reads back what `put_number` and `put_bytes` wrote.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = 0usize;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn string(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    fn value(&mut self) -> Option<Value> {
        serde_json::from_slice(self.bytes()?).ok()
    }
}

/// Puts a record together again from its row and its text.
///
/// # Errors
/// [`packset_segments::Error::Corrupt`] when shape and rest do not fit.
pub fn decode(
    segment: &Segment,
    row: u32,
    text: &str,
    name: &str,
) -> Result<Record, packset_segments::Error> {
    decode_some(segment, row, text, name, None)
}

/// As [`decode`], but only the fields that are named.
///
/// # Errors
/// As [`decode`].
pub fn decode_fields(
    segment: &Segment,
    row: u32,
    text: &str,
    name: &str,
    wanted: &[&str],
) -> Result<Record, packset_segments::Error> {
    decode_some(segment, row, text, name, Some(wanted))
}

fn decode_some(
    segment: &Segment,
    row: u32,
    text: &str,
    name: &str,
    wanted: Option<&[&str]>,
) -> Result<Record, packset_segments::Error> {
    let decoder = Decoder {
        wanted,
        id: segment.id(row),
        column: |tag| segment.column(tag).map_or(NULL, |column| column.get(row)),
        text,
        name,
        kind: segment.kind(row)?,
        shape: Reader(segment.shape(row)?),
        rest: Reader(segment.rest(row)?),
    };
    decoder.record().ok_or_else(|| segment.corrupt("rest", "a record that no writer made"))
}

struct Decoder<'a, C> {
    /// The top fields to read; none for all.
    wanted: Option<&'a [&'a str]>,
    id: Option<u128>,
    column: C,
    text: &'a str,
    name: &'a str,
    kind: &'a str,
    shape: Reader<'a>,
    rest: Reader<'a>,
}

impl<C: Fn(u16) -> i64> Decoder<'_, C> {
    fn record(mut self) -> Option<Record> {
        self.object(0)
    }

    fn object(&mut self, depth: u8) -> Option<Record> {
        let count = self.shape.number()?;
        // Each field takes at least two bytes of the shape: a count past that is damage.
        if depth > 1 || count > self.shape.0.len() {
            return None;
        }
        let room = self.wanted.map_or(count, |wanted| count.min(wanted.len()));
        let mut record = Record::with_capacity(room);
        for _ in 0..count {
            let key = self.shape.string()?;
            if depth == 0 && self.wanted.is_some_and(|wanted| !wanted.contains(&key)) {
                self.pass(depth)?;
                continue;
            }
            let value = self.value(depth)?;
            record.insert(key.to_owned(), value);
        }
        Some(record)
    }

    /// Goes past a value without reading it.
    fn pass(&mut self, depth: u8) -> Option<()> {
        match self.shape.byte()? {
            source::CONSTANT => self.shape.bytes().map(drop),
            source::REST => self.rest.bytes().map(drop),
            source::ID | source::TEXT | source::KIND | source::NAME => Some(()),
            source::TIME => self.shape.byte().map(drop),
            source::OBJECT if depth == 0 => {
                for _ in 0..self.shape.number()? {
                    self.shape.string()?;
                    self.pass(depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn value(&mut self, depth: u8) -> Option<Value> {
        Some(match self.shape.byte()? {
            source::CONSTANT => self.shape.value()?,
            source::REST => self.rest.value()?,
            source::ID => Value::String(format!("{:032x}", self.id?)),
            source::TEXT => Value::String(self.text.to_owned()),
            source::KIND => Value::String(self.kind.to_owned()),
            source::NAME => Value::String(self.name.to_owned()),
            source::TIME => {
                let tag = u16::from(self.shape.byte()?);
                let at = (self.column)(tag);
                Value::String((at != NULL).then(|| Micros(at).format_ms())?)
            }
            source::OBJECT => Value::Object(self.object(depth + 1)?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_trust_column_is_what_a_record_ranks_with() {
        let tool = json!({"content": "authoritative", "origin": "tool-echo", "trust": 0.9});
        for (record, wanted) in [
            (json!({}), None),
            (json!({"trust": 0.5}), Some(0.5)),
            (json!({"trust": 1}), None),
            (json!({"trust": "much"}), None),
            (json!({"content": "authoritative"}), None),
            (json!({"content": "authoritative", "origin": "tool-echo"}), Some(0.2)),
            (json!({"content": "authoritative", "origin": "external"}), Some(0.4)),
            (json!({"content": "authoritative", "origin": "external", "trust": 0.1}), Some(0.1)),
            (tool.clone(), Some(0.2)),
        ] {
            let bits = wanted.map_or(NULL, |trust: f32| i64::from(trust.to_bits()));
            assert_eq!(trust_bits(record.as_object().unwrap()), bits, "{record}");
        }
        // The column is not where the field comes back from.
        let encoded = encode(tool.as_object().unwrap(), "work");
        assert_eq!(Value::Object(encoded.decode(0, "", "", "work")), tool);
    }
}
