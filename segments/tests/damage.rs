//! Every bit flipped, every length cut, every piece moved: damage is a typed error or no change.
//!
//! A file that was read has had all its checksums compared, so nothing may get through. A mapped
//! file has not: there an answer may be wrong, but reading must end, stay in bounds and take
//! little memory, and a check must find the damage.

use std::path::Path;

use packset_segments::{Bytes, Error, Segment, check};

use crate::allocation::peak_of;
use crate::reading::read_all;
use crate::reseal::{Place, promise, reseal, sections};
use crate::samples;

/// How the bytes came into memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Read,
    Mapped,
}

fn bytes_of(bytes: &[u8], way: Way) -> Bytes {
    // A mapping of nothing is refused by the system, and by the door to files.
    if way == Way::Read || bytes.is_empty() {
        return Bytes::copy_of(bytes);
    }
    let mut map = memmap2::MmapMut::map_anon(bytes.len()).unwrap();
    map.copy_from_slice(bytes);
    Bytes::Mapped(map.make_read_only().unwrap())
}

/// What may be held while a damaged sample is read: a few times its size.
const HELD: usize = 512 << 10;

/// Opens and reads damaged bytes; `whole` is the answer of the undamaged ones.
fn judge(damaged: &[u8], whole: u64, way: Way, what: &dyn Fn() -> String) {
    let bytes = bytes_of(damaged, way);
    let keys = samples::keys();
    let (found, held) = peak_of(|| {
        let segment = Segment::parse(Path::new("damaged.seg"), bytes)?;
        let read = read_all(&segment, &keys);
        let checked = check::check(&segment);
        assert!(checked.is_err(), "{}: a check finds nothing", what());
        match read {
            Ok(answer) if way == Way::Mapped || answer == whole => Ok(()),
            Ok(_) => panic!("{}: a wrong answer", what()),
            Err(error) => Err(error),
        }
    });
    assert!(held < HELD, "{}: {held} bytes", what());
    if let Err(error) = found {
        let typed = matches!(error, Error::Corrupt { .. } | Error::Version { .. });
        assert!(typed, "{}: {error}", what());
    }
}

fn whole(bytes: &[u8]) -> u64 {
    let answers = [Way::Read, Way::Mapped].map(|way| {
        let segment = Segment::parse(Path::new("whole.seg"), bytes_of(bytes, way)).unwrap();
        check::check(&segment).unwrap();
        read_all(&segment, &samples::keys()).unwrap()
    });
    assert_eq!(answers[0], answers[1]);
    answers[0]
}

fn flip_everything(bytes: &[u8]) {
    let answer = whole(bytes);
    let half = bytes.len() / 2;
    std::thread::scope(|scope| {
        for range in [0..half, half..bytes.len()] {
            scope.spawn(move || {
                let mut bent = bytes.to_vec();
                for at in range {
                    for bit in 0..8 {
                        bent[at] ^= 1 << bit;
                        for way in [Way::Read, Way::Mapped] {
                            judge(&bent, answer, way, &|| format!("byte {at} bit {bit} {way:?}"));
                        }
                        bent[at] ^= 1 << bit;
                    }
                }
            });
        }
    });
}

fn cut_everywhere(bytes: &[u8]) {
    let answer = whole(bytes);
    for length in 0..bytes.len() {
        for way in [Way::Read, Way::Mapped] {
            judge(&bytes[..length], answer, way, &|| format!("length {length} {way:?}"));
            // Cut and filled again, as a file system does that lost the data but not the length.
            let mut zeroed = bytes.to_vec();
            zeroed[length..].fill(0);
            if zeroed != bytes {
                judge(&zeroed, answer, way, &|| format!("zero from {length} {way:?}"));
            }
        }
    }
    for more in [1, 63, 64, 4096] {
        let mut longer = bytes.to_vec();
        longer.resize(bytes.len() + more, 0);
        judge(&longer, answer, Way::Read, &|| format!("{more} bytes more"));
    }
}

#[test]
fn every_flipped_bit_of_a_small_segment_is_found() {
    flip_everything(&samples::small());
}

#[test]
fn every_flipped_bit_of_full_blocks_is_found() {
    flip_everything(&samples::large());
}

#[test]
fn every_shorter_file_is_refused() {
    cut_everywhere(&samples::small());
    cut_everywhere(&samples::large());
}

fn swap(bytes: &mut [u8], one: usize, other: usize, len: usize) {
    for at in 0..len {
        bytes.swap(one + at, other + at);
    }
}

#[test]
fn sections_in_each_others_place_are_found() {
    for bytes in [samples::small(), samples::large()] {
        let answer = whole(&bytes);
        let places = sections(&bytes);
        assert_eq!(places.len(), 13);
        let mut pairs = 0;
        for (index, one) in places.iter().enumerate() {
            for other in &places[index + 1..] {
                // Whole lines of 64 bytes: what the padded sections both have.
                let lines = |place: &Place| place.len.div_ceil(64) * 64;
                let len = lines(one).min(lines(other));
                let mut swapped = bytes.clone();
                swap(&mut swapped, one.start, other.start, len);
                if swapped == bytes {
                    continue;
                }
                pairs += 1;
                for way in [Way::Read, Way::Mapped] {
                    let what = || format!("sections {} and {} {way:?}", one.code, other.code);
                    judge(&swapped, answer, way, &what);
                }
            }
        }
        // All 78 but those with a section that is empty.
        assert!(pairs >= 50, "{pairs}");
    }
}

/// A block's promise bounds every score in it; one that is too low hides rows from a search and
/// nothing else would show it. So a check compares each, also behind right checksums.
#[test]
fn a_block_that_promises_too_little_is_found() {
    let bytes = samples::large();
    let blocks = *sections(&bytes).iter().find(|place| place.code == 9).unwrap();
    // Lists of 270 and of 135 rows: two full blocks and one.
    assert_eq!(blocks.len, 3 * 20);
    for block in 0..3 {
        let impacts = blocks.start + 20 * block + 12;
        // No frequency at all, then only the longest texts.
        for (first, value) in [(0, 0), (1, 255)] {
            let mut bent = bytes.clone();
            for pair in 0..4 {
                bent[impacts + 2 * pair + first] = value;
            }
            reseal(&mut bent);
            let segment = samples::open(&bent);
            let found = check::check(&segment);
            assert!(matches!(found, Err(Error::Corrupt { section: "postings", .. })), "{block}");
        }
    }
}

#[test]
fn lines_in_each_others_place_are_found() {
    let bytes = samples::small();
    let answer = whole(&bytes);
    let lines = bytes.len() / 64;
    for one in 0..lines {
        for other in one + 1..lines {
            let mut swapped = bytes.clone();
            swap(&mut swapped, 64 * one, 64 * other, 64);
            if swapped == bytes {
                continue;
            }
            for way in [Way::Read, Way::Mapped] {
                judge(&swapped, answer, way, &|| format!("lines {one} and {other} {way:?}"));
            }
        }
    }
}

#[test]
fn a_count_of_four_billion_is_refused_and_reserves_nothing() {
    let bytes = samples::small();
    for code in 1..=13 {
        for count in [10_000, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
            let mut bent = bytes.clone();
            promise(&mut bent, code, count);
            reseal(&mut bent);
            for way in [Way::Read, Way::Mapped] {
                let (found, held) = peak_of(|| {
                    let segment = Segment::parse(Path::new("bent.seg"), bytes_of(&bent, way))?;
                    read_all(&segment, &samples::keys())
                });
                assert!(held < HELD, "section {code}, {count}, {way:?}: {held} bytes");
                // Of text, rest, terms, lists and blocks the reader needs no count.
                let needed = !matches!(code, 2 | 3 | 4 | 6 | 8 | 9);
                let refused = matches!(found, Err(Error::Corrupt { .. }));
                assert_eq!(refused, needed, "section {code}, {count}, {way:?}: {found:?}");
            }
        }
    }
}
