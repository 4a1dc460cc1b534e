//! What the tests over every transport stand on: a way to a scripted server, in memory or as a
//! child process, and the script's side of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout};

use super::http_peer::HttpPeer;
use crate::call::forward;
use crate::connection::{Connection, Parts};
use crate::era::{Era, LEGACY_PROTOCOL, MODERN_PROTOCOL};
use crate::in_flight::InFlight;
use crate::manifest::{HttpLaunch, Launch, ServerEntry, StdioLaunch};
use crate::permit::{HubMark, PermitMint};
use crate::process::spawn::spawn;
use crate::rpc::{Agreement, Introduction, Opening, OpeningError, open};
use crate::tests::rig::{context, eventually, example_exe, permit_parts};
use crate::transport::http::Times;
use crate::transport::memory::{self, MemoryReceiver};
use crate::transport::{Http, HttpReceiver, Receive, Received, Stdio, StdioReceiver, Transport};
use crate::{CallControl, CallEnd, HubNotice, HubSettings};

/// For whatever a test waits for; long, because a busy machine is no fault.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) const MESSAGE_BYTES_MAX: usize = 64 * 1024;
pub(super) const QUEUE_BYTES_MAX: usize = 200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Memory,
    Stdio,
    Http,
}

/// How claw gets to the scripted server. Each [`Link::dial`] is a new connection.
pub(super) struct Link {
    kind: Kind,
    settings: Arc<HubSettings>,
    pub(super) log: Arc<Mutex<Vec<String>>>,
    pub(super) notices: Arc<Mutex<Vec<HubNotice>>>,
    dir: TempDir,
}

impl Link {
    pub(super) fn new(kind: Kind) -> Self {
        let dir = TempDir::new().unwrap();
        let mut settings = HubSettings::new(std::env::vars().collect(), dir.path().to_owned());
        if kind == Kind::Stdio {
            settings.supervisor = Some(vec![example_exe("hub-supervisor").into()]);
        }
        settings.workspace = Some("/home/me/my work".into());
        settings.shutdown_grace = Duration::from_millis(300);
        settings.startup_timeout = PATIENCE;
        settings.line_bytes_max = MESSAGE_BYTES_MAX;
        settings.queue_bytes_max = QUEUE_BYTES_MAX;
        settings.times = Times { again: Duration::from_millis(5), ..Times::new(PATIENCE) };
        let (log, notices) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (log_in, notices_in) = (log.clone(), notices.clone());
        settings.log = Arc::new(move |_, line| log_in.lock().unwrap().push(line.to_owned()));
        settings.notices = Arc::new(move |notice| notices_in.lock().unwrap().push(notice));
        Self { kind, settings: Arc::new(settings), log, notices, dir }
    }

    /// Whether this says why a server that hung up has ended.
    pub(super) fn says_why(&self, reason: &str) -> bool {
        match self.kind {
            Kind::Memory => reason.contains("the server closed the connection"),
            Kind::Stdio => reason.contains("it exited with status 3"),
            // In the middle of an answer, and afterwards.
            Kind::Http => reason.contains("connection") || reason.contains("cannot be reached"),
        }
    }

    fn launch(&self) -> StdioLaunch {
        StdioLaunch {
            command: example_exe("hub-stranger").display().to_string(),
            args: vec!["relay".into(), self.socket().display().to_string()],
            ..StdioLaunch::default()
        }
    }

    fn socket(&self) -> std::path::PathBuf {
        self.dir.path().join("socket")
    }

    pub(super) async fn dial(&self) -> (Dialed, Peer) {
        if self.kind == Kind::Memory {
            let (transport, receiver, peer) = memory::pair(self.settings.limits());
            let receiver = AnyReceiver::Memory(receiver);
            return (self.dialed(Arc::new(transport), receiver), Peer::Memory(peer));
        }
        if self.kind == Kind::Http {
            let peer = HttpPeer::start();
            let launch = HttpLaunch { url: peer.url.clone(), ..HttpLaunch::default() };
            let (limits, lookup) = (self.settings.limits(), self.settings.lookup.clone());
            let (http, receiver) =
                Http::new(&launch, limits, self.settings.times, lookup, None).unwrap();
            let receiver = AnyReceiver::Http(receiver);
            return (self.dialed(Arc::new(http), receiver), Peer::Http(peer));
        }
        let _ = std::fs::remove_file(self.socket());
        let listener = UnixListener::bind(self.socket()).unwrap();
        let reapers = InFlight::new();
        let spawned = spawn("scripted", &self.launch(), &self.settings, &reapers).await.unwrap();
        let (stdio, receiver) = Stdio::new(spawned, self.settings.limits());
        let (socket, _) = timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
        let (read, write) = socket.into_split();
        let peer = Peer::Process(BufReader::new(read), write);
        (self.dialed(Arc::new(stdio), AnyReceiver::Stdio(receiver)), peer)
    }

    fn dialed(&self, transport: Arc<dyn Transport>, receiver: AnyReceiver) -> Dialed {
        Dialed { transport, receiver, settings: self.settings.clone(), roots: false }
    }

    /// An open connection to a server of this era, which announces changes of its tools if it is a
    /// legacy one.
    pub(super) async fn connect(&self, era: Era) -> (Arc<Connection>, Peer) {
        let (mut claw, mut peer) = self.dial().await;
        let agreement = match era {
            Era::Legacy => {
                let script = async {
                    let request = peer.request("initialize").await;
                    peer.answer(&request, initialized()).await;
                    peer.request("notifications/initialized").await;
                };
                tokio::join!(claw.open(Opening::Initialize), script).0
            }
            Era::Modern => {
                let script = async {
                    let request = peer.request("server/discover").await;
                    peer.answer(&request, discovered()).await;
                };
                tokio::join!(claw.open(Opening::Discover), script).0
            }
        };
        if self.kind == Kind::Http && era == Era::Legacy {
            eventually("it listens", || claw.transport.hearing().is_some()).await;
        }
        (claw.connect(agreement.unwrap()), peer)
    }
}

/// Claw's side before and during the handshake.
pub(super) struct Dialed {
    pub(super) transport: Arc<dyn Transport>,
    receiver: AnyReceiver,
    settings: Arc<HubSettings>,
    /// As the entry of the server says.
    pub(super) roots: bool,
}

impl Dialed {
    pub(super) async fn open(&mut self, opening: Opening) -> Result<Agreement, OpeningError> {
        self.open_within(opening, PATIENCE).await
    }

    pub(super) async fn open_within(
        &mut self,
        opening: Opening,
        probe_timeout: Duration,
    ) -> Result<Agreement, OpeningError> {
        let (deadline, transport) = (Instant::now() + PATIENCE, &*self.transport);
        let claw = Introduction { version: "7.7", roots: self.roots };
        open(&mut self.receiver, transport, opening, claw, probe_timeout, deadline).await
    }

    pub(super) fn connect(self, agreement: Agreement) -> Arc<Connection> {
        let Self { transport, receiver, settings, roots } = self;
        let entry = ServerEntry {
            name: "scripted".into(),
            // No process belongs to a connection, so it does not matter what is launched.
            launch: Launch::Stdio(StdioLaunch::default()),
            timeout: None,
            startup_timeout: None,
            disabled: false,
            roots,
        };
        Arc::new(Connection::new(&entry, Parts { transport, receiver, agreement }, settings))
    }
}

enum AnyReceiver {
    Memory(MemoryReceiver),
    Stdio(StdioReceiver),
    Http(HttpReceiver),
}

impl Receive for AnyReceiver {
    async fn receive(&mut self) -> Received {
        match self {
            Self::Memory(receiver) => receiver.receive().await,
            Self::Stdio(receiver) => receiver.receive().await,
            Self::Http(receiver) => receiver.receive().await,
        }
    }
}

/// The script's side. Dropping it ends the connection, in a child process with status 3.
pub(super) enum Peer {
    Memory(memory::Peer),
    Process(BufReader<OwnedReadHalf>, OwnedWriteHalf),
    Http(HttpPeer),
}

impl Peer {
    /// The next message of claw, or `None` after the connection's end.
    pub(super) async fn receive(&mut self) -> Option<Value> {
        let next = async {
            match self {
                Self::Memory(peer) => peer.receive().await,
                Self::Http(peer) => peer.receive().await,
                Self::Process(lines, _) => {
                    let mut line = String::new();
                    lines.read_line(&mut line).await.ok()?;
                    // The end may come in the middle of a line.
                    serde_json::from_str(line.strip_suffix('\n')?).ok()
                }
            }
        };
        timeout(PATIENCE, next).await.expect("claw sends nothing")
    }

    /// The next message, which is this one.
    pub(super) async fn request(&mut self, method: &str) -> Value {
        let message = self.receive().await.expect("the connection has ended");
        assert_eq!(message["method"], method, "{message}");
        message
    }

    pub(super) async fn send(&mut self, message: Value) {
        match self {
            Self::Memory(peer) => peer.send(message),
            Self::Http(peer) => peer.send(message).await,
            Self::Process(_, write) => {
                write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
            }
        }
    }

    pub(super) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    pub(super) async fn refuse(&mut self, request: &Value, code: i64) {
        let error = json!({"code": code, "message": "no"});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await;
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Answers one call with a text.
    pub(super) async fn answer_call(&mut self, text: &str) {
        let request = self.request("tools/call").await;
        self.answer(&request, content(text)).await;
    }
}

pub(super) fn content(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub(super) fn initialized() -> Value {
    json!({"protocolVersion": LEGACY_PROTOCOL, "capabilities": {"tools": {"listChanged": true}},
        "serverInfo": {"name": "s", "version": "1"}})
}

pub(super) fn discovered() -> Value {
    json!({"resultType": "complete", "supportedVersions": [MODERN_PROTOCOL],
        "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"},
        "ttlMs": 0, "cacheScope": "private"})
}

pub(super) async fn call(connection: &Connection, arguments: Value) -> CallEnd {
    call_with(connection, arguments, context()).await
}

pub(super) async fn call_with(
    connection: &Connection,
    arguments: Value,
    context: CallControl,
) -> CallEnd {
    let permit = PermitMint::new(HubMark::default())
        .permit(permit_parts("scripted", "echo", arguments, "a pin", PATIENCE));
    forward(connection, permit, context, None).await
}
