//! The pack: workspaces on disk, read without locks and changed by one protocol.
//!
//! Reading order: [`record`] (a record and its row), [`snapshot`] (what a reader sees),
//! [`store`] (how a store changes), [`transaction`] (what a change may say), [`plan`] (when
//! segments merge), [`compact`], [`purge`] and [`verify`] (on request), [`home`] (all workspaces).
//!
//! Nothing here knows what a claim is beyond which columns to fill: any JSON object with an id
//! and a kind is a record.

pub mod compact;
pub mod history;
pub mod home;
pub mod ids;
pub mod plan;
pub mod purge;
pub mod record;
pub mod snapshot;
pub mod store;
pub mod transaction;
pub mod verify;

pub use ids::IdSource;
pub use record::Record;
pub use snapshot::{Place, Snapshot, View};
pub use store::{Committed, Ground, Store};
pub use transaction::{Prepared, Transaction};

/// What can go wrong with a pack.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The files, or the bytes in them.
    #[error(transparent)]
    Segment(#[from] packset_segments::Error),
    /// Another process holds the workspace.
    #[error("workspace {name} is in use by {holder}")]
    Busy {
        /// The workspace.
        name: String,
        /// What the holder says of itself.
        holder: String,
    },
    /// The last sync failed after the commit was published: it may or may not last.
    #[error("the write to workspace {name} may or may not have been saved: {source}")]
    Unknown {
        /// The workspace.
        name: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Two different id strings share one key.
    #[error("id {id} cannot be told apart from an id that is in use")]
    Collision {
        /// The new id.
        id: String,
    },
    /// The texts of the workspace were indexed by another rule than this program knows.
    #[error("workspace {name} was indexed by {found}, which this packset does not know")]
    TextRule {
        /// The workspace.
        name: String,
        /// The rule in its manifest.
        found: String,
    },
}

/// The module's result.
pub type Result<T> = std::result::Result<T, Error>;
