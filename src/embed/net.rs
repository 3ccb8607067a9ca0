//! A model's graph, run by the ONNX Runtime.
//!
//! Not here: cutting texts ([`super::words`]) and arithmetic on what comes out ([`super::pool`]).
//! Invariants: a graph that does not do what its description says is refused when it is loaded;
//! inputs are given only if the graph has them; no more than [`ROWS`] texts are run at once.

use std::borrow::Cow;
use std::path::Path;

use ort::session::builder::GraphOptimizationLevel;
use ort::session::{Session, SessionInputValue, SessionOutputs};
use ort::value::{TensorElementType, TensorRef};

use super::models::{Kind, Model, Pooling};
use super::runtime::Runtime;
use super::words::Tokens;
use super::{Error, pool};

/// Texts that are run at once: what a run holds grows with them, 12 heads of 512 by 512 numbers
/// for each, and past some thirty nothing is gained.
pub const ROWS: usize = 32;
/// Longest word of the runtime's that is handed on, bytes: it may hold a whole graph.
const WORD: usize = 300;

/// What a model makes of a text.
#[derive(Debug, PartialEq)]
pub enum Made {
    /// A vector.
    Dense(Vec<f32>),
    /// A score.
    Score(f32),
    /// Terms and their weights, terms rising.
    Sparse(Vec<(u32, f32)>),
    /// A vector for each token, and what a model gives beside them.
    Late {
        /// The tokens' vectors.
        tokens: Vec<Vec<f32>>,
        /// The text's vector.
        dense: Option<Vec<f32>>,
        /// Terms and their weights.
        sparse: Option<Vec<(u32, f32)>>,
    },
}

/// A loaded graph.
pub struct Net {
    session: Session,
    model: &'static Model,
    inputs: Vec<Input>,
}

/// What a graph is given.
#[derive(Clone, Copy)]
enum Input {
    Ids,
    Mask,
    Types,
}

impl Input {
    fn named(name: &str) -> Option<Self> {
        match name {
            "input_ids" => Some(Self::Ids),
            "attention_mask" => Some(Self::Mask),
            "token_type_ids" => Some(Self::Types),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ids => "input_ids",
            Self::Mask => "attention_mask",
            Self::Types => "token_type_ids",
        }
    }
}

/// Texts side by side, shorter ones filled up.
struct Batch {
    rows: usize,
    length: usize,
    ids: Vec<i64>,
    mask: Vec<i64>,
    types: Vec<i64>,
}

impl Batch {
    fn new(texts: &[&Tokens], pad: u32) -> Self {
        let length = texts.iter().map(|text| text.ids.len()).max().unwrap_or_default();
        let fill = |of: &dyn Fn(&Tokens) -> Vec<i64>, with: i64| {
            let rows = texts.iter().map(|text| {
                let mut row = of(text);
                row.resize(length, with);
                row
            });
            rows.collect::<Vec<_>>().concat()
        };
        let wide = |numbers: &[u32]| numbers.iter().map(|it| i64::from(*it)).collect();
        Self {
            rows: texts.len(),
            length,
            ids: fill(&|text| wide(&text.ids), i64::from(pad)),
            mask: fill(&|text| vec![1; text.ids.len()], 0),
            types: fill(&|text| wide(&text.types), 0),
        }
    }

    fn mask_of(&self, row: usize) -> &[i64] {
        self.mask.get(row * self.length..(row + 1) * self.length).unwrap_or_default()
    }
}

/// An output: numbers, and how they lie.
struct Out<'a> {
    shape: Vec<usize>,
    numbers: &'a [f32],
}

impl<'a> Out<'a> {
    fn row(&self, row: usize) -> &'a [f32] {
        let length: usize = self.shape.iter().skip(1).product();
        self.numbers.get(row * length..(row + 1) * length).unwrap_or_default()
    }

    fn width(&self) -> usize {
        self.shape.last().copied().unwrap_or_default()
    }
}

impl Net {
    /// Loads a graph.
    ///
    /// # Errors
    /// A file that is no graph, or one that is given or gives something else than is expected.
    pub fn load(
        runtime: &Runtime,
        model: &'static Model,
        file: &Path,
        threads: usize,
    ) -> Result<Self, Error> {
        let bad = |why: String| Error::Model { what: file.display().to_string(), why };
        let session = (|| {
            // Kept as a file, the optimised graph loads 57 ms sooner of 121 (bge-small, int8) and
            // 73 of 214 (minilm), once for a writer's life, and is a second copy of each model
            // that fits one processor and one runtime: not worth it.
            let mut builder = Session::builder(&runtime.environment)?
                .with_optimization_level(GraphOptimizationLevel::Level3)?
                .with_intra_threads(threads)?
                .with_inter_threads(1)?
                // Between two texts others want the cores.
                .with_intra_op_spinning(false)?;
            builder.commit_from_file(file)
        })();
        let session = session.map_err(|error: ort::Error| bad(word(&error)))?;
        let mut inputs = Vec::new();
        for input in session.inputs() {
            let is_i64 = input.dtype().tensor_type() == Some(TensorElementType::Int64);
            match Input::named(input.name()).filter(|_| is_i64) {
                Some(input) => inputs.push(input),
                None => return Err(bad(format!("it is given an unknown {}", input.name()))),
            }
        }
        Ok(Self { session, model, inputs })
    }

    /// Runs texts side by side, at most [`ROWS`] of them.
    ///
    /// # Errors
    /// What the runtime says, or an output that is not of the model's kind.
    pub fn run(&mut self, texts: &[&Tokens], pad: u32) -> Result<Vec<Made>, Error> {
        let batch = Batch::new(texts, pad);
        let shape = [batch.rows, batch.length];
        let mut given: Vec<(Cow<'_, str>, SessionInputValue<'_>)> = Vec::new();
        for input in &self.inputs {
            let numbers = match input {
                Input::Ids => &batch.ids,
                Input::Mask => &batch.mask,
                Input::Types => &batch.types,
            };
            let tensor = TensorRef::from_array_view((shape, numbers.as_slice()));
            let tensor = tensor.map_err(|error| Error::Run(word(&error)))?;
            given.push((input.name().into(), tensor.into()));
        }
        let model = self.model;
        let outputs = self.session.run(given).map_err(|error| Error::Run(word(&error)))?;
        let made = read(model, &outputs, &batch, texts)?;
        match made.len() == texts.len() {
            true => Ok(made),
            false => Err(Error::Run("the model answers fewer texts than it was given".into())),
        }
    }
}

/// The first line of an error of the runtime's.
fn word(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("failed");
    line.get(..line.floor_char_boundary(WORD)).unwrap_or(line).to_owned()
}

/// The output of one of these names, else the first with so many dimensions.
fn output<'a>(
    outputs: &'a SessionOutputs<'_>,
    names: &[&str],
    rank: Option<usize>,
) -> Option<Out<'a>> {
    let of = |name: &str| {
        let (shape, numbers) = outputs.get(name)?.try_extract_tensor::<f32>().ok()?;
        let shape: Option<Vec<usize>> =
            shape.iter().map(|size| usize::try_from(*size).ok()).collect();
        Some(Out { shape: shape?, numbers })
    };
    let named = names.iter().find_map(|name| of(name));
    named.or_else(|| {
        let rank = rank?;
        outputs.keys().filter_map(of).find(|out| out.shape.len() == rank)
    })
}

/// What is wanted of a model's outputs.
fn read(
    model: &Model,
    outputs: &SessionOutputs<'_>,
    batch: &Batch,
    texts: &[&Tokens],
) -> Result<Vec<Made>, Error> {
    let odd = |what: &str| {
        let why = format!("it gives {what}, as no {} model does", model.kind.name());
        Error::Model { what: model.name.into(), why }
    };
    let empty = || Error::Run("the model gives no finite numbers".into());
    let fits = |out: &Out<'_>| {
        let fits = out.shape.starts_with(&[batch.rows, batch.length]) && out.shape.len() == 3;
        match fits && out.width() == model.dims {
            true => Ok(()),
            false => Err(odd(&format!("{:?} where {} numbers are wanted", out.shape, model.dims))),
        }
    };
    let rows = 0..batch.rows;
    match model.kind {
        Kind::Dense => {
            let hidden = output(outputs, &["last_hidden_state", "token_embeddings"], Some(3));
            let hidden = hidden.ok_or_else(|| odd("no vectors"))?;
            fits(&hidden)?;
            let pooled = rows.map(|row| match model.pooling {
                Pooling::Mean => pool::mean(hidden.row(row), batch.mask_of(row), model.dims),
                Pooling::Cls | Pooling::None => pool::first(hidden.row(row), model.dims),
            });
            pooled.map(|vector| vector.map(Made::Dense).ok_or_else(empty)).collect()
        }
        Kind::Rerank => {
            let scores = output(outputs, &["logits"], Some(2)).ok_or_else(|| odd("no scores"))?;
            let one = scores.shape == [batch.rows, 1] || scores.shape == [batch.rows];
            if !one {
                return Err(odd(&format!("{:?} where one score is wanted", scores.shape)));
            }
            let finite = |score: &f32| match score.is_finite() {
                true => Ok(Made::Score(*score)),
                false => Err(empty()),
            };
            scores.numbers.iter().map(finite).collect()
        }
        Kind::Sparse => {
            let logits = output(outputs, &["logits", "output"], Some(3));
            let logits = logits.ok_or_else(|| odd("no terms"))?;
            fits(&logits)?;
            let terms =
                rows.map(|row| pool::greatest(logits.row(row), batch.mask_of(row), model.dims));
            terms.map(|terms| terms.map(Made::Sparse).ok_or_else(empty)).collect()
        }
        Kind::Late => {
            let all = output(outputs, &["colbert_vecs", "contextual"], Some(3));
            let all = all.ok_or_else(|| odd("no vectors of tokens"))?;
            let dense = output(outputs, &["dense_vecs"], None);
            let sparse = output(outputs, &["sparse_vecs"], None);
            // Some give no vector for the first token, which stands for the whole text.
            let skipped = match all.shape.as_slice() {
                [rows, length, _] if *rows == batch.rows && *length <= batch.length => {
                    batch.length - length
                }
                _ => return Err(odd(&format!("{:?}", all.shape))),
            };
            let made = rows.zip(texts).map(|(row, text)| {
                let mask = batch.mask_of(row).get(skipped..).unwrap_or_default();
                let tokens = pool::tokens(all.row(row), mask, all.width());
                let tokens: Option<Vec<_>> =
                    tokens.map(|token| pool::unit(token.to_vec())).collect();
                let dense = dense.as_ref().map(|dense| pool::unit(dense.row(row).to_vec()));
                let sparse = sparse.as_ref().map(|weights| {
                    let own = text.ids.iter().zip(&text.special).zip(weights.row(row));
                    let own = own.filter(|((_, special), _)| **special == 0);
                    let (ids, weights): (Vec<u32>, Vec<f32>) =
                        own.map(|((id, _), weight)| (*id, *weight)).unzip();
                    pool::by_token(&ids, &weights)
                });
                let tokens = tokens.ok_or_else(empty)?;
                let dense = dense.map(|dense| dense.ok_or_else(empty)).transpose()?;
                Ok(Made::Late { tokens, dense, sparse })
            });
            made.collect()
        }
    }
}
