//! The transparency layer: tells the door what runs and how it ended. Must not know doors or verdicts.

use super::Gate;
use super::chain::{Next, Pass};
use crate::domain::{Live, Outcome, ToolCall, escape};

/// The longest title of a running call, in characters. The whole call was shown in the question and is in the audit.
const TITLE_CHARS_MAX: usize = 100;

pub(super) async fn layer(gate: &Gate, pass: Pass, next: Next<'_>) -> Outcome {
    let live = pass.context.live.clone();
    let call = pass.call.id.clone();
    let title = title(&pass.call);
    live(Live::CallStarted { call: call.clone(), title: title.clone() });
    let outcome = next.run(pass).await;
    let (ok, summary) = match &outcome {
        Outcome::Ended { output } => (!output.is_error, String::new()),
        Outcome::Denied { reason } | Outcome::Unknown { reason } => {
            (false, escape::visible(&gate.redactor.redact(reason)))
        }
        Outcome::Parked { .. } => (false, "waits for an answer".to_owned()),
    };
    let diff = match &outcome {
        Outcome::Ended { output } if ok => unified_diff(&gate.redactor.redact(&output.text)),
        _ => String::new(),
    };
    live(Live::CallEnded { call, ok, title, summary, diff });
    outcome
}

/// The unified diff in a text: from its header to the last line of its hunks. Empty if there is none.
fn unified_diff(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let header = |at: usize| {
        let starts = |offset: usize, start: &str| lines.get(at + offset).is_some_and(|line| line.starts_with(start));
        starts(0, "--- ") && starts(1, "+++ ") && starts(2, "@@ ")
    };
    let Some(from) = (0..lines.len()).find(|at| header(*at)) else { return String::new() };
    let of_hunk = |line: &&&str| line.starts_with([' ', '+', '-', '@', '\\']);
    lines[from..].iter().take_while(of_hunk).copied().collect::<Vec<_>>().join("\n")
}

/// Server, tool, and the beginning of the most telling argument.
fn title(call: &ToolCall) -> String {
    let telling = ["command", "path", "query", "pattern", "url", "name"];
    let argument = telling.iter().find_map(|name| call.arguments.get(name)?.as_str());
    let whole = match argument {
        Some(text) => format!("{} {}  {}", call.server, call.tool, escape::visible(text)),
        None => format!("{} {}", call.server, call.tool),
    };
    if whole.chars().count() <= TITLE_CHARS_MAX {
        return whole;
    }
    whole.chars().take(TITLE_CHARS_MAX).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::unified_diff;

    #[test]
    fn a_diff_is_found_in_a_result_and_nothing_else_is() {
        let diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n c";
        assert_eq!(unified_diff(&format!("Changed `f`.\n\n{diff}\n[the diff has 9 bytes]\n- x")), diff);
        assert_eq!(unified_diff("- a\n+ b\n--- a rule\n"), "");
    }
}
