//! The person at the terminal: lines that can be waited for beside other things, and secrets that
//! are typed unseen. Must not know what is asked.

use std::io::{self, ErrorKind, IsTerminal as _};
use std::os::fd::AsFd as _;

use anyhow::Context as _;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
};
use secrecy::SecretString;
use tokio::net::unix::pipe::Receiver;

use crate::fail::UserError;
use crate::out;

/// Somebody who types. One at a time, because it takes what is typed.
#[derive(Default)]
pub struct Person {
    /// What was read of a line that has not ended yet, or behind its end.
    read: Vec<u8>,
}

impl Person {
    /// Whether there is a terminal to ask at.
    pub fn is_there() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// The next line that is typed, without blanks around it. May be dropped and asked again.
    /// Nothing is taken from the terminal but while this is waited for, so that `forget_typed` gets
    /// hold of all that was typed before.
    pub async fn line(&mut self) -> anyhow::Result<String> {
        let line = loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(end + 1);
                break std::mem::replace(&mut self.read, rest);
            }
            match self.piece().await.context("cannot read from the terminal")? {
                0 if self.read.is_empty() => {
                    return Err(UserError::because(
                        "the input has ended, so nothing was written; run `claw init` again",
                    ));
                }
                // The end of input behind a line without an end.
                0 => break std::mem::take(&mut self.read),
                _ => {}
            }
        };
        let line = String::from_utf8(line).ok().context("what was typed is not UTF-8 text")?;
        Ok(line.trim().to_owned())
    }

    /// Waits until something is there to be read, and reads it. How many bytes; none at the end of
    /// input.
    async fn piece(&mut self) -> io::Result<usize> {
        loop {
            // Registered anew each time: what was known of the terminal before it was emptied is no
            // longer true, and a read of nothing would stop the whole program.
            let terminal = io::stdin().as_fd().try_clone_to_owned()?;
            // It is read as any other descriptor that can be waited for, and only when there is
            // something to be read.
            let terminal = Receiver::from_owned_fd_unchecked(terminal)?;
            terminal.readable().await?;
            let mut piece = [0; 4096];
            match terminal.try_read(&mut piece) {
                Ok(size) => {
                    self.read.extend_from_slice(&piece[..size]);
                    return Ok(size);
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Nothing that was typed before the question is shown answers it.
    pub async fn ask(&mut self, question: &str) -> anyhow::Result<String> {
        self.forget_typed();
        out::prompt(question)?;
        self.line().await
    }

    /// The same for what nobody may see. Nothing is asked if the terminal cannot be told so.
    pub async fn ask_secret(&mut self, question: &str) -> anyhow::Result<SecretString> {
        let _unseen = Unseen::begin().context("the terminal cannot be told to show nothing")?;
        let typed = self.ask(question).await?;
        Ok(SecretString::from(typed))
    }

    /// Throws away what was typed already: it cannot be an answer to what was not asked yet.
    pub fn forget_typed(&mut self) {
        // Where this fails, nothing worse comes of it than an answer that has to be given again.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        self.read.clear();
    }

    /// Asks until the answer is clear; Enter alone is `usual`.
    pub async fn agrees(&mut self, question: &str, usual: bool) -> anyhow::Result<bool> {
        let choice = if usual { "[Y/n]" } else { "[y/N]" };
        loop {
            match self.ask(&format!("{question} {choice} ")).await?.to_ascii_lowercase().as_str() {
                "" => return Ok(usual),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => out::line("Please answer y or n.")?,
            };
        }
    }
}

/// While this lives, the terminal shows nothing of what is typed but the end of the line. What was
/// typed before is thrown away, so that no half of a secret is shown and the other half taken.
struct Unseen {
    before: Termios,
}

impl Unseen {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        unseen.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(io::stdin(), OptionalActions::Flush, &unseen)?;
        Ok(Self { before })
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
