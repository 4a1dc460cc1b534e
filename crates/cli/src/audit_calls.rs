//! The audit as a person reads it: one line a call, whatever its rows are, and a line for each row
//! that is of no call. Must not know how rows are written or shown.

use std::collections::HashMap;

use claw_kit::signals;
use serde_json::Value;

use super::explain::{Answered, is_of_a_round, network_briefly, outside_of_calls};
use super::out;
use crate::domain::CallId;
use crate::domain::canonical::canonical_json;
use crate::domain::rule_words;
use crate::store::AuditRow;

/// The most characters of one call's arguments; `--rows` shows them whole.
const ARGUMENTS_CHARS_MAX: usize = 60;

/// The kind of the row of a tool that was seen for the first time.
const PINNED: &str = "pinned";

/// The calls of an audit, which grow as rows come.
#[derive(Default)]
pub struct CallTable {
    by_id: HashMap<String, Call>,
}

#[derive(Default)]
struct Call {
    /// Where its line stands among the others: the number of its first row.
    first_row: i64,
    at_ms: i64,
    /// `server/tool` and the beginning of the arguments.
    what: String,
    /// Why it was allowed, asked about or denied.
    rule: String,
    asked: String,
    /// Of its newest question whether it may run.
    answered: Option<Answered>,
    /// What its server asks, while that is open.
    asked_by_server: String,
    started_ms: Option<i64>,
    /// Which hosts it has reached and been refused.
    network: String,
    ended: Option<String>,
}

impl CallTable {
    /// Takes rows in, oldest first, and gives a line for each call that they are about, as it
    /// stands after them, and for each row that is of no call; in the order in which they began.
    pub fn lines(&mut self, rows: &[AuditRow]) -> Vec<String> {
        let mut touched: Vec<(i64, String, Option<Outside>)> = Vec::new();
        for row in rows {
            if row.call.is_empty() {
                let before = touched.last_mut().and_then(|(.., outside)| outside.as_mut());
                if !before.is_some_and(|outside| outside.takes_in(row)) {
                    touched.push((row.id, String::new(), Some(Outside::of(row))));
                }
                continue;
            }
            if has_no_line(&row.call) {
                continue;
            }
            let call = self.by_id.entry(row.call.clone()).or_default();
            call.follow(row);
            if !touched.iter().any(|(_, id, _)| *id == row.call) {
                touched.push((call.first_row, row.call.clone(), None));
            }
        }
        touched.sort_by_key(|(first_row, ..)| *first_row);
        let line = |(_, id, outside): (i64, String, Option<Outside>)| match outside {
            Some(outside) => outside.line(),
            None => self.by_id.get(&id).map(|call| call.line(&id)).unwrap_or_default(),
        };
        touched.into_iter().map(line).collect()
    }
}

/// Claw's own look at the beginning of each turn, and a question about several calls, each of which
/// has a line of its own: `--rows` has them.
fn has_no_line(call: &str) -> bool {
    matches!(
        call.parse(),
        Ok(CallId::Git { .. }
            | CallId::Together { .. }
            | CallId::List { .. }
            | CallId::Buttons { .. })
    )
}

impl Call {
    fn follow(&mut self, row: &AuditRow) {
        if self.first_row == 0 {
            (self.first_row, self.at_ms) = (row.id, row.at_ms);
        }
        let text = |key: &str| row.body.get(key).map(plain).unwrap_or_default();
        match row.kind.as_str() {
            "received" => {
                let arguments = row.body.get("arguments").map(telling).unwrap_or_default();
                self.what = format!("{}/{}{arguments}", text("server"), text("tool"));
            }
            "verdict" => self.rule = text("rule"),
            "asked" if is_of_a_round(&row.body) => self.asked_by_server = text("approval"),
            "asked" => (self.asked, self.answered) = (text("approval"), None),
            // It says nothing of whether the call may run.
            "answered"
                if is_of_a_round(&row.body) || self.is_asked_by_server(&text("approval")) =>
            {
                self.asked_by_server.clear();
            }
            "answered" => self.answered = Some(Answered::of(&row.body)),
            "started" => self.started_ms = Some(row.at_ms),
            "network" => self.network = network_briefly(&row.body),
            "ended" => self.ended = Some(self.end(row, &text("outcome"), &text("reason"))),
            _ => {}
        }
    }

    fn is_asked_by_server(&self, approval: &str) -> bool {
        !approval.is_empty() && approval == self.asked_by_server
    }

    fn end(&self, row: &AuditRow, outcome: &str, reason: &str) -> String {
        let failed = row.body.get("is_error") == Some(&Value::Bool(true));
        let took = self
            .started_ms
            .map(|started| format!(" in {} ms", row.at_ms - started))
            .unwrap_or_default();
        let code = row.body.get("exit_code").and_then(Value::as_i64).filter(|code| *code != 0);
        let signal = row.body.get("signal").and_then(Value::as_str);
        match (outcome, signal, code) {
            ("ended", Some(signal), _) => format!("✗ ended by {signal}{took}"),
            ("ended", None, Some(code)) => {
                let signal = signals::told_by_shell(code).map(|signal| format!(" ({signal}?)"));
                format!("✗ exit code {code}{}{took}", signal.unwrap_or_default())
            }
            ("ended", None, None) if failed => format!("✗ failed{took}"),
            ("ended", None, None) => format!("✓ ran{took}"),
            ("denied", ..) => format!("✗ not run: {reason}"),
            ("unknown", ..) => format!("? may or may not have run: {reason}"),
            (other, ..) => format!("{other} {reason}"),
        }
    }

    /// No call of a tool, and nothing asked for it.
    fn pause_line(&self, id: &str) -> String {
        let state = match (&self.answered, &self.ended) {
            (Some(answered), _) if answered.allows => {
                format!("✓ the turn went on ({})", answered.says)
            }
            (Some(answered), _) => format!("✗ the turn did not go on: {}", answered.says),
            (None, Some(_)) => "it is closed".to_owned(),
            (None, None) => format!("… waits for an answer to {}", self.asked),
        };
        let at = super::when(self.at_ms);
        clean_line(&format!("{at}  {id}  the question whether the turn may go on  {state}"))
    }

    fn line(&self, id: &str) -> String {
        if matches!(id.parse(), Ok(CallId::Pause { .. })) {
            return self.pause_line(id);
        }
        let mut why = match (&self.answered, self.rule.as_str()) {
            (None, "") => String::new(),
            (None, rule) => format!(" ({})", rule_words(rule)),
            (Some(answered), _) => format!(" ({})", answered.says),
        };
        let state = match (&self.ended, self.started_ms, &self.answered) {
            (Some(ended), ..) => ended.clone(),
            (None, Some(_), _) if !self.asked_by_server.is_empty() => {
                format!("… waits for what its server asks ({})", self.asked_by_server)
            }
            (None, Some(_), _) => "… runs".to_owned(),
            // A denial is the end of a call, and has no other row.
            (None, None, Some(answered)) if !answered.allows => {
                why.clear();
                format!("✗ not run: {}", answered.says)
            }
            (None, None, Some(_)) => "… answered, and not started".to_owned(),
            (None, None, None) if !self.asked.is_empty() => {
                format!("… waits for an answer to {}", self.asked)
            }
            (None, None, None) => "… not decided".to_owned(),
        };
        // The end has said so already.
        if state.ends_with(&why) {
            why.clear();
        }
        let network = match self.network.as_str() {
            "" => String::new(),
            hosts => format!("; {hosts}"),
        };
        let what =
            if self.what.is_empty() { "(its beginning is in older rows)" } else { &self.what };
        clean_line(&format!("{}  {id}  {what}  {state}{why}{network}", super::when(self.at_ms)))
    }
}

/// What is of no call: a row, or several of tools that were pinned one behind the other.
struct Outside {
    first: AuditRow,
    /// Pinned behind the first one: the server, and what.
    more: Vec<(String, String)>,
}

impl Outside {
    fn of(row: &AuditRow) -> Self {
        Self { first: row.clone(), more: Vec::new() }
    }

    /// Tools are pinned one by one when their servers are first seen, and read as one line.
    fn takes_in(&mut self, row: &AuditRow) -> bool {
        let same = self.first.kind == PINNED && row.kind == PINNED;
        if same {
            self.more.push((server_of(row), tool_of(row)));
        }
        same
    }

    fn line(&self) -> String {
        let said = if self.more.is_empty() { outside_of_calls(&self.first) } else { self.pinned() };
        clean_line(&format!("{}  {said}", super::when(self.first.at_ms)))
    }

    /// Of one server by name, of several by number: `--rows` names each.
    fn pinned(&self) -> String {
        let first = (server_of(&self.first), tool_of(&self.first));
        let all: Vec<_> = std::iter::once(&first).chain(&self.more).collect();
        let mut servers: Vec<(&str, usize)> = Vec::new();
        for (server, tool) in &all {
            let is_tool = usize::from(!tool.is_empty());
            match servers.iter_mut().find(|(known, _)| known == server) {
                Some((_, count)) => *count += is_tool,
                None => servers.push((server, is_tool)),
            }
        }
        if let [(server, count)] = servers.as_slice() {
            let tools: Vec<&str> =
                all.iter().map(|(_, tool)| tool.as_str()).filter(|tool| !tool.is_empty()).collect();
            let about_itself =
                if tools.len() < all.len() { "; also what it says about itself" } else { "" };
            let (what, were, their) = match count {
                1 => ("1 tool".to_owned(), "was", "its description was"),
                count => (format!("{count} tools"), "were", "their descriptions were"),
            };
            return format!(
                "{what} of the server {server} {were} seen for the first time, and {their} \
                 pinned: {}{about_itself}",
                tools.join(", ")
            );
        }
        let counted: Vec<String> =
            servers.iter().map(|(server, count)| format!("{server} {count}")).collect();
        format!(
            "The tools of {} servers were seen for the first time, and their descriptions were \
             pinned: {}",
            servers.len(),
            counted.join(", ")
        )
    }
}

fn server_of(row: &AuditRow) -> String {
    row.body.get("server").map(plain).unwrap_or_default()
}

/// The name of what was pinned; the words of a server about itself have none.
fn tool_of(row: &AuditRow) -> String {
    row.body.get("tool").map(plain).unwrap_or_default()
}

/// The argument that says most, or all of them.
fn telling(arguments: &Value) -> String {
    let named = ["command", "path", "query", "pattern", "url", "name"];
    let text = match named.iter().find_map(|name| arguments.get(name)?.as_str()) {
        Some(text) => text.to_owned(),
        None if arguments.as_object().is_none_or(serde_json::Map::is_empty) => {
            return String::new();
        }
        None => canonical_json(arguments),
    };
    match text.char_indices().nth(ARGUMENTS_CHARS_MAX) {
        Some((end, _)) => format!("  {}…", text.get(..end).unwrap_or_default()),
        None => format!("  {text}"),
    }
}

/// What a stranger wrote must not make a second line, or pass for another call.
fn clean_line(text: &str) -> String {
    out::clean(text).replace('\n', "\\n")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => canonical_json(other),
    }
}

#[cfg(test)]
mod tests;
