//! Streams the output of one job to the client as progress notifications: the newest text, at most
//! ten a second, so that a chatty command costs little. Must not know jobs. What is left out here
//! is in the result or its file.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::capture::whole_characters;

const INTERVAL: Duration = Duration::from_millis(100);
/// Text in one notification. Of more output between two of them the newest part is sent.
const TEXT_BYTES_MAX: usize = 4096;
/// A client that does not read must not hold up the result for longer.
const LAST_SEND_PATIENCE: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Pending {
    text: Vec<u8>,
    /// All output bytes so far: the `progress` of a notification, which has to grow.
    bytes: u64,
    closed: bool,
}

/// The sending end. Never blocks: it only leaves the bytes where the task finds them.
pub struct Progress {
    pending: Arc<watch::Sender<Pending>>,
    task: JoinHandle<()>,
}

impl Progress {
    pub fn start(peer: Peer<RoleServer>, token: ProgressToken) -> Self {
        Self::sent_by(token, move |notification| {
            let peer = peer.clone();
            async move { peer.notify_progress(notification).await.is_ok() }
        })
    }

    /// `send` says whether the client still listens.
    fn sent_by<F>(
        token: ProgressToken,
        send: impl Fn(ProgressNotificationParam) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let pending = Arc::new(watch::Sender::new(Pending::default()));
        let task = tokio::spawn(send_all(Arc::clone(&pending), token, send));
        Self { pending, task }
    }

    pub fn push(&self, chunk: &[u8]) {
        self.pending.send_modify(|pending| {
            pending.bytes += chunk.len() as u64;
            pending.text.extend_from_slice(chunk);
            let surplus = pending.text.len().saturating_sub(TEXT_BYTES_MAX);
            pending.text.drain(..surplus);
        });
    }

    /// Sends what is left, so that nothing follows the result.
    pub async fn finish(self) {
        self.pending.send_modify(|pending| pending.closed = true);
        let abort = self.task.abort_handle();
        if timeout(LAST_SEND_PATIENCE, self.task).await.is_err() {
            abort.abort();
        }
    }
}

async fn send_all<F: Future<Output = bool>>(
    pending: Arc<watch::Sender<Pending>>,
    token: ProgressToken,
    send: impl Fn(ProgressNotificationParam) -> F,
) {
    let mut changes = pending.subscribe();
    loop {
        let something =
            changes.wait_for(|pending| pending.closed || !pending.text.is_empty()).await;
        let Ok(closed) = something.map(|pending| pending.closed) else { return };
        let mut notification = ProgressNotificationParam::new(token.clone(), 0.0);
        let mut text = None;
        pending.send_if_modified(|pending| {
            text = take_text(pending, closed);
            #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 bytes")]
            let bytes = pending.bytes as f64;
            notification.progress = bytes;
            false
        });
        if let Some(text) = text
            && !send(notification.with_message(text)).await
        {
            // The client is gone; the result will find out, too.
            return;
        }
        if closed {
            return;
        }
        // The end of the command ends the pause: a command that prints must not cost the interval.
        let _ = timeout(INTERVAL, changes.wait_for(|pending| pending.closed)).await;
    }
}

/// Takes the text out, but leaves the beginning of a character whose rest is still to come.
fn take_text(pending: &mut Pending, closed: bool) -> Option<String> {
    let end = if closed { pending.text.len() } else { whole_characters(&pending.text) };
    let rest = pending.text.split_off(end);
    let taken = std::mem::replace(&mut pending.text, rest);
    (!taken.is_empty()).then(|| String::from_utf8_lossy(&taken).into_owned())
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;
    use tokio::sync::mpsc;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_command_that_prints_waits_for_no_interval() {
        let began = Instant::now();
        let (sent, mut received) = mpsc::unbounded_channel();
        let progress =
            Progress::sent_by(ProgressToken(NumberOrString::Number(1)), move |notification| {
                let heard = sent.send(notification).is_ok();
                async move { heard }
            });
        progress.push(b"one");
        let first = received.recv().await.and_then(|notification| notification.message);
        assert_eq!(first.as_deref(), Some("one"));
        progress.push(b"two");
        progress.finish().await;
        let last = received.recv().await.and_then(|notification| notification.message);
        assert_eq!(last.as_deref(), Some("two"));
        // The clock is paused, so only a sleep moves it.
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_chatty_command_sends_at_most_one_notification_an_interval() {
        let (sent, mut received) = mpsc::unbounded_channel();
        let progress = Progress::sent_by(ProgressToken(NumberOrString::Number(1)), move |_| {
            let heard = sent.send(Instant::now()).is_ok();
            async move { heard }
        });
        for _ in 0..50 {
            progress.push(b"x");
            tokio::time::advance(Duration::from_millis(10)).await;
        }
        let mut times = Vec::new();
        while let Ok(time) = received.try_recv() {
            times.push(time);
        }
        assert!(times.len() >= 2, "{times:?}");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= INTERVAL), "{times:?}");
        progress.finish().await;
    }

    #[test]
    fn a_character_that_comes_in_two_parts_is_sent_whole() {
        let euro = "€".as_bytes();
        let mut pending = Pending { text: [b"a", &euro[..2]].concat(), bytes: 3, closed: false };
        assert_eq!(take_text(&mut pending, false).as_deref(), Some("a"));
        assert_eq!(take_text(&mut pending, false), None);
        pending.text.extend_from_slice(&euro[2..]);
        assert_eq!(take_text(&mut pending, false).as_deref(), Some("€"));
    }
}
