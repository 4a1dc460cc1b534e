//! What a door shows of a call that runs, and of its end: a title, why it failed, the first lines
//! of a command, a difference. Must not know doors, or how a call is sent.

use serde_json::Value;

use crate::domain::{CallId, Live, Outcome, ToolCall, ToolOutput, escape};
use crate::redact::Redactor;

/// The longest title of a running call, in characters. The whole call was shown in the question and
/// is in the audit.
const TITLE_CHARS_MAX: usize = 100;
/// The longest reason of a failure, in characters.
const REASON_CHARS_MAX: usize = 300;
/// Lines of a command's output that are shown when it has ended.
const OUTPUT_LINES_MAX: usize = 3;

/// How the call with this title has ended, without known secrets.
pub fn ended(call: CallId, title: String, outcome: &Outcome, redactor: &Redactor) -> Live {
    let told = |text: &str| escape::visible(&redactor.redact(text));
    let (ok, summary) = match outcome {
        Outcome::Ended { output } => match failure(output) {
            Some(why) => (false, told(&why)),
            None => (true, String::new()),
        },
        Outcome::Denied { reason, .. } | Outcome::Unknown { reason } => (false, told(reason)),
        Outcome::Parked { .. } => (true, "asks the owner".to_owned()),
        Outcome::Left => (true, "goes on at its server when claw is started again".to_owned()),
    };
    let (diff, output) = match outcome {
        Outcome::Ended { output } => (
            if ok { unified_diff(&redactor.redact(&output.text)) } else { String::new() },
            redactor.redact(&first_lines(output)).into_owned(),
        ),
        _ => (String::new(), String::new()),
    };
    Live::CallEnded { call, ok, title, summary, diff, output }
}

/// Why a call that has ended is no success: the tool says so, or what it ran ended with an exit
/// code other than 0 or by a signal (`exit_code` and `signal` in structured content, as our bash
/// server gives them).
fn failure(output: &ToolOutput) -> Option<String> {
    let of_command =
        |name: &str| output.structured.as_ref().and_then(|structured| structured.get(name));
    let code = of_command("exit_code").and_then(Value::as_i64).is_some_and(|code| code != 0);
    let failed = output.is_error || code || of_command("signal").is_some_and(Value::is_string);
    // The first line of a command's result says how it ended; that of another tool, why it could
    // not.
    let first = || {
        output
            .text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or("it says no reason")
    };
    failed.then(|| first().chars().take(REASON_CHARS_MAX).collect())
}

/// The first lines of what a command has printed, and how many there are besides. Empty for any
/// other tool.
fn first_lines(output: &ToolOutput) -> String {
    let command =
        output.structured.as_ref().is_some_and(|structured| structured.get("exit_code").is_some());
    let Some((_, printed)) = output.text.split_once("\n\n").filter(|_| command) else {
        return String::new();
    };
    let lines: Vec<&str> =
        printed.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let mut shown: Vec<String> =
        lines.iter().take(OUTPUT_LINES_MAX).map(|line| (*line).to_owned()).collect();
    match lines.len().saturating_sub(OUTPUT_LINES_MAX) {
        0 => {}
        1 => shown.push("… and 1 more line".to_owned()),
        more => shown.push(format!("… and {more} more lines")),
    }
    shown.join("\n")
}

/// The unified diff in a text: from its header to the last line of its hunks. Empty if there is
/// none.
fn unified_diff(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let header = |at: usize| {
        let starts = |offset: usize, start: &str| {
            lines.get(at + offset).is_some_and(|line| line.starts_with(start))
        };
        starts(0, "--- ") && starts(1, "+++ ") && starts(2, "@@ ")
    };
    let Some(from) = (0..lines.len()).find(|at| header(*at)) else { return String::new() };
    let of_hunk = |line: &&&str| line.starts_with([' ', '+', '-', '@', '\\']);
    lines[from..].iter().take_while(of_hunk).copied().collect::<Vec<_>>().join("\n")
}

/// Where a command begins, if that is not the workspace itself, and the names of its variables.
fn begins_in(call: &ToolCall) -> String {
    let named = |name: &str| call.arguments.get(name)?.as_str();
    let folder = named("cwd").filter(|folder| !matches!(*folder, "" | "."));
    let folder = folder.map(|folder| format!("in {}", escape::visible(folder)));
    let variables = call.arguments.get("variables").and_then(Value::as_object);
    let mut names: Vec<&str> =
        variables.into_iter().flat_map(|all| all.keys()).map(String::as_str).collect();
    names.sort_unstable();
    let names = (!names.is_empty()).then(|| format!("with {}", escape::visible(&names.join(", "))));
    let told: Vec<String> = folder.into_iter().chain(names).collect();
    match named("command") {
        Some(_) if !told.is_empty() => format!(" ({})", told.join(", ")),
        _ => String::new(),
    }
}

/// Server, tool, and the beginning of the most telling argument.
pub fn title(call: &ToolCall) -> String {
    let telling = ["command", "path", "query", "pattern", "url", "uri", "name", "search"];
    let argument = telling.iter().find_map(|name| call.arguments.get(name)?.as_str());
    let whole = match argument {
        Some(text) => {
            format!("{}/{}  {}{}", call.server, call.tool, escape::visible(text), begins_in(call))
        }
        None => format!("{}/{}", call.server, call.tool),
    };
    if whole.chars().count() <= TITLE_CHARS_MAX {
        return whole;
    }
    whole.chars().take(TITLE_CHARS_MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ended(text: &str, structured: Value, is_error: bool) -> ToolOutput {
        ToolOutput {
            text: text.into(),
            structured: Some(structured),
            is_error,
            ..ToolOutput::default()
        }
    }

    #[test]
    fn only_what_went_well_is_a_success() {
        let good = ended(
            "exit code 0 after 0.01 s\n\na\nb\nc\n\nd\ne\n",
            json!({"exit_code": 0, "signal": null}),
            false,
        );
        assert_eq!(
            (failure(&good), first_lines(&good).as_str()),
            (None, "a\nb\nc\n… and 2 more lines")
        );
        let bad = ended(
            "exit code 3 after 0.01 s\n\nno such file\n",
            json!({"exit_code": 3, "signal": null}),
            false,
        );
        assert_eq!(failure(&bad).as_deref(), Some("exit code 3 after 0.01 s"));
        assert_eq!(first_lines(&bad), "no such file");
        let killed = ended(
            "ended by SIGKILL after 1.00 s\n\n",
            json!({"exit_code": null, "signal": "SIGKILL"}),
            false,
        );
        assert_eq!(failure(&killed).as_deref(), Some("ended by SIGKILL after 1.00 s"));
        let refused = ended("\n`a` is no file\n", json!({}), true);
        assert_eq!(
            (failure(&refused).as_deref(), first_lines(&refused).as_str()),
            (Some("`a` is no file"), "")
        );
        let running = ended("job 1: running", json!({"exit_code": null, "running": true}), false);
        assert_eq!(failure(&running), None);
    }

    #[test]
    fn the_line_of_a_command_says_where_it_begins_and_names_its_variables() {
        let line = |arguments: Value| {
            let id = crate::domain::CallId::Jobs { number: 1 };
            title(&ToolCall {
                id,
                server: "bash".into(),
                tool: "run".into(),
                arguments,
                origin: crate::domain::Origin::Owner,
                principal: String::new(),
            })
        };
        assert_eq!(line(json!({"command": "ls", "cwd": ".", "variables": {}})), "bash/run  ls");
        assert_eq!(
            line(json!({"command": "ls", "cwd": "web", "variables": {"B": "1", "A": "2"}})),
            "bash/run  ls (in web, with A, B)"
        );
        assert_eq!(
            line(json!({"command": "ls", "variables": {"A\u{202e}": "2"}})),
            "bash/run  ls (with A\\u{202e})"
        );
    }

    #[test]
    fn a_diff_is_found_in_a_result_and_nothing_else_is() {
        let diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n c";
        assert_eq!(
            unified_diff(&format!("Changed `f`.\n\n{diff}\n[the diff has 9 bytes]\n- x")),
            diff
        );
        assert_eq!(unified_diff("- a\n+ b\n--- a rule\n"), "");
    }
}
