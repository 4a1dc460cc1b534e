//! A door that is made of the shared parts alone: JSON lines over a Unix socket, for the tests that
//! keep that a door is cheap. `line-door SOCKET` runs it over the home of its environment.
//!
//! A client says who it is, `{"hello": "anna"}`, and then `{"say": TEXT}` or `{"answer": ID, "key":
//! KEY}`, with `"why": TEXT` beside a no. Whoever can open the socket is the owner: it lies in a
//! folder that nobody else may enter. Not part of the product.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test's helper tells its test")]

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use claw::app::App;
use claw::chat_commands::AnswerTo;
use claw::config::{Config, Overrides};
use claw::domain::{
    Address, Answer, ApprovalId, LiveSink, Origin, OutboundBody, Question, SessionId,
};
use claw::doors::chat_door::{ChatDoor, DoorPiece, File, Paint};
use claw::doors::chat_queue::{ChatQueues, Handler};
use claw::doors::clock::Clock;
use claw::doors::commands::{ChatCommand, DoorKind, Parsed, help_markdown, parse};
use claw::doors::door::{Asked, Closed, Door, DoorFault};
use claw::doors::live;
use claw::doors::markdown::linked_files;
use claw::doors::parts;
use claw::doors::shared::Shared;
use claw::mail::{MailError, PostedQuestion};
use claw::router::Visitor;
use claw::workspace::Workspace;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

/// The longest message, in characters; a text of more than [`MESSAGES_MAX`] of them goes as a file.
const CHARS_MAX: usize = 2_000;
const MESSAGES_MAX: usize = 8;
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// So many lines of one client wait to be handled; what comes then is read later.
const LINES_WAITING_MAX: usize = 16;

type Client = Arc<tokio::sync::Mutex<OwnedWriteHalf>>;

struct Lines {
    shared: Shared<String>,
    workspace: Workspace,
    /// Who is connected. Whoever goes is forgotten by its own task.
    clients: Mutex<HashMap<Address, Client>>,
    /// The number of the newest message, which no other process has given.
    newest: AtomicI64,
}

impl Lines {
    fn client(&self, to: &Address) -> Option<Client> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).get(to).cloned()
    }

    fn number(&self) -> i64 {
        self.newest.fetch_add(1, Ordering::Relaxed)
    }

    /// One line, whole or not at all as far as this door can know.
    async fn write(&self, to: &Address, line: Value) -> Result<(), DoorFault> {
        let gone = || DoorFault::Blocked("nobody is connected".to_owned());
        let client = self.client(to).ok_or_else(gone)?;
        let written = client.lock().await.write_all(format!("{line}\n").as_bytes()).await;
        written.map_err(|_| gone())
    }

    /// Words that are no message. Who is gone has read it all.
    async fn note(&self, to: &Address, note: &str) {
        let _ = self.write(to, json!({"note": note})).await;
    }
}

impl Paint<String> for Lines {
    fn beginning(markdown: &str) -> Vec<String> {
        messages(markdown)
    }

    fn running(title: &str, progress: &str) -> String {
        format!("running: {title} {progress}")
    }

    fn ended(title: &str, ok: bool, summary: &str) -> String {
        format!("{}: {title} {summary}", if ok { "done" } else { "failed" })
    }
}

impl Door for Lines {
    const NAME: &'static str = "lines";

    type Text = String;

    async fn send(&self, to: &Address, text: &String) -> Result<i64, DoorFault> {
        let message = self.number();
        self.write(to, json!({"message": message, "text": text})).await?;
        Ok(message)
    }

    async fn ask(&self, to: &Address, _: u64, question: &Question) -> Result<Asked, DoorFault> {
        let message = self.number();
        let keys: Vec<&str> = question.choices.iter().map(|choice| choice.key.as_str()).collect();
        let line = json!({
            "message": message, "question": question.approval.0, "tool": question.tool,
            "arguments": question.arguments, "why": question.why, "keys": keys,
        });
        self.write(to, line).await?;
        Ok(Asked { message, at_s: 0, file: false })
    }

    async fn show_answered(
        &self,
        posted: &PostedQuestion,
        question: &Question,
    ) -> Result<(), DoorFault> {
        let items = question.list.iter().flat_map(|list| &list.items);
        let states: Vec<&str> = items.map(|item| item.state.as_str()).collect();
        let line =
            json!({"message": posted.message, "list": question.approval.0, "states": states});
        self.write(&posted.address, line).await
    }

    async fn close(
        &self,
        posted: &PostedQuestion,
        question: &Question,
        how: &Closed,
    ) -> Result<(), DoorFault> {
        let how = match how {
            Closed::Answered { end: None, .. } => "answered".to_owned(),
            Closed::Answered { end: Some(end), .. } => format!("answered: {end:?}"),
            Closed::Expired { .. } => "expired".to_owned(),
            Closed::Superseded { why, .. } => format!("superseded: {why}"),
            Closed::AskedAgain => "asked again".to_owned(),
        };
        let line = json!({"message": posted.message, "closed": question.approval.0, "how": how});
        self.write(&posted.address, line).await
    }

    fn glimpses(self: &Arc<Self>, session: &SessionId, to: &Address) -> LiveSink {
        live::show(self, session, to)
    }
}

impl ChatDoor for Lines {
    fn shared(&self) -> &Shared<String> {
        &self.shared
    }

    fn writes_to(&self, to: &Address) -> bool {
        self.client(to).is_some()
    }

    fn place_of(&self, session: &SessionId) -> Option<Address> {
        let name = session.as_str().strip_prefix("lines.")?;
        Some(Address(format!("lines/{name}")))
    }

    fn owners_place(&self) -> Option<Address> {
        None
    }

    fn has_an_owner(&self, _: &Address) -> bool {
        true
    }

    fn is_owner(&self, principal: &str) -> bool {
        principal == self.shared.context.owner
    }

    fn pieces(&self, body: &OutboundBody, text: &str) -> Vec<DoorPiece<String>> {
        let mut pieces: Vec<_> = messages(text).into_iter().map(DoorPiece::Text).collect();
        if pieces.len() > MESSAGES_MAX {
            pieces.truncate(1);
            pieces.push(DoorPiece::File(File::Whole { name: "answer.md", text: text.to_owned() }));
        }
        if matches!(body, OutboundBody::Reply { .. }) {
            pieces.extend(linked_files(text).into_iter().map(File::Linked).map(DoorPiece::File));
        }
        pieces
    }

    async fn file(&self, to: &Address, file: &File) -> Result<(), DoorFault> {
        let line = match file {
            File::Whole { name, text } => json!({"file": name, "text": text}),
            File::Linked(path) => {
                let given =
                    self.workspace.give(path, FILE_BYTES_MAX).map_err(|why| why.to_string());
                let cleared = given.and_then(|given| {
                    let bytes = self.shared.context.router.cleared_file(given.bytes);
                    bytes.map_err(|_| "it holds a known secret".to_owned())
                });
                match cleared {
                    Ok(bytes) => json!({"file": path, "text": String::from_utf8_lossy(&bytes)}),
                    Err(why) => json!({"note": format!("{path} was not sent: {why}.")}),
                }
            }
        };
        self.write(to, line).await
    }

    async fn edit(&self, to: &Address, message: i64, text: &String) -> Result<(), DoorFault> {
        self.write(to, json!({"message": message, "text": text, "edited": true})).await
    }

    async fn take_away(&self, to: &Address, message: i64) -> Result<(), DoorFault> {
        self.write(to, json!({"message": message, "taken_away": true})).await
    }

    async fn glimpse(
        &self,
        to: &Address,
        message: Option<i64>,
        text: &String,
        _: bool,
    ) -> Result<Option<i64>, DoorFault> {
        match message {
            Some(message) => self.edit(to, message, text).await.map(|()| Some(message)),
            None => self.send(to, text).await.map(Some),
        }
    }

    async fn blocked(&self, to: &Address, _: &str) -> Result<(), MailError> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).remove(to);
        Ok(())
    }
}

/// A text as messages, cut between two lines where one of them is not too long by itself.
fn messages(text: &str) -> Vec<String> {
    let mut messages: Vec<Vec<char>> = vec![Vec::new()];
    for line in text.split_inclusive('\n') {
        for part in line.chars().collect::<Vec<_>>().chunks(CHARS_MAX) {
            if messages.last().is_some_and(|last| last.len() + part.len() > CHARS_MAX) {
                messages.push(Vec::new());
            }
            messages.last_mut().into_iter().for_each(|last| last.extend(part));
        }
    }
    messages.into_iter().map(|message| message.into_iter().collect()).collect()
}

/// A line that waits in its conversation's queue.
#[derive(Clone)]
struct Said {
    session: SessionId,
    from: Address,
    line: Value,
    /// So that one who floods fills a pipe and not the memory.
    _room: Arc<OwnedSemaphorePermit>,
}

impl Handler for Lines {
    type Item = Said;
    type Key = Address;

    fn key_of(&self, said: &Said, _: impl Fn(&Address) -> bool) -> Address {
        said.from.clone()
    }

    fn is_closing(&self) -> bool {
        self.shared.closing.is_cancelled()
    }

    async fn handle(self: Arc<Self>, said: Vec<Said>) -> anyhow::Result<()> {
        for Said { session, from, line, .. } in said {
            let principal = self.shared.context.owner.clone();
            let visitor = Visitor { from: from.clone(), principal, origin: Origin::Owner };
            let told = match (line["say"].as_str(), line["answer"].as_str()) {
                (Some(text), _) => say(&self, &visitor, &session, text).await?,
                (None, Some(id)) => answer(&self, &visitor, id, &line).await?,
                (None, None) => Some("This line says nothing.".to_owned()),
            };
            self.shared.wake();
            if let Some(told) = told {
                self.note(&from, &told).await;
            }
        }
        Ok(())
    }

    fn failed(self: &Arc<Self>, _: &[Said], error: &anyhow::Error) {
        eprintln!("line-door: a line is tried again: {error:#}");
    }

    async fn passed_over(&self, said: &[Said], _: &JoinError) {
        for Said { from, .. } in said {
            self.note(from, "A line was passed over, because of a bug.").await;
        }
    }
}

/// One client, from its name to its end: what it says is handled in its order.
async fn serve(
    door: Arc<Lines>,
    queues: Arc<ChatQueues<Lines>>,
    stream: UnixStream,
) -> anyhow::Result<()> {
    let (reads, writes) = stream.into_split();
    let mut lines = BufReader::new(reads).lines();
    let Some(hello) = lines.next_line().await? else { return Ok(()) };
    let hello: Value = serde_json::from_str(&hello)?;
    let session = SessionId::new(format!("lines.{}", hello["hello"].as_str().unwrap_or_default()))?;
    let Some(from) = door.place_of(&session) else { return Ok(()) };
    let client: Client = Arc::new(tokio::sync::Mutex::new(writes));
    let lock = || door.clients.lock().unwrap_or_else(PoisonError::into_inner);
    lock().insert(from.clone(), client.clone());
    door.shared.wake();
    let room = Arc::new(Semaphore::new(LINES_WAITING_MAX));
    while let Ok(Some(line)) = lines.next_line().await {
        let line = serde_json::from_str(&line).unwrap_or_default();
        let _room = Arc::new(room.clone().acquire_owned().await?);
        queues.put(Said { session: session.clone(), from: from.clone(), line, _room });
    }
    // A newer connection of the same name stays.
    lock().retain(|_, now| !Arc::ptr_eq(now, &client));
    Ok(())
}

/// A command or a message. What is given back is said at once.
async fn say(
    door: &Lines,
    visitor: &Visitor,
    session: &SessionId,
    text: &str,
) -> anyhow::Result<Option<String>> {
    // The bug that a test asks for.
    let bug = std::env::var("CLAW_BUG_IN_HANDLER").unwrap_or_default();
    assert!(bug.is_empty() || !text.contains(&bug), "a test asks for a bug");
    let context = &door.shared.context;
    Ok(match parse(text, DoorKind::Chat) {
        Parsed::Command(ChatCommand::Help, _) => Some(help_markdown(DoorKind::Chat)),
        Parsed::Command(command, words) => {
            let to = AnswerTo::Caller;
            context.chat_commands.answer(visitor, session, command, &words, &to).await?
        }
        Parsed::Unknown(sentence) | Parsed::Foreign(sentence) => Some(sentence),
        Parsed::NotForUs => None,
        Parsed::Message => match context.router.message(visitor, session, text).await {
            Ok(_) => None,
            Err(full) if full.is_queue_full() => Some(format!("{full}.")),
            Err(error) => return Err(error.into()),
        },
    })
}

async fn answer(
    door: &Lines,
    visitor: &Visitor,
    id: &str,
    said: &Value,
) -> anyhow::Result<Option<String>> {
    let id = ApprovalId(id.to_owned());
    let row = door.shared.mail().asked_question(&id)?;
    let choices = row.iter().flat_map(|row| &row.question.choices);
    let Some(choice) = choices.into_iter().find(|choice| said["key"] == choice.key) else {
        return Ok(Some("This answer is not offered.".to_owned()));
    };
    let mut meant = choice.answer.clone();
    if let (Answer::Deny { word }, Some(why)) = (&mut meant, said["why"].as_str()) {
        *word = Some(why.to_owned());
    }
    let answered = door.shared.context.router.answer(visitor, &id, &meant).await;
    Ok(answered.err().map(|refused| refused.to_string()))
}

async fn run(socket: &str) -> anyhow::Result<()> {
    let app = Arc::new(App::open(Config::load(Overrides::default())?)?);
    let context = app.door_context(Arc::new(Vec::new)).await?;
    let workspace = Workspace::open(&context.files.workspace)?;
    let newest = AtomicI64::new(Clock::system().now_ms.saturating_mul(1_000));
    let shared = Shared::new(context);
    let door = Arc::new(Lines { shared, workspace, clients: Mutex::default(), newest });
    // Nothing waits outside that this door would have to ask for.
    door.shared.catch_up();
    let _left_by_a_kill = std::fs::remove_file(socket);
    let listener = UnixListener::bind(socket)?;
    let _parts = parts::start(&door);
    let queues = ChatQueues::new(door.clone());
    println!("listening");
    let mut terminate = signal(SignalKind::terminate())?;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                tokio::spawn(serve(door.clone(), queues.clone(), accepted?.0));
            }
            _ = terminate.recv() => break,
        }
    }
    door.shared.closing.cancel();
    door.shared.context.worker.ending().begin();
    door.shared.settled().await;
    app.close().await;
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // Our own servers are this very program, as they are behind `claw`.
    let server = claw::cli::server::run_if_asked(&arguments);
    if let Some(code) = server.or_else(|| claw::cli::supervise::run_if_asked(&arguments)) {
        return code;
    }
    let Some(socket) = arguments.get(1).and_then(|socket| socket.to_str()) else {
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(run(socket))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("line-door: {error:#}");
            ExitCode::FAILURE
        }
    }
}
