//! Tells a client what runs while its request waits, if it wants to know. Must not know what is
//! waited for.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::Instant;

use crate::domain::{Live, escape};

/// The least time between two notifications.
const EVERY: Duration = Duration::from_millis(500);
/// A client that hears nothing for so long may think that nobody is there.
const ALIVE: Duration = Duration::from_secs(10);
/// Of a line of progress so many characters are told.
const CHARS_MAX: usize = 200;

/// One request that waits.
pub struct Progress {
    /// `None`: the client does not want to be told.
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    /// It has to grow with each notification.
    count: f64,
    began: Instant,
    last: Option<Instant>,
    text: String,
    /// The client has not heard the newest words yet.
    is_untold: bool,
}

impl Progress {
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            token: context.meta.get_progress_token(),
            peer: context.peer.clone(),
            count: 0.0,
            began: Instant::now(),
            last: None,
            text: String::new(),
            is_untold: false,
        }
    }

    /// When the client should hear something next, whatever happens.
    pub fn due(&self) -> Instant {
        self.last.unwrap_or(self.began) + if self.is_untold { EVERY } else { ALIVE }
    }

    /// Something has happened.
    pub async fn sees(&mut self, live: &Live) {
        let Some(text) = words(live) else { return };
        if text == self.text {
            return;
        }
        (self.text, self.is_untold) = (text, true);
        if self.last.is_none_or(|last| last.elapsed() >= EVERY) {
            self.tells().await;
        }
    }

    /// The client hears the newest words, also once more.
    pub async fn is_alive(&mut self) {
        if self.text.is_empty() {
            "the agent is at work".clone_into(&mut self.text);
        }
        self.tells().await;
    }

    async fn tells(&mut self) {
        (self.last, self.is_untold) = (Some(Instant::now()), false);
        let Some(token) = self.token.clone() else { return };
        self.count += 1.0;
        let told = ProgressNotificationParam::new(token, self.count).with_message(&self.text);
        if let Err(error) = self.peer.notify_progress(told).await {
            tracing::debug!(%error, "a client was not told of progress");
        }
    }
}

/// A glimpse in a line. Titles of calls are escaped already.
fn words(live: &Live) -> Option<String> {
    let line = match live {
        Live::StepStarted { step: 1, .. } => "the model is asked".to_owned(),
        Live::StepStarted { step, .. } => format!("the model is asked, step {step}"),
        Live::Text { .. } => "the model is answering".to_owned(),
        Live::StepRestarted { why, .. } => format!("the model is asked again: {why}"),
        Live::CallStarted { title, .. } => format!("running: {title}"),
        Live::CallProgress { text, .. } => escape::visible(text),
        Live::CallAsks { approval, .. } => format!("the owner is asked (question {approval})"),
        Live::CallEnded { ok: true, title, .. } => format!("done: {title}"),
        Live::CallEnded { ok: false, title, .. } => format!("failed: {title}"),
        Live::Notice { text } => escape::visible(text),
        // The owner's business, and the model's.
        Live::Server { .. } | Live::Reasoning { .. } => return None,
    };
    Some(line.chars().take(CHARS_MAX).collect())
}
