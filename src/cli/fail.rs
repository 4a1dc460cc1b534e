//! Exit codes, and how an error is said to a person. Must not know commands.

use std::process::ExitCode;

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

/// A mistake of the user, as one sentence with a next step.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UserError(pub String);

impl UserError {
    pub fn because(text: impl Into<String>) -> anyhow::Error {
        Self(text.into()).into()
    }
}

/// Which exit code an error ends with.
pub fn code_of(error: &anyhow::Error) -> u8 {
    let user = error.chain().any(|cause| {
        cause.is::<UserError>()
            || cause.is::<crate::config::ConfigError>()
            || cause.is::<crate::gate::policy::PolicyError>()
            || cause.is::<crate::hub::manifest::ManifestError>()
            || cause.is::<crate::model::ChooseError>()
            || cause.is::<crate::domain::InvalidSessionId>()
            || matches!(cause.downcast_ref(), Some(crate::store::StoreError::QueueFull(_)))
            || matches!(
                cause.downcast_ref(),
                Some(crate::gate::DecideError::NotOffered(_) | crate::gate::DecideError::Refused(_))
            )
            || matches!(
                cause.downcast_ref(),
                Some(crate::gate::QuarantineError::Nothing(_) | crate::gate::QuarantineError::NotShown(_))
            )
    });
    if user { USER_ERROR } else { BROKEN }
}

/// Prints an error to stderr, causes behind colons, and gives its exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    super::out::err_line(&format!("claw: {text}"));
    ExitCode::from(code_of(error))
}
