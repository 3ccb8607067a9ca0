//! The ONNX Runtime's library: looked at first, then entered.
//!
//! The crate `ort` panics or waits for ever if it is entered without a library that fits, so ours
//! is opened and asked here before. Not here: where it lies ([`super::files::library`]). Invariants:
//! what is wrong with a library is an error; nothing is reported to anybody.

use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::Library;
use ort::environment::Environment;
use ort::sys::{ORT_API_VERSION, OrtApiBase};

use super::Error;

/// The runtime, ready.
pub struct Runtime {
    /// What models are loaded into.
    pub environment: Environment,
    /// Its version.
    pub version: String,
}

/// Loads the library; a bare name is searched for by the system's loader.
///
/// # Errors
/// A library that is missing, another one, or too old.
pub fn load(library: &Path) -> Result<Runtime, Error> {
    let version = look(library).map_err(Error::Runtime)?;
    let named = |error: &dyn std::fmt::Display| Error::Runtime(format!("{error}"));
    let environment = ort::init_from(library).map_err(|error| named(&error))?;
    let environment = environment.with_name("packset-embed").with_telemetry(false).build();
    let environment = environment.map_err(|error| named(&error))?;
    environment.set_log_level(ort::logging::LogLevel::Fatal);
    Ok(Runtime { environment, version })
}

/// The version of the library, if it is one that can be entered.
fn look(path: &Path) -> Result<String, String> {
    let place = path.display();
    // SAFETY: opening a library runs its initialisers. It is the one that the user or the
    // installation names, as for any program that is linked to it.
    let library = unsafe { Library::new(path) }
        .map_err(|error| format!("{place} cannot be loaded ({})", why(&error)))?;
    // It stays loaded: `ort` opens it again by the same path and gets the same one.
    let library = ManuallyDrop::new(library);
    // SAFETY: the name is exported by ONNX Runtime alone, with this signature since 1.0.
    let base =
        unsafe { library.get::<unsafe extern "C" fn() -> *const OrtApiBase>(b"OrtGetApiBase") };
    let base = base.map_err(|_| format!("{place} is another library"))?;
    // SAFETY: it takes nothing and gives a pointer to a static of the library, or null.
    let base = unsafe { base().as_ref() }.ok_or_else(|| format!("{place} has no interface"))?;
    // SAFETY: the static's own function, which takes nothing.
    let version = unsafe { (base.GetVersionString)() };
    if version.is_null() {
        return Err(format!("{place} has no version"));
    }
    // SAFETY: a string of the library's, ended by a zero, that lives as long as it is loaded.
    let version = unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned();
    // SAFETY: null for an interface that it does not have.
    let api = unsafe { (base.GetApi)(ORT_API_VERSION) };
    if api.is_null() {
        return Err(format!("{place} is version {version}, and 1.{ORT_API_VERSION} is needed"));
    }
    Ok(version)
}

/// The first line of what lies behind an error, which alone says what the loader says.
fn why(error: &dyn std::error::Error) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    text.lines().next().unwrap_or_default().to_owned()
}
