//! Cutting texts into a model's tokens.
//!
//! A thin layer over the crate `tokenizers`. Not here: what a model makes of them. Invariants: the
//! file's own padding and truncation do not count (some fill every text up to 512 tokens, which
//! takes ten times as long); no text has more tokens than it may, its special ones included.

use tokenizers::{Tokenizer, TruncationParams};

use super::Error;

/// Bytes of a text that are looked at, for each token that it may have: a token of prose has five.
/// Past them a text is cut unread, so that a megabyte costs no more than a page.
const BYTES_A_TOKEN: usize = 64;

/// A text in tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tokens {
    /// Their numbers.
    pub ids: Vec<u32>,
    /// Which of two texts each belongs to.
    pub types: Vec<u32>,
    /// Which are no part of a text.
    pub special: Vec<u32>,
}

/// A model's way of cutting.
pub struct Words {
    tokenizer: Tokenizer,
    most: usize,
    pad: u32,
}

impl Words {
    /// Reads `tokenizer.json`; a text has at most `most` tokens.
    ///
    /// # Errors
    /// A file that is none.
    pub fn new(file: &[u8], most: usize) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(file).map_err(|error| error.to_string())?;
        let own = tokenizer.get_padding().map(|padding| padding.pad_id);
        let named = ["[PAD]", "<pad>"].iter().find_map(|name| tokenizer.token_to_id(name));
        tokenizer.with_padding(None);
        let truncation = TruncationParams { max_length: most, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|error| error.to_string())?;
        Ok(Self { tokenizer, most, pad: own.or(named).unwrap_or(0) })
    }

    /// What fills a shorter text up.
    pub fn pad(&self) -> u32 {
        self.pad
    }

    /// A text's tokens; `marker` is the name of one that stands after the first.
    ///
    /// # Errors
    /// A text that cannot be cut.
    pub fn text(&self, text: &str, marker: &str) -> Result<Tokens, Error> {
        let encoded = self.tokenizer.encode(self.head(text), true);
        let mut tokens = read(&encoded.map_err(|error| Error::Run(error.to_string()))?);
        if let Some(marker) = self.tokenizer.token_to_id(marker).filter(|_| !marker.is_empty()) {
            let at = 1.min(tokens.ids.len());
            if tokens.ids.len() >= self.most {
                // Room is made before the last, which ends the text.
                let last = tokens.ids.len().saturating_sub(2);
                tokens.ids.remove(last);
                tokens.types.remove(last);
                tokens.special.remove(last);
            }
            tokens.ids.insert(at, marker);
            tokens.types.insert(at, 0);
            tokens.special.insert(at, 1);
        }
        Ok(tokens)
    }

    /// The tokens of a question and a text together.
    ///
    /// # Errors
    /// Texts that cannot be cut.
    pub fn pair(&self, query: &str, text: &str) -> Result<Tokens, Error> {
        let encoded = self.tokenizer.encode((self.head(query), self.head(text)), true);
        Ok(read(&encoded.map_err(|error| Error::Run(error.to_string()))?))
    }

    fn head<'a>(&self, text: &'a str) -> &'a str {
        let end = text.floor_char_boundary(self.most.saturating_mul(BYTES_A_TOKEN));
        text.get(..end).unwrap_or(text)
    }
}

fn read(encoded: &tokenizers::Encoding) -> Tokens {
    Tokens {
        ids: encoded.get_ids().to_vec(),
        types: encoded.get_type_ids().to_vec(),
        special: encoded.get_special_tokens_mask().to_vec(),
    }
}
