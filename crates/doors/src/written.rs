//! What somebody writes to a door that has nothing of its own to do with it: a command is carried
//! out, a prompt of a server is taken in, and the rest is a message. Must not know a door, or which
//! question is open.

use crate::chat_commands::PromptLine;
use crate::domain::SessionId;
use crate::door_context::Context;
use crate::router::Visitor;

use super::commands::{ChatCommand, DoorKind, Parsed, help_markdown, near, parse};

/// What became of what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is done, and this is the answer.
    Notice(String),
    /// Something runs because of it, whose words come by the outbox.
    Runs,
    /// It is a message, and nothing was done with it yet.
    Message,
    /// A group talks to another bot.
    NotForUs,
}

/// Does what a text says, unless it is a message.
///
/// # Errors
/// The store's.
pub async fn command(
    context: &Context,
    visitor: &Visitor,
    session: &SessionId,
    (text, kind): (&str, DoorKind),
) -> anyhow::Result<Written> {
    let commands = &context.chat_commands;
    // Before anything else, because its code may be written nowhere.
    if let Some(told) = commands.login_answer(visitor, text).await {
        return Ok(Written::Notice(told));
    }
    Ok(match parse(text, kind) {
        Parsed::Command(ChatCommand::Help, _) => Written::Notice(help_markdown(kind)),
        Parsed::Command(command, words) => {
            let told = commands.command(visitor, session, command, &words).await?;
            told.map_or(Written::Runs, Written::Notice)
        }
        Parsed::Unknown(sentence) => Written::Notice(sentence),
        Parsed::Foreign(otherwise) => match commands.prompt_of(visitor, text, near(text)).await {
            PromptLine::None => Written::Notice(otherwise),
            PromptLine::Wrong(why) => Written::Notice(why),
            PromptLine::Runs(prompt) => {
                context.router.message_naming(visitor, session, text, vec![prompt]).await?;
                Written::Runs
            }
        },
        Parsed::NotForUs => Written::NotForUs,
        Parsed::Message => Written::Message,
    })
}

/// The same, and a message goes into its session. What is given back is said at once.
///
/// # Errors
/// The store's. A queue that is full is no error, but a sentence.
pub async fn take_in(
    context: &Context,
    visitor: &Visitor,
    session: &SessionId,
    (text, kind): (&str, DoorKind),
) -> anyhow::Result<Option<String>> {
    Ok(match command(context, visitor, session, (text, kind)).await? {
        Written::Notice(told) => Some(told),
        Written::Runs | Written::NotForUs => None,
        Written::Message => match context.router.message(visitor, session, text).await {
            Ok(_) => None,
            Err(full) if full.is_queue_full() => Some(format!("{full}.")),
            Err(error) => return Err(error.into()),
        },
    })
}
