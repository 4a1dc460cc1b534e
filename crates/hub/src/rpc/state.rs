//! What a connection and its [`super::bridge::Bridge`] know of the server together: requests
//! without an answer, and what its notifications said. Must not know transports.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use serde_json::Value;

/// Takes the text of a progress notification.
pub(crate) type ProgressSink = Arc<dyn Fn(String) + Send + Sync>;

/// Lives as long as the connection.
#[derive(Default)]
pub(crate) struct RpcState {
    /// Requests without an answer, by our id.
    pending: Mutex<HashMap<RequestId, Pending>>,
    /// Goes up with every `notifications/tools/list_changed`.
    list_changes: AtomicU64,
    /// Somebody has seen a list since the last change was reported: a server that repeats itself is
    /// not news, and neither is one that is still setting itself up.
    change_is_news: AtomicBool,
    /// Jobs that the server runs in the background, by its last notification.
    background_jobs: AtomicU32,
}

pub(super) struct Pending {
    /// The result is wanted as it came.
    pub(super) raw: bool,
    /// The progress token and who takes the texts.
    pub(super) progress: Option<(Value, ProgressSink)>,
}

impl RpcState {
    pub(crate) fn list_changes(&self) -> u64 {
        self.list_changes.load(Ordering::SeqCst)
    }

    /// The tools were listed, so the next change is news.
    pub(crate) fn note_listed(&self) {
        self.change_is_news.store(true, Ordering::SeqCst);
    }

    /// Whether this change is news.
    pub(super) fn note_list_change(&self) -> bool {
        self.list_changes.fetch_add(1, Ordering::SeqCst);
        self.change_is_news.swap(false, Ordering::SeqCst)
    }

    pub(crate) fn background_jobs(&self) -> u32 {
        self.background_jobs.load(Ordering::Relaxed)
    }

    pub(super) fn note_background_jobs(&self, running: u32) {
        self.background_jobs.store(running, Ordering::Relaxed);
    }

    /// Whether a call or a list is still unanswered, and wanted.
    pub(crate) fn has_calls(&self) -> bool {
        self.pending().values().any(|pending| pending.raw)
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, HashMap<RequestId, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the request that an answer belongs to. The text "7" is not the number 7 (JSON-RPC 2.0,
    /// section 5).
    pub(super) fn claim(&self, id: Option<&Value>) -> Option<(RequestId, Pending)> {
        let number = id?.as_i64()?;
        self.pending().remove_entry(&RequestId::Number(number))
    }

    /// Who takes the progress of the request with this token.
    pub(super) fn progress_sink(&self, token: &Value) -> Option<ProgressSink> {
        let pending = self.pending();
        let mut sinks = pending.values().filter_map(|pending| pending.progress.as_ref());
        sinks.find(|(wanted, _)| wanted == token).map(|(_, sink)| sink.clone())
    }
}
