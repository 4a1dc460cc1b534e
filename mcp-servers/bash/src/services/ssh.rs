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

use super::{Outside, TellsOfSsh};
use crate::network::Proxy;
use crate::scratch::make_private;

/// What a command may say at the beginning, in bytes, and how long it may take.
const REQUEST_BYTES_MAX: u64 = 128 * 1024;
const REQUEST_PATIENCE: Duration = Duration::from_secs(30);
/// `ssh` at the same time for one command. More wait.
const AT_ONCE_MAX: usize = 16;
const PIECE_BYTES: usize = 32 * 1024;
const PORT: u16 = 22;
/// What ssh itself ends with where it cannot connect, ssh(1).
const FAILED: u8 = 255;
/// Both are ours to set; `-F none` leaves out every file of settings.
const OPTIONS: &[&str] = &[
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "CheckHostIP=no",
    "GlobalKnownHostsFile=/etc/ssh/ssh_known_hosts",
    "IdentityAgent=SSH_AUTH_SOCK",
    "IdentityFile=none",
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
    /// The hosts that the owner knows.
    known_hosts: PathBuf,
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
        Ok(Some(Self { ssh, stand_in, known_hosts: home.join(".ssh/known_hosts") }))
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
    known_hosts: PathBuf,
    agent: PathBuf,
    token: String,
    /// Judges hosts where the command has named some.
    proxy: Option<Arc<Proxy>>,
    /// Where the command is in the machine's own network. Taken by what serves.
    listener: Mutex<Option<TcpListener>>,
}

impl Ssh {
    pub async fn new(
        outside: Arc<Outside>,
        program: &Program,
        agent: PathBuf,
        proxy: Option<Arc<Proxy>>,
    ) -> io::Result<(Self, TellsOfSsh)> {
        let mut random = [0; 32];
        fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        // Others on this machine can connect, too, and do not know the token.
        let listener = match proxy {
            Some(_) => None,
            None => Some(TcpListener::bind(("127.0.0.1", 0)).await?),
        };
        let port = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        let told = TellsOfSsh {
            program: program.stand_in.clone(),
            token: token.clone(),
            port: port.map(|address| address.port()),
        };
        let (ssh, known_hosts) = (program.ssh.clone(), program.known_hosts.clone());
        let listener = Mutex::new(listener);
        Ok((Self { outside, ssh, known_hosts, agent, token, proxy, listener }, told))
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
            Ok((child, asked)) => {
                let (code, bytes) = carry(child, &mut reader, &mut writer).await;
                if let Some(proxy) = &self.proxy {
                    proxy.carried(&asked.host, asked.port, bytes);
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
    async fn start(&self, words: &[String]) -> Result<(Child, Asked), String> {
        let asked = Asked::parse(words)?;
        let address = match &self.proxy {
            Some(proxy) => Some(
                proxy
                    .address(&asked.host, asked.port)
                    .await
                    .map_err(|why| format!("{}:{} was refused: {why}", asked.host, asked.port))?,
            ),
            None => None,
        };
        let command = self.command(&asked, address);
        let started = self.outside.spawn(command).await;
        started
            .map(|child| (child, asked))
            .map_err(|error| format!("ssh cannot be started: {error}"))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the bash server is one of the two that start processes"
    )]
    fn command(&self, asked: &Asked, address: Option<SocketAddr>) -> Command {
        let mut command = Command::new(&self.ssh);
        command.args(["-F", "none", "-T"]);
        command.args(OPTIONS.iter().flat_map(|option| ["-o", option]));
        // ssh_config(5): a percent sign begins a token there.
        let known = self.known_hosts.display().to_string().replace('%', "%%");
        command.arg("-o").arg(format!("UserKnownHostsFile=\"{known}\""));
        if let Some(address) = address {
            // It connects to the address that was judged, and knows the host by its name.
            let name = match asked.port {
                PORT => asked.host.clone(),
                port => format!("[{}]:{port}", asked.host),
            };
            command.arg("-o").arg(format!("HostKeyAlias={name}"));
            command.arg("-o").arg(format!("HostName={}", address.ip()));
        }
        command.arg("-p").arg(asked.port.to_string());
        command.args(asked.user.iter().flat_map(|user| ["-l", user.as_str()]));
        command.args(["--", &asked.host, &asked.command]);
        command.env_clear().env("SSH_AUTH_SOCK", &self.agent).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir("/").kill_on_drop(true);
        command
    }
}

/// What a command asks `ssh` for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    user: Option<String>,
    host: String,
    port: u16,
    command: String,
}

impl Asked {
    /// Reads the words that git and people use. Every other option could start a program or open a
    /// way of its own here.
    fn parse(words: &[String]) -> Result<Self, String> {
        let (mut user, mut port) = (None, PORT);
        let mut words = words.iter().map(String::as_str);
        let target = loop {
            match words.next() {
                Some("-p") => port = words.next().and_then(number).ok_or("ssh: -p needs a port")?,
                Some("-l") => user = words.next().map(str::to_owned),
                Some("-o") if words.next() == Some("SendEnv=GIT_PROTOCOL") => {}
                Some("-4" | "-6" | "-T" | "-q" | "-x") => {}
                Some(target) if !target.starts_with('-') => break target,
                _ => return Err(ONLY.to_owned()),
            }
        };
        let host = match target.rsplit_once('@') {
            Some((name, host)) => {
                user = Some(name.to_owned());
                host
            }
            None => target,
        };
        let plain = |text: &str, more: &str| {
            !text.is_empty()
                && !text.starts_with('-')
                && text.len() <= 253
                && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        let command = words.collect::<Vec<_>>().join(" ");
        let fits = plain(host, ".-_:") && user.iter().all(|user| plain(user, ".-_"));
        if !fits || command.trim().is_empty() || command.contains('\0') {
            return Err(ONLY.to_owned());
        }
        Ok(Self { user, host: host.to_owned(), port, command })
    }
}

/// What is said of all other words.
const ONLY: &str = "in the box `ssh` is `ssh [-p PORT] [USER@]HOST COMMAND`: no other options, no terminal, no names of ~/.ssh/config";

fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Asked, String> {
        Asked::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_words_of_git_are_understood() {
        let asked = |user: Option<&str>, port| Asked {
            user: user.map(str::to_owned),
            host: "github.com".into(),
            port,
            command: "git-receive-pack '/me/x.git'".into(),
        };
        let git = "git-receive-pack '/me/x.git'";
        assert_eq!(parse(&["git@github.com", git]), Ok(asked(Some("git"), 22)));
        let words = ["-o", "SendEnv=GIT_PROTOCOL", "-p", "2222", "git@github.com", git];
        assert_eq!(parse(&words), Ok(asked(Some("git"), 2222)));
        assert_eq!(
            parse(&["-l", "me", "-4", "github.com", "git-receive-pack", "'/me/x.git'"]),
            Ok(asked(Some("me"), 22))
        );
    }

    #[test]
    fn a_word_that_could_start_or_open_something_here_is_refused() {
        let proxy = "ProxyCommand=touch /tmp/x";
        for words in [
            &["-o", proxy, "host", "true"][..],
            &["-oProxyCommand=x", "host", "true"],
            &["-F", "file", "host", "true"],
            &["-L", "1:h:2", "host", "true"],
            &["-R", "1:h:2", "host", "true"],
            &["-A", "host", "true"],
            &["-i", "key", "host", "true"],
            &["-J", "jump", "host", "true"],
            &["-W", "h:1", "host"],
            &["-p", "0", "host", "true"],
            &["-p", "x", "host", "true"],
            &["-l", "-oProxyCommand=x", "host", "true"],
            &["-oProxyCommand=x@host", "true"],
            &["me@-oProxyCommand=x", "true"],
            &["--", "host", "true"],
            &["host"],
            &["host", " "],
            &["ho st", "true"],
            &["$(x)@host", "true"],
            &["host%h", "true"],
            &[],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
