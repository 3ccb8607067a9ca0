//! Where a model and the runtime library lie on this machine, and which model is meant.
//!
//! Not here: bringing them there, and reading them. Invariants: a directory that the environment
//! names is used as it is, and belongs to the model that `PACKSET_EMBED_MODEL` names; every other
//! model lies in the cache under its own name.

use std::path::{Path, PathBuf};

use packset_segments::vfs::{Kind as FileKind, Vfs};

use super::Error;
use super::models::{self, Kind, Model};
use crate::cli::Env;
use crate::fetch::cache::Cache;
use crate::fetch::runtime;

/// The graph, in a model's directory.
pub const GRAPH: &str = "onnx/model.onnx";
/// What texts are cut into tokens by, in a model's directory.
pub const TOKENIZER: &str = "tokenizer.json";

/// A model and the directory it lies in.
#[derive(Clone, Debug)]
pub struct Found {
    /// What is known of it.
    pub model: &'static Model,
    /// Where it lies.
    pub dir: PathBuf,
}

/// A path against the directory the process is in.
fn here(vars: &Env, path: &Path) -> PathBuf {
    match vars.cwd() {
        Some(cwd) => cwd.join(path),
        None => path.to_owned(),
    }
}

/// The runtime's library: what `ORT_DYLIB_PATH` names, else where it is found
/// ([`runtime::find`]), else its bare name, which the system's loader may know more places for.
pub fn library(vars: &Env, vfs: &dyn Vfs) -> PathBuf {
    let Some(named) = vars.path("ORT_DYLIB_PATH") else {
        let found = runtime::find(vars, vfs).map(|found| found.path);
        return found.unwrap_or_else(|| runtime::file_name().into());
    };
    // A bare name is the loader's to find.
    let bare = named.components().count() == 1 && !is_file(vfs, &here(vars, named));
    if bare { named.to_owned() } else { here(vars, named) }
}

/// The model of a kind that the environment means.
///
/// # Errors
/// A name that no model has, or that one of another kind has.
pub fn meant(vars: &Env, kind: Kind) -> Result<(&'static Model, bool), Error> {
    let named = vars.get("PACKSET_EMBED_MODEL").map(find).transpose();
    if kind == Kind::Rerank
        && let Some(name) = vars.get("PACKSET_RERANK_MODEL")
    {
        let model = find(name)?;
        let same = named.is_ok_and(|named| named.is_some_and(|named| named.name == model.name));
        return Ok((of_kind(model, kind)?, same));
    }
    match named? {
        Some(model) if model.kind == kind => Ok((model, true)),
        // The other kinds have a child of their own beside the dense one, in the same environment.
        Some(model) if kind == Kind::Dense => Err(of_kind(model, kind).err().unwrap_or_else(none)),
        named => {
            let model = models::find(models::default_of(kind)).ok_or_else(none)?;
            Ok((model, named.is_none() && kind == Kind::Dense))
        }
    }
}

fn none() -> Error {
    Error::Usage("no model of this kind".into())
}

fn find(name: &str) -> Result<&'static Model, Error> {
    models::find(name).ok_or_else(|| {
        let names: Vec<&str> = models::MODELS.iter().map(|model| model.name).collect();
        Error::Usage(format!("no model is called {name}; there are {}", names.join(", ")))
    })
}

fn of_kind(model: &'static Model, wanted: Kind) -> Result<&'static Model, Error> {
    if model.kind == wanted {
        return Ok(model);
    }
    let (is, wanted) = (model.kind.name(), wanted.name());
    Err(Error::Kind { model: model.name.into(), is, wanted })
}

/// The model of a kind that the environment means, if its graph and its tokenizer are here.
///
/// # Errors
/// No such model, one that is not here, or a directory without what it needs.
pub fn locate(vars: &Env, vfs: &dyn Vfs, kind: Kind) -> Result<Found, Error> {
    let (model, named) = meant(vars, kind)?;
    let own = vars.path("PACKSET_EMBED_MODEL_PATH").filter(|_| named);
    let dir = match own {
        Some(path) => here(vars, path),
        None => match Cache::of(vars) {
            Ok(cache) => cache.model(model.name),
            Err(error) => return Err(missing(model, &format!("any cache: {error}"))),
        },
    };
    if !matches!(vfs.kind(&dir), Ok(FileKind::Dir)) {
        return Err(missing(model, &dir.display().to_string()));
    }
    for file in [GRAPH, TOKENIZER] {
        if !is_file(vfs, &dir.join(file)) {
            let what = dir.display().to_string();
            return Err(Error::Model { what, why: format!("it has no {file}") });
        }
    }
    Ok(Found { model, dir })
}

fn missing(model: &Model, place: &str) -> Error {
    let way = match model.repository {
        "" => "name its directory in PACKSET_EMBED_MODEL_PATH".into(),
        _ => format!("run `packset model pull {}`", model.name),
    };
    Error::Missing { model: model.name.into(), place: place.into(), way }
}

fn is_file(vfs: &dyn Vfs, path: &Path) -> bool {
    matches!(vfs.kind(path), Ok(FileKind::File(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::new([""; 0], vars.iter().copied(), Some(Path::new("/here")))
    }

    #[test]
    fn the_named_directory_belongs_to_the_named_model() {
        let of = |kind, vars: &[(&str, &str)]| {
            let (model, own) = meant(&env(vars), kind).unwrap();
            (model.name, own)
        };
        assert_eq!(of(Kind::Dense, &[]), ("bge-small", true));
        assert_eq!(of(Kind::Dense, &[("PACKSET_EMBED_MODEL", "E5-base")]), ("e5-base", true));
        assert_eq!(of(Kind::Sparse, &[]), ("splade", false));
        let late = [("PACKSET_EMBED_MODEL", "minilm")];
        assert_eq!(of(Kind::Late, &late), ("bge-m3", false));
        let rerank = [("PACKSET_EMBED_MODEL", "minilm"), ("PACKSET_RERANK_MODEL", "jina-turbo")];
        assert_eq!(of(Kind::Rerank, &rerank), ("jina-turbo", false));
        let own = [("PACKSET_EMBED_MODEL", "jina-v2")];
        assert_eq!(of(Kind::Rerank, &own), ("jina-v2", true));
        let code = |kind, vars: &[(&str, &str)]| meant(&env(vars), kind).unwrap_err().code();
        assert_eq!(code(Kind::Dense, &own), 65);
        assert_eq!(code(Kind::Rerank, &[("PACKSET_RERANK_MODEL", "minilm")]), 65);
        assert_eq!(code(Kind::Dense, &[("PACKSET_EMBED_MODEL", "none")]), 64);
    }

    #[test]
    fn a_directory_that_is_there_is_used_and_must_be_whole() {
        let mut disk = Disk::default();
        disk.file("/m/onnx/model.onnx", "graph");
        let vars = env(&[("HOME", "/h"), ("PACKSET_EMBED_MODEL_PATH", "/m")]);
        let error = locate(&vars, &disk, Kind::Dense).unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().as_str()),
            (65, "/m cannot be used: it has no tokenizer.json")
        );
        disk.file("/m/tokenizer.json", "{}");
        let found = locate(&vars, &disk, Kind::Dense).unwrap();
        assert_eq!((found.model.name, found.dir.to_str()), ("bge-small", Some("/m")));
        let error = locate(&env(&[("HOME", "/h")]), &disk, Kind::Dense).unwrap_err();
        assert_eq!(error.code(), 69);
        assert_eq!(
            error.to_string(),
            "no model bge-small in /h/.cache/packset/embed/user/bge-small; \
             run `packset model pull bge-small`"
        );
    }

    #[test]
    fn a_library_that_is_named_is_not_passed_over() {
        let mut disk = Disk::default();
        let vars = env(&[("HOME", "/h")]);
        let file = Path::new("/h/.cache/packset/embed/lib").join(runtime::file_name());
        disk.file(file.to_str().unwrap(), "");
        assert_eq!(library(&vars, &disk), file);
        let of = |named: &str| library(&env(&[("HOME", "/h"), ("ORT_DYLIB_PATH", named)]), &disk);
        assert_eq!(of("/nowhere/lib.so"), Path::new("/nowhere/lib.so"));
        assert_eq!(of("lib/own.so"), Path::new("/here/lib/own.so"));
        assert_eq!(of("libonnxruntime.so.1"), Path::new("libonnxruntime.so.1"));
    }
}
