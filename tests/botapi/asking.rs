//! What tests ask of the stand-in and tell it, apart from what users do. Owns that part of
//! [`BotApi`]. Must not know HTTP.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::calls::Call;
use super::chat::ChatId;
use super::faults::{Fault, Faulty};
use super::limits::Limits;
use super::message::{Message, MessageId};
use super::updates::{UpdateId, UpdateRecord};
use super::world::World;
use super::{BotApi, account};

impl BotApi {
    /// Looks at everything at once, without anything changing meanwhile.
    pub fn look<T>(&self, what: impl FnOnce(&World) -> T) -> T {
        what(&self.shared.world())
    }

    /// Lets time go by for everything but sleeps: taps die after 150 s, updates after 24 h, rate
    /// limits fill up again.
    pub fn let_pass(&self, time: Duration) {
        self.shared.change(|world| world.let_pass(time));
    }

    /// Every call so far, in the order of arrival.
    pub fn calls(&self) -> Vec<Call> {
        self.look(|world| world.calls.all().to_vec())
    }

    /// The calls of one method, whatever the case of its name.
    pub fn calls_of(&self, method: &str) -> Vec<Call> {
        self.look(|world| world.calls.of(method).cloned().collect())
    }

    /// Stops or resumes keeping calls; a benchmark needs no memory of them.
    pub fn keep_calls(&self, keep: bool) {
        self.shared.change(|world| world.calls.keep(keep));
    }

    /// Every message that the bot ever sent to a chat, deleted ones too, with its edits.
    pub fn sent(&self, chat: impl Into<ChatId>) -> Vec<Message> {
        self.look(|world| world.messages(chat.into()).filter(|one| one.by_bot).cloned().collect())
    }

    /// One message as it is now.
    #[track_caller]
    pub fn message(&self, chat: impl Into<ChatId>, id: MessageId) -> Message {
        self.look(|world| world.message(chat.into(), id).cloned()).unwrap()
    }

    /// Every update that ever was, whether it was delivered, and whether an offset confirmed it.
    pub fn updates(&self) -> Vec<UpdateRecord> {
        self.look(|world| world.updates.ledger())
    }

    /// The notices ("typing" and the like) of a chat, in order.
    pub fn actions(&self, chat: impl Into<ChatId>) -> Vec<String> {
        self.look(|world| {
            world.chat(chat.into()).map(|chat| chat.actions.clone()).unwrap_or_default()
        })
    }

    /// What `setMyCommands` set for all chats and languages.
    pub fn commands(&self) -> Value {
        self.look(|world| {
            world
                .commands
                .get(&account::everywhere())
                .cloned()
                .unwrap_or_else(|| Value::Array(Vec::new()))
        })
    }

    /// The bytes of a file that the bot or a user has sent.
    #[track_caller]
    pub fn file(&self, file_id: &str) -> Vec<u8> {
        self.look(|world| world.files.bytes(file_id).unwrap().to_vec())
    }

    /// A server in local mode: it puts files below `folder`, and hands out nothing over HTTP. The
    /// first file is `TOKEN/documents/file_0.bin`, if its name ends so.
    pub fn keeps_files_in(&self, folder: &Path) {
        self.shared.change(|world| world.files.local_folder = Some(folder.to_owned()));
    }

    /// Somebody has set a webhook, which the bot itself never does.
    pub fn set_webhook(&self, url: &str) {
        self.shared.change(|world| world.webhook = url.to_owned());
    }

    /// Begins a fault; see [`Faulty`] for where and how often.
    pub fn fault(&self, fault: Fault) -> Faulty<'_> {
        Faulty::new(&self.shared, fault)
    }

    /// No fault any more.
    pub fn heal(&self) {
        self.shared.change(|world| world.faults.clear());
    }

    /// Telegram's rate limits, which are off otherwise.
    pub fn limit(&self, limits: Limits) {
        self.shared.change(|world| world.gauge.set(limits));
    }

    /// Whether the bot sees in groups only what is meant for it. Off, unlike for a new bot of
    /// Telegram's.
    pub fn privacy_mode(&self, on: bool) {
        self.shared.change(|world| world.privacy_mode = on);
    }

    /// An element of `getUpdates` with this content, which goes through the queue like any other.
    pub fn push_update(&self, kind: &str, content: Value) -> Option<UpdateId> {
        self.shared.change(|world| world.push_update(kind, content))
    }

    /// A message that lacks what every message has: no chat, no date.
    pub fn push_malformed_update(&self) -> Option<UpdateId> {
        self.push_update("message", json!({"message_id": 1, "text": "no chat, no date"}))
    }

    /// An update of a kind that nobody has heard of yet; it comes whatever the bot allowed.
    pub fn push_unknown_update(&self) -> UpdateId {
        self.shared.change(|world| {
            let now = world.now_ms();
            world.updates.push_anyway(
                "telepathic_message",
                json!({"thought": "of a later version"}),
                now,
            )
        })
    }

    /// The next update gets this number; Telegram does so after a quiet week. Numbers below what is
    /// queued would be lost.
    pub fn next_update_id(&self, id: UpdateId) {
        self.shared.change(|world| world.updates.next_id(id));
    }
}
