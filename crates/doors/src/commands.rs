//! The commands of a chat, one table for every door. Owns their names, which door has them, and how
//! a line is read; must not know what they do.

pub use crate::domain::ChatCommand;

/// Where a line was typed, as far as commands go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorKind {
    Console,
    Chat,
    /// The agent panel of an editor.
    Editor,
}

pub struct CommandInfo {
    pub command: ChatCommand,
    /// With the slash.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// The words that may follow, for the help; empty if none may.
    pub words: &'static str,
    pub help: &'static str,
    /// The one kind of door that has it; all, if there is none.
    pub only_at: Option<DoorKind>,
}

impl CommandInfo {
    /// Without the slash.
    pub fn bare_name(&self) -> &'static str {
        self.name.trim_start_matches('/')
    }

    fn is_at(&self, door: DoorKind) -> bool {
        self.only_at.is_none_or(|only| only == door)
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// All commands, in the order of the help.
pub const COMMANDS: &[CommandInfo] = &[
    info(
        ChatCommand::New,
        "/new",
        "",
        "start afresh: the model forgets this conversation, session grants end",
    )
    .also(&["/reset"]),
    info(
        ChatCommand::Stop,
        "/stop",
        "[jobs]",
        "end the running turn and whatever it runs; with `jobs`, the background jobs",
    ),
    info(ChatCommand::Status, "/status", "", "model, context, servers, what runs and what waits"),
    info(ChatCommand::Usage, "/usage", "", "tokens today and in this session, by model"),
    info(
        ChatCommand::Model,
        "/model",
        "[NAME]",
        "the model, who is behind it; another one for this conversation",
    ),
    info(
        ChatCommand::Role,
        "/role",
        "[list|select NAME]",
        "the roles, and which is in force; choose one for this conversation",
    ),
    info(
        ChatCommand::Tools,
        "/tools",
        "",
        "the tools that the model is offered, and their servers",
    ),
    info(
        ChatCommand::Prompts,
        "/prompts",
        "",
        "the prompts of tool servers, each a command: `/server:prompt name=value`",
    ),
    info(
        ChatCommand::Login,
        "/login",
        "[SERVER]",
        "log in to a tool server at a URL: open a link, and paste the address where it ends",
    ),
    info(
        ChatCommand::Agents,
        "/agents",
        "",
        "the agents of this claw, and whether their bots are at work",
    ),
    info(ChatCommand::Approvals, "/approvals", "", "the calls that wait for your answer"),
    info(ChatCommand::Staged, "/staged", "", "what is staged here and waits for its number")
        .at_the_console_only(),
    info(
        ChatCommand::Grants,
        "/grants",
        "[revoke ID]",
        "what you have allowed or forbidden for longer; take one back",
    ),
    info(
        ChatCommand::Digest,
        "/digest",
        "",
        "what ran without a question in the last 24 hours, and by what",
    ),
    info(
        ChatCommand::Mode,
        "/mode",
        "[ask|edits|work]",
        "what runs in this conversation without a question; set it",
    ),
    info(
        ChatCommand::Here,
        "/here",
        "[FOLDER|role NAME|mode MODE|off]",
        "the folder, role and mode of this conversation; set one",
    )
    .at_chats_only(),
    info(ChatCommand::Remember, "/remember", "TEXT", "remember this at once, in your words"),
    info(
        ChatCommand::Memory,
        "/memory",
        "[WORDS|ID|PAGE]",
        "what is remembered: the newest, a search, or one note",
    ),
    info(ChatCommand::Forget, "/forget", "ID", "put a note into the trash"),
    info(
        ChatCommand::Remind,
        "/remind",
        "WHEN TEXT",
        "a reminder, such as `20m call mum` or `every monday 9:00 call mum`",
    ),
    info(
        ChatCommand::Schedule,
        "/schedule",
        "[cancel|pause|resume NUMBER]",
        "what comes when; end one, or stop it for a while",
    ),
    info(
        ChatCommand::AllowedUsers,
        "/guests",
        "[remove ID]",
        "the chats that you have let in; send one away",
    ),
    info(
        ChatCommand::Undo,
        "/undo",
        "[files]",
        "drop the last exchange from what the model sees; with `files`, put back what a turn changed in the workspace",
    ),
    info(ChatCommand::Compact, "/compact", "", "summarise the older part of this conversation"),
    info(
        ChatCommand::Panic,
        "/panic",
        "[on|off]",
        "the stop switch: no call runs, what runs is ended",
    ),
    info(ChatCommand::Help, "/help", "", "this list").also(&["/?"]),
    info(ChatCommand::Quit, "/quit", "", "leave").also(&["/exit"]).at_the_console_only(),
];

const fn info(
    command: ChatCommand,
    name: &'static str,
    words: &'static str,
    help: &'static str,
) -> CommandInfo {
    CommandInfo { command, name, aliases: &[], words, help, only_at: None }
}

impl CommandInfo {
    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn at_the_console_only(self) -> Self {
        Self { only_at: Some(DoorKind::Console), ..self }
    }

    /// For a door that does not have it, with what does the same there.
    fn where_it_is(&self, door: DoorKind) -> String {
        match (self.command, self.only_at) {
            (ChatCommand::Here, _) if door == DoorKind::Editor => {
                "/here is for chats in Telegram. \
                A conversation of an editor works in the folder that is open there; /role sets the \
                role and /mode the mode."
                    .to_owned()
            }
            (ChatCommand::Here, _) => {
                "/here is for chats in Telegram. Here the option `-C FOLDER` \
                sets the folder when you start the chat, /role the role and /mode the mode."
                    .to_owned()
            }
            (_, Some(DoorKind::Console)) => {
                format!("{} is for the console. /help lists what there is here.", self.name)
            }
            _ => format!("{} is for chats. /help lists what there is here.", self.name),
        }
    }

    const fn at_chats_only(self) -> Self {
        Self { only_at: Some(DoorKind::Chat), ..self }
    }
}

/// What a line is, as far as commands go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// With the words behind it, empty if there are none.
    Command(ChatCommand, String),
    /// A command that was written wrongly; the sentence says what to do.
    Unknown(String),
    /// It looks like a command and is none of claw's. Where it is no prompt of a server either, the
    /// sentence says what to do.
    Foreign(String),
    /// A message.
    Message,
    /// A command to another bot of the same chat: nothing is to be done or said.
    NotForUs,
}

/// Reads a line. `/etc/hosts is …` is a message, and so is any line that starts with a space, and
/// any text of two lines.
pub fn parse(line: &str, door: DoorKind) -> Parsed {
    match split(line) {
        Some((word, rest)) => named(word, rest, door),
        None => Parsed::Message,
    }
}

/// Reads a line of a messenger whose commands may name their bot: `/status@my_bot`. `bot_username`
/// is compared without regard to case, as the messenger does, and may have its `@`.
pub fn parse_for_bot(text: &str, bot_username: &str) -> Parsed {
    let Some((word, rest)) = split(text) else { return Parsed::Message };
    let ours = bot_username.trim_start_matches('@');
    match word.split_once('@') {
        Some((_, bot)) if !bot.eq_ignore_ascii_case(ours) => Parsed::NotForUs,
        Some((word, _)) => named(word, rest, DoorKind::Chat),
        None => named(word, rest, DoorKind::Chat),
    }
}

/// The word with the slash, and what follows it, if a line is written like a command.
fn split(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_command = word.starts_with('/') && !word[1..].contains('/') && !line.contains('\n');
    is_command.then_some((word, rest.trim_start()))
}

fn named(word: &str, rest: &str, door: DoorKind) -> Parsed {
    let wanted = word.to_ascii_lowercase();
    match at(door).find(|known| known.names().any(|name| name == wanted)) {
        Some(known) if known.command == ChatCommand::Undo && !rest.is_empty() => undo_of(rest),
        Some(known) if known.command == ChatCommand::Stop && !rest.is_empty() => stop_of(rest),
        Some(known) if rest.is_empty() || !known.words.is_empty() => {
            Parsed::Command(known.command, rest.to_owned())
        }
        Some(known) => Parsed::Unknown(match door {
            DoorKind::Console | DoorKind::Editor => format!(
                "{} takes no words after it. To send this line as a message, start it with a space.",
                known.name
            ),
            // A messenger trims what is sent, so a space would not help.
            DoorKind::Chat => {
                format!("{0} takes no words after it. Send {0} alone.", known.name)
            }
        }),
        None if let Some(known) = elsewhere(&wanted) => Parsed::Unknown(known.where_it_is(door)),
        None => Parsed::Foreign(match closest(&wanted, door) {
            Some(name) => format!("There is no command {word}. Did you mean {name}?"),
            None => format!("There is no command {word}. /help lists them all."),
        }),
    }
}

/// A command that this door does not have and another one has.
fn elsewhere(name: &str) -> Option<&'static CommandInfo> {
    COMMANDS.iter().find(|known| known.names().any(|known| known == name))
}

/// What is undone besides the exchange.
fn undo_of(rest: &str) -> Parsed {
    let (what, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if what.eq_ignore_ascii_case("files") {
        return Parsed::Command(ChatCommand::UndoFiles, words.trim_start().to_owned());
    }
    Parsed::Unknown("There are /undo, for the last exchange, and /undo files.".to_owned())
}

/// What is stopped in place of the turn.
fn stop_of(rest: &str) -> Parsed {
    if rest.eq_ignore_ascii_case("jobs") {
        return Parsed::Command(ChatCommand::StopJobs, String::new());
    }
    Parsed::Unknown(
        "There are /stop, for the running turn, and /stop jobs, for all background jobs."
            .to_owned(),
    )
}

/// The commands of a door, in the order of the help; also for a messenger's menu.
pub fn at(door: DoorKind) -> impl Iterator<Item = &'static CommandInfo> {
    COMMANDS.iter().filter(move |known| known.is_at(door))
}

/// All names and aliases of the console that start with `prefix`.
pub fn completions(prefix: &str) -> Vec<&'static str> {
    let names = at(DoorKind::Console).flat_map(CommandInfo::names);
    names.filter(|name| prefix.starts_with('/') && name.starts_with(prefix)).collect()
}

/// The help of a door, in Markdown.
pub fn help_markdown(door: DoorKind) -> String {
    let rows = at(door).map(|known| {
        let space = if known.words.is_empty() { "" } else { " " };
        let aliases: String = known.aliases.iter().map(|alias| format!(", `{alias}`")).collect();
        format!("- `{}{space}{}`{aliases}: {}\n", known.name, known.words, known.help)
    });
    rows.collect()
}

fn closest(word: &str, door: DoorKind) -> Option<&'static str> {
    nearest(word, at(door).flat_map(CommandInfo::names))
}

fn nearest(word: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    // No command is longer, and the work grows with the length of both.
    let word: String = word.chars().take(32).collect();
    let near = names
        .map(|name| (strsim::osa_distance(&word, name), name))
        .min_by_key(|(distance, _)| *distance);
    near.filter(|(distance, _)| *distance <= 2).map(|(_, name)| name)
}

/// The command, of any door, that a line may have been meant to be: what a server calls its prompts
/// must not catch a slip of the owner's.
pub fn near(line: &str) -> Option<&'static str> {
    let word = line.split_whitespace().next().filter(|word| word.starts_with('/'))?;
    let word = word.split('@').next().unwrap_or(word).to_ascii_lowercase();
    nearest(&word, COMMANDS.iter().flat_map(CommandInfo::names))
}

#[cfg(test)]
mod tests;
