//! `claw help`: the manual in the terminal, page by page, and what `--help` says of a command.
//! Must not know what a page says.

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use super::args::Cli;
use super::{fail, out};

/// The pages of `docs/` for users, in the order in which somebody reads them.
macro_rules! pages {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../docs/", $name, ".md")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages!(
    "guide" "commands" "telegram" "models" "permissions" "box" "undo" "memory" "schedule"
    "heartbeats" "mcp" "serve" "editors" "home" "config" "operate" "security"
    "long-conversations" "small-model" "servers" "faq" "troubleshooting"
);

/// Below `claw --help`.
pub const TOPICS: &str = "\
The manual: `claw help TOPIC` shows one of these pages
  guide          the first hour        permissions   fewer questions
  commands       all of them           box           what commands may do
  telegram       your phone            memory        what is remembered
  models         who answers           schedule      what comes by itself
  config         all settings          operate       service, backup, update
  faq                                  troubleshooting
  also: undo, heartbeats, mcp, serve, editors, home, security,
  long-conversations, small-model, servers";

/// Shows a page, the options of a command, or the list of both.
pub fn run(words: &[String]) -> anyhow::Result<ExitCode> {
    let page = match words {
        [topic] => PAGES.iter().find(|(name, _)| name.eq_ignore_ascii_case(topic)),
        _ => None,
    };
    match page {
        Some((name, page)) => {
            out::reply(&in_a_terminal(page))?;
            if is_command(name) {
                out::err_line(&format!("`claw {name} --help` lists what the command takes."));
            }
            Ok(ExitCode::from(fail::DONE))
        }
        None => of_command(words),
    }
}

/// What `--help` behind these words prints.
fn of_command(words: &[String]) -> anyhow::Result<ExitCode> {
    match help_of(words) {
        Some(help) => {
            help.print().map_err(out::Unwritten)?;
            Ok(ExitCode::from(fail::DONE))
        }
        None => {
            let topics: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
            Err(fail::UserError::because(format!(
                "the manual has no page `{}`, and there is no such command; the pages are {}",
                out::clean(&words.join(" ")),
                topics.join(", ")
            )))
        }
    }
}

fn help_of(words: &[String]) -> Option<clap::Error> {
    let words = words.iter().map(String::as_str);
    let typed = ["claw"].into_iter().chain(words).chain(["--help"]);
    let shown = Cli::try_parse_from(typed).err()?;
    (shown.kind() == ErrorKind::DisplayHelp).then_some(shown)
}

fn is_command(name: &str) -> bool {
    help_of(&[name.to_owned()]).is_some()
}

/// A page as it reads where nothing can be clicked: another page is named by the command that shows
/// it, a place on the same page by its words alone, and pictures are left out.
fn in_a_terminal(page: &str) -> String {
    let (mut text, mut prose) = (String::with_capacity(page.len()), String::new());
    let mut is_code = false;
    for line in page.lines().filter(|line| !line.starts_with("![")) {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence {
            text.push_str(&without_addresses(&std::mem::take(&mut prose)));
        }
        let to = if is_code || is_fence { &mut text } else { &mut prose };
        to.extend([line, "\n"]);
        is_code ^= is_fence;
    }
    text + &without_addresses(&prose)
}

/// Text with its links of the manual replaced.
fn without_addresses(prose: &str) -> String {
    let mut text = String::with_capacity(prose.len());
    let mut rest = prose;
    while let Some((before, behind)) = rest.split_once("](") {
        let Some((address, after)) = behind.split_once(')') else { break };
        let page = address.split_once(".md").map(|(page, _)| page);
        let is_page = page.is_some_and(|page| PAGES.iter().any(|(name, _)| *name == page));
        match before.rsplit_once('[') {
            Some((head, words)) if address.starts_with('#') => text.extend([head, words]),
            _ if is_page => {
                text.extend([before, "](<claw help ", page.unwrap_or_default(), ">)"]);
            }
            _ => text.extend([before, "](", address, ")"]),
        }
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_the_command_that_shows_the_page() {
        for (line, shown) in [
            ("see [the\nbox](box.md#levels), [`x`](#y).", "see [the\nbox](<claw help box>), `x`."),
            ("[a](https://b.c) [d](../e.md) [f", "[a](https://b.c) [d](../e.md) [f"),
            ("`[a](b` and (c)", "`[a](b` and (c)"),
        ] {
            assert_eq!(without_addresses(line), shown);
        }
        assert_eq!(in_a_terminal("![a](b.svg)\n```\n[a](#b)\n```\n"), "```\n[a](#b)\n```\n");
    }

    #[test]
    fn every_page_is_named_below_the_help() {
        for (name, _) in PAGES {
            assert!(TOPICS.contains(name), "{name}");
        }
    }
}
