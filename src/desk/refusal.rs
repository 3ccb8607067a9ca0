//! How errors of the layers below become failures that a person, a client or a shell reads.

use crate::atom::Refusal;
use crate::cards::Error as CardError;
use crate::claim;
use crate::claim::proposals::{Error as ProposalError, Held};
use crate::cli::{Failure, FailureKind};
use crate::pack::{self, history::UndoError};

impl From<pack::Error> for Failure {
    fn from(error: pack::Error) -> Self {
        let message = error.to_string();
        match error {
            pack::Error::Segment(error) => error.into(),
            pack::Error::Busy { .. } => Self::new(FailureKind::Busy, message)
                .hint("try again, or wait longer with PACKSET_LOCK_TIMEOUT_MS"),
            pack::Error::Unknown { .. } => Self::new(FailureKind::Io, message)
                .hint("look whether it is there before you write it again"),
            pack::Error::Collision { .. } => {
                Self::new(FailureKind::Refused, message).hint("choose another id")
            }
            pack::Error::TextRule { .. } => Self::new(FailureKind::Refused, message)
                .hint("use the packset that wrote it, or run `packset compact` with a newer one"),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::new(FailureKind::Refused, refusal.to_string())
    }
}

impl From<claim::Error> for Failure {
    fn from(error: claim::Error) -> Self {
        let message = error.to_string();
        match error {
            claim::Error::Pack(error) => error.into(),
            claim::Error::Retired(_) => Self::new(FailureKind::Conflict, message),
            _ => Self::new(FailureKind::Refused, message),
        }
    }
}

impl From<CardError> for Failure {
    fn from(error: CardError) -> Self {
        let message = error.to_string();
        match error {
            CardError::Pack(error) => error.into(),
            CardError::Long { .. } => Self::new(FailureKind::Long, message),
            _ => Self::new(FailureKind::Refused, message),
        }
    }
}

impl From<ProposalError> for Failure {
    fn from(error: ProposalError) -> Self {
        let message = error.to_string();
        match error {
            ProposalError::Pack(error) => error.into(),
            ProposalError::Claim(error) => error.into(),
            ProposalError::Unknown(_) => Self::new(FailureKind::Forbidden, message)
                .hint("`packset proposals` lists the open ones"),
            ProposalError::Unsupported(_) | ProposalError::NotAllowed { .. } => {
                Self::new(FailureKind::Forbidden, message)
            }
            _ => Self::new(FailureKind::Refused, message),
        }
    }
}

impl From<Held> for Failure {
    fn from(answer: Held) -> Self {
        Self::new(FailureKind::Refused, answer.to_string())
            .hint("`packset accept` and the id store it; `packset proposals` lists what waits")
    }
}

impl From<UndoError> for Failure {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Pack(error) => error.into(),
            refused => Self::new(FailureKind::Refused, refused.to_string())
                .hint("`packset log` shows the generations"),
        }
    }
}

/// Why one claim was not changed; `name` is its workspace.
pub(super) fn of_change(name: &str, error: claim::Error) -> Failure {
    let none = matches!(error, claim::Error::NoCurrent(_));
    let failure = Failure::from(error);
    if none { failure.hint(format!("`packset atoms {name}` lists what is live")) } else { failure }
}
