use packset_segments::vectors::norm;
use serde_json::{Value, json};
use tokenizers::Tokenizer;
use xxhash_rust::xxh3::xxh3_128;

use super::*;

/// The `tokenizers` crate with the table's vocabulary and the rules of the model's own file.
fn judge() -> Tokenizer {
    let table = Table::get();
    let word = |piece| String::from_utf8(table.word(piece).to_vec()).unwrap();
    // The pieces that stand for padding and the like have no spelling here: give them one that
    // no text has.
    let spelled = |(at, word): (u32, String)| match word.is_empty() {
        true => (format!("\u{1}{at}"), at),
        false => (word, at),
    };
    let pieces = (0..table.len() as u32).map(|at| (at, word(at))).map(spelled);
    let mut vocabulary: serde_json::Map<String, Value> =
        pieces.map(|(word, at)| (word, at.into())).collect();
    vocabulary.insert("[UNK]".into(), UNKNOWN.into());
    let model = json!({
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": vocabulary,
    });
    let whole = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": true,
            "handle_chinese_chars": true,
            "strip_accents": null,
            "lowercase": true,
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": null,
        "decoder": null,
        "model": model,
    });
    Tokenizer::from_bytes(whole.to_string()).unwrap()
}

const UNKNOWN: u32 = 1 << 20;

fn ours(text: &str) -> Vec<u32> {
    let mut pieces = Vec::new();
    Table::get().pieces(text, |piece| {
        pieces.push(piece);
        true
    });
    pieces
}

fn theirs(judge: &Tokenizer, text: &str) -> Vec<u32> {
    let encoded = judge.encode_fast(text, false).unwrap();
    encoded.get_ids().iter().copied().filter(|piece| *piece != UNKNOWN).collect()
}

#[test]
fn the_table_is_the_one_that_names_the_space() {
    assert_eq!(xxh3_128(TABLE), HASH);
    let table = Table::read(TABLE).unwrap();
    assert_eq!((table.len(), table.rows.len()), (29_528, 29_528 * 256));
    for piece in ["the", "##ing", "rust", "#", "##s", "!"] {
        let continues = piece.len() > 2 && piece.starts_with("##");
        let bare = if continues { &piece[2..] } else { piece };
        let number = table.find(bare.as_bytes(), continues).unwrap();
        assert_eq!(table.word(number), piece.as_bytes());
    }
    assert_eq!(table.find(b"qqqq", false), None);
}

#[test]
fn what_is_no_table_is_none() {
    for short in [0, 8, 23, 24, 1000, TABLE.len() - 1] {
        assert!(Table::read(&TABLE[..short]).is_none(), "{short}");
    }
    let mut other = TABLE.to_vec();
    other[0] ^= 1;
    assert!(Table::read(&other).is_none());
    // More pieces than the file has.
    let mut other = TABLE.to_vec();
    other[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(Table::read(&other).is_none());
}

#[test]
fn words_are_taken_apart_as_the_tokenizers_crate_does_it() {
    let judge = judge();
    for text in [
        "",
        " ",
        "The quick brown fox.",
        "un-believ_able::Thing<T>(x) != y; // E0502",
        "caf\u{e9} na\u{ef}ve \u{c5}ngstr\u{f6}m Stra\u{df}e \u{130}stanbul",
        "\u{6211}\u{4eec}\u{4f7f}\u{7528}Rust\u{7f16}\u{7a0b}\u{3002}",
        "\u{3053}\u{3093}\u{306b}\u{3061}\u{306f} \u{d55c}\u{ae00}",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{631}\u{62d}\u{628}\u{627}",
        "rocket \u{1f680} heart \u{2764}\u{fe0f} ok",
        "tab\tnew\nline\r\nnul\0bell\u{7}zero\u{200b}width\u{feff}soft\u{ad}hyphen",
        "quotes \u{201c}curly\u{201d} dash\u{2014}em \u{2026} \u{a7}3 \u{b0}C \u{20ac}5 \u{bd}",
        "\u{fffd}lost\u{fffd} e\u{301}accent a\u{300}\u{301}",
        "nbsp\u{a0}thin\u{2009}ideographic\u{3000}space",
        &"x".repeat(100),
        &"x".repeat(101),
        &"\u{e9}".repeat(100),
        &"a1".repeat(300),
    ] {
        assert_eq!(ours(text), theirs(&judge, text), "{text:?}");
    }
}

#[test]
fn a_large_text_is_taken_apart_alike() {
    let judge = judge();
    let mut state = 7u32;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let table = Table::get();
    // Ranges of letters, marks, signs and ideographs that texts are made of.
    const RANGES: [(u32, u32); 12] = [
        (0x20, 0x7f),
        (0x20, 0x7f),
        (0x20, 0x7f),
        (0x20, 0x7f),
        (0xa0, 0x250),
        (0x300, 0x36f),
        (0x370, 0x52f),
        (0x5d0, 0x5ea),
        (0x620, 0x64a),
        (0x2010, 0x2030),
        (0x3040, 0x30ff),
        (0x4e00, 0x9fa5),
    ];
    let mut pieces = 0;
    for _ in 0..4000 {
        let mut text = String::new();
        for _ in 0..1 + next(60) {
            match next(4) {
                // Whole pieces, glued or apart: the usual case and the hardest.
                0 | 1 => {
                    let word = table.word(next(table.len() as u32));
                    let word = word.strip_prefix(b"##").unwrap_or(word);
                    text.push_str(std::str::from_utf8(word).unwrap());
                }
                2 => text.push(' '),
                _ => {
                    let (low, high) = RANGES[next(RANGES.len() as u32) as usize];
                    text.extend(char::from_u32(low + next(high - low)));
                }
            }
        }
        let found = ours(&text);
        pieces += found.len();
        assert_eq!(found, theirs(&judge, &text), "{text:?}");
    }
    assert!(pieces > 50_000, "{pieces}");
}

#[test]
fn a_text_means_the_sum_of_its_pieces_and_its_length_says_nothing() {
    let table = Table::get();
    let mut wanted = [0f32; DIMS];
    for word in ["rust", "is", "fast"] {
        table.add(table.find(word.as_bytes(), false).unwrap(), &mut wanted);
    }
    assert_eq!(vector("Rust is fast"), wanted);
    assert_eq!(code("rust is fast rust is fast"), code("Rust is fast"));
    let cosine = |a: &str, b: &str| {
        let (a, b) = (code(a), code(b));
        let dot: i32 =
            a.iter().zip(&b).map(|(a, b)| i32::from(*a as i8) * i32::from(*b as i8)).sum();
        dot as f32 * norm(&a) * norm(&b)
    };
    let near = cosine("keep the password secret", "never print credentials");
    let far = cosine("keep the password secret", "the cake needs two eggs");
    assert!(near > far + 0.15, "{near} {far}");
    // Nothing known: no direction, and no number that is none.
    for empty in ["", " \n", "\u{1f9ff}", "\0"] {
        assert!(code(empty).iter().all(|byte| *byte == 0), "{empty:?}");
    }
    // Past its first 512 pieces a text says no more.
    let long = "word ".repeat(512);
    assert_eq!(code(&format!("{long} cake eggs")), code(&long));
}
