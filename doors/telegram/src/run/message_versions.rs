//! What messages said when they were last handled, as digests. Telegram sends an edit also where
//! nothing has changed that claw reads (Bot API, "Update", `edited_message`): a preview that was
//! loaded, a reaction. Owns how many are remembered; must not know what a message means.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use crate::api::incoming::ChatMessage;
use crate::domain::canonical::sha256_hex;

/// So many messages are remembered, over all chats. An edit of an older one counts as a change.
const MESSAGES_MAX: usize = 4_096;

/// One message as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessageVersion {
    /// Chat and number in it.
    key: (i64, i64),
    digest: String,
}

impl MessageVersion {
    pub(super) fn of(msg: &ChatMessage) -> Self {
        let files: Vec<&str> = msg.files.iter().map(|file| file.unique_id.as_str()).collect();
        let said = format!("{:?}", (&msg.text, files, &msg.words, msg.forwarded));
        Self { key: (msg.place.chat, msg.id), digest: sha256_hex(said) }
    }
}

/// Lives as long as the bot is at work; after a restart every edit counts as a change.
#[derive(Default)]
pub(super) struct MessageVersions(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    digests: HashMap<(i64, i64), String>,
    /// The oldest first.
    order: VecDeque<(i64, i64)>,
}

impl MessageVersions {
    /// Whether all these are as they were last handled.
    pub(super) fn has_all(&self, versions: &[MessageVersion]) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        versions.iter().all(|one| kept.digests.get(&one.key) == Some(&one.digest))
    }

    pub(super) fn keep(&self, versions: Vec<MessageVersion>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for MessageVersion { key, digest } in versions {
            if kept.digests.insert(key, digest).is_none() {
                kept.order.push_back(key);
            }
            if kept.order.len() > MESSAGES_MAX
                && let Some(oldest) = kept.order.pop_front()
            {
                kept.digests.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: i64, digest: &str) -> MessageVersion {
        MessageVersion { key: (7, number), digest: digest.into() }
    }

    #[test]
    fn the_last_version_counts_and_the_oldest_messages_are_forgotten() {
        let versions = MessageVersions::default();
        assert!(!versions.has_all(&[version(0, "a")]));
        versions.keep(vec![version(0, "a"), version(1, "a")]);
        versions.keep(vec![version(0, "b")]);
        assert!(versions.has_all(&[version(0, "b"), version(1, "a")]));
        assert!(!versions.has_all(&[version(0, "a")]), "back to what it was is a change, too");
        let many = MESSAGES_MAX as i64;
        versions.keep((2..=many).map(|number| version(number, "a")).collect());
        assert!(!versions.has_all(&[version(0, "b")]));
        assert!(versions.has_all(&[version(1, "a"), version(many, "a")]));
        let kept = versions.0.lock().unwrap();
        assert_eq!((kept.digests.len(), kept.order.len()), (MESSAGES_MAX, MESSAGES_MAX));
    }
}
