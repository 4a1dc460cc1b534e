//! What is said behind a command line that `clap` does not understand: the command that
//! somebody meant who thinks of it by another name, and where an ID is found. Must not
//! know what commands do.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::config::closest;

/// Words that people try, and the command that does it.
const MEANT: &[(&str, &str)] = &[
    ("stop", "claw panic on"),
    ("kill", "claw panic on"),
    ("config", "claw init"),
    ("configure", "claw init"),
    ("setup", "claw init"),
    ("login", "claw init"),
    ("export", "claw sessions export"),
    ("import", "claw sessions import"),
    ("history", "claw sessions"),
    ("log", "claw service logs"),
    ("logs", "claw service logs"),
    ("status", "claw doctor"),
    ("check", "claw doctor"),
    ("run", "claw ask"),
    ("start", "claw chat"),
    ("telegram", "claw gateway"),
    ("permissions", "claw grants"),
    ("remind", "claw schedule add"),
    ("upgrade", "claw update"),
];

/// A line to stand behind the error, and an error without a tip that helps nobody. `words` are what
/// was typed, without options.
pub fn tip(error: &mut clap::Error, words: &[String]) -> Option<String> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => meant(error, words),
        ErrorKind::MissingRequiredArgument => where_ids_are(words).map(str::to_owned),
        _ => None,
    }
}

fn meant(error: &mut clap::Error, words: &[String]) -> Option<String> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let wrong = wrong.clone();
    let of_claw = words.first() == Some(&wrong);
    let known = MEANT.iter().find(|(word, _)| of_claw && *word == wrong.to_lowercase());
    let is_near = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(names)) => {
            closest(&wrong, names.iter().map(String::as_str)).is_some()
        }
        Some(ContextValue::String(name)) => closest(&wrong, [name.as_str()]).is_some(),
        _ => false,
    };
    if known.is_some() || !is_near {
        error.remove(ContextKind::SuggestedSubcommand);
    }
    known.map(|(_, command)| format!("`{command}` is what you may mean."))
}

fn where_ids_are(words: &[String]) -> Option<&'static str> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["approve" | "deny"] => Some("`claw approvals` lists what waits, each with its ID."),
        ["grants", "revoke"] => Some("`claw grants` lists what is granted, each with its ID."),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::Parser as _;

    use super::*;
    use crate::args::Cli;

    fn said(line: &str) -> (String, Option<String>) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let typed = ["claw".to_owned()].into_iter().chain(words.clone());
        let mut error = Cli::try_parse_from(typed).err().unwrap();
        let tip = tip(&mut error, &words);
        (error.to_string(), tip)
    }

    #[test]
    fn another_name_of_a_command_leads_to_it_and_a_far_word_to_none() {
        let (error, tip) = said("status");
        assert_eq!(tip.as_deref(), Some("`claw doctor` is what you may mean."));
        assert!(!error.contains("tip:"), "{error}");
        let (error, tip) = said("docter");
        assert!(tip.is_none() && error.contains("'doctor'"), "{error}");
        let (error, tip) = said("frobnicate");
        assert!(tip.is_none() && !error.contains("tip:"), "{error}");
    }

    #[test]
    fn a_missing_id_says_where_it_is_found() {
        for (line, command) in [
            ("approve", "`claw approvals`"),
            ("deny", "`claw approvals`"),
            ("grants revoke", "`claw grants`"),
        ] {
            let (error, tip) = said(line);
            assert!(error.contains("<ID>"), "{error}");
            assert!(tip.unwrap().starts_with(command), "{line}");
        }
    }

    #[test]
    fn each_word_of_the_table_is_no_command_and_leads_to_one() {
        let claw = Cli::command();
        for (word, command) in MEANT {
            assert!(claw.find_subcommand(word).is_none(), "{word}");
            let mut at = &claw;
            for name in command.split(' ').skip(1).take(2) {
                // What is behind the name of a command may be its word.
                at = at.find_subcommand(name).unwrap_or(at);
            }
            assert_ne!(at.get_name(), claw.get_name(), "{command}");
        }
    }
}
