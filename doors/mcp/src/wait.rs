//! A request that waits until something holds, until its time is over or until its client gives it
//! up. Must not know what for.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::time::Instant;

use super::door::Mcp;
use super::progress::Progress;
use super::watched::Glimpses;
use crate::clients::ClientRefusal;
use crate::domain::SessionId;

/// The longest time between two looks, whether anything was committed or not.
const LOOK: Duration = Duration::from_secs(1);

/// One request that waits.
pub struct Wait<'c> {
    context: &'c RequestContext<RoleServer>,
    glimpses: Option<Glimpses>,
    progress: Progress,
    until: Instant,
}

impl<'c> Wait<'c> {
    /// From now on, for at most `patience`, what happens in this session is told meanwhile.
    pub fn begin(
        door: &Mcp,
        context: &'c RequestContext<RoleServer>,
        session: Option<&SessionId>,
        patience: Duration,
    ) -> Self {
        Self {
            context,
            glimpses: session.map(|session| door.watched.look(session)),
            progress: Progress::of(context),
            until: Instant::now() + patience,
        }
    }

    /// Looks after each commit whether it holds. `None`: it does not yet.
    pub async fn until<T>(
        mut self,
        door: &Mcp,
        mut look: impl FnMut() -> Result<Option<T>, ClientRefusal>,
    ) -> Result<Option<T>, ClientRefusal> {
        let mut wake_ups = door.shared.wake_ups();
        loop {
            if let Some(found) = look()? {
                return Ok(Some(found));
            }
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.context.ct.is_cancelled() {
                return Ok(None);
            }
            let due = self.progress.due();
            tokio::select! {
                () = wake_ups.wait(left.min(LOOK)) => {}
                () = self.context.ct.cancelled() => return Ok(None),
                live = glimpse(&mut self.glimpses) => self.progress.sees(&live).await,
                () = tokio::time::sleep_until(due) => self.progress.is_alive().await,
            }
        }
    }
}

async fn glimpse(glimpses: &mut Option<Glimpses>) -> crate::domain::Live {
    match glimpses {
        Some(glimpses) => glimpses.next().await,
        None => std::future::pending().await,
    }
}
