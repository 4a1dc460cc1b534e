//! What commands call `ssh` where the owner's agent is open to them: hands the words and the
//! standard input to the server, and gives back what the program outside says. Must not know ssh.

use std::ffi::OsString;
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::ExitCode;
use std::thread;

use super::ssh::{Piece, Request};

/// Where the server listens, and the token behind a blank.
pub const VARIABLE: &str = "CLAW_SSH";
/// As ssh itself ends where it cannot connect.
const FAILED: u8 = 255;

/// How programs are told of it. The folder of the stand-in goes before all others.
pub fn variables(
    port: u16,
    token: &str,
    program: &std::path::Path,
) -> Vec<(&'static str, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(std::path::Path::to_owned).into_iter();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap_or(path);
    let quoted = format!("'{}'", program.display().to_string().replace('\'', "'\\''"));
    vec![
        (VARIABLE, format!("127.0.0.1:{port} {token}").into()),
        ("PATH", path),
        ("GIT_SSH_COMMAND", quoted.into()),
        ("GIT_SSH_VARIANT", "ssh".into()),
    ]
}

pub fn main(words: &[OsString]) -> ExitCode {
    match carry(words) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(io::stderr(), "claw: ssh cannot be reached here: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn carry(words: &[OsString]) -> io::Result<u8> {
    let said = std::env::var(VARIABLE).map_err(io::Error::other)?;
    let (address, token) = said.split_once(' ').ok_or(io::ErrorKind::InvalidInput)?;
    let mut line = TcpStream::connect(address)?;
    let request = Request {
        token: token.to_owned(),
        words: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
    };
    let mut first = serde_json::to_vec(&request)?;
    first.push(b'\n');
    line.write_all(&first)?;
    let mut up = line.try_clone()?;
    // It ends with this process, which ends with the answer.
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut up);
        let _ = up.shutdown(Shutdown::Write);
    });
    answer(&mut BufReader::new(line))
}

/// Prints the pieces until the last one, which is the exit code.
fn answer(line: &mut impl io::Read) -> io::Result<u8> {
    let mut bytes = Vec::new();
    loop {
        let mut head = [0; 5];
        line.read_exact(&mut head)?;
        let size = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        bytes.clear();
        line.take(size.into()).read_to_end(&mut bytes)?;
        match Piece::of(head[0]).ok_or(io::ErrorKind::InvalidData)? {
            Piece::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(&bytes)?;
                out.flush()?;
            }
            Piece::Stderr => io::stderr().write_all(&bytes)?,
            Piece::End => return Ok(bytes.first().copied().unwrap_or(FAILED)),
        }
    }
}
