//! Exit codes, and how an error is said to a person. Must not know commands.

use std::process::ExitCode;

use super::out;
use crate::domain::{Blame, Blamed};
use crate::doors::entry::DoorEntries;
use crate::{bot_api, doors};
use claw_core::{
    catalog, clients, config, domain, hub, mail, model, policy, redact, router, session, snapshot,
    store, turn, undo, workspace,
};

/// Done.
pub const DONE: u8 = 0;
/// Something broke that is not the user's mistake.
pub const BROKEN: u8 = 1;
/// A mistake of the user: one sentence and a next step were printed.
pub const USER_ERROR: u8 = 2;
/// A call waits for an answer; how to answer was printed.
pub const WAITS: u8 = 3;
/// The model could not be reached or refused.
pub const MODEL_UNAVAILABLE: u8 = 4;
/// `claw update --check` has found a newer version.
pub const NEWER: u8 = 5;
/// Stopped with Ctrl-C, as shells count it (128 + SIGINT).
pub const INTERRUPTED: u8 = 130;
/// Whoever read standard output has gone, as shells count it (128 + SIGPIPE).
pub const CLOSED: u8 = 141;

/// A mistake of the user that the command line itself finds, as one sentence with a next step.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UserError(pub String);

impl UserError {
    pub fn because(text: impl Into<String>) -> anyhow::Error {
        Self(text.into()).into()
    }
}

impl Blamed for UserError {
    fn blame(&self) -> Blame {
        Blame::User
    }
}

// A type that is missing here, or in a door, fails a test of the program (`src/doors.rs`); a
// variant that is missing in its answer does not compile.
crate::domain::asked!(
    UserError,
    out::Unwritten,
    catalog::QuarantineError,
    catalog::TrustError,
    clients::ClientRefusal,
    config::ConfigError,
    config::model::InvalidModelSection,
    config::model::UnknownAgent,
    domain::InvalidClientName,
    domain::InvalidClientSession,
    domain::InvalidSessionId,
    domain::InvalidTurnId,
    domain::escape::InvalidEscape,
    policy::PolicyError,
    redact::RedactError,
    router::DecideError,
    hub::HubError,
    hub::login::LoginError,
    hub::manifest::ManifestError,
    mail::MailError,
    model::ChooseError,
    model::ModelError,
    model::transcribe::TranscriptionError,
    session::SessionError,
    snapshot::SnapshotError,
    store::DecideRefused,
    store::StoreError,
    turn::export::ExportError,
    undo::UndoError,
    workspace::NotGiven,
);

/// Which exit code an error ends with.
pub fn code_of(error: &anyhow::Error, entries: DoorEntries) -> u8 {
    if closed(error) {
        return CLOSED;
    }
    let whose = |cause| {
        let own = [blame_of, doors::blame_of, bot_api::blame_of];
        let own = own.into_iter().find_map(|whose| whose(cause));
        own.or_else(|| doors::entry::blame_of(entries, cause))
    };
    match error.chain().any(|cause| whose(cause) == Some(Blame::User)) {
        true => USER_ERROR,
        false => BROKEN,
    }
}

/// Nobody reads standard output any more.
fn closed(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<out::Unwritten>().is_some_and(out::Unwritten::is_closed))
}

/// Prints an error to stderr, causes behind colons, and gives its exit code. A reader that has gone
/// is no fault and told to nobody.
pub fn report(error: &anyhow::Error, entries: DoorEntries) -> ExitCode {
    if closed(error) {
        return ExitCode::from(CLOSED);
    }
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    out::err_line(&format!("claw: {text}"));
    ExitCode::from(code_of(error, entries))
}

/// The same for what no door has given.
pub fn report_own(error: &anyhow::Error) -> ExitCode {
    report(error, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_an_error_is_decides_its_code_however_deep_it_lies() {
        let deep = |error: anyhow::Error| code_of(&error.context("outer"), &[]);
        assert_eq!(deep(store::StoreError::QueueFull(3).into()), USER_ERROR);
        assert_eq!(
            deep(session::SessionError::Store(store::StoreError::QueueFull(3)).into()),
            USER_ERROR
        );
        assert_eq!(
            deep(router::DecideError::Failed(store::StoreError::Closed.into()).into()),
            BROKEN
        );
        assert_eq!(deep(hub::HubError::UnknownServer { server: "s".into() }.into()), USER_ERROR);
        assert_eq!(deep(std::io::Error::other("disk").into()), BROKEN);
        assert_eq!(deep(out::Unwritten(std::io::ErrorKind::BrokenPipe.into()).into()), CLOSED);
        assert_eq!(deep(out::Unwritten(std::io::ErrorKind::StorageFull.into()).into()), BROKEN);
    }
}
