//! Prompts of tool servers as commands: the list of them, and which one a line means. Must not know
//! how a prompt is fetched, or doors.

use std::collections::BTreeSet;

use super::{ChatCommands, Given, code, is_owner, prompt_arguments};
use crate::domain::{Named, escape};
use crate::gate::Gate;
use crate::hub::{PromptEntry, ServerPrompt};
use crate::router::Visitor;
use crate::store::StoreError;

/// Prompts of one server in the list of a chat.
const SHOWN_MAX: usize = 30;
/// Names in a sentence.
const NAMED_MAX: usize = 8;

/// What a line is that looks like a command and is none of claw's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptLine {
    /// No prompt of any server.
    None,
    /// One sentence about what is wrong with it.
    Wrong(String),
    Runs(Named),
}

impl ChatCommands {
    /// Reads `/server:prompt …`, or `/prompt …` where only one server has one of that
    /// name. `near` is the command of claw's that the word may have been meant as: then it
    /// is no prompt by itself.
    pub async fn prompt_of(
        &self,
        visitor: &Visitor,
        line: &str,
        near: Option<&'static str>,
    ) -> PromptLine {
        let Some((word, words)) = line.trim().strip_prefix('/').map(|line| {
            let (word, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            (word, words.trim())
        }) else {
            return PromptLine::None;
        };
        let parts = self.parts();
        let found = match find(&parts.gate, word, near).await {
            Found::None => return PromptLine::None,
            Found::Wrong(why) => return PromptLine::Wrong(why),
            Found::One(found) => found,
        };
        if !is_owner(visitor) {
            return PromptLine::Wrong("Only the owner may run prompts of servers.".to_owned());
        }
        let ServerPrompt { server, prompt } = *found;
        match prompt_arguments::read(&format!("/{word}"), &prompt, words) {
            Ok(arguments) => {
                PromptLine::Runs(Named::Prompt { server, name: prompt.name, arguments })
            }
            Err(why) => PromptLine::Wrong(escape::visible(&why).replace("\\\\", "\\")),
        }
    }

    /// Asks the servers that are up and have said that their prompts are others.
    pub async fn look_for_changed_prompts(&self) {
        self.parts().gate.catalog().look_for_changed_prompts().await;
    }

    /// The prompts that there are, without asking any server: command, what it is, and the words
    /// that it takes.
    pub fn known_prompts(&self) -> Vec<(String, String, String)> {
        let told = |ServerPrompt { server, prompt }: ServerPrompt| {
            let command = typed(&server, &prompt)?;
            Some((command, about(&prompt), takes(&prompt)))
        };
        self.parts().gate.catalog().prompts().into_iter().filter_map(told).collect()
    }

    pub(super) async fn prompts(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let parts = self.parts();
        let catalog = parts.gate.catalog();
        let troubles = catalog.look_for_all_prompts().await;
        let mut text = listed(&catalog.prompts());
        for trouble in troubles {
            text.push_str(&format!("\n{}.\n", escape::visible(trouble.trim_end_matches('.'))));
        }
        given.to.say(&parts.store, text).await
    }
}

enum Found {
    None,
    Wrong(String),
    One(Box<ServerPrompt>),
}

/// A name alone. A server chooses the names of its prompts, so one that claw's owner has not said
/// anything about, or a word that is nearly a command, has to be written in full.
async fn find_bare(gate: &Gate, word: &str, near: Option<&'static str>) -> Found {
    let catalog = gate.catalog();
    let all_named = || {
        let mut named: Vec<ServerPrompt> = catalog.prompts();
        named.retain(|one| is_same(&one.prompt.name, word));
        named
    };
    let forms = |named: &[ServerPrompt]| {
        let form = |one: &ServerPrompt| typed(&one.server, &one.prompt);
        let forms: Vec<String> =
            named.iter().filter_map(form).map(|form| escape::visible(&form)).collect();
        forms.join(" and ")
    };
    catalog.look_for_changed_prompts().await;
    if let Some(command) = near {
        let named = all_named();
        return match named.is_empty() {
            true => Found::None,
            false => Found::Wrong(format!(
                "There is no command {}. Did you mean {command}? A prompt of a server is {}.",
                code(&format!("/{word}")),
                forms(&named)
            )),
        };
    }
    let servers: BTreeSet<String> = all_named().into_iter().map(|one| one.server).collect();
    let looks = servers.iter().map(|server| catalog.look_again_for_prompts(server));
    futures::future::join_all(looks).await;
    let is_answered = |one: &ServerPrompt| {
        catalog.trusted(&one.server).is_ok_and(|trusted| trusted.is_answered())
    };
    let (mut named, unanswered): (Vec<_>, Vec<_>) = all_named().into_iter().partition(is_answered);
    match named.len() {
        0 if unanswered.is_empty() => Found::None,
        0 => Found::Wrong(format!(
            "You have not said yet how far you trust its server, so write the whole name: {}.",
            forms(&unanswered)
        )),
        1 => named.pop().map_or(Found::None, |one| Found::One(Box::new(one))),
        _ => Found::Wrong(format!("Which one? There are {}.", forms(&named))),
    }
}

async fn find(gate: &Gate, word: &str, near: Option<&'static str>) -> Found {
    let catalog = gate.catalog();
    let Some((server, name)) = word.split_once(':') else {
        return find_bare(gate, word, near).await;
    };
    let Some(server) = catalog.strangers().into_iter().find(|known| known == server) else {
        return Found::None;
    };
    let of_server = || -> Vec<ServerPrompt> {
        catalog.prompts().into_iter().filter(|one| one.server == server).collect()
    };
    let pick = |all: Vec<ServerPrompt>| {
        let exact = all.iter().position(|one| one.prompt.name == name);
        let at = exact.or_else(|| all.iter().position(|one| is_same(&one.prompt.name, name)));
        at.and_then(|at| all.into_iter().nth(at))
    };
    if pick(of_server()).is_some() {
        catalog.look_again_for_prompts(&server).await;
        if let Some(found) = pick(of_server()) {
            return Found::One(Box::new(found));
        }
    }
    // It may have come since, or the server was never up.
    if let Err(why) = catalog.look_for_prompts(&server).await {
        let why = escape::visible(why.trim_end_matches('.'));
        return Found::Wrong(format!("{} cannot be looked up: {why}.", code(&format!("/{word}"))));
    }
    if let Some(found) = pick(of_server()) {
        return Found::One(Box::new(found));
    }
    let names: Vec<String> =
        of_server().into_iter().take(NAMED_MAX).map(|one| one.prompt.name).collect();
    let has = match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    };
    Found::Wrong(format!(
        "The server `{server}` has no prompt {}; it has {has}. /prompts lists them all.",
        code(name)
    ))
}

/// As a person types it: small letters, and any sign that is no letter and no digit for any other.
fn is_same(name: &str, typed: &str) -> bool {
    let plain = |text: &str| -> String {
        let letter = |c: char| if c.is_alphanumeric() { c } else { '_' };
        text.to_lowercase().chars().map(letter).collect()
    };
    plain(name) == plain(typed)
}

/// How a prompt is typed. A name with a blank in it is typed with another sign.
fn typed(server: &str, prompt: &PromptEntry) -> Option<String> {
    let name: String =
        prompt.name.chars().map(|c| if c.is_whitespace() || c == '/' { '_' } else { c }).collect();
    (!name.is_empty()).then(|| format!("/{server}:{name}"))
}

fn about(prompt: &PromptEntry) -> String {
    let texts = [&prompt.title, &prompt.description];
    let about: Vec<&str> =
        texts.into_iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    if about.is_empty() { "a prompt of its server".to_owned() } else { about.join(": ") }
}

fn takes(prompt: &PromptEntry) -> String {
    let form = |name: &str, required: bool| {
        if required { format!("{name}=…") } else { format!("[{name}=…]") }
    };
    let all = prompt.arguments.iter().map(|one| form(&one.name, one.required));
    all.collect::<Vec<_>>().join(" ")
}

fn listed(prompts: &[ServerPrompt]) -> String {
    if prompts.is_empty() {
        return "No server that was started has prompts. Own commands: `/help`.\n".to_owned();
    }
    let mut text = String::new();
    let mut at = None;
    let mut shown = 0;
    for ServerPrompt { server, prompt } in prompts {
        if at != Some(server) {
            (at, shown) = (Some(server), 0);
        }
        shown += 1;
        let Some(command) = typed(server, prompt).filter(|_| shown <= SHOWN_MAX) else { continue };
        let line = format!("{command} {}", takes(prompt));
        let about = escape::visible(&about(prompt)).replace("\\\\", "\\");
        text.push_str(&format!("- {}: {about}\n", code(line.trim_end())));
        if shown == SHOWN_MAX {
            let all = prompts.iter().filter(|one| one.server == *server).count();
            if let Some(more) = all.checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
                text.push_str(&format!("- and {more} more of the server `{server}`\n"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_typed_in_small_letters_and_with_any_sign() {
        assert!(is_same("Code-Review", "code_review") && is_same("a b", "a_b"));
        assert!(!is_same("review", "reviews"));
    }

    #[test]
    fn a_list_says_what_is_left_out() {
        let prompt = |n: usize| ServerPrompt {
            server: "docs".to_owned(),
            prompt: PromptEntry {
                name: format!("p {n}"),
                title: "Title".to_owned(),
                description: String::new(),
                arguments: Vec::new(),
                icons: Vec::new(),
            },
        };
        let text = listed(&(0..32).map(prompt).collect::<Vec<_>>());
        assert!(text.starts_with("- `/docs:p_0`: Title\n"), "{text}");
        assert!(text.ends_with("- and 2 more of the server `docs`\n"), "{text}");
    }
}
