//! Makes the static table from the model's own files.
//!
//! `gen-table MODEL_DIR OUT`: MODEL_DIR holds `model.safetensors` (one F32 matrix) and
//! `tokenizer.json` of potion-base-8M. Prints the table's XXH3-128, which `src/meaning/mod.rs`
//! names. Not here: the layout, which is the reader's (`packset::meaning`).
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::path::Path;

use serde_json::Value;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let (Some(model), Some(out)) = (args.next(), args.next()) else {
        return Err("usage: gen-table MODEL_DIR OUT".into());
    };
    let model = Path::new(&model);
    let tokenizer: Value = serde_json::from_slice(&std::fs::read(model.join("tokenizer.json"))?)?;
    let vocabulary = tokenizer["model"]["vocab"].as_object().ok_or("no vocabulary")?;
    let mut pieces = vec![String::new(); vocabulary.len()];
    for (piece, number) in vocabulary {
        let number = number.as_u64().ok_or("a piece without a number")? as usize;
        // What stands for padding or for nothing known is no piece of any text.
        let special = piece.starts_with('[') && piece.ends_with(']') && piece.len() > 2;
        let piece = if special { String::new() } else { piece.clone() };
        *pieces.get_mut(number).ok_or("a number past the vocabulary")? = piece;
    }
    let file = std::fs::read(model.join("model.safetensors"))?;
    let rows = matrix(&file)?;
    let table = packset::meaning::bytes(&pieces, &rows).ok_or("not the table that was expected")?;
    std::fs::write(&out, &table)?;
    println!("0x{:032x}", xxhash_rust::xxh3::xxh3_128(&table));
    Ok(())
}

/// The one matrix of a safetensors file: a length, a JSON header, little-endian numbers.
fn matrix(file: &[u8]) -> Result<Vec<Vec<f32>>, Error> {
    let length = file.first_chunk::<8>().ok_or("a short file")?;
    let length = usize::try_from(u64::from_le_bytes(*length))?;
    let header = file.get(8..8 + length).ok_or("a short header")?;
    let header: Value = serde_json::from_slice(header)?;
    let tensors = header.as_object().ok_or("no header")?;
    let (_, tensor) =
        tensors.iter().find(|(name, _)| *name != "__metadata__").ok_or("no tensor")?;
    if tensor["dtype"] != "F32" {
        return Err("not a matrix of F32".into());
    }
    let dims = tensor["shape"][1].as_u64().ok_or("not a matrix")? as usize;
    let start = tensor["data_offsets"][0].as_u64().ok_or("no offset")? as usize;
    let end = tensor["data_offsets"][1].as_u64().ok_or("no offset")? as usize;
    let data = file.get(8 + length + start..8 + length + end).ok_or("a short matrix")?;
    let number = |bytes: &[u8]| bytes.first_chunk().map_or(0.0, |b| f32::from_le_bytes(*b));
    Ok(data.chunks_exact(4 * dims).map(|row| row.chunks_exact(4).map(number).collect()).collect())
}
