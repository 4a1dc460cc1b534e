//! A cancelled request seen from blocking work. Owns the check; must not know who cancels.

use tokio_util::sync::CancellationToken;

use crate::error::ToolError;

/// Long loops ask this between two steps.
#[derive(Clone, Debug, Default)]
pub struct Cancel(CancellationToken);

impl Cancel {
    pub fn new(token: CancellationToken) -> Self {
        Self(token)
    }

    /// # Errors
    /// `ToolError::Cancelled` once the client has cancelled the request or has gone.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.0.is_cancelled() { Err(ToolError::Cancelled) } else { Ok(()) }
    }
}
