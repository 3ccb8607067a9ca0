//! The models that are known by a name: where each comes from, and what must be known to use it.
//!
//! Data and look-ups, nothing that runs a model. Invariants: a name or an alias stands for one
//! model; names are single path components; a file's sum stands here only where two public sources
//! that fetched that very revision agree on it.

/// What a model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text becomes one vector.
    Dense,
    /// A query and a text become one score.
    Rerank,
    /// A text becomes weighted terms.
    Sparse,
    /// A text becomes a vector for each token.
    Late,
}

impl Kind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Rerank => "rerank",
            Self::Sparse => "sparse",
            Self::Late => "late",
        }
    }
}

/// How the vectors of tokens become that of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The first token's.
    Cls,
    /// The mean over all tokens.
    Mean,
    /// It does not: the model's output is what is wanted.
    None,
}

/// A file of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path in the hub's repository.
    pub path: &'static str,
    /// Its path in the model's directory here.
    pub local: &'static str,
    /// Its sha256.
    pub sha256: Option<&'static str>,
    /// Its bytes.
    pub bytes: Option<u64>,
    /// Whether the model works only with it.
    pub needed: bool,
}

impl File {
    const fn needed(path: &'static str) -> Self {
        Self { path, local: path, sha256: None, bytes: None, needed: true }
    }

    const fn besides(path: &'static str) -> Self {
        Self { path, local: path, sha256: None, bytes: None, needed: false }
    }

    const fn sent_as(mut self, path: &'static str) -> Self {
        self.path = path;
        self
    }

    const fn pinned(mut self, bytes: u64, sha256: &'static str) -> Self {
        self.bytes = Some(bytes);
        self.sha256 = Some(sha256);
        self
    }
}

/// A model, described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// What it is called here; a directory of this name holds it.
    pub name: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    /// Where it comes from: a repository of the hub; empty if it has none there, and is used only
    /// where its directory is named.
    pub repository: &'static str,
    /// Which state of the repository.
    pub revision: &'static str,
    /// Its files.
    pub files: &'static [File],
    /// What it does.
    pub kind: Kind,
    /// Numbers of a vector; one for a reranker; the terms there are for a sparse model.
    pub dims: usize,
    /// How the vectors of tokens become that of the text.
    pub pooling: Pooling,
    /// What stands before a query; for a late model the name of a token, which stands after the
    /// first.
    pub query_prefix: &'static str,
    /// What stands before any other text, likewise.
    pub passage_prefix: &'static str,
    /// Tokens of a text at most, its special ones included.
    pub max_length: usize,
    /// Tokens of a query and a text together at most, for a reranker.
    pub pair_length: usize,
    /// Bytes of all its files, about, where they are known.
    pub about_bytes: Option<u64>,
    /// The licence of its weights, as SPDX names it.
    pub licence: &'static str,
}

/// What stands before a query of the BGE family and of those trained like it (behaviour spec, 4.14).
const BGE_QUERY: &str = "Represent this sentence for searching relevant passages: ";

/// Tokens of a pair (behaviour spec, 4.14): what a cross-encoder costs grows with them.
pub const PAIR_LENGTH: usize = 192;

const ONNX: File = File::needed("onnx/model.onnx");
const TOKENIZER: File = File::needed("tokenizer.json");
const CONFIG: File = File::besides("config.json");
const TOKENIZER_CONFIG: File = File::besides("tokenizer_config.json");
const SPECIAL_TOKENS: File = File::besides("special_tokens_map.json");
/// What nearly every repository has.
const USUAL: &[File] = &[ONNX, TOKENIZER, CONFIG, TOKENIZER_CONFIG, SPECIAL_TOKENS];

/// What most of them have in common.
const DENSE: Model = Model {
    name: "",
    aliases: &[],
    repository: "",
    revision: "main",
    files: USUAL,
    kind: Kind::Dense,
    dims: 0,
    pooling: Pooling::Cls,
    query_prefix: "",
    passage_prefix: "",
    max_length: 512,
    pair_length: PAIR_LENGTH,
    about_bytes: None,
    licence: "",
};

const RERANK: Model = Model { kind: Kind::Rerank, dims: 1, pooling: Pooling::None, ..DENSE };

/// The model that is meant where none is named.
pub const DEFAULT: &str = "bge-small";

/// The model of each kind that is meant where none is named (behaviour spec, 4.14).
pub const fn default_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Dense => DEFAULT,
        Kind::Rerank => "bge-reranker-base",
        Kind::Sparse => "splade",
        Kind::Late => "bge-m3",
    }
}

/// Every model that is known by a name.
pub static MODELS: &[Model] = &[
    Model {
        name: "bge-small",
        aliases: &["bge-small-en-v1.5"],
        repository: "Xenova/bge-small-en-v1.5",
        revision: "ea104dacec62c0de699686887e3f920caeb4f3e3",
        files: &[
            ONNX.pinned(
                133_093_490,
                "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
            ),
            TOKENIZER.pinned(
                711_396,
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
            CONFIG.pinned(683, "fa73f90bf92c8cace1fbcb709626306f2bdbc9ea3e5b5f94b440df9b6aa56350"),
            TOKENIZER_CONFIG
                .pinned(366, "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3"),
            SPECIAL_TOKENS
                .pinned(125, "b6d346be366a7d1d48332dbc9fdf3bf8960b5d879522b7799ddba59e76237ee3"),
        ],
        dims: 384,
        query_prefix: BGE_QUERY,
        about_bytes: Some(133_806_060),
        licence: "MIT",
        ..DENSE
    },
    Model {
        name: "bge-base",
        aliases: &["bge-base-en-v1.5"],
        repository: "Xenova/bge-base-en-v1.5",
        dims: 768,
        query_prefix: BGE_QUERY,
        about_bytes: Some(436_000_000),
        licence: "MIT",
        ..DENSE
    },
    Model {
        name: "bge-large",
        aliases: &["bge-large-en-v1.5"],
        repository: "Xenova/bge-large-en-v1.5",
        dims: 1024,
        query_prefix: BGE_QUERY,
        about_bytes: Some(1_340_000_000),
        licence: "MIT",
        ..DENSE
    },
    Model {
        name: "gte-large",
        aliases: &["gte-large-en-v1.5"],
        repository: "Alibaba-NLP/gte-large-en-v1.5",
        dims: 1024,
        about_bytes: Some(1_740_000_000),
        licence: "Apache-2.0",
        ..DENSE
    },
    Model {
        name: "mxbai-large",
        aliases: &["mxbai-embed-large-v1"],
        repository: "mixedbread-ai/mxbai-embed-large-v1",
        dims: 1024,
        query_prefix: BGE_QUERY,
        about_bytes: Some(1_340_000_000),
        licence: "Apache-2.0",
        ..DENSE
    },
    Model {
        name: "e5-base",
        aliases: &["multilingual-e5-base"],
        repository: "intfloat/multilingual-e5-base",
        files: &[
            ONNX,
            TOKENIZER.sent_as("onnx/tokenizer.json"),
            CONFIG.sent_as("onnx/config.json"),
            TOKENIZER_CONFIG.sent_as("onnx/tokenizer_config.json"),
            SPECIAL_TOKENS.sent_as("onnx/special_tokens_map.json"),
        ],
        dims: 768,
        pooling: Pooling::Mean,
        query_prefix: "query: ",
        passage_prefix: "passage: ",
        about_bytes: Some(1_130_000_000),
        licence: "MIT",
        ..DENSE
    },
    Model {
        name: "e5-large",
        aliases: &["multilingual-e5-large"],
        repository: "intfloat/multilingual-e5-large",
        files: &[
            ONNX,
            File::needed("onnx/model.onnx_data"),
            TOKENIZER.sent_as("onnx/tokenizer.json"),
            CONFIG.sent_as("onnx/config.json"),
            TOKENIZER_CONFIG.sent_as("onnx/tokenizer_config.json"),
            SPECIAL_TOKENS.sent_as("onnx/special_tokens_map.json"),
        ],
        dims: 1024,
        pooling: Pooling::Mean,
        query_prefix: "query: ",
        passage_prefix: "passage: ",
        about_bytes: Some(2_260_000_000),
        licence: "MIT",
        ..DENSE
    },
    Model {
        name: "e5-large-v2",
        repository: "intfloat/e5-large-v2",
        dims: 1024,
        pooling: Pooling::Mean,
        query_prefix: "query: ",
        passage_prefix: "passage: ",
        about_bytes: Some(1_340_000_000),
        licence: "MIT",
        ..DENSE
    },
    Model {
        name: "minilm",
        aliases: &["all-minilm-l6-v2", "minilm-l6"],
        repository: "sentence-transformers/all-MiniLM-L6-v2",
        revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        dims: 384,
        pooling: Pooling::Mean,
        max_length: 256,
        about_bytes: Some(91_000_000),
        licence: "Apache-2.0",
        ..DENSE
    },
    Model {
        name: "bge-reranker-base",
        repository: "BAAI/bge-reranker-base",
        about_bytes: Some(1_130_000_000),
        licence: "MIT",
        ..RERANK
    },
    Model {
        name: "bge-reranker-v2-m3",
        repository: "rozgo/bge-reranker-v2-m3",
        files: &[
            ONNX.sent_as("model.onnx"),
            File { local: "onnx/model.onnx.data", ..File::needed("model.onnx.data") },
            TOKENIZER,
            CONFIG,
            TOKENIZER_CONFIG,
            SPECIAL_TOKENS,
        ],
        about_bytes: Some(2_290_000_000),
        licence: "Apache-2.0",
        ..RERANK
    },
    Model {
        name: "jina-turbo",
        aliases: &["jina-reranker-v1-turbo-en"],
        repository: "jinaai/jina-reranker-v1-turbo-en",
        about_bytes: Some(151_000_000),
        licence: "Apache-2.0",
        ..RERANK
    },
    Model {
        name: "jina-v2",
        aliases: &["jina-reranker-v2-base-multilingual"],
        repository: "jinaai/jina-reranker-v2-base-multilingual",
        about_bytes: Some(1_130_000_000),
        licence: "CC-BY-NC-4.0",
        ..RERANK
    },
    Model {
        name: "ms-marco-minilm",
        aliases: &["ms-marco-minilm-l-12-v2", "cross-encoder/ms-marco-minilm-l-12-v2"],
        repository: "Xenova/ms-marco-MiniLM-L-12-v2",
        about_bytes: Some(134_000_000),
        licence: "Apache-2.0",
        ..RERANK
    },
    Model {
        name: "splade",
        aliases: &["splade-pp-v1", "splade-pp-en-v1"],
        repository: "Qdrant/Splade_PP_en_v1",
        files: &[ONNX.sent_as("model.onnx"), TOKENIZER, CONFIG, TOKENIZER_CONFIG, SPECIAL_TOKENS],
        kind: Kind::Sparse,
        dims: 30_522,
        pooling: Pooling::None,
        about_bytes: Some(532_000_000),
        licence: "Apache-2.0",
        ..DENSE
    },
    Model {
        name: "splade-tiny",
        kind: Kind::Sparse,
        dims: 30_522,
        pooling: Pooling::None,
        about_bytes: Some(18_400_000),
        licence: "Apache-2.0",
        ..DENSE
    },
    Model {
        name: "bge-m3",
        aliases: &["bge-m3-int8"],
        repository: "gpahal/bge-m3-onnx-int8",
        revision: "2b34e84df040034d4b9eabb62383a87c18955822",
        files: &[
            ONNX.sent_as("model_quantized.onnx").pinned(
                569_958_496,
                "16de7ea1146ca427e14938ec3e9abfdcaff0e6ac76434cd693ac35d761250bcb",
            ),
            TOKENIZER,
            CONFIG,
            TOKENIZER_CONFIG,
            SPECIAL_TOKENS,
        ],
        kind: Kind::Late,
        dims: 1024,
        pooling: Pooling::None,
        about_bytes: Some(587_000_000),
        licence: "MIT",
        ..DENSE
    },
    Model {
        name: "answerai-colbert-small",
        aliases: &["answerai-colbert-small-v1"],
        repository: "answerdotai/answerai-colbert-small-v1",
        files: &[
            ONNX.sent_as("vespa_colbert.onnx"),
            TOKENIZER,
            CONFIG,
            TOKENIZER_CONFIG,
            SPECIAL_TOKENS,
        ],
        kind: Kind::Late,
        dims: 96,
        pooling: Pooling::None,
        query_prefix: "[unused0]",
        passage_prefix: "[unused1]",
        about_bytes: Some(133_000_000),
        licence: "Apache-2.0",
        ..DENSE
    },
];

/// The model of a name, an alias or a repository; case does not count.
pub fn find(name: &str) -> Option<&'static Model> {
    let is = |its: &&str| !its.is_empty() && its.eq_ignore_ascii_case(name.trim());
    MODELS
        .iter()
        .find(|model| is(&model.name) || is(&model.repository) || model.aliases.iter().any(is))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_model() {
        let mut names: Vec<String> = MODELS
            .iter()
            .flat_map(|model| [&[model.name, model.repository], model.aliases].concat())
            .filter(|name| !name.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(find(DEFAULT).map(|model| model.dims), Some(384));
        assert_eq!((find("BAAI/nothing"), find("")), (None, None));
        let by_repository = find("sentence-transformers/all-minilm-l6-v2");
        assert_eq!(by_repository.map(|model| model.name), Some("minilm"));
    }

    #[test]
    fn every_kind_has_a_default_of_its_own() {
        for kind in [Kind::Dense, Kind::Rerank, Kind::Sparse, Kind::Late] {
            assert_eq!(find(default_of(kind)).map(|model| model.kind), Some(kind), "{kind:?}");
        }
    }

    #[test]
    fn every_model_can_be_laid_down() {
        for model in MODELS {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
            assert!(model.name.chars().all(plain) && !model.name.starts_with('.'), "{model:?}");
            assert!(model.dims > 0 && !model.licence.is_empty());
            assert!(model.repository.is_empty() || model.repository.contains('/'));
            for needed in ["onnx/model.onnx", "tokenizer.json"] {
                let file = model.files.iter().find(|file| file.local == needed);
                assert!(file.is_some_and(|file| file.needed), "{}: {needed}", model.name);
            }
            assert!(model.pair_length >= 32 && model.pair_length <= model.max_length);
            for file in model.files {
                assert!(!file.local.contains("..") && !file.local.starts_with('/'));
                assert!(file.sha256.is_none_or(|sum| sum.len() == 64));
            }
        }
    }
}
