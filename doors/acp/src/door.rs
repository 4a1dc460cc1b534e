//! One conversation as an editor shows it: words, calls while they run, and questions as requests
//! that wait for the person. Owns which request is open. Must not know when anything is shown, or
//! what an answer does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    Meta, RequestPermissionRequest, RequestPermissionResponse, SessionNotification, SessionUpdate,
    ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use agent_client_protocol::{Client, Error, RequestCancellationHandle};
use jiff::tz::TimeZone;
use tokio::sync::mpsc;

use super::blocks::{content, differences, fenced, words};
use super::call_view::{changed_file, kind, locations};
use super::lines::ROW;
use super::streaming::Streaming;
use super::{modes, question};
use crate::domain::{Address, ApprovalId, CallId, Live, LiveSink, Mode, Question, SessionId};
use crate::doors::answer_words;
use crate::doors::call_list;
use crate::doors::clock::Clock;
use crate::doors::door::{Closed, Door, DoorFault, QuestionMessage};
use crate::mail::{CallSubject, Mail, PostedQuestion};

/// What came back for one request for permission.
pub struct PermissionAnswer {
    pub approval: ApprovalId,
    /// Which of the requests about this question it was.
    pub request: i64,
    /// As it was asked.
    pub question: Box<Question>,
    pub result: Result<RequestPermissionResponse, Error>,
}

/// Words, and the row of the outbox that is shown with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub text: String,
    pub row: Option<i64>,
}

/// A request that waits for the person.
struct Requested {
    number: i64,
    handle: RequestCancellationHandle,
}

/// Lives as long as its conversation is open in the editor.
pub struct AcpDoor {
    /// A handle of the connection. It fails when the editor has gone.
    editor: ConnectionTo<Client>,
    /// Which conversation, whose and where. They never change.
    session: SessionId,
    /// The principal of whoever sits at this machine.
    owner: String,
    workspace: PathBuf,
    /// A handle of the process's.
    mail: Mail,
    /// In which the owner reads times.
    zone: TimeZone,
    /// What of the newest steps and calls the editor was shown; the oldest go.
    shown: Mutex<Streaming>,
    /// The requests that wait for the person. Each goes with its answer, or is taken back.
    requests: Mutex<BTreeMap<ApprovalId, Requested>>,
    /// To the conversation's task that hears them.
    answers: mpsc::UnboundedSender<PermissionAnswer>,
    /// The number of the newest message. It counts within this conversation alone.
    newest: AtomicI64,
}

/// What a conversation's door is made of.
pub struct AcpDoorParts {
    pub editor: ConnectionTo<Client>,
    pub session: SessionId,
    pub owner: String,
    pub workspace: PathBuf,
    pub mail: Mail,
    pub zone: TimeZone,
    pub answers: mpsc::UnboundedSender<PermissionAnswer>,
}

impl AcpDoor {
    pub fn new(parts: AcpDoorParts) -> Self {
        let AcpDoorParts { editor, session, owner, workspace, mail, zone, answers } = parts;
        Self {
            editor,
            session,
            owner,
            workspace,
            mail,
            zone,
            shown: Mutex::default(),
            requests: Mutex::default(),
            answers,
            newest: AtomicI64::new(0),
        }
    }

    pub fn workspace(&self) -> &PathBuf {
        &self.workspace
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, Streaming> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An editor that has gone ends the conversation by itself.
    pub fn update(&self, update: SessionUpdate) {
        let _ = self.notify(update, None);
    }

    fn notify(&self, update: SessionUpdate, row: Option<i64>) -> Result<i64, DoorFault> {
        let message =
            SessionNotification::new(self.session.to_string(), update).meta(row.map(marked));
        let gone = |error: Error| DoorFault::Gone(error.message);
        self.editor.send_notification(message).map_err(gone)?;
        Ok(self.newest.fetch_add(1, Ordering::Relaxed))
    }

    /// A row of the outbox stands there already.
    pub fn mark(&self, row: i64) {
        // An editor that has gone ends the conversation by itself.
        let _ = self.notify(words(""), Some(row));
    }

    /// Words of claw to the person.
    pub fn say(&self, text: &str) {
        let text = self.shown().whole(text);
        self.update(words(&text));
    }

    pub fn tell_mode(&self, mode: Mode) {
        self.update(modes::changed(mode));
    }

    /// A person has written: what comes now stands below it.
    pub fn persons_turn(&self) {
        self.shown().persons_turn();
    }

    /// Whether these words stood there while they were written.
    pub fn has_streamed(&self, step: (u64, u32), text: &str) -> bool {
        self.shown().has(step, text)
    }

    /// Whether a request about this question waits for the person.
    pub fn asks(&self, approval: &ApprovalId) -> bool {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).contains_key(approval)
    }

    /// A request was answered. Whether it was the one that is open.
    pub fn answered(&self, approval: &ApprovalId, number: i64) -> bool {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let open = requests.get(approval).is_some_and(|open| open.number == number);
        if open {
            requests.remove(approval);
        }
        open
    }

    /// Takes a request back, if one is open: what comes for it counts for nothing.
    pub fn withdraw(&self, approval: &ApprovalId) {
        let open = self.requests.lock().unwrap_or_else(PoisonError::into_inner).remove(approval);
        if let Some(open) = open {
            // An editor that has gone has no dialog any more.
            let _ = open.handle.cancel();
        }
    }

    /// Takes all of them back.
    pub fn withdraw_all(&self) {
        let open: Vec<ApprovalId> =
            self.requests.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        open.iter().for_each(|approval| self.withdraw(approval));
    }

    /// Sends a request for permission.
    fn request(&self, question: &Question, row: Option<i64>) -> Result<i64, DoorFault> {
        let asked = question::call(question, &self.workspace, &Clock::now_in(&self.zone));
        let options = question::options(question);
        let request = RequestPermissionRequest::new(self.session.to_string(), asked, options)
            .meta(row.map(marked));
        self.shown().call(&question.call);
        self.withdraw(&question.approval);
        let number = self.newest.fetch_add(1, Ordering::Relaxed);
        let prepared = self.editor.prepare_request(request);
        let handle = prepared.cancellation_handle();
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(question.approval.clone(), Requested { number, handle });
        let (answers, approval) = (self.answers.clone(), question.approval.clone());
        let question = Box::new(question.clone());
        let sent = prepared.on_receiving_result(async move |result| {
            // A conversation that was closed asks nothing any more.
            let _ = answers.send(PermissionAnswer { approval, request: number, question, result });
            Ok(())
        });
        sent.map_err(|error| DoorFault::Gone(error.message))?;
        Ok(number)
    }

    /// Puts a question, and marks a row as shown when it has left.
    pub fn ask_row(
        &self,
        question: &Question,
        row: Option<i64>,
    ) -> Result<QuestionMessage, DoorFault> {
        Ok(QuestionMessage { message: self.request(question, row)?, at_s: 0, file: false })
    }

    /// An answer that was given here says itself what it was.
    pub fn closed_here(&self, question: &Question, how: &Closed) {
        self.withdraw(&question.approval);
        self.is_over(question, how, &answer_words::closed(how, question, &self.owner));
    }

    /// What was asked about is shown as it now is. A call that runs shows that itself.
    fn is_over(&self, question: &Question, how: &Closed, said: &str) {
        let fields = ToolCallUpdateFields::new();
        let fields = match is_yes(how) {
            false => {
                let said = content(&format!("It {said}."));
                fields.status(ToolCallStatus::Failed).content(vec![said])
            }
            true if question::asks_for_others(question) => fields.status(ToolCallStatus::Completed),
            true => return,
        };
        let update = ToolCallUpdate::new(question::tool_call_id(question), fields);
        self.update(SessionUpdate::ToolCallUpdate(update));
    }

    fn glimpse(&self, live: Live) {
        match live {
            Live::Text { turn_seq, step, text } => {
                let text = self.shown().goes_on((turn_seq, step), &text);
                self.update(words(&text));
            }
            Live::StepRestarted { turn_seq, step, why } => {
                self.shown().begins_again((turn_seq, step));
                self.say(&format!("*{} Asking again.*", why.trim()));
            }
            Live::CallStarted { call, title } => self.call_started(&call, title),
            Live::CallProgress { call, text } => {
                let fields = ToolCallUpdateFields::new().content(vec![content(&text)]);
                self.call_update(&call, fields);
            }
            Live::CallEnded { call, ok, title, summary, diff, output } => {
                self.call_ended(&call, ok, title, Ending { summary, diff, output });
            }
            Live::Server { text } | Live::Notice { text } => self.say(&text),
            // The words are what a person reads at every door.
            Live::StepStarted { .. } | Live::Reasoning { .. } | Live::CallAsks { .. } => {}
        }
    }

    fn subject(&self, call: &CallId) -> Option<CallSubject> {
        // Without it the editor shows the title alone.
        self.mail.call_subject(call).ok().flatten()
    }

    fn call_started(&self, call: &CallId, title: String) {
        let known = self.shown().call(call);
        let status = ToolCallStatus::InProgress;
        let subject = self.subject(call);
        let (kind, locations) = subject.map_or_else(Default::default, |it| {
            (kind(&it.server, &it.tool), locations(&it.server, &it.arguments, &it.folder))
        });
        if known {
            let fields = ToolCallUpdateFields::new().status(status).title(title);
            return self.call_update(call, fields.kind(kind).locations(locations));
        }
        let started = ToolCall::new(call.to_string(), title).kind(kind).status(status);
        self.update(SessionUpdate::ToolCall(started.locations(locations)));
    }

    fn call_ended(&self, call: &CallId, ok: bool, title: String, ending: Ending) {
        self.shown().call(call);
        let status = if ok { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        let mut parts = Vec::new();
        if !ending.diff.is_empty() {
            let subject = self.subject(call);
            let file = subject.and_then(|it| changed_file(&it.server, &it.arguments, &it.folder));
            match file {
                Some(file) => parts.extend(differences(&file, &ending.diff)),
                None => parts.push(content(&fenced(&ending.diff))),
            }
        }
        parts.extend(ending.texts());
        let fields = ToolCallUpdateFields::new().status(status).title(title);
        let parts = (!parts.is_empty()).then_some(parts);
        self.call_update(call, fields.content(parts));
    }

    fn call_update(&self, call: &CallId, fields: ToolCallUpdateFields) {
        self.update(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call.to_string(), fields)));
    }
}

/// What there is to say about a call that has ended.
struct Ending {
    summary: String,
    diff: String,
    output: String,
}

impl Ending {
    fn texts(&self) -> Vec<ToolCallContent> {
        let summary = Some(self.summary.as_str()).filter(|text| !text.is_empty()).map(content);
        let output = Some(&self.output).filter(|text| !text.is_empty());
        summary.into_iter().chain(output.map(|text| content(&fenced(text)))).collect()
    }
}

fn marked(row: i64) -> Meta {
    Meta::from_iter([(ROW.to_owned(), row.into())])
}

impl Door for AcpDoor {
    const NAME: &'static str = "acp";

    type Text = Words;

    async fn send(&self, _: &Address, text: &Words) -> Result<i64, DoorFault> {
        // What stands there already is confirmed by nothing but its mark.
        let whole = match text.text.is_empty() {
            true => String::new(),
            false => self.shown().whole(&text.text),
        };
        self.notify(words(&whole), text.row)
    }

    async fn ask(
        &self,
        _: &Address,
        _: u64,
        question: &Question,
    ) -> Result<QuestionMessage, DoorFault> {
        self.ask_row(question, None)
    }

    /// An answered part of a list leaves the others: they are asked in a new request.
    async fn show_answered(
        &self,
        _: &PostedQuestion,
        question: &Question,
    ) -> Result<(), DoorFault> {
        self.request(question, None).map(drop)
    }

    async fn close(
        &self,
        posted: &PostedQuestion,
        question: &Question,
        how: &Closed,
    ) -> Result<(), DoorFault> {
        self.withdraw(&posted.approval);
        let said = answer_words::closed(how, question, &self.owner);
        self.say(&format!("The question about {} {said}.", call_list::about(question)));
        self.is_over(question, how, &said);
        Ok(())
    }

    fn glimpses(self: &Arc<Self>, _: &SessionId, _: &Address) -> LiveSink {
        let door = self.clone();
        Arc::new(move |live| door.glimpse(live))
    }
}

/// Whether the call behind a question goes on.
fn is_yes(how: &Closed) -> bool {
    use crate::domain::Answer;
    let Closed::Answered { answer, .. } = how else { return false };
    !matches!(answer, Answer::Deny { .. } | Answer::Never)
}
