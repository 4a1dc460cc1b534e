//! The commands of a chat, the same on every door. Owns their names and one-line helps; must not know what they do.

/// What a person can ask of claw itself, with a slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatCommand {
    New,
    Stop,
    Status,
    Tools,
    Approvals,
    Compact,
    Help,
    Quit,
}

pub struct CommandInfo {
    pub command: ChatCommand,
    /// With the slash.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub help: &'static str,
}

/// All commands, in the order of the help.
pub const COMMANDS: &[CommandInfo] = &[
    info(
        ChatCommand::New,
        "/new",
        &["/reset"],
        "start afresh: the model forgets this conversation, session grants end",
    ),
    info(ChatCommand::Stop, "/stop", &[], "end the running turn and whatever it runs"),
    info(ChatCommand::Status, "/status", &[], "model, session, tokens, what runs and what waits"),
    info(ChatCommand::Tools, "/tools", &[], "the tools that the model is offered, and their servers"),
    info(ChatCommand::Approvals, "/approvals", &[], "the calls that wait for your answer"),
    info(ChatCommand::Compact, "/compact", &[], "summarise the older part of this conversation"),
    info(ChatCommand::Help, "/help", &["/?"], "this list"),
    info(ChatCommand::Quit, "/quit", &["/exit"], "leave"),
];

const fn info(
    command: ChatCommand,
    name: &'static str,
    aliases: &'static [&'static str],
    help: &'static str,
) -> CommandInfo {
    CommandInfo { command, name, aliases, help }
}

/// What a line is, as far as commands go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    Command(ChatCommand),
    /// It looks like a command and is none; the sentence says what to do.
    Unknown(String),
    /// A message.
    Message,
}

/// Reads a line. `/etc/hosts is …` is a message, and so is any line that starts with a space.
pub fn parse(line: &str) -> Parsed {
    let mut words = line.split_whitespace();
    let word = match words.next() {
        Some(word) if line.starts_with('/') => word,
        _ => return Parsed::Message,
    };
    if word[1..].contains('/') || line.trim_end().contains('\n') {
        return Parsed::Message;
    }
    let wanted = word.to_ascii_lowercase();
    match COMMANDS.iter().find(|known| known.name == wanted || known.aliases.contains(&wanted.as_str())) {
        Some(known) if words.next().is_none() => Parsed::Command(known.command),
        Some(known) => Parsed::Unknown(format!(
            "{} takes no words after it. To send this line as a message, start it with a space.",
            known.name
        )),
        None => Parsed::Unknown(match closest(&wanted) {
            Some(name) => format!("There is no command {word}. Did you mean {name}?"),
            None => format!("There is no command {word}. /help lists them all."),
        }),
    }
}

/// All names and aliases that start with `prefix`.
pub fn completions(prefix: &str) -> Vec<&'static str> {
    let names = COMMANDS.iter().flat_map(|known| std::iter::once(known.name).chain(known.aliases.iter().copied()));
    names.filter(|name| prefix.starts_with('/') && name.starts_with(prefix)).collect()
}

/// The help, in Markdown.
pub fn help_markdown() -> String {
    let rows = COMMANDS.iter().map(|known| {
        let aliases: String = known.aliases.iter().map(|alias| format!(", `{alias}`")).collect();
        format!("- `{}`{aliases}: {}\n", known.name, known.help)
    });
    rows.collect()
}

fn closest(word: &str) -> Option<&'static str> {
    let names = COMMANDS.iter().flat_map(|known| std::iter::once(known.name).chain(known.aliases.iter().copied()));
    let near = names.map(|name| (edit_distance(word, name), name)).min_by_key(|(distance, _)| *distance);
    near.filter(|(distance, _)| *distance <= 2).map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(32).collect(), b.chars().take(32).collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in table.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in table[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(table[i - 2][j - 2] + 1);
            }
            table[i][j] = best;
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_commands() {
        assert_eq!(parse("/new"), Parsed::Command(ChatCommand::New));
        assert_eq!(parse("/RESET "), Parsed::Command(ChatCommand::New));
        for known in COMMANDS {
            assert_eq!(parse(known.name), Parsed::Command(known.command));
        }
    }

    #[test]
    fn a_path_or_an_indented_slash_is_a_message() {
        for message in ["/etc/hosts is wrong", " /new", "see /new", "", "/new\nand more"] {
            assert_eq!(parse(message), Parsed::Message, "{message:?}");
        }
    }

    #[test]
    fn a_slip_names_the_closest() {
        let Parsed::Unknown(text) = parse("/stpo") else { panic!() };
        assert_eq!(text, "There is no command /stpo. Did you mean /stop?");
        assert!(matches!(parse("/frobnicate"), Parsed::Unknown(text) if text.contains("/help")));
        assert!(matches!(parse("/stop it"), Parsed::Unknown(text) if text.contains("start it with a space")));
        assert_eq!(edit_distance("yse", "yes"), 1);
    }

    #[test]
    fn completion_knows_every_name() {
        assert_eq!(completions("/st"), ["/stop", "/status"]);
        assert!(completions("st").is_empty());
        assert_eq!(completions("/").len(), 11);
    }
}
