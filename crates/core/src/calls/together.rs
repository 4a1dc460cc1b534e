//! Calls of one reply that are asked about together: which of them one question can hold, and what
//! an answer to it does, in one transaction. Must not know doors, or when a reply's calls were
//! judged.
//!
//! A call stands in a list only if one line says all of it, or all but a short text that it writes:
//! that stands below its line, or behind "show all". What a person should look at before the yes
//! (danger, commands, tools of others, which file is written) is always shown; where there is no
//! room for it, it is asked about by itself.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::approvals::{DecideError, Standing, WithDecision, decide_in};
use super::frozen::Freeze;
use super::list_standing::{ListStanding, always_for_asker};
use super::{Calls, approvals};
use crate::domain::canonical::digest;
use crate::domain::{
    Answer, ApprovalId, ApprovalState, Approvers, CallId, CallList, CallState, Choice, DeniedBy,
    Effect, ListedCall, Origin, Outcome, OwnServerName, Question, Scope, SessionId, Term, ToolCall,
    ToolOutput, UnixMillis, audit_kind,
};
use crate::killpoint;
use crate::store::{ApprovalRow, AuditEntry, CallRow, DecideRefused, StoreError, Tx};

/// The name under which such a question stands, which no server has.
const SERVER: &str = "claw";
const TOOL: &str = "together";
/// The argument of our own file server that holds what is written.
const CONTENT: &str = "content";
/// The longest line of a list, in columns: three rows of a narrow screen.
const LINE_COLUMNS_MAX: usize = 105;
/// What a line has of a row of 40 columns beside its number.
const ROW_COLUMNS: usize = 36;
/// The longest text of a call in a list, in rows of a narrow screen: one that is new, or a
/// difference.
const TEXT_ROWS_MAX: usize = 12;
/// The longest whole text of a file of which the difference is shown, in bytes.
const CONTENT_BYTES_MAX: usize = 4_000;
/// The most rows that what is always shown takes, with its notes.
const ROWS_MAX: usize = 8;

/// What a person is asked about calls of one reply.
pub struct AskedTogether {
    /// In their order: the list first, if there is one.
    pub questions: Vec<Question>,
    /// The rows of the list, which are not written yet.
    pub list: Option<NewList>,
}

/// A list that is not on the disk.
#[derive(Clone, Debug)]
pub struct NewList {
    question: Question,
    row: CallRow,
    approvers: Approvers,
}

impl Calls {
    /// How a person is asked these open questions. A list is named after the event `parked_seq`.
    pub fn together(
        &self,
        session: &SessionId,
        parked_seq: u64,
        asked: &[ApprovalId],
    ) -> Result<AskedTogether, StoreError> {
        let mut rows = Vec::new();
        for id in asked {
            let row = self.store.read(|tx| tx.approval(id))?;
            rows.extend(row.filter(|row| row.state == ApprovalState::Waiting));
        }
        let fitting = self.fitting(&rows);
        let (joined, alone): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| fitting.contains(&row.id));
        let mut questions: Vec<Question> = alone.into_iter().map(|row| row.question).collect();
        let list = match joined.is_empty() {
            true => None,
            false => {
                let id = CallId::Together { session: session.clone(), parked_seq };
                Some(self.new_list(id, joined)?)
            }
        };
        questions.splice(0..0, list.iter().map(|list| list.question.clone()));
        Ok(AskedTogether { questions, list })
    }

    /// Those that one list can hold; none if that is not more than one.
    fn fitting(&self, rows: &[ApprovalRow]) -> BTreeSet<ApprovalId> {
        let (mut left, mut fitting, mut noted) = (ROWS_MAX, BTreeSet::new(), BTreeSet::new());
        for row in rows {
            let Some(item) = self.listed(row) else { continue };
            let notes = item.notes.iter().filter(|note| !noted.contains(*note));
            let notes: usize = notes.map(|note| rows_of(note)).sum();
            let takes = rows_of(&item.says) + notes;
            if item.always_shown && takes > left {
                continue;
            }
            if item.always_shown {
                left -= takes;
                noted.extend(item.notes);
            }
            fitting.insert(row.id.clone());
        }
        if fitting.len() > 1 { fitting } else { BTreeSet::new() }
    }

    /// A question as a line of a list. `None` if a line would not say all of it.
    fn listed(&self, row: &ApprovalRow) -> Option<ListedCall> {
        let question = &row.question;
        let effect = question.effect.as_ref()?;
        let answered_so = |answer: &Answer| {
            let wanted = matches!(answer, Answer::Allow { term: Term::Once, .. });
            wanted || matches!(answer, Answer::Deny { .. })
        };
        let plain = row.list.is_none()
            && question.staged.is_none()
            && question.input.is_none()
            && question.session.is_some();
        let asks = question.choices.iter().filter(|choice| answered_so(&choice.answer)).count();
        // What our own file server does without danger, and says in its sentence, can be many.
        let tame = self.hub.builtin(&question.server) == Some(OwnServerName::Filesystem);
        let (difference, content) = written(question, effect, tame)?;
        let says = effect.says.clone();
        if !plain || asks < 2 {
            return None;
        }
        if says.contains('\n') || says.width() > LINE_COLUMNS_MAX {
            return None;
        }
        let notes: Vec<String> = notes(effect);
        let writes = !difference.is_empty() || !content.is_empty();
        Some(ListedCall {
            approval: row.id.clone(),
            call: row.call.clone(),
            digest: row.digest.clone(),
            always_shown: effect.danger || !tame || !notes.is_empty() || writes,
            says,
            difference,
            content,
            danger: effect.danger,
            notes,
            state: ApprovalState::Waiting,
        })
    }

    fn new_list(&self, id: CallId, joined: Vec<ApprovalRow>) -> Result<NewList, StoreError> {
        let mut items: Vec<ListedCall> = joined.iter().filter_map(|row| self.listed(row)).collect();
        // What wants a look comes first; within both the order of the calls stays.
        items.sort_by_key(|item| (!item.danger, !item.always_shown));
        let list = CallList { items };
        let expires_ms: UnixMillis =
            joined.iter().map(|row| row.expires_ms).max().unwrap_or_default();
        let first = joined.first().map(|row| self.store.read(|tx| tx.call(&row.call)));
        let (origin, principal) = match first.transpose()?.flatten() {
            Some(row) => (row.origin, row.principal),
            None => (Origin::Forwarded, String::new()),
        };
        let named: Map<String, Value> =
            list.numbered().map(|(number, item)| (number.to_string(), json!(item.says))).collect();
        let arguments = Value::Object(named);
        let call = ToolCall {
            id,
            server: SERVER.to_owned(),
            tool: TOOL.to_owned(),
            arguments,
            origin,
            principal,
        };
        let shown = shown_digest(&list)?;
        let freeze = Freeze {
            state: CallState::Waiting,
            pin: "",
            env_names: "",
            rule: "together",
            shown: &shown,
        };
        let row = self.freeze(&call, &freeze);
        let asker = joined.iter().find_map(|row| row.question.effect.as_ref()?.asker.clone());
        let effect = Effect {
            says: format!("claw wants to do {} things", list.items.len()),
            danger: list.items.iter().any(|item| item.danger),
            asker,
            for_client: joined
                .iter()
                .any(|row| row.question.effect.as_ref().is_some_and(|it| it.for_client)),
            ..Effect::default()
        };
        let arguments = list.numbered();
        let arguments =
            arguments.map(|(number, item)| (number.to_string(), whole_text(item))).collect();
        let question = Question {
            arguments,
            effect: Some(effect),
            list: Some(list.clone()),
            ..approvals::question_about(
                &call,
                "each of these calls asks".to_owned(),
                expires_ms,
                choices(&list, &joined),
                None,
            )?
        };
        Ok(NewList { question, row, approvers: self.surroundings.approvers.clone() })
    }

    /// Answers a list: all of it that is open, or single ones. In one transaction with what `with`
    /// writes.
    pub(super) async fn decide_list(
        &self,
        approval: ApprovalRow,
        row: CallRow,
        answer: &Answer,
        by: &str,
        with: impl WithDecision,
    ) -> Result<ApprovalRow, DecideError> {
        let list = approval.question.list.clone().unwrap_or_default();
        let is_as_shown = approval.digest == row.digest && shown_digest(&list)? == row.shown;
        if !is_as_shown || !self.is_intact(&row) {
            let text = "the stored list is not what was shown; deny its calls one by one";
            return Err(DecideError::NotOffered(text.to_owned()));
        }
        may_answer(&approval.question, &list, answer).map_err(DecideError::NotOffered)?;
        // Boxed: it is rare, and every answer's future would hold its size.
        let standing = Box::pin(self.list_standing(&approval, &row, &list, answer)).await?;
        let (answer, by) = (answer.clone(), by.to_owned());
        killpoint::here("list.decided.before");
        let decided = self
            .store
            .write(move |tx| {
                let decided = settle(tx, &approval, &list, &answer, &by, &standing)?;
                with(tx, decided.as_ref().map(|_| ()))?;
                Ok(decided)
            })
            .await?;
        killpoint::here("list.decided.after");
        Ok(decided?)
    }

    /// The list by which a question is asked, if it is.
    pub fn list_asking(&self, id: &ApprovalId) -> Result<Option<ApprovalRow>, StoreError> {
        self.store.read(|tx| match tx.approval(id)?.and_then(|row| row.list) {
            Some(list) => tx.approval(&list),
            None => Ok(None),
        })
    }
}

impl NewList {
    /// Puts it on the disk, inside the transaction that logs its calls as parked. What was answered
    /// before keeps its answer.
    pub fn write(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        let Self { question, row, approvers } = self;
        let list = question.list.iter().flat_map(|list| &list.items);
        let members: Vec<ApprovalId> = list.map(|item| item.approval.clone()).collect();
        tx.put_call(row)?;
        tx.add_approval(question, approvers, &row.digest)?;
        tx.put_in_list(&question.approval, &members, question.expires_at_ms)?;
        killpoint::here("list.asked.inside");
        let body = json!({
            "approval": question.approval.0, "digest": row.digest, "list": TOOL,
            "approvals": members,
        });
        tx.audit(&AuditEntry { kind: audit_kind::ASKED, call: row.id.to_string(), body })?;
        tx.close_list(&question.approval, ApprovalState::Approved, "")
    }
}

/// What a call writes, as far as its line does not say it: the difference, and the whole text.
/// `None` where the call says something else, too, or the text is too long for a list.
fn written(question: &Question, effect: &Effect, tame: bool) -> Option<(String, String)> {
    let content = question.arguments.iter().find(|(name, _)| name == CONTENT);
    let told = |name: &str| effect.tells(name) || (tame && name == CONTENT);
    if !question.arguments.iter().all(|(name, _)| told(name)) {
        return None;
    }
    let content = content.filter(|_| tame).map(|(_, text)| text.clone()).unwrap_or_default();
    let difference = effect.difference.clone();
    if !tame && !difference.is_empty() {
        return None;
    }
    let rows = |text: &str| text.lines().map(|line| rows_of(line).max(1)).sum::<usize>();
    let first = if difference.is_empty() { &content } else { &difference };
    let fits = rows(first) <= TEXT_ROWS_MAX && content.len() <= CONTENT_BYTES_MAX;
    fits.then_some((difference, content))
}

/// All of a call of a list, for where it is read alone.
fn whole_text(item: &ListedCall) -> String {
    let parts = [&item.says, &item.difference, &item.content].into_iter();
    let parts: Vec<&str> = parts.map(|text| text.trim_end_matches('\n')).collect();
    parts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What stands beside the line.
fn notes(effect: &Effect) -> Vec<String> {
    let why = effect.why.as_ref().map(|why| format!("Why: {why}"));
    effect.notes.iter().cloned().chain(why).collect()
}

fn rows_of(text: &str) -> usize {
    text.width().div_ceil(ROW_COLUMNS)
}

/// The digest over all lines as they were asked.
fn shown_digest(list: &CallList) -> Result<String, StoreError> {
    Ok(digest(&serde_json::to_value(list.as_asked())?))
}

/// Yes and no to all, the modes that a call of it offers, "always" for a job, and each call by its
/// number.
fn choices(list: &CallList, joined: &[ApprovalRow]) -> Vec<Choice> {
    let many = list.items.len();
    let choice = |key: &str, label: String, answer| Choice { key: key.to_owned(), label, answer };
    let yes = Answer::Allow { term: Term::Once, scope: Scope::Exact };
    let mut choices = vec![choice("y", format!("yes, all {many} of them, this once"), yes)];
    for offered in joined.iter().flat_map(|row| &row.question.choices) {
        let is_mode = matches!(offered.answer, Answer::Allow { scope: Scope::Mode { .. }, .. });
        if is_mode && !choices.iter().any(|choice| choice.answer == offered.answer) {
            let label = format!("all {many} of them; {}", offered.label);
            choices.push(Choice { label, ..offered.clone() });
        }
    }
    choices.extend(always_for_asker(joined));
    choices.push(choice("n", "no, none of them".to_owned(), Answer::Deny { word: None }));
    choices.extend(list.numbered().map(|(number, item)| {
        let answer = Answer::Pick { yes: vec![number], no: Vec::new() };
        choice(&number.to_string(), format!("only this: {}", item.says), answer)
    }));
    choices
}

fn may_answer(question: &Question, list: &CallList, answer: &Answer) -> Result<(), String> {
    match answer {
        Answer::Deny { .. } => Ok(()),
        Answer::Pick { yes, no } => {
            let mut named = BTreeSet::new();
            for number in yes.iter().chain(no) {
                if *number == 0 || *number as usize > list.items.len() {
                    return Err(format!("there is no number {number} in this list"));
                }
                if !named.insert(number) {
                    return Err(format!("two things are said about number {number}"));
                }
            }
            if named.is_empty() { Err("no number is named".to_owned()) } else { Ok(()) }
        }
        answer if question.choices.iter().any(|choice| choice.answer == *answer) => Ok(()),
        _ => Err(
            "a question about several calls takes yes, no, a mode, or single ones of them by their own ids"
                .to_owned(),
        ),
    }
}

/// Every call that is meant and still waits gets this answer, with its own row in the audit and its
/// own wake-up. One that was answered before keeps its answer.
fn settle(
    tx: &Tx<'_>,
    approval: &ApprovalRow,
    list: &CallList,
    answer: &Answer,
    by: &str,
    standing: &ListStanding,
) -> Result<Result<ApprovalRow, DecideRefused>, StoreError> {
    let once = Answer::Allow { term: Term::Once, scope: Scope::Exact };
    if let Answer::Pick { yes, no } = answer {
        let meant = |number: u32| match (yes.contains(&number), no.contains(&number)) {
            (true, _) => Some(once.clone()),
            (_, true) => Some(Answer::Deny { word: None }),
            _ => None,
        };
        let mut refused = None;
        let mut settled = false;
        for (number, item) in list.numbered() {
            let Some(answer) = meant(number) else { continue };
            match decide_one(tx, item, &answer, by, None)? {
                Ok(()) => settled = true,
                Err(why) => refused = Some(why),
            }
        }
        return Ok(match refused {
            Some(why) if !settled => Err(why),
            _ => Ok(approval.clone()),
        });
    }
    let allowed = matches!(answer, Answer::Allow { .. });
    let state = if allowed { ApprovalState::Approved } else { ApprovalState::Denied };
    let decided = match tx.decide(&approval.id, state, Some(answer), by)? {
        Ok(decided) => decided,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut waiting = Vec::new();
    for item in &list.items {
        let row = tx.approval(&item.approval)?;
        waiting.extend(row.filter(|row| row.state == ApprovalState::Waiting).map(|_| item));
    }
    let mut settled = Vec::new();
    for (left, item) in (0..waiting.len()).rev().zip(waiting) {
        if decide_one(tx, item, answer, by, standing.of(item, left))?.is_ok() {
            settled.push(item.call.to_string());
        }
    }
    let were = if settled.len() == 1 { "was" } else { "were" };
    let text = format!("{} of {} calls {were} answered with it", settled.len(), list.items.len());
    let outcome = match allowed {
        true => Outcome::Ended { output: ToolOutput { text, ..ToolOutput::default() } },
        false => Outcome::denied(DeniedBy::Answer, text),
    };
    let body = json!({"approval": approval.id.0, "answer": answer, "by": by, "calls": settled});
    tx.audit(&AuditEntry { kind: audit_kind::ANSWERED, call: approval.call.to_string(), body })?;
    tx.end_call(&approval.call, &outcome)?;
    Ok(Ok(decided))
}

/// Only the very question that the list names, about the very call that its line is about.
fn decide_one(
    tx: &Tx<'_>,
    item: &ListedCall,
    answer: &Answer,
    by: &str,
    standing: Option<&Standing>,
) -> Result<Result<(), DecideRefused>, StoreError> {
    match tx.approval(&item.approval)? {
        Some(row) if row.digest == item.digest && row.call == item.call => {}
        _ => return Ok(Err(DecideRefused::NotFound(item.approval.0.clone()))),
    }
    let decided = decide_in(tx, &item.approval, &item.call, answer, by, standing)?.map(drop);
    killpoint::here("list.decided.inside");
    Ok(decided)
}
