//! The audit as a person reads it: one line a call, whatever its rows are, and a line for each row
//! that is of no call. Must not know how rows are written or shown.

use std::collections::HashMap;

use serde_json::Value;

use super::explain::{Answered, network_briefly, outside_of_calls};
use super::out;
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
    /// Of its newest question.
    answered: Option<Answered>,
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
            "asked" => (self.asked, self.answered) = (text("approval"), None),
            "answered" => self.answered = Some(Answered::of(&row.body)),
            "started" => self.started_ms = Some(row.at_ms),
            "network" => self.network = network_briefly(&row.body),
            "ended" => self.ended = Some(self.end(row, &text("outcome"), &text("reason"))),
            _ => {}
        }
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
            ("ended", None, Some(code)) => format!("✗ exit code {code}{took}"),
            ("ended", None, None) if failed => format!("✗ failed{took}"),
            ("ended", None, None) => format!("✓ ran{took}"),
            ("denied", ..) => format!("✗ not run: {reason}"),
            ("unknown", ..) => format!("? may or may not have run: {reason}"),
            (other, ..) => format!("{other} {reason}"),
        }
    }

    fn line(&self, id: &str) -> String {
        let mut why = match (&self.answered, self.rule.as_str()) {
            (None, "") => String::new(),
            (None, rule) => format!(" ({})", rule_words(rule)),
            (Some(answered), _) => format!(" ({})", answered.says),
        };
        let state = match (&self.ended, self.started_ms, &self.answered) {
            (Some(ended), ..) => ended.clone(),
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
        for (server, _) in &all {
            match servers.iter_mut().find(|(known, _)| known == server) {
                Some((_, count)) => *count += 1,
                None => servers.push((server, 1)),
            }
        }
        if let [(server, count)] = servers.as_slice() {
            let tools: Vec<&str> = all.iter().map(|(_, tool)| tool.as_str()).collect();
            return format!(
                "{count} tools of the server {server} were seen for the first time, and their \
                 descriptions were pinned: {}",
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
    let tool = row.body.get("tool").map(plain).unwrap_or_default();
    if tool.is_empty() { "(what it says about itself)".to_owned() } else { tool }
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
mod tests {
    use serde_json::json;

    use super::*;

    fn row(id: i64, call: &str, kind: &str, body: Value) -> AuditRow {
        AuditRow {
            id,
            at_ms: id * 10,
            kind: kind.into(),
            call: call.into(),
            body,
            hash: String::new(),
        }
    }

    #[test]
    fn every_call_is_one_line_and_a_call_that_goes_on_gets_one_more() {
        let mut calls = CallTable::default();
        let received =
            json!({"server": "bash", "tool": "run", "arguments": {"command": "make\n0000  fake"}});
        let first = calls.lines(&[
            row(1, "main:3:0", "received", received),
            row(
                2,
                "main:3:0",
                "verdict",
                json!({"verdict": "ask", "rule": "class.mutating", "why": "w"}),
            ),
            row(3, "", "panic.on", json!({"by": "me"})),
            row(4, "main:3:0", "asked", json!({"approval": "q1"})),
        ]);
        assert_eq!(first.len(), 2, "{first:?}");
        assert!(
            first[0].ends_with(
                "main:3:0  bash/run  make\\n0000  fake  … waits for an answer to q1 (claw's default \
                 for changes)"
            ),
            "{first:?}"
        );
        assert!(first[1].ends_with("turned the stop switch on: from then on no call ran."));
        let then = calls.lines(&[
            row(
                5,
                "main:3:0",
                "answered",
                json!({"answer": {"kind": "allow", "term": "once"}, "by": "me"}),
            ),
            row(6, "main:3:0", "started", json!({"digest": "d"})),
            row(
                9,
                "main:3:0",
                "ended",
                json!({"outcome": "ended", "is_error": false, "result_bytes": 2}),
            ),
        ]);
        assert_eq!(then.len(), 1);
        assert!(then[0].ends_with("✓ ran in 30 ms (`me` allowed this one call)"), "{then:?}");
    }

    #[test]
    fn a_command_with_an_exit_code_or_a_signal_is_no_success() {
        for (end, says) in [
            (json!({"exit_code": 3}), "✗ exit code 3"),
            (json!({"exit_code": null, "signal": "SIGKILL"}), "✗ ended by SIGKILL"),
            (json!({"exit_code": 0}), "✓ ran"),
            (json!({"is_error": true}), "✗ failed"),
        ] {
            let mut calls = CallTable::default();
            let mut body = json!({"outcome": "ended", "is_error": false, "result_bytes": 2});
            for (name, value) in end.as_object().unwrap() {
                body[name] = value.clone();
            }
            let lines = calls.lines(&[
                row(1, "main:3:0", "received", json!({"server": "bash", "tool": "run"})),
                row(2, "main:3:0", "ended", body),
            ]);
            assert!(lines[0].contains(says), "{lines:?}");
        }
    }

    #[test]
    fn what_was_denied_or_not_answered_in_time_was_not_run() {
        let by = "console:uid:1000";
        for (body, says) in [
            (json!({"answer": {"kind": "deny"}, "by": by}), "the person at this machine denied it"),
            (json!({"answer": "expired"}), "nobody answered in time"),
        ] {
            let mut calls = CallTable::default();
            let lines = calls.lines(&[
                row(1, "main:3:0", "received", json!({"server": "bash", "tool": "run"})),
                row(2, "main:3:0", "verdict", json!({"verdict": "ask", "rule": "class"})),
                row(3, "main:3:0", "asked", json!({"approval": "q1"})),
                row(4, "main:3:0", "answered", body),
            ]);
            assert!(lines[0].ends_with(&format!("bash/run  ✗ not run: {says}")), "{lines:?}");
        }
    }

    #[test]
    fn an_undo_is_told_in_words() {
        let told = |kind, body| CallTable::default().lines(&[row(1, "", kind, body)]).concat();
        let by = "console:uid:1000";
        let ended = told("undo.ended", json!({"by": by, "turn": "a:6", "changed": 1, "kept": 2}));
        assert!(
            ended.ends_with("put back the files of the turn a:6: 1 changed, 2 left as they are.")
        );
        let body = json!({"by": by, "turn": "a:6", "redo": true, "workspace": "/w"});
        let started = told("undo.started", body);
        assert!(
            started.contains("began to take back the undo of the turn a:6, in /w."),
            "{started}"
        );
        assert!(!format!("{started}{ended}").contains('{'));
    }

    #[test]
    fn the_tools_of_a_server_that_is_new_are_one_line_and_nothing_is_told_as_json() {
        let pinned = |id, server: &str, tool: &str| {
            row(id, "", "pinned", json!({"pin": "abc", "server": server, "tool": tool}))
        };
        let rows = [
            pinned(1, "bash", "run"),
            pinned(2, "bash", "list"),
            pinned(3, "files", "read"),
            row(4, "", "revoked", json!({"by": "me", "grant": 3})),
            pinned(5, "files", "write"),
        ];
        let lines = CallTable::default().lines(&rows);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].ends_with(
            "The tools of 2 servers were seen for the first time, and their descriptions were \
            pinned: bash 2, files 1"
        ));
        assert!(lines[2].contains("The tool files/write was seen for the first time"), "{lines:?}");
        assert!(!lines.concat().contains('{'), "{lines:?}");
        let one = CallTable::default().lines(&rows[..2]).concat();
        assert!(one.ends_with(
            "2 tools of the server bash were seen for the first time, and their descriptions were \
            pinned: run, list"
        ));
    }
}
