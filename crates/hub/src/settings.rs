//! What the hub is told at its birth, and what it tells back. Must not know where these values come
//! from.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use super::resources::Hearers;
use super::rpc::era::Era;
use super::transport::Limits;
use super::transport::http::Times;
use super::transport::http::address::{Lookup, system_lookup};

/// Takes one line of a server's stderr or of its log messages: the server's name, then the line.
/// Called from tasks of the hub, so it must return at once. Redaction is the sink's work.
pub type LogSink = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Takes what a person should hear. It must return at once.
pub type NoticeSink = Arc<dyn Fn(HubNotice) + Send + Sync>;

/// Takes names and values that look like secrets, before the child that gets them is started. `Err`
/// is why it must not be.
pub type SecretSink = Arc<dyn Fn(Vec<(String, String)>) -> Result<(), String> + Send + Sync>;

/// The variables that every server gets from claw's environment (trap 9).
pub const BASIC_VARIABLES: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// What a stranger's server gets beside them, where no `inherit` says otherwise: certificates and
/// proxies, without which nothing is fetched in many networks, and language and zone. A name may
/// end in `*`.
pub const INHERITED_VARIABLES: [&str; 17] = [
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LC_*",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TZ",
    "XDG_RUNTIME_DIR",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

#[derive(Clone)]
pub struct HubSettings {
    /// Only [`BASIC_VARIABLES`] and `inherit` are taken from here.
    pub base_env: BTreeMap<String, String>,
    /// What strangers' servers get beside [`BASIC_VARIABLES`], where their entry says nothing else.
    pub inherit: Vec<String>,
    /// What every stranger's server gets, whatever its entry says.
    pub marks: BTreeMap<String, String>,
    /// The folder of `mcp.json`, to which a relative `command` and `cwd` refer. Claw's own servers
    /// run here.
    pub working_dir: PathBuf,
    /// Where the agent works, for the servers that may be told so.
    pub workspace: Option<PathBuf>,
    /// Below this a stranger's server, whose entry names no `cwd`, runs in a folder of its own,
    /// which is empty at first. Not beside claw's own files, which it could serve or write over.
    /// Not the agent's workspace either: what the agent writes there must not be picked up by a
    /// server that starts outside of the box (`.npmrc`, a Python module).
    pub server_dirs: PathBuf,
    /// The program, and its first arguments, that stands between claw and each server that is not
    /// claw's own ([`super::supervisor`]). Without one, what such a server starts can outlive it by
    /// leaving its process group.
    pub supervisor: Option<Vec<OsString>>,
    /// From its place among those that start to the end of the handshake, where `mcp.json` says
    /// nothing else.
    pub startup_timeout: Duration,
    /// The places of those that start at the same time: twice the processors.
    pub starts: Arc<Semaphore>,
    /// How long a server may be silent on the first message before it is also offered `initialize`.
    pub probe_timeout: Duration,
    /// Between closing stdin and SIGTERM, and again between SIGTERM and SIGKILL.
    pub shutdown_grace: Duration,
    /// Of one child's stderr, in bytes, that reach the log. It is drained to its end in any case
    /// (trap 10).
    pub stderr_bytes_max: usize,
    /// The longest line that a server may send, in bytes (trap 5).
    pub line_bytes_max: usize,
    /// The most bytes that wait for a server to read them.
    pub queue_bytes_max: usize,
    /// The most text of one result, in bytes. Above the limit of what a model sees, below what a
    /// machine minds.
    pub result_bytes_max: usize,
    /// The largest file that may come with a result, in bytes once it is decoded.
    pub file_bytes_max: usize,
    /// How long a server that was told to give up a call, and works on no other, may be silent
    /// before it is ended.
    pub busy_grace: Duration,
    /// The first words of a command that acts on this home, for what is said of servers.
    pub claw: String,
    /// What claw calls itself towards servers.
    pub client_version: String,
    /// Eras from an earlier run, by server; saves the probe.
    pub known_eras: BTreeMap<String, Era>,
    /// Servers of whose tools only names and schemas are pinned.
    pub schema_pinned: BTreeSet<String>,
    /// For servers over HTTP; their requests may take as long as their start.
    pub(crate) times: Times,
    /// Requests that wait for the answers of one server over HTTP at the same time.
    pub(crate) requests_max: usize,
    /// How the names of hosts become addresses.
    pub(crate) lookup: Lookup,
    /// Where logins to servers over HTTP are kept, a file each; without it there are none.
    pub logins: Option<PathBuf>,
    /// From the link of a login to its answer; one that takes longer has failed.
    pub login_time: Duration,
    /// Who wants to hear of which resource.
    pub(crate) resources: Arc<Hearers>,
    pub log: LogSink,
    pub notices: NoticeSink,
    /// An env file is read at each start of its server, and may hold other values than when claw
    /// started.
    pub secrets: SecretSink,
}

impl HubSettings {
    /// The defaults; logs and notices go nowhere until they are set.
    pub fn new(base_env: BTreeMap<String, String>, working_dir: PathBuf) -> Self {
        Self {
            base_env,
            inherit: INHERITED_VARIABLES.map(str::to_owned).to_vec(),
            marks: BTreeMap::new(),
            workspace: None,
            server_dirs: working_dir.join("servers"),
            working_dir,
            supervisor: None,
            startup_timeout: Duration::from_secs(60),
            starts: Arc::new(Semaphore::new(starts_at_once())),
            probe_timeout: Duration::from_secs(2),
            shutdown_grace: Duration::from_millis(700),
            stderr_bytes_max: 1024 * 1024,
            line_bytes_max: 16 * 1024 * 1024,
            queue_bytes_max: 32 * 1024 * 1024,
            result_bytes_max: 4 * 1024 * 1024,
            file_bytes_max: 8 * 1024 * 1024,
            busy_grace: Duration::from_secs(5),
            claw: "claw".to_owned(),
            client_version: env!("CARGO_PKG_VERSION").to_owned(),
            known_eras: BTreeMap::new(),
            times: Times::new(Duration::from_secs(60)),
            requests_max: 16,
            lookup: system_lookup(),
            logins: None,
            login_time: Duration::from_secs(3600),
            resources: Arc::default(),
            schema_pinned: BTreeSet::new(),
            log: Arc::new(|_, _| {}),
            notices: Arc::new(|_| {}),
            secrets: Arc::new(|_| Ok(())),
        }
    }

    /// How long a connection to a server over HTTP may take, and how many requests may wait for
    /// the answers of one.
    pub fn set_http_limits(&mut self, connect: Duration, requests_max: usize) {
        self.times.connect = connect;
        self.requests_max = requests_max;
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            message_bytes_max: self.line_bytes_max,
            queue_bytes_max: self.queue_bytes_max,
            requests_max: self.requests_max,
        }
    }
}

/// Starting is work: `npx` and `uvx` take 2 to 30 s of processor time, and all at once none comes
/// up.
fn starts_at_once() -> usize {
    std::thread::available_parallelism().map_or(2, |cores| cores.get() * 2)
}

/// What a person should hear about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubNotice {
    /// It could not be started; its tools are withdrawn.
    Failed { server: String, reason: String },
    /// It ended by itself; the next call starts it again.
    Died { server: String, reason: String },
    /// It said that its tools changed, or listed them differently than before.
    ToolsChanged { server: String },
    /// Something about its tools that was left out, one sentence.
    Odd { server: String, text: String },
}

/// One server, as `claw tools` and `claw doctor` show it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerStatus {
    pub name: String,
    pub state: ServerState,
    pub disabled: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ServerState {
    /// Not started yet, or ended without a fault.
    Idle,
    Starting,
    Up {
        era: Era,
        /// The protocol revision in use, for example `2025-11-25`.
        protocol: String,
        /// `None` for a server over HTTP.
        pid: Option<u32>,
        /// `None` until its tools were listed.
        tool_count: Option<usize>,
    },
    Failed {
        reason: String,
        /// How long ago.
        since: Duration,
        /// Zero when the next need starts it again.
        retry_in: Duration,
    },
}
