//! What the pack as a whole is set to: a value under a name, in the pack's own store.
//!
//! A setting is a record `setting/NAME` of kind `setting`, so that it has versions and goes where
//! the pack goes. Not here: what a setting means, but for [`Model`]; what the environment says,
//! which wins where it says anything. Invariants: a setting that was never made, or was taken back,
//! reads as none; reading changes nothing.

use serde_json::{Value, json};

use crate::cards::{Error, current, put};
use crate::pack::{self, Snapshot, Transaction};

/// Kind of a setting's record, and what its id begins with.
const SETTING: &str = "setting";
/// The name of the setting that says which model turns texts into vectors.
pub const MODEL: &str = "model";

fn id(name: &str) -> String {
    format!("{SETTING}/{name}")
}

/// The value of a setting; none if it was never made. `pack` is a snapshot of the pack's own store.
///
/// # Errors
/// Damaged bytes.
pub fn get(pack: Option<&Snapshot>, name: &str) -> Result<Option<Value>, pack::Error> {
    let record = current(pack, &id(name), SETTING)?;
    Ok(record.and_then(|mut record| record.shift_remove("value")))
}

/// Makes a setting, or takes it back; a value that stands already makes no version.
///
/// # Errors
/// [`Error::Taken`], or what the pack says.
pub fn set(
    transaction: &mut Transaction<'_>,
    name: &str,
    value: Option<Value>,
) -> Result<(), Error> {
    let fields = value.map(|value| vec![("schema", json!("packset.setting/v1")), ("value", value)]);
    put(transaction, &id(name), SETTING, fields)
}

/// What turns texts into vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// The table that is built in: nothing was set, or that.
    #[default]
    Static,
    /// Nothing does: searches go by words alone.
    None,
    /// The model of this name.
    Named(String),
}

impl Model {
    /// The one of a word.
    pub fn of(word: &str) -> Self {
        match word {
            "static" => Self::Static,
            "none" => Self::None,
            name => Self::Named(name.to_owned()),
        }
    }

    /// The word for it.
    pub fn name(&self) -> &str {
        match self {
            Self::Static => "static",
            Self::None => "none",
            Self::Named(name) => name,
        }
    }

    /// The one that the pack is set to.
    ///
    /// # Errors
    /// As [`get`].
    pub fn set_in(pack: Option<&Snapshot>) -> Result<Option<Self>, pack::Error> {
        let value = get(pack, MODEL)?;
        Ok(value.as_ref().and_then(Value::as_str).map(Self::of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_every_model() {
        for (word, model) in [
            ("static", Model::Static),
            ("none", Model::None),
            ("bge-small", Model::Named("bge-small".into())),
        ] {
            assert_eq!((Model::of(word), model.name()), (model.clone(), word));
        }
        assert_eq!(Model::default(), Model::Static);
        assert_eq!(id(MODEL), "setting/model");
    }
}
