//! Which commands an editor was told in one conversation: claw's own, and the prompts of tool
//! servers, which change while it is open. Must not know what a prompt says, or who has heard of a
//! change first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{AcpDoor, modes};
use crate::chat_commands::ChatCommands;

/// Lives as long as its conversation.
pub struct ToldCommands {
    chat_commands: ChatCommands,
    door: Arc<AcpDoor>,
    /// The prompts that were told last: command, what it is, and its words.
    prompts: Mutex<Vec<(String, String, String)>>,
}

impl ToldCommands {
    pub fn new(chat_commands: ChatCommands, door: Arc<AcpDoor>) -> Self {
        Self { chat_commands, door, prompts: Mutex::default() }
    }

    pub fn tell(&self) {
        let known = self.chat_commands.known_prompts();
        self.door.update(modes::commands(&known));
        *self.told() = known;
    }

    /// Asks the servers that have said that their prompts changed, and tells what is known, if it
    /// is not what was told last. Another conversation may have asked them before.
    pub async fn look(&self) {
        self.chat_commands.look_for_changed_prompts().await;
        if *self.told() != self.chat_commands.known_prompts() {
            self.tell();
        }
    }

    fn told(&self) -> MutexGuard<'_, Vec<(String, String, String)>> {
        self.prompts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
