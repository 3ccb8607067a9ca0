//! Tiny models, written byte by byte: a graph over an eight-number table, and a tokenizer of a
//! dozen words.
//!
//! Not here: what is tested with them. Invariants: each graph is of a few nodes, and what it gives
//! can be worked out by hand from [`row`].

use std::fs;
use std::path::Path;

use serde_json::json;

/// The words, by their number.
pub const WORDS: [&str; 14] = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "cat",
    "dog",
    "fish",
    "sleeps",
    "query",
    "passage",
    ":",
    "[unused0]",
    "[unused1]",
    "the",
];
/// Numbers of a row of the table.
const HELD: usize = 8;

/// The table's row of a word: 1 at its number modulo seven, and half its number at the end.
pub fn row(word: usize) -> [f32; HELD] {
    let mut row = [0.0; HELD];
    row[word % (HELD - 1)] = 1.0;
    row[HELD - 1] = 0.5 * word as f32;
    row
}

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Is {
    /// 384 numbers a token: the table's row 48 times.
    Dense,
    /// One score: half the sum of the numbers of the words that are of the second text.
    Rerank,
    /// 30,522 terms a token: the table's row, then zeros.
    Sparse,
    /// 96 numbers a token: the table's row 12 times.
    Late,
}

/// Lays a model down as the hub does.
pub fn lay(dir: &Path, is: Is) {
    fs::create_dir_all(dir.join("onnx")).unwrap();
    fs::write(dir.join("onnx/model.onnx"), graph(is)).unwrap();
    fs::write(dir.join("tokenizer.json"), tokenizer()).unwrap();
}

/// The tokenizer, with the trap that many have: every text is filled up to 512 tokens.
fn tokenizer() -> String {
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        WORDS.iter().enumerate().map(|(number, word)| ((*word).into(), number.into())).collect();
    let special = |number: usize| {
        json!({"id": number, "content": WORDS[number], "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false, "special": true})
    };
    let token = |name: &str, of: usize| json!({"SpecialToken": {"id": name, "type_id": of}});
    let text = |name: &str, of: usize| json!({"Sequence": {"id": name, "type_id": of}});
    json!({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 512}, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [special(0), special(1), special(2), special(3)],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
            "single": [token("[CLS]", 0), text("A", 0), token("[SEP]", 0)],
            "pair": [token("[CLS]", 0), text("A", 0), token("[SEP]", 0), text("B", 1),
                token("[SEP]", 1)],
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
    .to_string()
}

/// The graph's bytes (onnx.proto: the numbers are its fields).
pub fn graph(is: Is) -> Vec<u8> {
    let mut graph = Vec::new();
    let table: Vec<f32> = (0..WORDS.len()).flat_map(row).collect();
    let mut put = |field: u64, bytes: Vec<u8>| message(&mut graph, field, &bytes);
    put(2, b"tiny".to_vec());
    put(5, tensor("table", &[WORDS.len() as u64, HELD as u64], 1, &floats(&table)));
    let (ids, held) = ("input_ids", "held");
    put(1, node("Gather", &["table", ids], held, &[]));
    let mut inputs = vec![ids, "attention_mask"];
    match is {
        Is::Dense | Is::Late => {
            let times = if is == Is::Dense { 384 } else { 96 } / HELD as i64;
            put(5, tensor("times", &[3], 7, &longs(&[1, 1, times])));
            put(1, node("Tile", &[held, "times"], "last_hidden_state", &[]));
            put(12, value("last_hidden_state", 1, &["b", "s", ""]));
        }
        Is::Sparse => {
            put(5, tensor("more", &[6], 7, &longs(&[0, 0, 0, 0, 0, 30_522 - HELD as i64])));
            put(1, node("Pad", &[held, "more"], "logits", &[]));
            put(12, value("logits", 1, &["b", "s", ""]));
        }
        Is::Rerank => {
            inputs.push("token_type_ids");
            put(5, tensor("last", &[1], 7, &longs(&[HELD as i64 - 1])));
            put(1, node("Gather", &[held, "last"], "own", &[("axis", 2)]));
            put(1, node("Cast", &["token_type_ids"], "second", &[("to", 1)]));
            put(1, node("Unsqueeze", &["second"], "second_wide", &[("axes", 2)]));
            put(1, node("Mul", &["own", "second_wide"], "seconds", &[]));
            let sum = [("axes", 1), ("keepdims", 0)];
            put(1, node("ReduceSum", &["seconds"], "logits", &sum));
            put(12, value("logits", 1, &["b", ""]));
        }
    }
    for input in inputs {
        put(11, value(input, 7, &["b", "s"]));
    }
    let mut model = Vec::new();
    number(&mut model, 1, 6);
    message(&mut model, 7, &graph);
    let mut version = Vec::new();
    number(&mut version, 2, 11);
    message(&mut model, 8, &version);
    model
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn longs(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn tensor(name: &str, dims: &[u64], of: u64, raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    dims.iter().for_each(|dim| number(&mut out, 1, *dim));
    number(&mut out, 2, of);
    message(&mut out, 8, name.as_bytes());
    message(&mut out, 9, raw);
    out
}

/// A node; `axes` is a list of one, every other attribute a number.
fn node(does: &str, inputs: &[&str], output: &str, attributes: &[(&str, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    inputs.iter().for_each(|input| message(&mut out, 1, input.as_bytes()));
    message(&mut out, 2, output.as_bytes());
    message(&mut out, 4, does.as_bytes());
    for (name, value) in attributes {
        let mut attribute = Vec::new();
        message(&mut attribute, 1, name.as_bytes());
        let list = *name == "axes";
        number(&mut attribute, if list { 8 } else { 3 }, *value);
        number(&mut attribute, 20, if list { 7 } else { 2 });
        message(&mut out, 5, &attribute);
    }
    out
}

/// An input or output; a dimension without a name is of any size.
fn value(name: &str, of: u64, dims: &[&str]) -> Vec<u8> {
    let mut shape = Vec::new();
    for dim in dims {
        let mut one = Vec::new();
        if !dim.is_empty() {
            message(&mut one, 2, dim.as_bytes());
        }
        message(&mut shape, 1, &one);
    }
    let mut tensor = Vec::new();
    number(&mut tensor, 1, of);
    message(&mut tensor, 2, &shape);
    let mut kind = Vec::new();
    message(&mut kind, 1, &tensor);
    let mut out = Vec::new();
    message(&mut out, 1, name.as_bytes());
    message(&mut out, 2, &kind);
    out
}

/// A field of protobuf that is a number.
fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

/// A field of protobuf that has a length.
fn message(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
