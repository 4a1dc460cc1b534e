//! Fetches what an owner names in a message, through the gate, before the message goes into the
//! log, and tells of attached resources that have changed. Owns for whom that is done. Must not
//! know how a server is asked, or in which words a model is told.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::drive::Drive;
use super::recall::first_line;
use crate::calls::call_of_name;
use crate::domain::{
    CallId, DeniedBy, EventBody, InboundBody, NAMED_MAX, Named, NamedState, Origin, Outcome,
    SessionId, ToolOutput, is_like_uri, rule_words,
};
use crate::gate::CallContext;
use crate::store::InboxRow;
use crate::turn::named;

/// Of how many sessions it is heard at most that what they have attached has changed.
const SESSIONS_HEARD_MAX: usize = 64;
/// The same of the resources of one session; the newest count.
const HEARD_MAX: usize = 32;

/// By server and URI.
type Heard = BTreeMap<(String, String), watch::Receiver<u64>>;

/// What is heard of resources that stand in the windows of sessions. A process that was started
/// anew has heard nothing before.
#[derive(Debug, Default)]
pub(super) struct Attached(Mutex<BTreeMap<SessionId, Heard>>);

impl Attached {
    fn all(&self) -> MutexGuard<'_, BTreeMap<SessionId, Heard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of the names in one message.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// In the order of the names; they stand before the message.
    pub(super) events: Vec<EventBody>,
    /// Sentences for the person.
    pub(super) said: Vec<String>,
    /// The message is nothing but a prompt of a server.
    pub(super) is_prompt: bool,
    /// That prompt could not be had: there is no message.
    pub(super) is_over: bool,
}

impl Drive<'_> {
    /// What the owner names in this message. Nobody else's names count.
    pub(super) async fn fetched(&mut self, row: &InboxRow) -> Fetched {
        let mut fetched = Fetched::default();
        let InboundBody::Message { named, .. } = &row.inbound.body else { return fetched };
        if row.inbound.origin != Origin::Owner || named.is_empty() {
            return fetched;
        }
        fetched.is_prompt = named.iter().any(|named| matches!(named, Named::Prompt { .. }));
        // The demo takes every word of its conversation for a command.
        if self.settings.runner.zone.is_none() {
            let why = "The demo model is given nothing of servers; `claw init` sets up a model.";
            fetched.said.push(why.to_owned());
            fetched.is_over = fetched.is_prompt;
            return fetched;
        }
        if named.len() > NAMED_MAX {
            let left = named.len() - NAMED_MAX;
            let are = if left == 1 { "is" } else { "are" };
            fetched.said.push(format!(
                "Only the first {NAMED_MAX} resources of a message are attached; {left} more {are} \
                 left out."
            ));
        }
        for (index, named) in (0..).zip(named.iter().take(NAMED_MAX)) {
            let why = match self.why_not(named) {
                None => continue,
                Some(Ok(())) => {
                    let id = CallId::Named {
                        session: self.session.clone(),
                        inbox: row.id.unsigned_abs(),
                        index,
                    };
                    match self.fetch(row, id.clone(), named).await {
                        Ok(output) => {
                            fetched.events.push(EventBody::TurnNamed {
                                call: Some(id),
                                named: Box::new(named.clone()),
                                state: NamedState::Given,
                                text: named::given(named, &output.text),
                                images: output.images,
                            });
                            continue;
                        }
                        Err(why) => why,
                    }
                }
                Some(Err(why)) => why,
            };
            fetched.said.push(named::failed(named, &why));
            fetched.is_over |= fetched.is_prompt;
            fetched.events.push(EventBody::TurnNamed {
                call: None,
                named: Box::new(named.clone()),
                state: NamedState::Failed,
                text: named::told_failed(named, &why),
                images: Vec::new(),
            });
        }
        fetched
    }

    /// Why nothing can be fetched, as half a sentence; `None` for a word that only looks like a
    /// name: people write `@bob:` to each other.
    fn why_not(&self, named: &Named) -> Option<Result<(), String>> {
        let hub = self.worker.gate.hub();
        let servers: Vec<String> = hub.servers().into_iter().map(|server| server.name).collect();
        let server = named.server();
        let is_known = servers.iter().any(|known| known == server);
        let is_own = is_known && hub.builtin(server).is_some();
        if let Named::Resource { uri, .. } = named
            && (!is_known || is_own)
            && !is_like_uri(uri)
        {
            return None;
        }
        if !is_known {
            let names: Vec<String> =
                servers.into_iter().filter(|name| hub.builtin(name).is_none()).collect();
            let has =
                if names.is_empty() { "no others' servers".to_owned() } else { names.join(", ") };
            return Some(Err(format!("there is no server `{server}` in mcp.json; it has {has}")));
        }
        if is_own {
            return Some(Err(format!("`{server}` is a server of claw's own, which has none")));
        }
        Some(Ok(()))
    }

    /// The error is half a sentence.
    async fn fetch(
        &mut self,
        row: &InboxRow,
        id: CallId,
        named: &Named,
    ) -> Result<ToolOutput, String> {
        if let Named::Resource { server, uri } = named {
            // Before it is read, so that no change is missed.
            self.listen(server, uri).await;
        }
        let call = call_of_name(id, named, row.inbound.origin, &row.inbound.principal);
        self.flush_soon();
        let time = Duration::from_secs(self.settings.turn_time_s);
        let context = CallContext {
            live: self.live.clone(),
            heard_by_others: !self.is_owner_alone(),
            ..self.unseen(time)
        };
        match self.call_unseen(call, context).await.outcome {
            Outcome::Ended { output } if !output.is_error => Ok(output),
            Outcome::Ended { output } => Err(decapitalised(&first_line(&output.text))),
            Outcome::Denied { by: Some(DeniedBy::Unasked { rule }), .. } => Err(format!(
                "{} wants a question for it, and none is asked about what a message names",
                rule_words(&rule)
            )),
            other => Err(first_line(&other.into_reason())),
        }
    }

    /// The attached resources of this window of which their servers say that they have changed,
    /// each once for each time.
    pub(super) async fn changed(&mut self) -> Vec<EventBody> {
        let attached: Vec<Named> =
            named::attached(&self.log).into_iter().rev().take(HEARD_MAX).cloned().collect();
        let mut changed = Vec::new();
        for named in attached {
            let Named::Resource { server, uri } = &named else { continue };
            if self.listen(server, uri).await {
                let text = named::changed(&named);
                let state = NamedState::Changed;
                changed.push(EventBody::TurnNamed {
                    call: None,
                    named: Box::new(named),
                    state,
                    text,
                    images: Vec::new(),
                });
            }
        }
        changed
    }

    /// From now on it is heard when this changes; whether it has changed since that was asked last.
    async fn listen(&self, server: &str, uri: &str) -> bool {
        let key = (server.to_owned(), uri.to_owned());
        {
            let mut all = self.worker.attached.all();
            if let Some(heard) = all.get_mut(&self.session).and_then(|heard| heard.get_mut(&key)) {
                let changed = heard.has_changed().unwrap_or(false);
                heard.mark_unchanged();
                return changed;
            }
        }
        let mut receiver = self.worker.gate.hub().hear_of(server, uri).await;
        receiver.mark_unchanged();
        let mut all = self.worker.attached.all();
        if all.len() >= SESSIONS_HEARD_MAX && !all.contains_key(&self.session) {
            all.pop_first();
        }
        let heard = all.entry(self.session.clone()).or_default();
        if heard.len() >= HEARD_MAX {
            heard.pop_first();
        }
        heard.insert(key, receiver);
        false
    }
}

/// A sentence as the end of another one.
fn decapitalised(sentence: &str) -> String {
    let mut rest = sentence.chars();
    let first = rest.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    format!("{first}{}", rest.as_str())
}
