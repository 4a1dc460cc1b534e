//! What `/mode` says, and how the mode of one conversation is set. Must not know which calls a mode
//! lets through.

use jiff::tz::TimeZone;

use super::{ChatCommands, ChatCommandsParts, Given, code, is_owner, when};
use crate::calls::modes::ModeInForce;
use crate::domain::{Mode, SessionId};
use crate::router::Visitor;
use crate::store::StoreError;

/// What every mode leaves to a question.
const ALWAYS_ASKS: &str = "In every mode claw asks about what other programs run or obey on sight \
     (`.git`, `.envrc`, `.vscode`, `AGENTS.md`, definitions of a CI, …), about deleting, about the \
     network, about servers that are not claw's own, and about all that does not come from your own words.";
const NO_BOX: &str = "This machine cannot hold commands to the level `write`, so they ask as before; \
     `claw doctor` says why.";

impl ChatCommands {
    /// What the owner lets this conversation do now.
    pub fn mode(&self, visitor: &Visitor, session: &SessionId) -> Result<Mode, StoreError> {
        let parts = self.parts();
        let calls = parts.gate.calls().at(&parts.granted_in(session)?);
        let found = calls.mode(session, &visitor.principal)?;
        Ok(found.map_or(Mode::Ask, |found| found.mode))
    }

    /// Sets the mode of a conversation by a command line.
    pub async fn set_mode(
        &self,
        visitor: &Visitor,
        session: &SessionId,
        mode: Mode,
    ) -> Result<(), StoreError> {
        let parts = self.parts();
        let calls = parts.gate.calls().at(&parts.granted_in(session)?);
        let new = calls.new_mode(mode, session, &visitor.principal, None).await?;
        parts.store.write(move |tx| new.set_by_command(tx)).await
    }

    pub(super) async fn mode_command(
        &self,
        given: Given<'_>,
    ) -> Result<Option<String>, StoreError> {
        let Given { visitor, session, words, to } = given;
        let parts = self.parts();
        let (store, calls) = (&parts.store, parts.gate.calls().at(&parts.granted_in(session)?));
        let words = words.trim().to_ascii_lowercase();
        if words.is_empty() {
            let found = calls.mode(session, &visitor.principal)?;
            let list = markdown(found, calls.holds_levels().await, &parts.zone);
            return to.say(store, list).await;
        }
        if !is_owner(visitor) {
            return to.say(store, "Only the owner may set the mode.".to_owned()).await;
        }
        let Some(mode) = Mode::parse(&words) else {
            let names = Mode::ALL.map(|mode| format!("`{mode}`")).join(", ");
            let text = format!("There is no mode {}; there are: {names}.", code(&words));
            return to.say(store, text).await;
        };
        let new = calls.new_mode(mode, session, &visitor.principal, None).await?;
        let until = when(calls.mode_until(), &parts.zone);
        let text = now_set(mode, &until, calls.holds_levels().await);
        to.once(store, move |tx| new.set_by_command(tx).map(|()| text)).await
    }
}

fn now_set(mode: Mode, until: &str, holds_levels: bool) -> String {
    if mode == Mode::Ask {
        return "Mode `ask`: each change asks.".to_owned();
    }
    let no_box =
        if mode == Mode::Work && !holds_levels { format!(" {NO_BOX}") } else { String::new() };
    format!(
        "Mode `{mode}`: {}.{no_box}\n\nIt ends with `/mode ask`, with `/new`, by the stop switch, and on {} \
         unless you write here before. `/grants` lists it.\n\n{ALWAYS_ASKS}",
        mode.says(),
        until
    )
}

fn markdown(found: Option<ModeInForce>, holds_levels: bool, zone: &TimeZone) -> String {
    let in_force = found.map_or(Mode::Ask, |found| found.mode);
    let mut text = String::new();
    for mode in Mode::ALL {
        let mark = if mode == in_force { " **(in force)**" } else { "" };
        text.push_str(&format!("- `{mode}`{mark}: {}\n", mode.says()));
    }
    if let Some(found) = found {
        let until = found.until_ms.map(|at| format!(", until {}", when(at, zone)));
        let until = until.unwrap_or_default();
        text.push_str(&format!(
            "\nGiven {}{until} unless you write here before.\n",
            when(found.given_ms, zone)
        ));
    }
    if !holds_levels {
        text.push_str(&format!("\n{NO_BOX}\n"));
    }
    text.push_str(&format!("\n{ALWAYS_ASKS}\n\n`/mode edits` sets one for this conversation."));
    text
}

/// The line of `/status`.
pub(super) fn status_line(
    parts: &ChatCommandsParts,
    session: &SessionId,
    visitor: &Visitor,
) -> Result<String, StoreError> {
    let found =
        parts.gate.calls().at(&parts.granted_in(session)?).mode(session, &visitor.principal)?;
    let mode = found.map_or(Mode::Ask, |found| found.mode);
    let until = found.and_then(|found| found.until_ms);
    let until = until.map(|at| format!(", until {}", when(at, &parts.zone))).unwrap_or_default();
    Ok(format!("- mode: `{mode}`{until}\n"))
}
