//! The reading process as its parent sees it: started on an open file, listened to until there is
//! enough, ended. Owns the clock. Must not know PDF or what the text is for.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::{Page, ReaderMessage};
use crate::args::Limits;
use crate::cancel::Cancel;
use crate::error::Result;

/// How soon a cancelled request is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What was read.
pub struct Pages {
    /// Pages of the document.
    pub total: u64,
    pub pages: Vec<Page>,
    /// Why the reading ended before the last page that was asked for.
    pub stopped: Option<Stopped>,
}

/// Why there is no more text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The pages before fill the reply, or are as many as one reply may hold.
    Full,
    /// The process took all the time that it may.
    Time,
    /// The process ended before it was done: memory, time of the processor, or a file
    /// that breaks it.
    Died,
    Encrypted,
    Invalid,
}

/// Reads the pages `first` to `last` of an open file, as far as `limits` let it.
///
/// # Errors
/// The request was cancelled, or no process can be started: the sentence says why.
pub fn read(
    file: File,
    (first, last): (u64, u64),
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Result<Pages, io::Error>> {
    let until = Instant::now() + Duration::from_millis(limits.pdf_time_ms_max);
    let process = match Process::start(file, first, limits) {
        Ok(process) => process,
        Err(error) => return Ok(Err(error)),
    };
    let mut room = Room::new(first, last, limits);
    loop {
        cancel.check()?;
        if Instant::now() >= until {
            return Ok(Ok(room.stop(Stopped::Time)));
        }
        match process.lines.recv_timeout(LOOK_EVERY) {
            Ok(message) => {
                if room.take(message) {
                    return Ok(Ok(room.read));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(Ok(room.stop(Stopped::Died))),
        }
    }
}

/// What of a reply is filled.
struct Room {
    read: Pages,
    last: u64,
    bytes_left: usize,
    pages_left: u64,
}

impl Room {
    fn new(first: u64, last: u64, limits: &Limits) -> Self {
        let read = Pages { total: 0, pages: Vec::new(), stopped: None };
        let bytes_left = usize::try_from(limits.read_reply_bytes_max).unwrap_or(usize::MAX);
        let last = last.max(first);
        Self { read, last, bytes_left, pages_left: limits.pdf_pages_max }
    }

    fn stop(mut self, why: Stopped) -> Pages {
        self.read.stopped = Some(why);
        self.read
    }

    /// Whether this was the last thing to hear.
    fn take(&mut self, message: ReaderMessage) -> bool {
        let page = match message {
            ReaderMessage::Pages(total) => {
                self.read.total = total;
                self.last = self.last.min(total);
                return false;
            }
            ReaderMessage::End => return true,
            ReaderMessage::Encrypted => {
                self.read.stopped = Some(Stopped::Encrypted);
                return true;
            }
            ReaderMessage::Invalid => {
                self.read.stopped = Some(Stopped::Invalid);
                return true;
            }
            ReaderMessage::Page(page) => page,
        };
        // The first page always comes: it was cut to a reply by the process.
        let full = page.text.len() > self.bytes_left && !self.read.pages.is_empty();
        if full || self.pages_left == 0 {
            self.read.stopped = Some(Stopped::Full);
            return true;
        }
        self.bytes_left = self.bytes_left.saturating_sub(page.text.len());
        self.pages_left -= 1;
        let done = page.number >= self.last;
        self.read.pages.push(page);
        done
    }
}

/// The process. Dropping it ends it.
struct Process {
    child: Child,
    lines: Receiver<ReaderMessage>,
}

impl Process {
    /// It gets the open file as its standard input, so that no path is opened twice, and nothing of
    /// the environment.
    #[expect(
        clippy::disallowed_methods,
        reason = "the reader of PDFs is this program itself, closed in before it reads"
    )]
    fn start(file: File, first: u64, limits: &Limits) -> io::Result<Self> {
        // The link in /proc still leads to this program after its file was replaced by an update.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe()?
        };
        let mut child = Command::new(program)
            .args(std::env::args_os().skip(1))
            .arg("--pdf-text")
            .arg(first.to_string())
            .env_clear()
            .stdin(Stdio::from(file))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take();
        // A page of `read_reply_bytes_max` may grow sixfold when it is escaped.
        let line_bytes_max = limits.read_reply_bytes_max.saturating_mul(6).saturating_add(1024);
        let (tell, lines) = mpsc::sync_channel(1);
        if let Some(stdout) = stdout {
            std::thread::spawn(move || hear(stdout, line_bytes_max, &tell));
        }
        Ok(Self { child, lines })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Hands on line by line until the process ends, or says what is no line of ours.
fn hear(stdout: ChildStdout, line_bytes_max: u64, tell: &mpsc::SyncSender<ReaderMessage>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(line_bytes_max).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let Ok(message) = serde_json::from_slice(&line) else { return };
        if tell.send(message).is_err() {
            return;
        }
    }
}
