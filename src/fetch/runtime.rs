//! The library that runs models: ONNX Runtime, found on this machine or fetched.
//!
//! Not here: loading it (the encoder's own process does, and says what is wrong with one that is
//! not what it should be). Invariants: the library gets its name only when it is whole and has the
//! sum that is known for it; where none is known, that is said.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use packset_segments::IoContext as _;
use packset_segments::vfs::{Kind, Vfs};
use sha2::{Digest as _, Sha256};

use super::cache::Cache;
use super::file::{Fetched, Proof, Sums, Wanted, fetch};
use super::http::Http;
use super::{Error, Result};
use crate::cli::env::{absent, program};
use crate::cli::{Env, Ui};

/// The version that is fetched: the oldest that the encoder takes, which is the smallest, and runs
/// on the oldest systems.
pub const VERSION: &str = "1.24.4";
/// Where the project keeps its releases.
const RELEASES: &str = "https://github.com/microsoft/onnxruntime/releases/download";
/// Largest library that is unpacked, bytes: five times the largest release so far.
const LARGEST: u64 = 256 << 20;

/// What is released for one kind of machine.
#[derive(Debug)]
struct Release {
    /// As [`std::env::consts::OS`] and [`std::env::consts::ARCH`] have it.
    machine: (&'static str, &'static str),
    /// The name that the project has for it.
    name: &'static str,
    /// The packed file's sha256. Where the sums come from: three public programs that pin this
    /// version agree on them, each having computed them from the release.
    packed: &'static str,
    /// The library's sha256.
    library: &'static str,
}

/// What can be fetched. None for Macs with Intel's processors: they are no longer released for.
const RELEASED: [Release; 3] = [
    Release {
        machine: ("linux", "x86_64"),
        name: "linux-x64",
        packed: "3a211fbea252c1e66290658f1b735b772056149f28321e71c308942cdb54b747",
        library: "d132535d051344ff5c64c9c200004150559049a81ed330eb4422c1962fb6b7e4",
    },
    Release {
        machine: ("linux", "aarch64"),
        name: "linux-aarch64",
        packed: "866109a9248d057671a039b9d725be4bd86888e3754140e6701ec621be9d4d7e",
        library: "52b2a0e75e79468404284fec38ad5ee1a7a996232274f5e1b84f3e793fb07554",
    },
    Release {
        machine: ("macos", "aarch64"),
        name: "osx-arm64",
        packed: "93787795f47e1eee369182e43ed51b9e5da0878ab0346aecf4258979b8bba989",
        library: "872533f130f1839a5bc01788ddb4f75c83a189763441ba1178788ed965449289",
    },
];

/// The library's file on this system.
pub const fn file_name() -> &'static str {
    if cfg!(target_os = "windows") {
        "onnxruntime.dll"
    } else if cfg!(target_os = "macos") {
        "libonnxruntime.dylib"
    } else {
        "libonnxruntime.so"
    }
}

/// Where a library was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// What led there.
    pub by: &'static str,
}

/// The library that an encoder of ours would load: the one that `ORT_DYLIB_PATH` names, else in the
/// cache, else beside the program, else where the system's loader looks.
pub fn find(env: &Env, vfs: &dyn Vfs) -> Option<Found> {
    let is_file = |path: &Path| matches!(vfs.kind(path), Ok(Kind::File(_)));
    if let Some(path) = env.path("ORT_DYLIB_PATH") {
        // A path that is named and wrong is not passed over.
        return is_file(path).then(|| Found { path: path.to_owned(), by: "ORT_DYLIB_PATH" });
    }
    let mut places: Vec<(PathBuf, &'static str)> = Vec::new();
    if let Ok(cache) = Cache::of(env) {
        places.push((cache.libraries(), "the cache"));
    }
    if let Some(dir) = program().as_deref().and_then(Path::parent) {
        places.push((dir.to_owned(), "beside the program"));
        places.push((dir.join("../lib"), "beside the program"));
    }
    let listed = match cfg!(target_os = "macos") {
        true => "DYLD_LIBRARY_PATH",
        false => "LD_LIBRARY_PATH",
    };
    if let Some(dirs) = env.raw(listed) {
        places.extend(std::env::split_paths(dirs).map(|dir| (dir, listed)));
    }
    let triple = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    for dir in ["/usr/local/lib", "/usr/lib", "/usr/lib64", &triple, "/opt/homebrew/lib"] {
        places.push((dir.into(), "the system"));
    }
    let mut files = places.into_iter().map(|(dir, by)| Found { path: dir.join(file_name()), by });
    files.find(|found| is_file(&found.path))
}

/// What became of fetching the library.
#[derive(Debug)]
pub struct Brought {
    /// Where it lies.
    pub path: PathBuf,
    /// What came over the line.
    pub fetched: Fetched,
}

/// Fetches the library into the cache: from a mirror's `lib/`, else from the project's releases.
///
/// # Errors
/// A machine that nothing is released for, or what [`fetch`] says.
pub fn pull(
    http: &Http,
    vfs: &dyn Vfs,
    ui: &mut Ui,
    cache: &Cache,
    mirror: Option<(&str, &Sums)>,
) -> Result<Brought> {
    let dir = cache.libraries();
    let path = dir.join(file_name());
    match mirror {
        Some((root, sums)) => {
            let name = format!("lib/{}", file_name());
            let arriving = dir.join(format!("{}.new", file_name()));
            let wanted = Wanted {
                label: file_name().into(),
                url: format!("{root}/{name}"),
                path: arriving.clone(),
                sum: sums.of(&name).map(|sum| (sum.to_owned(), Proof::List)),
                size: None,
            };
            let fetched = fetch(http, vfs, ui, &wanted)?;
            vfs.rename_over(&arriving, &path).at("rename", &path)?;
            vfs.sync_dir(&dir).at("sync", &dir)?;
            Ok(Brought { path, fetched })
        }
        None => {
            let release = release()?;
            let packed = format!("onnxruntime-{}-{VERSION}.tgz", release.name);
            let wanted = Wanted {
                label: packed.clone(),
                url: format!("{RELEASES}/v{VERSION}/{packed}"),
                path: dir.join(&packed),
                sum: Some((release.packed.to_owned(), Proof::Pin)),
                size: None,
            };
            let fetched = fetch(http, vfs, ui, &wanted)?;
            let unpacked = unpack(vfs, &wanted.path, &path, release.library);
            // Unpacked or not, it is of no further use: another attempt would end the same way,
            // but for a full disk, where its room is needed.
            match vfs.unlink(&wanted.path) {
                Err(error) if absent(&error) => {}
                other => other.at("remove", &wanted.path)?,
            }
            unpacked?;
            Ok(Brought { path, fetched })
        }
    }
}

fn release() -> Result<&'static Release> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    RELEASED.iter().find(|release| release.machine == (os, arch)).ok_or_else(|| {
        let why = match os {
            "windows" => "ONNX Runtime is not fetched on Windows",
            _ => "there is no release of ONNX Runtime",
        };
        Error::NoRuntime(format!("{why} ({os} on {arch}, version {VERSION})"))
    })
}

/// Takes the library out of a packed release, to `path`.
fn unpack(vfs: &dyn Vfs, packed: &Path, path: &Path, sum: &str) -> Result<()> {
    let odd = |why: &str| {
        Error::NoRuntime(format!("{}: {why}", packed.file_name().unwrap_or_default().display()))
    };
    let reader = vfs.reader(packed).at("read", packed)?;
    let mut archive = tar::Archive::new(GzDecoder::new(reader));
    let entries = archive.entries().at("unpack", packed)?;
    for entry in entries {
        let mut entry = entry.at("unpack", packed)?;
        let is_library = entry.path().at("unpack", packed)?.file_name().is_some_and(is_library);
        // The names without a version are links to the one with it.
        if !is_library || !entry.header().entry_type().is_file() {
            continue;
        }
        if entry.size() > LARGEST {
            return Err(odd("its library is too large to be one"));
        }
        let arriving = path.with_extension("new");
        match vfs.unlink(&arriving) {
            Err(error) if absent(&error) => {}
            other => other.at("remove", &arriving)?,
        }
        let grow = |error| Error::growing(&arriving, error);
        let mut file = vfs.create_new(&arriving).map_err(grow)?;
        let mut hash = Sha256::new();
        let mut piece = vec![0_u8; 64 * 1024];
        loop {
            let read = entry.read(&mut piece).at("unpack", packed)?;
            let bytes = piece.get(..read).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            hash.update(bytes);
            file.write_all(bytes).map_err(grow)?;
        }
        file.sync().map_err(grow)?;
        let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if found != sum {
            vfs.unlink(&arriving).at("remove", &arriving)?;
            let (file, wanted) = (file_name().into(), sum.to_owned());
            return Err(Error::Mismatch { file, found, wanted });
        }
        vfs.rename_over(&arriving, path).at("rename", path)?;
        if let Some(dir) = path.parent() {
            vfs.sync_dir(dir).at("sync", dir)?;
        }
        return Ok(());
    }
    Err(odd("there is no library in it"))
}

/// Whether a file of a release is the library: `libonnxruntime.so.1.24.4`, and not what providers
/// of other processors share.
fn is_library(name: &std::ffi::OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let begins = name.starts_with("libonnxruntime.");
    begins && (name.ends_with(".dylib") || name.contains(".so")) && name.contains(VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use packset_segments::sim::SimFs;
    use std::ffi::OsStr;

    #[test]
    fn what_is_the_library() {
        for (name, is) in [
            ("libonnxruntime.so.1.24.4", true),
            ("libonnxruntime.1.24.4.dylib", true),
            ("libonnxruntime.so", false),
            ("libonnxruntime.so.1", false),
            ("libonnxruntime_providers_shared.so", false),
        ] {
            assert_eq!(is_library(OsStr::new(name)), is, "{name}");
        }
    }

    #[test]
    fn every_release_has_sums_of_its_own() {
        let mut sums: Vec<&str> =
            RELEASED.iter().flat_map(|release| [release.packed, release.library]).collect();
        assert!(sums.iter().all(|sum| super::super::http::is_sum(sum)));
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), 2 * RELEASED.len());
    }

    #[test]
    fn where_a_library_is_found() {
        let mut disk = Disk::default();
        let (cached, listed) = (format!("/c/lib/{}", file_name()), format!("/l/{}", file_name()));
        disk.file("/mine.so", "x").file(&listed, "x");
        let by = |disk: &Disk, vars: &[(&str, &str)]| {
            let vars = [vars, &[("PACKSET_EMBED_CACHE", "/c")]].concat();
            let found = find(&Env::new([""; 0], vars, None), disk);
            found.map(|found| (found.path.display().to_string(), found.by))
        };
        let path = if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };
        let named = Some(("/mine.so".to_owned(), "ORT_DYLIB_PATH"));
        assert_eq!(by(&disk, &[("ORT_DYLIB_PATH", "/mine.so")]), named);
        assert_eq!(
            by(&disk, &[("ORT_DYLIB_PATH", "/none.so"), (path, "/l")]),
            None,
            "not replaced"
        );
        assert_eq!(by(&disk, &[]), None);
        assert_eq!(by(&disk, &[(path, "/x:/l")]), Some((listed, path)));
        disk.file(&cached, "x");
        assert_eq!(by(&disk, &[(path, "/l")]), Some((cached, "the cache")));
    }

    /// A packed release with these files.
    fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(
            Vec::new(),
            flate2::Compression::fast(),
        ));
        let mut link = tar::Header::new_gnu();
        link.set_entry_type(tar::EntryType::Symlink);
        link.set_size(0);
        builder.append_link(&mut link, "o/lib/libonnxruntime.so", "libonnxruntime.so.1").unwrap();
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, *bytes).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn the_library_is_taken_out_and_checked() {
        // NIST's sum of "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let fs = SimFs::new();
        let (from, to) = (Path::new("/c/r.tgz"), Path::new("/c/libonnxruntime.so"));
        let lib = "o/lib/libonnxruntime.so.1.24.4";
        fs.install(from, &packed(&[("o/LICENSE", b"x"), (lib, b"abc")])).unwrap();
        let wrong = unpack(&fs, from, to, &"0".repeat(64)).unwrap_err();
        assert!(matches!(wrong, Error::Mismatch { .. }), "{wrong}");
        assert_eq!(fs.list(Path::new("/c")).unwrap(), ["r.tgz"]);
        unpack(&fs, from, to, abc).unwrap();
        assert_eq!(fs.read(to).unwrap(), b"abc");
        assert_eq!(fs.list(Path::new("/c")).unwrap(), ["libonnxruntime.so", "r.tgz"]);
        let (none, torn) = (Path::new("/c/none.tgz"), Path::new("/c/torn.tgz"));
        fs.install(none, &packed(&[("o/LICENSE", b"x")])).unwrap();
        fs.install(torn, packed(&[(lib, b"abc")]).get(..40).unwrap()).unwrap();
        assert!(unpack(&fs, none, to, abc).unwrap_err().to_string().contains("no library"));
        assert!(matches!(unpack(&fs, torn, to, abc), Err(Error::Files(_))));
        assert_eq!(fs.read(to).unwrap(), b"abc", "what was there stays");
    }
}
