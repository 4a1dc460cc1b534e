//! The mode of a session: a grant of a shape of its own, under a name that no server has. It is
//! given, found, prolonged and ended here. That of one command is no grant: it stands in the
//! process alone, and ends with it, however that ends. Must not know which calls a mode lets
//! through.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::json;

use super::grants::{Reach, Stored};
use super::settle::settle;
use super::{Calls, Grounds};
use crate::domain::{
    Answer, ApprovalId, GrantEffect, Mode, Origin, Scope, SessionId, Term, ToolCall, UnixMillis,
};
use crate::killpoint;
use crate::policy::{mode, shape::Shape};
use crate::store::{AuditEntry, GrantRow, GrantSaid, NewGrant, StoreError, Tx, now_ms};

const SERVER: &str = "claw";
const TOOL: &str = "mode";
/// What the grant of a mode is for, in place of a server and a tool.
pub(super) const NAME: (&str, &str) = (SERVER, TOOL);
/// In place of a grant: the mode of one command.
const RULE_OF_COMMAND: &str = "mode.command";

/// A mode that is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeInForce {
    pub mode: Mode,
    /// The grant that it is; that of a command is none.
    pub grant: Option<i64>,
    pub given_ms: UnixMillis,
    /// When it ends, if its owner writes nothing until then.
    pub until_ms: Option<UnixMillis>,
}

/// The mode of the command that this process is, for what its person says in this session. It takes
/// the place of the session's own, also where that lets through more.
#[derive(Debug)]
pub(super) struct CommandMode {
    session: SessionId,
    principal: String,
    in_force: ModeInForce,
}

impl CommandMode {
    pub(super) fn is_for(&self, session: &SessionId, principal: &str) -> bool {
        self.session == *session && self.principal == principal
    }
}

/// A mode that an owner gives to a session.
#[derive(Clone)]
pub struct NewMode {
    mode: Mode,
    grant: NewGrant,
    reach: Reach,
}

impl Calls {
    /// The mode that this person has given to the session, in this workspace.
    pub fn mode(
        &self,
        session: &SessionId,
        principal: &str,
    ) -> Result<Option<ModeInForce>, StoreError> {
        let of_command = self.command_mode.get();
        if let Some(of_command) = of_command.filter(|it| it.is_for(session, principal)) {
            let in_force = of_command.in_force;
            return Ok((in_force.mode != Mode::Ask).then_some(in_force));
        }
        let rows = self.store.read(|tx| tx.grants_for(SERVER, TOOL))?;
        let found = rows.into_iter().rev().find_map(|row| {
            let is_here = row.session.as_ref() == Some(session) && row.principal == principal;
            let mode = self.mode_of(&row).filter(|_| is_here)?;
            Some(ModeInForce {
                mode,
                grant: Some(row.id),
                given_ms: row.created_ms,
                until_ms: row.expires_ms,
            })
        });
        Ok(found)
    }

    fn mode_of(&self, row: &GrantRow) -> Option<Mode> {
        let stored = Stored::read(&row.shape).filter(|stored| stored.is_for(&self.surroundings))?;
        match stored.shape {
            Shape::Mode { mode } if row.effect == GrantEffect::Allow => Some(mode),
            _ => None,
        }
    }

    /// The mode that lets this call through, if there is one.
    pub(super) fn mode_for(&self, call: &ToolCall) -> Result<Option<Grounds>, StoreError> {
        let Some(session) = call.session() else { return Ok(None) };
        let found = self.mode(session, &call.principal)?;
        let facts = self.facts(call, None);
        let found = found.filter(|found| mode::lets_through(found.mode, &facts));
        Ok(found.map(|found| {
            let (rule, given) = match found.grant {
                Some(grant) => {
                    let given = moment(found.given_ms, &self.surroundings.zone);
                    (format!("grant.{grant}"), given)
                }
                None => (RULE_OF_COMMAND.to_owned(), "to this command alone".to_owned()),
            };
            let grounds = Grounds::new(rule, format!("mode {}, given {given}", found.mode));
            Grounds { grant: found.grant, wide: true, ..grounds }
        }))
    }

    /// Gives the command that this process is a mode for the calls that this person's own words
    /// lead to in this session. Once in a process.
    pub async fn give_command(
        &self,
        mode: Mode,
        session: &SessionId,
        principal: &str,
    ) -> Result<(), StoreError> {
        let says = self.says(mode);
        let body = json!({
            "mode": mode, "session": session, "by": principal, "command": true, "says": says,
        });
        let entry = AuditEntry { kind: "mode", call: String::new(), body };
        self.store.write(move |tx| tx.audit(&entry)).await?;
        let in_force = ModeInForce { mode, grant: None, given_ms: now_ms(), until_ms: None };
        let (session, principal) = (session.clone(), principal.to_owned());
        // A second one would be a mistake of the command's; the first one holds.
        let _ = self.command_mode.set(Arc::new(CommandMode { session, principal, in_force }));
        Ok(())
    }

    fn says(&self, mode: Mode) -> String {
        format!("mode {mode} in {}: {}", self.workspace().display(), mode.says())
    }

    /// A mode for the calls that this person's own words lead to in this session.
    pub async fn new_mode(
        &self,
        mode: Mode,
        session: &SessionId,
        principal: &str,
        approval: Option<&ApprovalId>,
    ) -> Result<NewMode, StoreError> {
        let grant = NewGrant {
            effect: GrantEffect::Allow,
            principal: principal.to_owned(),
            session: Some(session.clone()),
            server: SERVER.to_owned(),
            tool: TOOL.to_owned(),
            shape: Stored::of(Shape::Mode { mode }, self.workspace()).text()?,
            origin: Origin::Owner,
            says: self.says(mode),
            expires_ms: Some(self.mode_until()),
            approval: approval.map(|id| id.0.clone()).unwrap_or_default(),
        };
        Ok(NewMode { mode, grant, reach: self.reach_of_open_calls().await })
    }

    /// When a mode ends that somebody uses now.
    pub fn mode_until(&self) -> UnixMillis {
        now_ms() + self.limits().mode_idle_time.as_millis() as i64
    }
}

impl NewMode {
    /// Takes the place of the mode that the session had by the same person. Gives back the grant,
    /// which the mode `ask` needs none of.
    pub fn set_in(&self, tx: &Tx<'_>) -> Result<Option<i64>, StoreError> {
        let (session, principal) = (self.grant.session.as_ref(), &self.grant.principal);
        for row in tx.grants_for(SERVER, TOOL)? {
            if row.session.as_ref() == session && row.principal == *principal {
                tx.revoke_grant(row.id)?;
            }
        }
        if self.mode == Mode::Ask { Ok(None) } else { tx.add_grant(&self.grant).map(Some) }
    }

    /// The same, with a row of the audit, and an answer to the open questions that it covers.
    pub fn set_by_command(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        let grant = self.set_in(tx)?;
        let by = &self.grant.principal;
        let body = json!({
            "mode": self.mode, "session": self.grant.session, "by": self.grant.principal,
            "grant": grant, "says": self.grant.says,
        });
        tx.audit(&AuditEntry { kind: "mode", call: String::new(), body })?;
        killpoint::here("mode.set.inside");
        let scope = Scope::Mode { mode: self.mode };
        settle(tx, &self.reach, grant, &Answer::Allow { term: Term::Session, scope }, by)
    }

    pub fn says(&self) -> &str {
        &self.grant.says
    }
}

/// Whether a standing answer is a mode, and not a grant for a tool.
pub(super) fn is_mode(row: &GrantRow) -> bool {
    (row.server.as_str(), row.tool.as_str()) == NAME
}

/// `mode edits`, of a grant that is a mode. `None` for one for a tool.
pub fn name_of(said: &GrantSaid) -> Option<&str> {
    let is_mode = (said.name.0.as_str(), said.name.1.as_str()) == NAME;
    is_mode.then(|| said.says.split(" in ").next()).flatten()
}

/// The owner has written in a session: the modes of this person there hold on. One that has ended
/// stays ended.
pub fn prolong_in(
    tx: &Tx<'_>,
    session: &SessionId,
    principal: &str,
    until_ms: UnixMillis,
) -> Result<(), StoreError> {
    for row in tx.grants_for(SERVER, TOOL)? {
        if row.session.as_ref() == Some(session) && row.principal == principal {
            tx.prolong_grant(row.id, until_ms)?;
        }
    }
    Ok(())
}

/// Ends the modes of all sessions: the stop switch was used.
pub fn end_all_in(tx: &Tx<'_>) -> Result<usize, StoreError> {
    let rows = tx.grants_for(SERVER, TOOL)?;
    rows.iter().try_fold(0, |ended, row| Ok(ended + usize::from(tx.revoke_grant(row.id)?)))
}

/// In the owner's own time: the hour, and the day if it is another one than today.
fn moment(at_ms: UnixMillis, zone: &TimeZone) -> String {
    let Ok(at) = jiff::Timestamp::from_millisecond(at_ms) else { return format!("{at_ms} ms") };
    let at = at.to_zoned(zone.clone());
    let today = jiff::Timestamp::now().to_zoned(zone.clone()).date();
    let form = if at.date() == today { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    at.strftime(form).to_string()
}
