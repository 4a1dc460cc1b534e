//! What the definitions of tools take of a request, by server, the largest first. Owns how many
//! servers are named. Must not know what a definition holds, or who may see it.

use claw_kit::counted::{counted, grouped};

use super::{ChatCommandsParts, code};
use crate::domain::PromptAccount;
use crate::turn::{Log, loaded, prompt};

/// Servers that are named; the others are one line.
const NAMED_MAX: usize = 3;

/// How a server's tools come into a request.
#[derive(Clone, Copy)]
enum Way {
    /// All of them stand in each, which is said of all servers at once, or nothing was asked yet.
    Same,
    EachRequest,
    /// So many stand in the requests of this conversation already.
    OnDemand(usize),
}

/// A server in the list.
struct Row {
    server: String,
    tools: usize,
    tokens: u64,
    way: Way,
}

/// In one line and a list below it. A list of tools that was not looked at yet starts no server.
pub(super) fn status(parts: &ChatCommandsParts, log: &Log) -> String {
    let Some(rows) = rows(parts, log) else { return "not looked at yet\n".to_owned() };
    let (tools, tokens) = sum(&rows);
    let (tools_all, tokens) = (grouped(tools as u64), grouped(tokens));
    let head = match account(log) {
        Some(account) if account.tools_known.count > 0 => format!(
            "{} in the requests, about {} tokens; {tools_all} in all, about {tokens} tokens, found \
             on demand",
            account.tools_count,
            grouped(account.tools.tokens)
        ),
        Some(_) => format!("{tools_all}, about {tokens} tokens, in each request"),
        None => format!("{tools_all}, about {tokens} tokens"),
    };
    format!("{head}\n{}", listed(rows, "  "))
}

/// A sentence and a list, as far as the window says what was asked last.
pub(super) fn usage(parts: &ChatCommandsParts, log: &Log) -> String {
    let Some(account) = account(log) else { return String::new() };
    let (tools, tokens) = (counted(account.tools_count, "tool"), grouped(account.tools.tokens));
    let known = account.tools_known;
    let spared = match known.count {
        0 => String::new(),
        all => format!(" All {all} tools would be about {} tokens.", grouped(known.tokens)),
    };
    let list = rows(parts, log).map(|rows| listed(rows, "")).unwrap_or_default();
    format!(
        "\nOf each request about {tokens} tokens in are the definitions of \
         {tools}.{spared}\n\n{list}"
    )
}

fn account(log: &Log) -> Option<&PromptAccount> {
    prompt::beside(log).filter(|account| account.tools_count > 0)
}

/// The servers that have tools, the largest first.
fn rows(parts: &ChatCommandsParts, log: &Log) -> Option<Vec<Row>> {
    let catalog = parts.gate.catalog();
    let sizes = catalog.sizes_known()?;
    let is_over = account(log).is_some_and(|account| account.tools_known.count > 0);
    let names = loaded::of(log).map(|loaded| loaded.all).unwrap_or_default();
    let loaded = catalog.counted_by_server(&names);
    let mut rows = Vec::new();
    for (server, size) in sizes {
        let way = match (is_over, size.own) {
            (false, _) => Way::Same,
            (true, true) => Way::EachRequest,
            (true, false) => Way::OnDemand(loaded.get(&server).copied().unwrap_or_default()),
        };
        rows.push(Row { server, tools: size.tools, tokens: size.tokens, way });
    }
    // Of equal ones the first by name.
    rows.sort_by_key(|row| std::cmp::Reverse(row.tokens));
    Some(rows)
}

fn sum(rows: &[Row]) -> (usize, u64) {
    rows.iter().fold((0, 0), |(tools, tokens), row| (tools + row.tools, tokens + row.tokens))
}

fn listed(mut rows: Vec<Row>, before: &str) -> String {
    // One more line says no less than "and 1 other".
    let named = if rows.len() == NAMED_MAX + 1 { rows.len() } else { NAMED_MAX };
    let others = rows.split_off(named.min(rows.len()));
    let mut text = String::new();
    for Row { server, tools, tokens, way } in &rows {
        let way = match way {
            Way::Same => String::new(),
            Way::EachRequest => ", in each request".to_owned(),
            Way::OnDemand(0) => ", found on demand".to_owned(),
            Way::OnDemand(loaded) => format!(", found on demand ({loaded} loaded)"),
        };
        let size = in_words(*tools, *tokens);
        text.push_str(&format!("{before}- {}: {size}{way}\n", code(server)));
    }
    if !others.is_empty() {
        let (tools, tokens) = sum(&others);
        let size = in_words(tools, tokens);
        text.push_str(&format!("{before}- and {} others: {size}\n", others.len()));
    }
    text
}

fn in_words(tools: usize, tokens: u64) -> String {
    format!("{}, {} tokens", counted(tools, "tool"), grouped(tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(server: &str, tools: usize, tokens: u64, way: Way) -> Row {
        Row { server: server.to_owned(), tools, tokens, way }
    }

    #[test]
    fn the_largest_servers_are_named_and_the_others_are_one_line() {
        let all = || {
            vec![
                row("ms365", 188, 250_000, Way::OnDemand(2)),
                row("git", 12, 3_000, Way::OnDemand(0)),
                row("bash", 1, 900, Way::EachRequest),
                row("a", 40, 800, Way::OnDemand(0)),
                row("b", 21, 8_200, Way::OnDemand(0)),
            ]
        };
        assert_eq!(
            listed(all(), "  "),
            "  - `ms365`: 188 tools, 250,000 tokens, found on demand (2 loaded)\n  \
             - `git`: 12 tools, 3,000 tokens, found on demand\n  \
             - `bash`: 1 tool, 900 tokens, in each request\n  \
             - and 2 others: 61 tools, 9,000 tokens\n"
        );
        let mut four = all();
        four.pop();
        let text = listed(four, "");
        assert!(text.ends_with("\n- `a`: 40 tools, 800 tokens, found on demand\n"), "{text}");
        assert_eq!(listed(vec![row("x", 2, 10, Way::Same)], ""), "- `x`: 2 tools, 10 tokens\n");
    }
}
