//! `/stop`, and which of the messages before it that no model has read end with it: those of
//! whoever stops. What somebody else has asked meanwhile begins behind it. Must not know doors.

use claw_kit::counted::{counted, counted_with};

use super::drive::Drive;
use crate::domain::{EventBody, InboundBody, client_of, job_of};
use crate::store::InboxRow;

impl Drive<'_> {
    /// Whether the stop is done with. It ends the open turn at once, and stays until what its own
    /// writer has asked before it has begun and ended, too.
    pub(super) fn stop(&mut self, row: &InboxRow, rows: &[InboxRow], acts: bool) -> bool {
        let Some(stopping) = self.log.open_turn().map(|turn| turn.stop_requested) else {
            let jobs = self.worker.gate.hub().background_jobs();
            self.reply_to(row, &nothing_to_stop(acts, jobs));
            return true;
        };
        if !stopping {
            self.push(EventBody::StopRequested { by: row.inbound.principal.clone() });
        }
        let is_before = |other: &InboxRow| {
            other.id < row.id
                && is_of_a_person(other)
                && other.inbound.principal == row.inbound.principal
        };
        !rows.iter().any(|other| is_before(other) && !self.absorbed.contains(&other.id))
    }

    /// Whether a message waits until somebody else's stop behind it is done with: nobody ends what
    /// others have asked and what has not begun.
    pub(super) fn waits_for_stop(&self, row: &InboxRow, rows: &[InboxRow]) -> bool {
        let is_behind = |other: &InboxRow| {
            other.id > row.id
                && matches!(other.inbound.body, InboundBody::Stop)
                && other.inbound.principal != row.inbound.principal
        };
        is_of_a_person(row)
            && rows.iter().any(|other| is_behind(other) && !self.absorbed.contains(&other.id))
    }

    /// Whether the open turn has just taken in this message of a person.
    pub(super) fn has_taken_in(&self, row: &InboxRow) -> bool {
        is_of_a_person(row)
            && self.turn().messages.last().is_some_and(|message| message.inbox_id == row.id)
    }

    /// Says how many messages a stop or a `/new` ends that no model has read.
    pub(super) fn tell_unread(&mut self, row: &InboxRow, unread: u32) {
        if unread > 0 {
            let command =
                if matches!(row.inbound.body, InboundBody::Stop) { "/stop" } else { "/new" };
            self.reply_to(row, &ended_unread(unread, command));
        }
    }
}

/// A client speaks in its own turns alone, and a job is nobody who could ask again.
fn is_of_a_person(row: &InboxRow) -> bool {
    let principal = &row.inbound.principal;
    matches!(row.inbound.body, InboundBody::Message { .. })
        && job_of(principal).is_none()
        && client_of(principal).is_none()
}

fn ended_unread(unread: u32, command: &str) -> String {
    let it = if unread == 1 { "it" } else { "them" };
    let before = format!("{} before `{command}`", counted(unread, "message"));
    let were = if unread == 1 { "was" } else { "were" };
    format!(
        "{before} {were} not read yet and ended with it. Send {it} again if you still want an \
         answer."
    )
}

/// The answer to a stop outside of a turn. Jobs go on between turns, and a stop does not end them.
fn nothing_to_stop(acts: bool, background_jobs: u32) -> String {
    match (acts, background_jobs) {
        (true, _) => "Stopped.".to_owned(),
        (false, 0) => "Nothing is running.".to_owned(),
        (false, jobs) => format!(
            "No turn is running; {} on. By `/stop jobs` an owner ends those of this folder.",
            counted_with(jobs, "background job", "goes", "go"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{ended_unread, nothing_to_stop};

    #[test]
    fn a_stop_names_the_jobs_that_it_does_not_end() {
        assert_eq!(nothing_to_stop(false, 0), "Nothing is running.");
        assert_eq!(nothing_to_stop(true, 2), "Stopped.");
        assert!(nothing_to_stop(false, 1).starts_with("No turn is running; 1 background job goes"));
        assert!(
            nothing_to_stop(false, 2).contains("2 background jobs go on. By `/stop jobs` an owner")
        );
    }

    #[test]
    fn what_a_stop_ends_unread_is_counted() {
        assert_eq!(
            ended_unread(1, "/stop"),
            "1 message before `/stop` was not read yet and ended with it. Send it again if you \
             still want an answer."
        );
        assert!(ended_unread(2, "/new").starts_with("2 messages before `/new` were not read yet"));
    }
}
