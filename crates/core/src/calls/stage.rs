//! Staging: what tools have proposed becomes frozen calls and questions about them, to be written
//! in the transaction that ends the turn. Must not know doors, or what an answer does.

use serde_json::{Map, Value, json};

use super::frozen::{Freeze, shown_digest};
use super::{Calls, approvals, effect};
use crate::domain::canonical::canonical_json;
use crate::domain::{
    Address, Answer, Approvers, CallId, CallState, Choice, Effect, Origin, Proposal, Question,
    Scope, SessionId, Staged, Term, ToolCall, UnixMillis, escape,
};
use crate::store::{AuditEntry, CallRow, PinRow, StagedRow, StoreError, Tx, now_ms};

/// The name under which questions about several actions stand, which no server has.
const SERVER: &str = "claw";
const ALL: &str = "staged_all";
const BUTTONS: &str = "staged_buttons";

/// One thing that a call has proposed.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// The call whose result it came with.
    pub source: CallId,
    /// In whose log that result stands, and as which event.
    pub session: SessionId,
    pub result_seq: u64,
    /// Its place in that result, from zero on.
    pub index: u32,
    pub proposal: Proposal,
}

impl Proposed {
    /// What the staged call is named.
    fn id(&self) -> CallId {
        let (session, result_seq) = (self.session.clone(), self.result_seq);
        CallId::Action { session, result_seq, index: self.index }
    }
}

/// Everything that one end of a turn stages: rows that are not written yet, and the questions for
/// the doors, in their order.
#[derive(Clone, Debug, Default)]
pub struct StagedList {
    pub questions: Vec<Question>,
    /// One sentence for each action that cannot be staged any more.
    pub left_out: Vec<String>,
    calls: Vec<CallRow>,
    staged: Vec<StagedRow>,
    /// With the digest of each question's row, and who may answer.
    approvals: Vec<(Question, String)>,
    approvers: Approvers,
    audit: Vec<(&'static str, CallId, Value)>,
}

/// An action on its way into the list.
struct Ready {
    proposed: Proposed,
    call: ToolCall,
    row: CallRow,
    /// Where claw says itself what a tap does: of our own memory server.
    effect: Option<Effect>,
    expires_ms: UnixMillis,
}

impl Calls {
    /// Freezes what was proposed, as it is at this moment. `told` hears what becomes of it. Writes
    /// nothing.
    pub fn stage(
        &self,
        proposed: Vec<Proposed>,
        told: &[Address],
    ) -> Result<StagedList, StoreError> {
        let mut list =
            StagedList { approvers: self.surroundings.approvers.clone(), ..StagedList::default() };
        let mut ready = Vec::new();
        for proposed in proposed {
            let source = self.store.read(|tx| tx.call(&proposed.source))?;
            let what = escape::visible(&words(&proposed.proposal));
            let Some(source) = source else {
                list.left_out.push(format!(
                    "Not staged: {what}. The call that proposed it is not on record"
                ));
                continue;
            };
            let pins = self.store.read(|tx| tx.pins(Some(&source.server)))?;
            match self.catalog.pin_for(&source.server, &proposed.proposal.tool, &pins) {
                Ok(pin) => ready.push(self.ready(proposed, &source, pin)?),
                Err(why) => list.left_out.push(format!("Not staged: {what}. {why}")),
            }
        }
        let (items, buttons): (Vec<_>, Vec<_>) =
            ready.into_iter().partition(|ready| ready.proposed.proposal.summary.is_some());
        let Some(first) = items.iter().chain(&buttons).next() else { return Ok(list) };
        let (session, result_seq) = (first.proposed.session.clone(), first.proposed.result_seq);
        let all = CallId::List { session: session.clone(), result_seq };
        self.items(&mut list, grouped(items), &all, told)?;
        for (group, buttons) in (1..).zip(groups(buttons)) {
            let id = CallId::Buttons { session: session.clone(), result_seq, group };
            self.buttons(&mut list, buttons, &id, told)?;
        }
        Ok(list)
    }

    fn ready(
        &self,
        proposed: Proposed,
        source: &CallRow,
        pin: &PinRow,
    ) -> Result<Ready, StoreError> {
        let call = ToolCall {
            id: proposed.id(),
            server: source.server.clone(),
            tool: proposed.proposal.tool.clone(),
            arguments: proposed.proposal.arguments.clone(),
            origin: Origin::Button,
            principal: source.principal.clone(),
        };
        let env_names = self.hub.env_names(&source.server).join(",");
        let by_claw = matches!(proposed.source, CallId::Order { .. });
        let facts = self.facts(&call, None);
        let effect = effect::of_proposed(&facts, source.origin, by_claw);
        let shown = effect.as_ref().map(shown_digest).transpose()?.unwrap_or_default();
        let freeze = Freeze {
            state: CallState::Waiting,
            pin: &pin.pin,
            env_names: &env_names,
            rule: "staged",
            shown: &shown,
        };
        let row = self.freeze(&call, &freeze);
        let question_ms = self.limits().question_time.as_millis() as i64;
        let ttl_ms = proposed.proposal.ttl_s.map_or(question_ms, |ttl_s| ttl_s as i64 * 1000);
        Ok(Ready { proposed, call, row, effect, expires_ms: now_ms() + ttl_ms })
    }

    fn items(
        &self,
        list: &mut StagedList,
        items: Vec<Ready>,
        all: &CallId,
        told: &[Address],
    ) -> Result<(), StoreError> {
        let of = items.len() as u32;
        let expires_ms = items.iter().map(|item| item.expires_ms).max().unwrap_or_default();
        let mut named = Map::new();
        for (number, item) in (1..).zip(items) {
            let in_list = if of > 1 { all } else { &item.call.id };
            list.add(&item, in_list, number, told);
            let question = question_about(&item, number, of)?;
            let what = format!(
                "{}  {}/{}",
                words(&item.proposed.proposal),
                item.call.server,
                item.call.tool
            );
            named.insert(
                number.to_string(),
                json!({"call": item.call.id.to_string(), "what": what}),
            );
            list.ask(question, &item.row.digest);
        }
        if of > 1 {
            let choices = yes_or_no(&format!("✅ Confirm all {of}"), "❌ Cancel all");
            let shown = shown_list(&named);
            let staged = Staged::All { of };
            self.ask_about_list(
                list,
                all,
                ALL,
                Value::Object(named),
                (shown, choices, staged, expires_ms),
            )?;
        }
        Ok(())
    }

    fn buttons(
        &self,
        list: &mut StagedList,
        buttons: Vec<Ready>,
        group: &CallId,
        told: &[Address],
    ) -> Result<(), StoreError> {
        let expires_ms = buttons.iter().map(|button| button.expires_ms).min().unwrap_or_default();
        let name = buttons.first().and_then(|button| button.proposed.proposal.group.clone());
        let (mut named, mut choices) = (Map::new(), Vec::new());
        for (index, button) in (0..).zip(&buttons) {
            list.add(button, group, index + 1, told);
            let label = escape::visible(&words(&button.proposed.proposal));
            let call = &button.call;
            let what = format!(
                "{label}  {}/{} {}",
                call.server,
                call.tool,
                canonical_json(&call.arguments)
            );
            named.insert(
                (index + 1).to_string(),
                json!({"call": call.id.to_string(), "what": what}),
            );
            choices.push(Choice {
                key: (index + 1).to_string(),
                label,
                answer: Answer::Press { index },
            });
        }
        let staged = Staged::Buttons { group: name.map(|name| escape::visible(&name)) };
        let shown = shown_list(&named);
        self.ask_about_list(
            list,
            group,
            BUTTONS,
            Value::Object(named),
            (shown, choices, staged, expires_ms),
        )
    }

    /// A question that stands for several calls has a row of its own, as a pause has.
    fn ask_about_list(
        &self,
        list: &mut StagedList,
        id: &CallId,
        tool: &str,
        arguments: Value,
        (shown, choices, staged, expires_at_ms): (
            Vec<(String, String)>,
            Vec<Choice>,
            Staged,
            UnixMillis,
        ),
    ) -> Result<(), StoreError> {
        let principal = list.calls.first().map(|row| row.principal.clone()).unwrap_or_default();
        let call = ToolCall {
            id: id.clone(),
            server: SERVER.to_owned(),
            tool: tool.to_owned(),
            arguments,
            origin: Origin::Button,
            principal,
        };
        let row = self.freeze(
            &call,
            &Freeze {
                state: CallState::Waiting,
                pin: "",
                env_names: "",
                rule: "staged",
                shown: "",
            },
        );
        let why = "servers propose it".to_owned();
        let question = Question {
            arguments: shown,
            ..approvals::question_about(&call, why, expires_at_ms, choices, Some(staged))?
        };
        let digest = row.digest.clone();
        list.calls.push(row);
        list.ask(question, &digest);
        Ok(())
    }
}

impl StagedList {
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Puts everything on the disk, inside the transaction that says that it was staged.
    pub fn write(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        self.calls.iter().try_for_each(|row| tx.put_call(row))?;
        self.staged.iter().try_for_each(|row| tx.add_staged(row))?;
        for (question, digest) in &self.approvals {
            tx.add_approval(question, &self.approvers, digest)?;
        }
        for (kind, call, body) in &self.audit {
            tx.audit(&AuditEntry { kind, call: call.to_string(), body: body.clone() })?;
        }
        Ok(())
    }

    fn add(&mut self, ready: &Ready, list: &CallId, number: u32, told: &[Address]) {
        let Ready { proposed, call, row, .. } = ready;
        let received = json!({
            "session": call.session(),
            "server": call.server,
            "tool": call.tool,
            "arguments": call.arguments,
            "origin": row.origin,
            "principal": call.principal,
            "proposed_by": proposed.source.to_string(),
        });
        self.audit.push(("received", call.id.clone(), received));
        self.calls.push(row.clone());
        self.staged.push(StagedRow {
            call: call.id.clone(),
            list: list.clone(),
            number,
            summary: words(&proposed.proposal),
            told: told.to_vec(),
        });
    }

    fn ask(&mut self, question: Question, digest: &str) {
        let mut asked = json!({"approval": question.approval.0, "digest": digest});
        if let CallId::List { .. } | CallId::Buttons { .. } = question.call {
            asked["list"] = json!(question.tool);
        }
        self.audit.push(("asked", question.call.clone(), asked));
        self.questions.push(question.clone());
        self.approvals.push((question, digest.to_owned()));
    }
}

/// The server's words for what a tap does.
fn words(proposal: &Proposal) -> String {
    let words = proposal.summary.as_ref().or(proposal.label.as_ref());
    words.unwrap_or(&proposal.tool).clone()
}

fn question_about(item: &Ready, number: u32, of: u32) -> Result<Question, StoreError> {
    let proposal = &item.proposed.proposal;
    let label = |words: &Option<String>, else_: &str| {
        words.as_deref().map_or(else_.to_owned(), escape::visible)
    };
    let choices = match item.effect {
        Some(_) => {
            let (yes, no) = effect::buttons(&item.call);
            yes_or_no(yes, no)
        }
        None => yes_or_no(
            &label(&proposal.label, "✅ Confirm"),
            &label(&proposal.cancel_label, "❌ Cancel"),
        ),
    };
    let staged = Staged::Item {
        summary: escape::visible_multiline(&words(proposal)),
        group: proposal.group.as_deref().map(escape::visible),
        number,
        of,
    };
    let why = format!("the server `{}` proposes it", item.call.server);
    let question =
        approvals::question_about(&item.call, why, item.expires_ms, choices, Some(staged))?;
    Ok(Question { effect: item.effect.clone(), ..question })
}

fn yes_or_no(yes: &str, no: &str) -> Vec<Choice> {
    let choice = |key: &str, label: &str, answer| Choice {
        key: key.to_owned(),
        label: label.to_owned(),
        answer,
    };
    let allow = Answer::Allow { term: Term::Once, scope: Scope::Exact };
    vec![choice("y", yes, allow), choice("n", no, Answer::Deny { word: None })]
}

/// Number and words of each entry, in the order of the numbers.
fn shown_list(named: &Map<String, Value>) -> Vec<(String, String)> {
    let what = |entry: &Value| {
        entry.get("what").and_then(Value::as_str).map(escape::visible).unwrap_or_default()
    };
    let mut shown: Vec<_> =
        named.iter().map(|(number, entry)| (number.clone(), what(entry))).collect();
    shown.sort_by_key(|(number, _)| number.parse::<u32>().unwrap_or_default());
    shown
}

/// Items of the same group of a server stand together, at the place of the first of them.
fn grouped(items: Vec<Ready>) -> Vec<Ready> {
    let mut keys: Vec<(String, Option<String>)> = Vec::new();
    let place = |keys: &mut Vec<(String, Option<String>)>, item: &Ready| {
        let key = (item.call.server.clone(), item.proposed.proposal.group.clone());
        let known = key.1.as_ref().and_then(|_| keys.iter().position(|known| *known == key));
        known.unwrap_or_else(|| {
            keys.push(key);
            keys.len() - 1
        })
    };
    let mut placed: Vec<_> =
        items.into_iter().map(|item| (place(&mut keys, &item), item)).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, item)| item).collect()
}

/// Buttons by server and group, in the order in which they came.
fn groups(buttons: Vec<Ready>) -> Vec<Vec<Ready>> {
    let mut groups: Vec<Vec<Ready>> = Vec::new();
    let key = |button: &Ready| (button.call.server.clone(), button.proposed.proposal.group.clone());
    for button in buttons {
        match groups.iter_mut().find(|group| group.first().map(key) == Some(key(&button))) {
            Some(group) => group.push(button),
            None => groups.push(vec![button]),
        }
    }
    groups
}
