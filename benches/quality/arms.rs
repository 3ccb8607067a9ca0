//! Arms: settings of the program that are measured beside each other.
//!
//! An arm is a name, variables of the environment and flags of `search`. On the command line it
//! is `NAME[:VAR=VALUE,...][:--flag ...]`; a name alone is one of the known ones. Not here: what a
//! setting does. Invariant: two arms share a home only if nothing that an import sees differs.

use std::path::Path;

/// Ways to fuse ballots that the program names.
pub(crate) const FUSES: [&str; 9] =
    ["combmnz", "combsum", "rrf", "borda", "dowdall", "kemeny", "schulze", "copeland", "tideman"];

/// Variables that only a search reads.
const OF_A_SEARCH: [&str; 5] = [
    "PACKSET_FUSE",
    "PACKSET_DIVERSIFY",
    "PACKSET_DECAY",
    "PACKSET_RERANK",
    "PACKSET_RERANK_MODEL",
];

/// One setting of the program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arm {
    pub(crate) name: String,
    pub(crate) vars: Vec<(String, String)>,
    /// Flags of `search`.
    pub(crate) flags: Vec<String>,
}

impl Arm {
    fn new(name: &str, vars: &[(&str, &str)], flags: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            vars: vars.iter().map(|(var, value)| ((*var).into(), (*value).into())).collect(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        }
    }

    /// The arms that are measured unless others are asked for: words alone, the default, and the
    /// named ways to fuse.
    pub(crate) fn defaults() -> Vec<Self> {
        let mut arms = vec![
            Self::new("lexical", &[("PACKSET_STATIC", "off")], &[]),
            Self::new("default", &[], &[]),
        ];
        arms.extend(FUSES.map(|fuse| Self::new(fuse, &[("PACKSET_FUSE", fuse)], &[])));
        arms
    }

    /// Reads an arm as it is written on a command line.
    ///
    /// # Errors
    /// A part that is neither variables nor flags, or a lone name that is not a known arm's.
    pub(crate) fn parse(written: &str) -> Result<Self, String> {
        let mut parts = written.split(':');
        let name = parts.next().unwrap_or_default();
        let mut arm = Self::new(name, &[], &[]);
        let mut settings = false;
        for part in parts {
            settings = true;
            if part.starts_with('-') {
                arm.flags.extend(part.split_whitespace().map(str::to_owned));
                continue;
            }
            for pair in part.split(',').filter(|pair| !pair.is_empty()) {
                let (var, value) = pair
                    .split_once('=')
                    .ok_or_else(|| format!("arm {name}: {pair} is neither VAR=VALUE nor a flag"))?;
                arm.vars.push((var.to_owned(), value.to_owned()));
            }
        }
        if settings {
            return Ok(arm);
        }
        let known = Self::defaults().into_iter().chain([
            Self::new("rerank", &[], &["--rerank"]),
            Self::new("relevance", &[], &["--rank", "relevance"]),
        ]);
        let names: Vec<String> = known.clone().map(|arm| arm.name).collect();
        let mut known = known.filter(|arm| arm.name == name);
        known.next().ok_or_else(|| {
            format!("no arm is named {name:?}; known are {}; or NAME:VAR=VALUE", names.join(" "))
        })
    }

    /// The arm of a model, `NAME` or `NAME=PATH`: the path is below `models`, whose `lib` has the
    /// runtime, as the script that fetches models for tests lays them out.
    pub(crate) fn of_model(written: &str, models: &Path, encoder: &Path) -> Self {
        let (name, below) = written.split_once('=').unwrap_or_else(|| {
            let known = MODELS.iter().find(|(name, _)| *name == written);
            (written, known.map_or(written, |(_, below)| below))
        });
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let vars = [
            ("PACKSET_EMBED", path(encoder)),
            ("PACKSET_EMBED_MODEL", name.to_owned()),
            ("PACKSET_EMBED_MODEL_PATH", path(&models.join(below))),
            ("ORT_DYLIB_PATH", path(&models.join("lib").join(RUNTIME))),
        ];
        let vars = vars.map(|(var, value)| (var.to_owned(), value)).to_vec();
        Self { name: format!("model {name}"), vars, flags: Vec::new() }
    }

    /// Whether it needs an encoder, which a process of its own for every question would load anew.
    pub(crate) fn encodes(&self) -> bool {
        self.vars.iter().any(|(var, _)| var == "PACKSET_EMBED")
            || self.flags.iter().any(|flag| flag == "--rerank")
    }

    /// What an import sees of it.
    pub(crate) fn of_import(&self) -> Vec<(String, String)> {
        let seen = self.vars.iter().filter(|(var, _)| !OF_A_SEARCH.contains(&var.as_str()));
        let mut seen: Vec<(String, String)> = seen.cloned().collect();
        seen.sort();
        seen
    }
}

/// Where models that tests use lie in a hub's layout.
const MODELS: [(&str, &str); 2] =
    [("bge-small", "BAAI/bge-small-en-v1.5"), ("minilm", "sentence-transformers/all-MiniLM-L6-v2")];

/// The file of ONNX Runtime on this system.
const RUNTIME: &str =
    if cfg!(target_os = "macos") { "libonnxruntime.dylib" } else { "libonnxruntime.so" };
