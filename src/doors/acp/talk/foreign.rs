//! A line that looks like a command and is none of claw's: a prompt of a tool server, perhaps. Must
//! not know which prompts there are.

use super::Inner;
use crate::chat_commands::PromptLine;

impl Inner {
    /// A prompt of a server, or nothing that anybody knows.
    pub(super) async fn foreign(&self, text: &str, otherwise: &str) -> anyhow::Result<bool> {
        match self.context.chat_commands.prompt_of(&self.visitor, text).await {
            PromptLine::None => self.door.say(otherwise),
            PromptLine::Wrong(why) => self.door.say(&why),
            PromptLine::Runs(prompt) => {
                let (router, named) = (&self.context.router, vec![prompt]);
                router.message_naming(&self.visitor, &self.session, text, named).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
