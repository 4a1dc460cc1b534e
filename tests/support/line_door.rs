//! A door that is made of the shared parts alone: JSON lines over a Unix socket, for the tests that
//! keep that a door is cheap. The program is claw with this door instead of its own: `line-door
//! gateway` runs it where `[lines]` in `claw.toml`, or CLAW_LINES_SOCKET, names a socket.
//!
//! A client says who it is, `{"hello": "anna"}`, and then `{"say": TEXT}` or `{"answer": ID, "key":
//! KEY}`, with `"why": TEXT` beside a no. Whoever can open the socket is the owner: it lies in a
//! folder that nobody else may enter. Not part of the product.
#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "a test's helper tells its test")]

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use claw_cli::DoorCommands;
use claw_cli::fail;
use claw_core::config::{BotHelp, BotNote, ConfigError, DoorNotes, DoorSection, DoorTexts};
use claw_core::domain::{Address, ApprovalId, LiveSink, Origin, OutboundBody, Question, SessionId};
use claw_core::mail::{MailError, PostedQuestion};
use claw_core::router::Visitor;
use claw_core::workspace::Workspace;
use claw_doors::chat_door::{ChatDoor, DoorPiece, File, Paint};
use claw_doors::chat_queue::{ChatQueues, Handler};
use claw_doors::clock::Clock;
use claw_doors::commands::DoorKind;
use claw_doors::door::{Closed, Door, DoorFault, QuestionMessage};
use claw_doors::entry::DoorEntry;
use claw_doors::gateway::bot::WithoutNotices;
use claw_doors::gateway::fleet::{Fleet, State};
use claw_doors::gateway::member::Member;
use claw_doors::pieces::{PieceLimits, cut, pieces};
use claw_doors::shared::DoorState;
use claw_doors::{handed_over, keyed_answer, live, parts, written};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

/// The longest message, in characters.
const CHARS_MAX: usize = 2_000;
const LIMITS: PieceLimits = PieceLimits { messages_max: 8, files_max: 8 };
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const NAME: &str = "lines";
/// So many lines of one client wait to be handled; what comes then is read later.
const LINES_WAITING_MAX: usize = 16;

/// `[lines]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LinesSection {
    /// CLAW_LINES_SOCKET overrides it.
    socket: Option<String>,
    /// The largest file that is sent, in bytes; default 1 MiB.
    file_bytes_max: Option<u64>,
}

impl LinesSection {
    fn of(texts: &DoorTexts) -> Result<Self, ConfigError> {
        let written: Self = texts.read(NAME)?;
        let variable = texts.env().get("CLAW_LINES_SOCKET").map(str::to_owned);
        Ok(Self { socket: variable.or(written.socket), ..written })
    }
}

static SECTION: DoorSection = DoorSection {
    own_keys: &["socket"],
    bot_help: Some(BotHelp { set_up: "set CLAW_LINES_SOCKET", tokens_from: "your own folders" }),
    note: |texts| {
        let socket = LinesSection::of(texts)?.socket;
        let bot = socket.map(|socket| BotNote { token: Ok(socket.into()), chat: None });
        Ok(DoorNotes { bot, ..DoorNotes::default() })
    },
    ..DoorSection::new(NAME, |texts| LinesSection::of(texts).map(drop))
};

static DOOR: DoorEntry = DoorEntry::of_bots(&SECTION, |fleet, member| Box::pin(run(fleet, member)));

type Client = Arc<tokio::sync::Mutex<OwnedWriteHalf>>;

struct Lines {
    shared: DoorState<String>,
    workspace: Arc<Workspace>,
    file_bytes_max: u64,
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
    const NAME: &'static str = NAME;

    type Text = String;

    async fn send(&self, to: &Address, text: &String) -> Result<i64, DoorFault> {
        let message = self.number();
        self.write(to, json!({"message": message, "text": text})).await?;
        Ok(message)
    }

    async fn ask(
        &self,
        to: &Address,
        _: u64,
        question: &Question,
    ) -> Result<QuestionMessage, DoorFault> {
        let message = self.number();
        let keys: Vec<&str> = question.choices.iter().map(|choice| choice.key.as_str()).collect();
        let line = json!({
            "message": message, "question": question.approval.0, "tool": question.tool,
            "arguments": question.arguments, "why": question.why, "keys": keys,
        });
        self.write(to, line).await?;
        Ok(QuestionMessage { message, at_s: 0, file: false })
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
    fn shared(&self) -> &DoorState<String> {
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
        pieces((body, text), LIMITS, messages, messages)
    }

    async fn file(&self, to: &Address, file: &File) -> Result<(), DoorFault> {
        let line = match file {
            File::Whole { name, text } => json!({"file": name, "text": text}),
            File::Linked(path) => {
                let (router, workspace) = (&self.shared.context.router, self.workspace.clone());
                match handed_over::cleared(router, workspace, path, self.file_bytes_max).await {
                    Ok(file) => json!({"file": path, "text": String::from_utf8_lossy(&file.bytes)}),
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

fn messages(text: &str) -> Vec<String> {
    cut(text, CHARS_MAX)
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
                (Some(text), _) => {
                    assert!(!asks_for_bug(text), "a test asks for a bug");
                    let context = &self.shared.context;
                    written::take_in(context, &visitor, &session, (text, DoorKind::Chat)).await?
                }
                (None, Some(id)) => {
                    let key = line["key"].as_str().unwrap_or_default();
                    let given = (key, line["why"].as_str());
                    let id = ApprovalId(id.to_owned());
                    keyed_answer::answer(&self.shared, &visitor, &id, given).await?
                }
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

fn asks_for_bug(text: &str) -> bool {
    let bug = std::env::var("CLAW_BUG_IN_HANDLER").unwrap_or_default();
    !bug.is_empty() && text.contains(&bug)
}

async fn run(fleet: &Arc<Fleet>, member: &Member) -> anyhow::Result<()> {
    let LinesSection { socket, file_bytes_max } = LinesSection::of(&member.texts)?;
    let (socket, file_bytes_max) = (socket.unwrap(), file_bytes_max.unwrap_or(FILE_BYTES_MAX));
    let context = (member.open)().await?;
    let workspace = Arc::new(Workspace::open(&context.files.workspace)?);
    let newest = AtomicI64::new(Clock::system().now_ms.saturating_mul(1_000));
    let (shared, clients) = (DoorState::new(context), Mutex::default());
    let door = Arc::new(Lines { shared, workspace, file_bytes_max, clients, newest });
    // Nothing waits outside that this door would have to ask for.
    door.shared.catch_up();
    let _left_by_a_kill = std::fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket)?;
    let _parts = parts::start(&door);
    fleet.set(&member.agent, NAME, State::AtWork(Arc::new(WithoutNotices(door.clone()))));
    let queues = ChatQueues::new(door.clone());
    (member.say)("listening");
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                tokio::spawn(serve(door.clone(), queues.clone(), accepted?.0));
            }
            () = fleet.closing.cancelled() => break,
        }
    }
    door.shared.wind_down(std::future::ready(())).await;
    Ok(())
}

static COMMANDS: DoorCommands = DoorCommands::of_gateway(&[&DOOR]);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // Our own servers are this very program, as they are behind `claw`.
    let server = claw_cli::server::run_if_asked(&arguments);
    if let Some(code) = server.or_else(|| claw_cli::supervise::run_if_asked(&arguments)) {
        return code;
    }
    let cli = match claw_cli::parse(arguments) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = runtime.block_on(claw_cli::run(cli, &COMMANDS));
    done.unwrap_or_else(|error| fail::report(&error, COMMANDS.entries))
}
