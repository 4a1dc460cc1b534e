//! A door that is made of the shared parts alone: JSON lines over a Unix socket, for the tests that
//! keep that a door is cheap. `line-door SOCKET` runs it over the home of its environment.
//!
//! A client says who it is, `{"hello": "anna"}`, and then `{"say": TEXT}` or
//! `{"answer": ID, "key": KEY}`. Whoever can open the socket is the owner: it lies in a folder that
//! nobody else may enter. Not part of the product.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test's helper tells its test")]

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use claw::app::App;
use claw::chat_commands::AnswerTo;
use claw::config::{Config, Overrides};
use claw::domain::{
    Address, ApprovalId, Live, LiveSink, Origin, OutboundBody, Question, SessionId,
};
use claw::doors::clock::Clock;
use claw::doors::commands::{ChatCommand, DoorKind, Parsed, help_markdown, parse};
use claw::doors::door::{Asked, Closed, Door, DoorFault, DoorPiece, File};
use claw::doors::markdown::linked_files;
use claw::doors::shared::{Shared, watch_commits};
use claw::doors::{delivery, questions, sessions};
use claw::mail::{DraftRow, MailError, PostedRow};
use claw::router::Visitor;
use claw::workspace::Workspace;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// The longest message, in characters; a text of more than [`MESSAGES_MAX`] of them goes as a file.
const CHARS_MAX: usize = 2_000;
const MESSAGES_MAX: usize = 3;
const FILE_BYTES_MAX: u64 = 1024 * 1024;

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
}

impl Door for Lines {
    const NAME: &'static str = "lines";
    type Text = String;

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
        let chars: Vec<char> = text.chars().collect();
        let mut pieces: Vec<DoorPiece<String>> =
            chars.chunks(CHARS_MAX).map(|part| DoorPiece::Text(part.iter().collect())).collect();
        if pieces.len() > MESSAGES_MAX {
            pieces.truncate(1);
            pieces.push(DoorPiece::File(File::Whole { name: "answer.md", text: text.to_owned() }));
        }
        if matches!(body, OutboundBody::Reply { .. }) {
            pieces.extend(linked_files(text).into_iter().map(File::Linked).map(DoorPiece::File));
        }
        pieces
    }

    async fn send(&self, to: &Address, text: &String) -> Result<i64, DoorFault> {
        let message = self.number();
        self.write(to, json!({"message": message, "text": text})).await?;
        Ok(message)
    }

    async fn edit(&self, to: &Address, message: i64, text: &String) -> Result<(), DoorFault> {
        self.write(to, json!({"message": message, "text": text, "edited": true})).await
    }

    async fn take_away(&self, to: &Address, message: i64) -> Result<(), DoorFault> {
        self.write(to, json!({"message": message, "taken_away": true})).await
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

    async fn ask(&self, to: &Address, question: &Question) -> Result<Asked, DoorFault> {
        let message = self.number();
        let keys: Vec<&str> = question.choices.iter().map(|choice| choice.key.as_str()).collect();
        let line = json!({
            "message": message, "question": question.approval.0, "tool": question.tool,
            "arguments": question.arguments, "why": question.why, "keys": keys,
        });
        self.write(to, line).await?;
        Ok(Asked { message, at_s: 0, file: false })
    }

    async fn close(
        &self,
        posted: &PostedRow,
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

    fn glimpse(self: &Arc<Self>, session: &SessionId, to: &Address) -> LiveSink {
        let (sender, lives) = mpsc::unbounded_channel();
        let draft =
            Draft { door: self.clone(), session: session.clone(), to: to.clone(), now: None };
        tokio::spawn(draft.grow(lives));
        Arc::new(move |live| drop(sender.send(live)))
    }

    async fn blocked(&self, to: &Address, _: &str) -> Result<(), MailError> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).remove(to);
        Ok(())
    }
}

/// The message that grows while a model speaks.
struct Draft {
    door: Arc<Lines>,
    session: SessionId,
    to: Address,
    /// Turn and step, the message if there is one, and what it shows.
    now: Option<((u64, u32), Option<i64>, String)>,
}

impl Draft {
    async fn grow(mut self, mut lives: mpsc::UnboundedReceiver<Live>) {
        while let Some(live) = lives.recv().await {
            match live {
                Live::StepStarted { turn_seq, step }
                | Live::StepRestarted { turn_seq, step, .. } => {
                    let shown =
                        self.door.shared.mail().drafts(&self.to, &self.session, turn_seq, step);
                    let message = shown.ok().and_then(|shown| shown.first().copied());
                    self.now = Some(((turn_seq, step), message, String::new()));
                }
                Live::Text { text, .. } => {
                    if let Err(error) = self.show(&text).await {
                        eprintln!("line-door: {error:#}");
                    }
                }
                // What counts comes by the outbox.
                _ => {}
            }
        }
    }

    async fn show(&mut self, more: &str) -> anyhow::Result<()> {
        let Some(((turn_seq, step), message, text)) = &mut self.now else { return Ok(()) };
        text.push_str(more);
        let (mail, shown) = (self.door.shared.mail(), text.chars().take(CHARS_MAX).collect());
        let chat = self.door.shared.chats.at(&self.to);
        let mut delivered = chat.lock().await;
        // The outbox has said it all, or nobody is there to read it.
        if delivered.reaches(&self.session, *turn_seq, *step) || !self.door.writes_to(&self.to) {
            return Ok(());
        }
        let at = match *message {
            Some(message) => {
                self.door.edit(&self.to, message, &shown).await?;
                message
            }
            None => {
                let sent = self.door.send(&self.to, &shown).await?;
                let (address, session) = (self.to.clone(), self.session.clone());
                let (turn_seq, step) = (*turn_seq, *step);
                let row = DraftRow { address, message: sent, session, turn_seq, step, part: 0 };
                mail.drafted(row).await?;
                sent
            }
        };
        *message = Some(at);
        delivered.shows(at, shown);
        Ok(())
    }
}

/// One client, from its name to its end: what it says is handled in its order.
async fn serve(door: Arc<Lines>, stream: UnixStream) -> anyhow::Result<()> {
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
    let principal = door.shared.context.owner.clone();
    let visitor = Visitor { from: from.clone(), principal, origin: Origin::Owner };
    while let Ok(Some(line)) = lines.next_line().await {
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        let note = match (said["say"].as_str(), said["answer"].as_str()) {
            (Some(text), _) => say(&door, &visitor, &session, text).await?,
            (None, Some(id)) => answer(&door, &visitor, id, &said["key"]).await?,
            (None, None) => Some("This line says nothing.".to_owned()),
        };
        door.shared.wake();
        if let Some(note) = note {
            door.write(&from, json!({"note": note})).await?;
        }
    }
    let mut clients = lock();
    // A newer connection of the same name stays.
    if clients.get(&from).is_some_and(|now| Arc::ptr_eq(now, &client)) {
        clients.remove(&from);
    }
    Ok(())
}

/// A command or a message. What is given back is said at once.
async fn say(
    door: &Lines,
    visitor: &Visitor,
    session: &SessionId,
    text: &str,
) -> anyhow::Result<Option<String>> {
    let context = &door.shared.context;
    Ok(match parse(text, DoorKind::Chat) {
        Parsed::Command(ChatCommand::Help, _) => Some(help_markdown(DoorKind::Chat)),
        Parsed::Command(command, words) => {
            let to = AnswerTo::Caller;
            context.chat_commands.answer(visitor, session, command, &words, &to).await?
        }
        Parsed::Unknown(sentence) => Some(sentence),
        Parsed::NotForUs => None,
        Parsed::Message => match context.router.message(visitor, session, text).await {
            Ok(_) => None,
            Err(full @ MailError::QueueFull(_)) => Some(format!("{full}. It was not taken in.")),
            Err(error) => return Err(error.into()),
        },
    })
}

async fn answer(
    door: &Lines,
    visitor: &Visitor,
    id: &str,
    key: &Value,
) -> anyhow::Result<Option<String>> {
    let id = ApprovalId(id.to_owned());
    let row = door.shared.mail().asked_question(&id)?;
    let choices = row.iter().flat_map(|row| &row.question.choices);
    let Some(choice) = choices.into_iter().find(|choice| *key == choice.key) else {
        return Ok(Some("This answer is not offered.".to_owned()));
    };
    let answered = door.shared.context.router.answer(visitor, &id, &choice.answer).await;
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
    tokio::spawn(watch_commits(door.clone()));
    tokio::spawn(delivery::deliver(door.clone()));
    tokio::spawn(questions::keep(door.clone()));
    tokio::spawn(sessions::keep(door.clone()));
    println!("listening");
    let mut terminate = signal(SignalKind::terminate())?;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                tokio::spawn(serve(door.clone(), accepted?.0));
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
    if let Some(code) = claw::cli::server::run_if_asked(&arguments) {
        return code;
    }
    if let Some(code) = claw::cli::supervise::run_if_asked(&arguments) {
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
