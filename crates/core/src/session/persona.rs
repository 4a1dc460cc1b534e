//! The role of a turn, and the persona of each of its steps: which one it is, and that the owner
//! hears once of what is wrong with it. Must not know where a persona is written.

use std::collections::BTreeMap;

use super::drive::Drive;
use super::worker::SessionError;
use crate::domain::{Origin, OutboundBody, client_of_session};
use crate::turn::persona::Persona;

impl Drive<'_> {
    /// The role that a turn gets which begins now. It keeps it to its end.
    pub(super) fn role_now(&self) -> Result<Option<String>, SessionError> {
        let chosen = self.worker.store.read(|tx| tx.session_role(&self.session))?;
        Ok(chosen.or_else(|| self.settings.runner.personas.default_role.clone()))
    }

    /// The persona for the next request.
    pub(super) async fn persona(&mut self) -> Result<Persona, SessionError> {
        let role = self.role_of_turn();
        let seen = (self.settings.runner.personas.now)(role.as_deref());
        let gone = role.map(|role| {
            let key = format!("role {role} in {}", self.session);
            let text = format!(
                "The role `{role}` is not in `claw.toml` any more, so this conversation has the \
                 persona that all others have; `/role` lists the roles."
            );
            (key, seen.role_is_gone.then_some(text))
        });
        // A file is the owner's concern, and nobody else's.
        let files =
            if self.behalf().origin == Origin::Owner { seen.files } else { BTreeMap::new() };
        // A summary may be written between turns, when nobody is there to be told.
        if self.log.open_turn().is_some() {
            let memory = self.memory_news()?;
            let project = std::mem::take(&mut self.project_faults);
            self.tell_news(files.into_iter().chain(gone).chain(memory).chain(project)).await?;
        }
        // Of each request of the session, so that they begin with the same bytes.
        Ok(match client_of_session(&self.session) {
            Some(_) => seen.persona.without_owner(),
            None => seen.persona,
        })
    }

    /// The newest turn's, also where it has ended: a summary is written by whom the conversation
    /// was with.
    fn role_of_turn(&self) -> Option<String> {
        self.log.newest_turn()?.role.map(str::to_owned)
    }

    /// Tells what is wrong once, and once more if it was mended in between. What was told and the
    /// telling are one transaction.
    async fn tell_news(
        &mut self,
        found: impl Iterator<Item = (String, Option<String>)>,
    ) -> Result<(), SessionError> {
        let before = self.worker.store.read(|tx| tx.persona_faults())?;
        let mut faults = before.clone();
        for (key, fault) in found {
            match fault {
                Some(text) if faults.get(&key) != Some(&text) => {
                    self.tell(&OutboundBody::Notice { text: text.clone() });
                    faults.insert(key, text);
                }
                Some(_) => {}
                None => drop(faults.remove(&key)),
            }
        }
        if faults != before {
            self.pending.persona_faults = Some(faults);
            self.flush_now().await?;
        }
        Ok(())
    }
}
