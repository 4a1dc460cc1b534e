//! Resources that somebody in claw wants to hear of when they change, and reading one of claw's own
//! servers.
//! A notification says "look" and nothing else. Must not know what a resource holds.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ReadResourceRequest, ReadResourceRequestParams, Request, ServerResult,
    SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{Peer, PeerRequestOptions};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

use super::rpc::era::Era;

/// For an answer to a subscription. Without it whoever looks by time alone finds out later.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(5);

/// From so many on those are forgotten that nobody wants to hear of any more.
const HEARERS_MAX: usize = 64;

/// For a resource that is read.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// Who wants to hear of which resource, by server and URI. It lives as long as the hub, and longer
/// than any connection: each new one subscribes again.
#[derive(Debug, Default)]
pub(crate) struct Hearers(Mutex<BTreeMap<(String, String), watch::Sender<u64>>>);

impl Hearers {
    /// From now on this one is subscribed to. What is received changes whenever there is a reason
    /// to look.
    pub(crate) fn hear(&self, server: &str, uri: &str) -> watch::Receiver<u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= HEARERS_MAX {
            all.retain(|_, hearer| hearer.receiver_count() > 0);
        }
        all.entry((server.to_owned(), uri.to_owned())).or_default().subscribe()
    }

    pub(crate) fn uris_of(&self, server: &str) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.keys().filter(|(of, _)| of == server).map(|(_, uri)| uri.clone()).collect()
    }

    /// The server has said that this one has changed. Nobody hears of what nobody has asked for.
    pub(crate) fn changed(&self, server: &str, uri: &str) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hearer) = all.get(&(server.to_owned(), uri.to_owned())) {
            hearer.send_modify(|count| *count += 1);
        }
    }

    /// The connection has ended: what changes now is told by nobody, until somebody looks.
    pub(crate) fn connection_ended(&self, server: &str) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, hearer) in all.iter().filter(|((of, _), _)| of == server) {
            hearer.send_modify(|count| *count += 1);
        }
    }
}

/// Subscribes, and keeps the stream of a modern server open as long as the connection lasts. The
/// bridge hears the notifications, in both eras.
pub(crate) async fn subscribe(peer: Peer<RoleClient>, era: Era, server: String, uri: String) {
    let said = match era {
        Era::Legacy => timeout(SUBSCRIBE_TIMEOUT, subscribe_legacy(&peer, &uri)).await,
        Era::Modern => return listen(peer, server, uri).await,
    };
    if !matches!(said, Ok(true)) {
        tracing::warn!(server, uri, "the server does not tell when this changes");
    }
}

#[expect(clippy::disallowed_methods, reason = "a subscription is no action; only the hub listens")]
async fn subscribe_legacy(peer: &Peer<RoleClient>, uri: &str) -> bool {
    let request = Request::new(SubscribeRequestParams::new(uri));
    let request = ClientRequest::SubscribeRequest(request);
    let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    match sent {
        Ok(handle) => handle.await_response().await.is_ok(),
        Err(_) => false,
    }
}

#[expect(clippy::disallowed_methods, reason = "a subscription is no action; only the hub listens")]
async fn listen(peer: Peer<RoleClient>, server: String, uri: String) {
    let filter = SubscriptionFilter::builder().resource_subscription(&uri).build();
    let Ok(Ok(mut subscription)) = timeout(SUBSCRIBE_TIMEOUT, peer.listen(filter)).await else {
        tracing::warn!(server, uri, "the server does not tell when this changes");
        return;
    };
    let accepted = subscription.acknowledged().resource_subscriptions.as_ref();
    if !accepted.is_some_and(|accepted| accepted.contains(&uri)) {
        tracing::warn!(server, uri, "the server does not tell when this changes");
    }
    while let Ok(Some(_)) = subscription.next().await {}
}

/// The text of a resource.
///
/// # Errors
/// Half a sentence: what the server says, or that it has none.
#[expect(clippy::disallowed_methods, reason = "to read is no action; only the hub reads")]
pub(crate) async fn read(peer: &Peer<RoleClient>, uri: &str) -> Result<String, String> {
    let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
    let request = ClientRequest::ReadResourceRequest(request);
    let asked = async {
        let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        sent.map_err(|error| error.to_string())?
            .await_response()
            .await
            .map_err(|error| error.to_string())
    };
    let answer = timeout(READ_TIMEOUT, asked).await;
    match answer.map_err(|_| format!("no answer within {} s", READ_TIMEOUT.as_secs()))?? {
        ServerResult::CustomResult(result) => {
            text_of(&result.0).ok_or_else(|| "its answer holds no text".to_owned())
        }
        _ => Err("its answer has an unknown shape".to_owned()),
    }
}

fn text_of(result: &Value) -> Option<String> {
    Some(result.pointer("/contents/0/text")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_told_and_an_end_is_a_reason_to_look() {
        let hearers = Hearers::default();
        let mut due = hearers.hear("schedule", "s://due");
        due.mark_unchanged();
        hearers.changed("schedule", "s://other");
        hearers.changed("stranger", "s://due");
        hearers.connection_ended("stranger");
        assert!(!due.has_changed().unwrap());
        hearers.changed("schedule", "s://due");
        assert!(due.has_changed().unwrap());
        due.mark_unchanged();
        hearers.connection_ended("schedule");
        assert!(due.has_changed().unwrap());
        assert_eq!(hearers.uris_of("schedule"), ["s://due"]);
    }
}
