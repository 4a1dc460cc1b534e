//! The socket of a gateway, in the home of its agent: what a front says first, who may, and the
//! two ends. Must not know what is said over it.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

use crate::domain::ClientName;

/// The key in a request's `_meta` under which a front writes its own number of that request. A
/// client may use one id for all that it sends.
pub const NUMBER: &str = "claw/request";
/// A request is no longer than this by its number.
pub const NUMBER_BYTES_MAX: usize = 64;

/// The name of the socket in a home.
pub const SOCKET: &str = "serve.sock";

/// The first words of both sides are said within this time.
const GREETING: Duration = Duration::from_secs(5);
/// The first line is no longer than this.
const GREETING_BYTES_MAX: u64 = 4096;
/// The first line is of this form.
const FORM: u32 = 1;
/// The longest path of a socket that every system takes.
const PATH_BYTES_MAX: usize = 100;

/// What a front says first: who is behind it. The owner has started it under this name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    #[serde(rename = "claw/serve")]
    form: u32,
    pub client: ClientName,
    /// Whether the client is offered the gated tools, whatever is configured.
    pub tools: bool,
    /// The same for as long as the front lives, so that a request which it sends again is known.
    pub front: String,
}

impl Hello {
    pub fn new(client: ClientName, tools: bool, front: String) -> Self {
        Self { form: FORM, client, tools, front }
    }
}

/// What the gateway answers.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Welcome {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// The gateway does not take this client: a sentence with the next step.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl crate::domain::Blamed for Refused {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::User
    }
}

/// Connects with the gateway of a home and introduces the client. `None`: no gateway answers there.
///
/// # Errors
/// It answers, and refuses this client.
pub async fn connect(path: &Path, hello: &Hello) -> Result<Option<UnixStream>, Refused> {
    let greeted = async {
        let mut stream = UnixStream::connect(short(path)?.as_path()).await?;
        let line = serde_json::to_string(hello)?;
        stream.write_all(format!("{line}\n").as_bytes()).await?;
        // Byte by byte: what follows is MCP's.
        let mut answer = Vec::new();
        while answer.len() < GREETING_BYTES_MAX as usize {
            match stream.read_u8().await? {
                b'\n' => break,
                byte => answer.push(byte),
            }
        }
        let welcome: Welcome = serde_json::from_slice(&answer)?;
        io::Result::Ok((stream, welcome))
    };
    match tokio::time::timeout(GREETING, greeted).await {
        Ok(Ok((stream, Welcome { refused: None }))) => Ok(Some(stream)),
        Ok(Ok((_, Welcome { refused: Some(why) }))) => Err(Refused(why)),
        Ok(Err(error)) => {
            tracing::debug!(%error, path = %path.display(), "no gateway answers");
            Ok(None)
        }
        Err(_) => {
            tracing::warn!(path = %path.display(), "a gateway is there and does not answer");
            Ok(None)
        }
    }
}

/// The gateway's end. The file goes with it.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

/// A connection whose first line was read.
pub struct Greeted {
    pub hello: Hello,
    stream: BufReader<UnixStream>,
}

impl Socket {
    /// Listens. What an earlier gateway has left is removed: only one of them runs on a home.
    ///
    /// # Errors
    /// What the system says.
    pub fn listen(path: &Path) -> io::Result<Self> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let short = short(path)?;
        let listener = UnixListener::bind(short.as_path())?;
        // The folder is the owner's alone, so nobody was there before this.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// The next connection of this user's. Those of others are closed without a word.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let uid = stream.peer_cred()?.uid();
            if uid == rustix::process::geteuid().as_raw() {
                return Ok(stream);
            }
            tracing::warn!(uid, "another user has tried to talk to claw's socket");
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Whoever finds one that stays is refused a connection.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Reads the first line of a connection.
///
/// # Errors
/// It does not come, or is none.
pub async fn greet(stream: UnixStream) -> io::Result<Greeted> {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    let read = (&mut stream).take(GREETING_BYTES_MAX);
    let mut read = read;
    tokio::time::timeout(GREETING, read.read_until(b'\n', &mut line))
        .await
        .map_err(io::Error::other)??;
    let hello: Hello = serde_json::from_slice(&line)?;
    if hello.form != FORM {
        return Err(io::Error::other(format!("a first line of form {}", hello.form)));
    }
    Ok(Greeted { hello, stream })
}

impl Greeted {
    /// Takes the client. What follows is MCP.
    ///
    /// # Errors
    /// What the system says.
    pub async fn welcome(self) -> io::Result<BufReader<UnixStream>> {
        self.answer(&Welcome::default()).await
    }

    /// Does not take it, and says why in a sentence.
    pub async fn refuse(self, why: String) {
        let _gone = self.answer(&Welcome { refused: Some(why) }).await;
    }

    async fn answer(mut self, welcome: &Welcome) -> io::Result<BufReader<UnixStream>> {
        let line = serde_json::to_string(welcome)?;
        self.stream.write_all(format!("{line}\n").as_bytes()).await?;
        self.stream.flush().await?;
        Ok(self.stream)
    }
}

/// A path by which the system takes this socket, as long as it is held.
struct Short {
    path: PathBuf,
    /// The folder, where the path leads through its number.
    _folder: Option<std::fs::File>,
}

impl Short {
    fn as_path(&self) -> &Path {
        &self.path
    }
}

/// The path itself, or one through an open folder if that is too long for a socket.
fn short(path: &Path) -> io::Result<Short> {
    use std::os::fd::AsRawFd as _;
    if path.as_os_str().len() <= PATH_BYTES_MAX {
        return Ok(Short { path: path.to_owned(), _folder: None });
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = std::fs::File::open(folder)?;
    let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok(Short { path, _folder: Some(folder) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        Hello::new(ClientName::new("laptop").unwrap(), true, "f1".to_owned())
    }

    async fn greeted(socket: &Socket) -> Greeted {
        greet(socket.accept().await.unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn a_front_introduces_its_client_and_is_taken_or_refused_with_a_sentence() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(SOCKET);
        assert!(connect(&path, &hello()).await.unwrap().is_none(), "no gateway is no error");
        let socket = Socket::listen(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let hello_of_front = hello();
        let (client, server) = tokio::join!(connect(&path, &hello_of_front), async {
            let greeted = greeted(&socket).await;
            assert_eq!(greeted.hello, hello());
            let mut stream = greeted.welcome().await.unwrap();
            stream.write_all(b"mcp").await.unwrap();
            stream.flush().await.unwrap();
        });
        let mut text = [0; 3];
        client.unwrap().unwrap().read_exact(&mut text).await.unwrap();
        assert_eq!((&text, server), (b"mcp", ()));
        let (client, ()) = tokio::join!(connect(&path, &hello_of_front), async {
            greeted(&socket).await.refuse("not you".to_owned()).await;
        });
        assert_eq!(client.unwrap_err().to_string(), "not you");
        drop(socket);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_stale_socket_is_no_gateway_and_is_replaced_and_a_long_path_works() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("x".repeat(80)).join("y".repeat(80));
        std::fs::create_dir_all(&deep).unwrap();
        let path = deep.join(SOCKET);
        let stale = Socket::listen(&path).unwrap();
        std::mem::forget(stale);
        let socket = Socket::listen(&path).unwrap();
        let hello_of_front = hello();
        let (client, ()) = tokio::join!(connect(&path, &hello_of_front), async {
            greeted(&socket).await.welcome().await.unwrap();
        });
        assert!(client.unwrap().is_some());
    }

    #[tokio::test]
    async fn whoever_does_not_introduce_itself_is_not_served() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(SOCKET);
        let socket = Socket::listen(&path).unwrap();
        for line in [
            "{}\n",
            "GET / HTTP/1.1\r\n",
            "{\"claw/serve\":2,\"client\":\"a\",\"tools\":true,\"front\":\"\"}\n",
        ] {
            let (_client, greeted) = tokio::join!(
                async {
                    let mut stream = UnixStream::connect(&path).await.unwrap();
                    stream.write_all(line.as_bytes()).await.unwrap();
                    stream
                },
                async { greet(socket.accept().await.unwrap()).await }
            );
            assert!(greeted.is_err(), "{line}");
        }
    }
}
