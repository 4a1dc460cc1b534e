//! What a server announces by itself: that its tools or its prompts are others now, and
//! that a resource has changed. Owns the subscription of the modern era. Must not know
//! who wants to hear it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::SubscriptionFilter;
use rmcp::service::Peer;
use tokio::time::timeout;

use super::connection::Connection;
use super::settings::{HubNotice, HubSettings};

/// Until an unasked subscription is acknowledged. Without it the tools are listed again before
/// every use.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);

impl Connection {
    /// Whether its prompts have changed since they were listed, as it says. The answer takes no
    /// request.
    pub(super) fn has_changed_prompts(&self) -> bool {
        let listed = self.prompts_listed.load(Ordering::SeqCst);
        self.announces_prompts && listed > 0 && self.state.prompt_changes() >= listed
    }

    /// Read before the prompts are listed: a change that comes meanwhile makes that list old.
    pub(super) fn prompt_changes(&self) -> u64 {
        self.state.prompt_changes()
    }

    pub(super) fn note_prompts_listed(&self, changes: u64) {
        self.prompts_listed.store(changes + 1, Ordering::SeqCst);
    }
}

pub(super) fn announce_changes(
    server: &str,
    settings: &HubSettings,
) -> Arc<dyn Fn() + Send + Sync> {
    let (server, notices) = (server.to_owned(), settings.notices.clone());
    Arc::new(move || notices(HubNotice::ToolsChanged { server: server.clone() }))
}

pub(super) fn tell_updates(
    server: &str,
    settings: &HubSettings,
) -> Arc<dyn Fn(&str) + Send + Sync> {
    let (server, hearers) = (server.to_owned(), settings.resources.clone());
    Arc::new(move |uri| hearers.changed(&server, uri))
}

/// A modern server announces changes only on a subscription, which lives as long as the connection.
/// The bridge counts the changes; this only keeps the stream open and notes when it ends.
#[expect(clippy::disallowed_methods, reason = "a subscription is no action; only the hub listens")]
pub(super) async fn listen(
    peer: Peer<RoleClient>,
    filter: SubscriptionFilter,
    hears_changes: Arc<AtomicBool>,
) {
    let of_tools = filter.tools_list_changed == Some(true);
    let Ok(Ok(mut subscription)) = timeout(LISTEN_TIMEOUT, peer.listen(filter)).await else {
        return;
    };
    let hears = subscription.acknowledged().tools_list_changed == Some(true);
    // A server that announces no changes of its tools is listed by other rules.
    if of_tools {
        hears_changes.store(hears, Ordering::SeqCst);
    }
    while let Ok(Some(_)) = subscription.next().await {}
    if of_tools {
        hears_changes.store(false, Ordering::SeqCst);
    }
}

/// What is subscribed to.
pub(super) fn changes(of_tools: bool, of_prompts: bool) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::builder();
    if of_tools {
        filter = filter.tools_list_changed();
    }
    if of_prompts {
        filter = filter.prompts_list_changed();
    }
    filter.build()
}
