//! What happens now in the sessions of clients, for the requests that wait there. Must not know
//! what is shown of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::broadcast;

use crate::domain::{Live, LiveSink, SessionId};

/// Glimpses that a slow reader may be behind; older ones are lost to it.
const BEHIND_MAX: usize = 64;

/// The sessions in which something happens, or that somebody looks at.
#[derive(Default)]
pub struct Watched {
    /// An entry is gone with the last who holds it.
    sessions: Mutex<HashMap<SessionId, Weak<broadcast::Sender<Live>>>>,
}

/// Somebody who looks at a session.
pub struct Glimpses {
    seen: broadcast::Receiver<Live>,
    /// Keeps the entry, so that a turn which begins finds it.
    _entry: Arc<broadcast::Sender<Live>>,
}

impl Watched {
    fn entry(&self, session: &SessionId) -> Arc<broadcast::Sender<Live>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = sessions.get(session).and_then(Weak::upgrade) {
            return there;
        }
        sessions.retain(|_, entry| entry.strong_count() > 0);
        let made = Arc::new(broadcast::Sender::new(BEHIND_MAX));
        sessions.insert(session.clone(), Arc::downgrade(&made));
        made
    }

    /// Where glimpses of a session go.
    pub fn sink(&self, session: &SessionId) -> LiveSink {
        let entry = self.entry(session);
        Arc::new(move |live| {
            if let Live::Server { text } = &live {
                tracing::warn!(text, "a tool server");
            }
            // Nobody may be looking.
            let _unseen = entry.send(live);
        })
    }

    /// What happens in a session from now on.
    pub fn look(&self, session: &SessionId) -> Glimpses {
        let entry = self.entry(session);
        Glimpses { seen: entry.subscribe(), _entry: entry }
    }
}

impl Glimpses {
    /// The next one. What was missed is passed over.
    pub async fn next(&mut self) -> Live {
        loop {
            match self.seen.recv().await {
                Ok(live) => return live,
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                // It holds the other end, so this does not come.
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(text: &str) -> Live {
        Live::Notice { text: text.to_owned() }
    }

    #[tokio::test]
    async fn who_looks_at_a_session_sees_what_happens_there_and_nothing_else() {
        let watched = Watched::default();
        let [one, other] = ["mcp.a", "mcp.b"].map(|name| SessionId::new(name).unwrap());
        let mut glimpses = watched.look(&one);
        watched.sink(&other)(notice("not here"));
        let sink = watched.sink(&one);
        sink(notice("here"));
        assert_eq!(glimpses.next().await, notice("here"));
        // A turn that runs already is seen by who comes later.
        let mut late = watched.look(&one);
        sink(notice("later"));
        assert_eq!(late.next().await, notice("later"));
        drop((glimpses, late, sink));
        drop(watched.sink(&other));
        assert_eq!(watched.sessions.lock().unwrap().len(), 1, "what nobody holds is forgotten");
    }
}
