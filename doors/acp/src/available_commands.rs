//! The commands that an editor was told of in one conversation: claw's own, and the prompts of tool
//! servers, which change while it is open. Must not know what a prompt says, or who has heard of a
//! change first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{AcpDoor, modes};
use crate::chat_commands::ChatCommands;

/// Lives as long as its conversation.
pub struct AvailableCommands {
    chat_commands: ChatCommands,
    door: Arc<AcpDoor>,
    /// The prompts that were sent last: command, what it is, and its words.
    prompts: Mutex<Vec<(String, String, String)>>,
}

impl AvailableCommands {
    pub fn new(chat_commands: ChatCommands, door: Arc<AcpDoor>) -> Self {
        Self { chat_commands, door, prompts: Mutex::default() }
    }

    pub fn send(&self) {
        let known = self.chat_commands.known_prompts();
        self.door.update(modes::commands(&known));
        *self.last_sent() = known;
    }

    /// Asks the servers that have said that their prompts changed, and sends what is known, if it
    /// is not what was sent last. Another conversation may have asked them before.
    pub async fn look(&self) {
        self.chat_commands.look_for_changed_prompts().await;
        if *self.last_sent() != self.chat_commands.known_prompts() {
            self.send();
        }
    }

    fn last_sent(&self) -> MutexGuard<'_, Vec<(String, String, String)>> {
        self.prompts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
