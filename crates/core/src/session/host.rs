//! Keeps a session going until nothing is left for it to do, whoever does it. Must not know doors.

use std::time::Duration;

use super::worker::{Ran, SessionError, Worker};
use crate::domain::{LiveSink, SessionId};

/// How often a session that somebody else holds is looked at again. The holder may have been
/// killed.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl Worker {
    /// Runs the session until it is idle or parked. While another process holds it, waits for that
    /// one to let go.
    pub async fn settle(&self, session: &SessionId, live: &LiveSink) -> Result<Ran, SessionError> {
        loop {
            match self.run(session, live).await? {
                Ran::Elsewhere => tokio::time::sleep(LOOK_AGAIN).await,
                ran => return Ok(ran),
            }
        }
    }
}
