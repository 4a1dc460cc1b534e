//! What a server marks as meant for the user alone: they read it as soon as its call has ended, and
//! no model is sent it. Must not know doors, or how a result is read.

use super::drive::Drive;
use crate::domain::{CallId, OutboundBody, Outcome, escape, tool_for_person};

/// Of one result, in bytes. The log has the rest.
const SHOWN_BYTES_MAX: usize = 2_000;

impl Drive<'_> {
    /// Tells it with the result, so that no kill comes between them.
    pub(super) fn tell_for_user(&mut self, call: &CallId, outcome: &Outcome) {
        // Most results have nothing for them, and their rows are not read.
        let (claw, session) = (self.worker.gate.calls().claw(), self.session.as_str());
        if words_for_user("", claw, session, outcome).is_none() {
            return;
        }
        let turn = self.turn();
        let known = turn.calls.iter().find(|known| known.id == *call);
        // As its row says it; a name that nobody offered has none.
        let row = self.worker.store.read(|tx| tx.call(call)).ok().flatten();
        let tool = match row {
            Some(row) => format!("{}/{}", row.server, row.tool),
            None => known.map_or_else(String::new, |known| tool_for_person(&known.tool_use.name)),
        };
        if let Some(text) = words_for_user(&tool, claw, session, outcome) {
            self.tell(&OutboundBody::Notice { text });
        }
    }
}

/// What the person is told of an outcome, if there is anything for them alone.
pub(super) fn words_for_user(
    tool: &str,
    claw: &str,
    session: &str,
    outcome: &Outcome,
) -> Option<String> {
    match outcome {
        Outcome::Ended { output } if !output.for_user.trim().is_empty() => {
            Some(told(tool, claw, session, &output.for_user))
        }
        _ => None,
    }
}

/// A stranger's words to a person: quoted as they are, with nothing hidden in them.
fn told(tool: &str, claw: &str, session: &str, words: &str) -> String {
    let shown = words.get(..words.floor_char_boundary(SHOWN_BYTES_MAX)).unwrap_or_default();
    let left_out = words.len() - shown.len();
    let shown = escape::visible_multiline(shown.trim_end()).replace("\\\\", "\\");
    // CommonMark 0.31.2, 4.5: a fence ends with one that is at least as long.
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let rest = match left_out {
        0 => String::new(),
        _ => format!(
            "\n{left_out} of {} bytes {} left out here. `{claw} sessions export {session}` has all.",
            words.len(),
            if left_out == 1 { "is" } else { "are" }
        ),
    };
    let from = escape::visible(tool);
    format!(
        "A part of the result of `{from}` is meant for you alone:\n\n{fence}\n{shown}\n{fence}{rest}"
    )
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn words_stay_in_their_fence_and_what_is_left_out_is_counted() {
        let text = told("shelf/both", "claw", "main", "see **this**\n```\n\u{202e}out");
        assert_eq!(
            text,
            "A part of the result of `shelf/both` is meant for you alone:\n\n````\nsee \
             **this**\n```\n\\u{202e}out\n````"
        );
        let long = told("a", "claw --agent work", "main", &"ä".repeat(1_500));
        assert!(
            long.ends_with(
                "1000 of 3000 bytes are left out here. `claw --agent work sessions export main` has \
                 all."
            ),
            "{long}"
        );
        let one_more = told("a", "claw", "main", &"a".repeat(2_001));
        assert!(one_more.contains("\n1 of 2001 bytes is left out here."), "{one_more}");
    }
}
