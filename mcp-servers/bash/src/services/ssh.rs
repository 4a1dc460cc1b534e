//! `ssh` for one command, signed in by the owner's agent. What runs is the system's `ssh` outside
//! of the box, with options that are claw's alone: the command says a host, a user, a port and what
//! to run there. It never reaches the agent itself, which would sign whatever it is given. Must not
//! know git.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::ssh_settings::{HostSettings, Places};
use super::ssh_words::SshRequest;
use super::{Outside, SshSpec};
use crate::network::{HostAccount, Proxy, Reached};
use crate::scratch::make_private;

/// What a command may say at the beginning, in bytes, and how long it may take.
const REQUEST_BYTES_MAX: u64 = 128 * 1024;
const REQUEST_PATIENCE: Duration = Duration::from_secs(30);
/// What is said in the audit of a connection that came to nothing.
const CAME_TO_NOTHING: &str = "ssh could not connect or sign in there";
/// `ssh` at the same time for one command. More wait.
const AT_ONCE_MAX: usize = 16;
const PIECE_BYTES: usize = 32 * 1024;
const PORT: u16 = 22;
/// What ssh itself ends with where it cannot connect, ssh(1).
const FAILED: u8 = 255;
/// Both are ours to set; `-F none` leaves out every file of settings. What of the owner's counts is
/// read as data (`ssh_settings.rs`).
const OPTIONS: &[&str] = &[
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "CheckHostIP=no",
    "GlobalKnownHostsFile=/etc/ssh/ssh_known_hosts",
    "IdentityAgent=SSH_AUTH_SOCK",
    "PreferredAuthentications=publickey",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "ControlMaster=no",
    "ControlPath=none",
    "EscapeChar=none",
    "ConnectTimeout=30",
];

/// Begins each piece of an answer: which it is, and its length as four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Stdout,
    Stderr,
    /// The exit code, one byte.
    End,
}

impl Piece {
    fn byte(self) -> u8 {
        match self {
            Self::Stdout => 1,
            Self::Stderr => 2,
            Self::End => 3,
        }
    }

    pub fn of(byte: u8) -> Option<Self> {
        [Self::Stdout, Self::Stderr, Self::End].into_iter().find(|piece| piece.byte() == byte)
    }
}

/// The first line that a command says; its standard input follows.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    pub token: String,
    /// As they were typed behind `ssh`.
    pub words: Vec<String>,
}

/// The programs. The same for all commands of a server.
pub struct Program {
    ssh: PathBuf,
    /// What commands call instead.
    stand_in: PathBuf,
    /// The owner's settings, and the hosts that the owner knows.
    places: Places,
}

impl Program {
    /// Writes the stand-in. `None` where there is no `ssh`.
    pub fn prepare(told: &Path, search: &[PathBuf]) -> io::Result<Option<Self>> {
        let ssh = search.iter().map(|dir| dir.join("ssh")).find(|path| path.is_file());
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let (Some(ssh), Some(home)) = (ssh, home) else { return Ok(None) };
        let folder = told.join("bin");
        make_private(&folder)?;
        let (stand_in, new) =
            (folder.join("ssh"), folder.join(format!(".ssh.{}", std::process::id())));
        fs::write(&new, script()?)?;
        fs::set_permissions(&new, Permissions::from_mode(0o700))?;
        fs::rename(&new, &stand_in)?;
        Ok(Some(Self { ssh, stand_in, places: Places::of(&home) }))
    }
}

/// Starts this program in its words for the inside, whatever name it is started by.
fn script() -> io::Result<Vec<u8>> {
    let quoted = |word: &OsString| -> Vec<u8> {
        let escaped = word.to_string_lossy().replace('\'', "'\\''");
        format!(" '{escaped}'").into_bytes()
    };
    let mut text = b"#!/bin/sh\nexec".to_vec();
    text.extend(quoted(&std::env::current_exe()?.into_os_string()));
    let words = std::env::args_os().skip(1);
    let words = words.take_while(|word| !word.as_encoded_bytes().starts_with(b"-"));
    words.for_each(|word| text.extend(quoted(&word)));
    text.extend(b" --ssh-client -- \"$@\"\n");
    Ok(text)
}

/// Lives as long as its command.
pub struct Ssh {
    outside: Arc<Outside>,
    ssh: PathBuf,
    places: Places,
    agent: PathBuf,
    token: String,
    /// Judges hosts where the command has named some.
    proxy: Option<Arc<Proxy>>,
    /// What it has reached, where no proxy counts that.
    reached: Mutex<Reached>,
    /// Where the command is in the machine's own network. Taken by what serves.
    listener: Mutex<Option<TcpListener>>,
}

impl Ssh {
    pub async fn new(
        outside: Arc<Outside>,
        program: &Program,
        agent: PathBuf,
        proxy: Option<Arc<Proxy>>,
    ) -> io::Result<(Self, SshSpec)> {
        let mut random = [0; 32];
        fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        // Others on this machine can connect, too, and do not know the token.
        let listener = match proxy {
            Some(_) => None,
            None => Some(TcpListener::bind(("127.0.0.1", 0)).await?),
        };
        let port = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        let spec = SshSpec {
            program: program.stand_in.clone(),
            token: token.clone(),
            port: port.map(|address| address.port()),
        };
        let (ssh, places) = (program.ssh.clone(), program.places.clone());
        let (reached, listener) = (Mutex::default(), Mutex::new(listener));
        Ok((Self { outside, ssh, places, agent, token, proxy, reached, listener }, spec))
    }

    /// Serves until the future is dropped; all that it has started ends with it.
    pub async fn serve(self: &Arc<Self>, handed_out: Option<TcpListener>) {
        let own = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(listener) = handed_out.or(own) else { return };
        let mut running = JoinSet::new();
        loop {
            tokio::select! {
                taken = listener.accept(), if running.len() < AT_ONCE_MAX => match taken {
                    Ok((stream, _)) => {
                        let ssh = self.clone();
                        running.spawn(async move { ssh.connection(stream).await });
                    }
                    // Out of descriptors, or the other side gave up meanwhile.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                },
                Some(_) = running.join_next() => {}
            }
        }
    }

    async fn connection(&self, stream: TcpStream) {
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        let mut head = (&mut reader).take(REQUEST_BYTES_MAX);
        let read = timeout(REQUEST_PATIENCE, head.read_until(b'\n', &mut line)).await;
        let request = serde_json::from_slice::<Request>(&line).ok();
        let Some(request) = request.filter(|request| request.token == self.token) else { return };
        if !matches!(read, Ok(Ok(1..))) {
            return;
        }
        let code = match self.start(&request.words).await {
            Ok((child, way)) => {
                let (code, bytes) = carry(child, &mut reader, &mut writer).await;
                self.count(&way, code, bytes);
                if let Some(said) = way.left_out().filter(|_| code == FAILED) {
                    let _ = send(&mut writer, Piece::Stderr, said.as_bytes()).await;
                }
                code
            }
            Err(why) => {
                let said = format!("claw: {why}\n");
                let _ = send(&mut writer, Piece::Stderr, said.as_bytes()).await;
                FAILED
            }
        };
        // Who does not listen any more needs no answer.
        let _ = send(&mut writer, Piece::End, &[code]).await;
        let _ = writer.shutdown().await;
    }

    /// The error is for the model.
    async fn start(&self, words: &[String]) -> Result<(Child, Way), String> {
        let way = self.way(SshRequest::parse(words)?).await?;
        let started = self.outside.spawn(self.command(&way)).await;
        started.map(|child| (child, way)).map_err(|error| format!("ssh cannot be started: {error}"))
    }

    /// Where the asked host really is, judged by that.
    async fn way(&self, asked: SshRequest) -> Result<Way, String> {
        let (places, name) = (self.places.clone(), asked.host.clone());
        let settings = self.outside.look(move || places.settings(&name)).await;
        let settings =
            settings.map_err(|error| format!("~/.ssh/config cannot be read: {error}"))??;
        let host = settings.host_name.clone().unwrap_or_else(|| asked.host.clone());
        let port = asked.port.or(settings.port).unwrap_or(PORT);
        let address = match &self.proxy {
            Some(proxy) => Some(
                proxy
                    .address(&host, port)
                    .await
                    .map_err(|why| format!("{host}:{port} was refused: {why}"))?,
            ),
            None => None,
        };
        Ok(Way { asked, settings, host, port, address })
    }

    fn count(&self, way: &Way, code: u8, bytes: u64) {
        if let Some(proxy) = &self.proxy {
            return proxy.carried(&way.host, way.port, bytes);
        }
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if code == FAILED {
            return reached.refused(&way.host, way.port, CAME_TO_NOTHING);
        }
        reached.connected(&way.host, way.port);
        reached.carried(&way.host, way.port, bytes);
    }

    /// What it has reached, where no proxy tells that: in words, and for programs.
    pub fn reached(&self) -> Option<(Vec<String>, Vec<HostAccount>)> {
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        self.proxy.is_none().then(|| (reached.sentences(), reached.accounts()))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the bash server is one of the two that start processes"
    )]
    fn command(&self, way: &Way) -> Command {
        let (asked, settings) = (&way.asked, &way.settings);
        let mut command = Command::new(&self.ssh);
        command.args(["-F", "none", "-T"]);
        command.args(OPTIONS.iter().flat_map(|option| ["-o", option]));
        let mut set = |name: &str, value: String| {
            command.arg("-o").arg(format!("{name}={value}"));
        };
        let own = [self.places.folder.join("known_hosts")];
        let known = if settings.known_hosts.is_empty() { &own[..] } else { &settings.known_hosts };
        let known: Vec<String> = known.iter().map(|path| quoted(path)).collect();
        set("UserKnownHostsFile", known.join(" "));
        if settings.keys.is_empty() {
            set("IdentityFile", "none".into());
        }
        settings.keys.iter().for_each(|key| set("IdentityFile", quoted(key)));
        if settings.only_these_keys {
            set("IdentitiesOnly", "yes".into());
        }
        // It connects to the address that was judged, and knows the host by its name.
        let name = match way.port {
            PORT => way.host.clone(),
            port => format!("[{}]:{port}", way.host),
        };
        let alias = settings.host_key_alias.clone().or(way.address.map(|_| name));
        alias.into_iter().for_each(|alias| set("HostKeyAlias", alias));
        let address =
            way.address.map_or_else(|| way.host.clone(), |judged| judged.ip().to_string());
        set("HostName", address);
        command.arg("-p").arg(way.port.to_string());
        let user = asked.user.as_ref().or(settings.user.as_ref());
        command.args(user.into_iter().flat_map(|user| ["-l", user.as_str()]));
        command.args(["--", &way.host, &asked.command]);
        command.env_clear().env("SSH_AUTH_SOCK", &self.agent).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir("/").kill_on_drop(true);
        command
    }
}

/// As a value of an option: a percent sign begins a token there, ssh_config(5).
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('%', "%%"))
}

/// Where one connection goes, and by what.
struct Way {
    asked: SshRequest,
    settings: HostSettings,
    /// The real name of the host.
    host: String,
    port: u16,
    /// The one that was judged.
    address: Option<SocketAddr>,
}

impl Way {
    /// For whoever reads why it came to nothing.
    fn left_out(&self) -> Option<String> {
        let left = &self.settings.left_out;
        (!left.is_empty()).then(|| {
            format!(
                "claw: of ~/.ssh/config, this was left out for `{}`: {}. claw takes HostName, User, Port, IdentityFile, IdentitiesOnly, \
                 HostKeyAlias and UserKnownHostsFile, and starts nothing from there.\n",
                self.asked.host,
                left.join(", ")
            )
        })
    }
}

/// Carries both ways until the program and its output have ended. Gives the exit code and the
/// number of bytes.
async fn carry(
    mut child: Child,
    reader: &mut (impl tokio::io::AsyncRead + Unpin),
    writer: &mut OwnedWriteHalf,
) -> (u8, u64) {
    let (Some(mut stdin), Some(mut stdout), Some(mut stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return (FAILED, 0);
    };
    let up = async {
        let sent = tokio::io::copy(reader, &mut stdin).await.unwrap_or(0);
        drop(stdin);
        sent
    };
    let down = async {
        let mut received = 0;
        let (mut out, mut err) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
        let (mut out_ended, mut err_ended) = (false, false);
        while !(out_ended && err_ended) {
            let (piece, bytes) = tokio::select! {
                size = stdout.read(&mut out), if !out_ended => (Piece::Stdout, &out[..size.unwrap_or(0)]),
                size = stderr.read(&mut err), if !err_ended => (Piece::Stderr, &err[..size.unwrap_or(0)]),
            };
            match piece {
                _ if !bytes.is_empty() => {}
                Piece::Stdout => out_ended = true,
                _ => err_ended = true,
            }
            received += bytes.len() as u64;
            if !bytes.is_empty() && send(writer, piece, bytes).await.is_err() {
                break;
            }
        }
        received
    };
    tokio::pin!(up);
    let mut sent = None;
    let received = {
        tokio::pin!(down);
        loop {
            tokio::select! {
                received = &mut down => break received,
                bytes = &mut up, if sent.is_none() => sent = Some(bytes),
            }
        }
    };
    // It has closed its output; what it does not read any more is nobody's.
    let ended = timeout(REQUEST_PATIENCE, child.wait()).await;
    let code = ended.ok().and_then(Result::ok).and_then(|status| status.code());
    let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED);
    (code, received + sent.unwrap_or(0))
}

async fn send(writer: &mut OwnedWriteHalf, piece: Piece, bytes: &[u8]) -> io::Result<()> {
    writer.write_u8(piece.byte()).await?;
    writer.write_u32(u32::try_from(bytes.len()).map_err(io::Error::other)?).await?;
    writer.write_all(bytes).await
}
