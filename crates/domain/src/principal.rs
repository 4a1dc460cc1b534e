//! Who somebody is, as it is frozen with a call and compared with who may answer. Must not know who
//! may do what.

use super::{Address, InvalidSessionId, SessionId};

/// Whether nobody but this person reads what is said at an address: they sit at this machine, or in
/// the private chat with a bot, which has the number of its user (`telegram/BOT/USER`, perhaps with
/// a topic behind it). What claw knows only of one of them must not be said anywhere else. An
/// address of a door that is not known here is nobody's alone.
pub fn is_alone_with_claw(principal: &str, at: &Address) -> bool {
    match principal.split_once(':') {
        Some(("console", _)) => true,
        Some(("telegram", user)) => {
            let mut parts = at.0.split('/');
            parts.next() == Some("telegram") && parts.nth(1) == Some(user)
        }
        _ => false,
    }
}

/// Whoever a principal stands for, for a person: one machine has one person.
pub fn person(principal: &str) -> String {
    match principal.split_once(':') {
        Some(("console", _)) => "the person at this machine".to_owned(),
        Some(("telegram", id)) => format!("the Telegram user {id}"),
        Some(("schedule", job)) => format!("the job `{job}` (its id and revision)"),
        Some(("mcp", client)) => format!("the MCP client `{client}`"),
        _ if principal.starts_with('/') => format!("the file `{principal}`"),
        _ => format!("`{principal}`"),
    }
}

/// The principal of a Telegram user, by the number that Telegram has given them.
pub fn telegram_principal(user: i64) -> String {
    format!("telegram:{user}")
}

/// The session of a Telegram chat. Those of its topics have its name and a dot before theirs.
pub fn telegram_session(bot: i64, chat: i64) -> Result<SessionId, InvalidSessionId> {
    SessionId::new(format!("telegram.{bot}.{chat}"))
}

/// Before the job and its revision.
const JOB: &str = "schedule:";

/// The principal of a job at one revision, so that what was granted to it ends with either.
pub fn job_principal(job: &str, revision: i64) -> String {
    format!("{JOB}{job}.{revision}")
}

/// The job and the revision that a principal stands for, if it stands for one.
pub fn job_of(principal: &str) -> Option<(&str, i64)> {
    let (job, revision) = principal.strip_prefix(JOB)?.rsplit_once('.')?;
    Some((job, revision.parse().ok()?))
}

/// Before the name of a heartbeat, where a job of the scheduler has its number: no job of a user's
/// can be named so.
const HEARTBEAT: &str = "heartbeat:";
/// Before the name of a heartbeat in the name of its session.
const HEARTBEAT_SESSION: &str = "heartbeat.";

/// A heartbeat as a job: what begins its turns, and what a grant for it is bound to.
pub fn heartbeat_job(name: &str) -> String {
    format!("{HEARTBEAT}{name}")
}

/// The heartbeat that a principal stands for, if it stands for one.
pub fn heartbeat_of(principal: &str) -> Option<&str> {
    heartbeat_named(job_of(principal)?.0)
}

/// The heartbeat that is this job, if it is one.
pub fn heartbeat_named(job: &str) -> Option<&str> {
    job.strip_prefix(HEARTBEAT)
}

/// The session of a heartbeat of this name. `None` for what cannot be a part of a session's name.
pub fn heartbeat_session(name: &str) -> Option<SessionId> {
    SessionId::new(format!("{HEARTBEAT_SESSION}{name}")).ok()
}

/// Whether it is the session of a heartbeat, which no door has a place for.
pub fn is_heartbeat_session(session: &SessionId) -> bool {
    session.as_str().starts_with(HEARTBEAT_SESSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_is_a_job_that_no_user_can_have_made() {
        let principal = job_principal(&heartbeat_job("in-box"), 7);
        assert_eq!(heartbeat_of(&principal), Some("in-box"));
        for other in ["schedule:j3.1", "schedule:heartbeat:x", "telegram:7", "heartbeat:x.1"] {
            assert_eq!(heartbeat_of(other), None, "{other}");
        }
        let session = heartbeat_session("in-box").unwrap();
        assert!(is_heartbeat_session(&session) && session.as_str() == "heartbeat.in-box");
        assert_eq!(heartbeat_session("in box"), None);
    }

    #[test]
    fn a_job_at_a_revision_is_a_principal_of_its_own() {
        assert_eq!(job_of(&job_principal("j3", 12)), Some(("j3", 12)));
        for other in ["schedule:j3", "schedule:", "telegram:7", "schedule:j3.x"] {
            assert_eq!(job_of(other), None, "{other}");
        }
    }

    #[test]
    fn only_the_own_chat_and_the_own_machine_are_private() {
        let alone = |principal: &str, at: &str| is_alone_with_claw(principal, &Address(at.into()));
        assert!(alone("console:uid:1000", "console/1"));
        assert!(alone(&telegram_principal(7), "telegram/99/7"));
        assert!(alone(&telegram_principal(7), "telegram/99/7/3"));
        for (principal, at) in [
            ("telegram:7", "telegram/99/-7"),
            ("telegram:7", "telegram/7/8"),
            ("telegram:7", "telegram/99"),
            ("telegram:7", "console/99/7"),
            ("anna", "lines/anna"),
            ("mcp:laptop", "mcp/laptop"),
        ] {
            assert!(!alone(principal, at), "{principal} at {at}");
        }
    }
}
