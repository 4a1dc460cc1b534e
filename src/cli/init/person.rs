//! The person at the terminal: lines that can be waited for beside other things, and secrets that are typed unseen. Must not know what is
//! asked.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anyhow::Context as _;
use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use secrecy::SecretString;
use tokio::sync::mpsc;

use crate::cli::fail::UserError;
use crate::cli::out;

/// Somebody who types. One at a time, because it takes what is typed.
pub struct Person {
    lines: mpsc::Receiver<io::Result<String>>,
}

impl Person {
    /// Whether there is a terminal to ask at.
    pub fn is_there() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    pub fn listen() -> anyhow::Result<Self> {
        let (send, lines) = mpsc::channel(1);
        // A thread of its own, which nobody waits for: a read from a terminal cannot be given up.
        let thread = std::thread::Builder::new().name("claw-typed".into());
        thread.spawn(move || read_lines(&send)).context("cannot listen to the terminal")?;
        Ok(Self { lines })
    }

    /// The next line that is typed, without blanks around it. May be dropped and asked again.
    pub async fn line(&mut self) -> anyhow::Result<String> {
        let line = self.lines.recv().await;
        let ended = || UserError::because("the input has ended, so nothing was written; run `claw init` again");
        Ok(line.ok_or_else(ended)?.context("cannot read from the terminal")?.trim().to_owned())
    }

    pub async fn ask(&mut self, question: &str) -> anyhow::Result<String> {
        show(question)?;
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
        while self.lines.try_recv().is_ok() {}
    }

    /// Asks until the answer is clear; Enter alone is `usual`.
    pub async fn agrees(&mut self, question: &str, usual: bool) -> anyhow::Result<bool> {
        let choice = if usual { "[Y/n]" } else { "[y/N]" };
        loop {
            match self.ask(&format!("{question} {choice} ")).await?.to_ascii_lowercase().as_str() {
                "" => return Ok(usual),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => out::line("Please answer y or n."),
            };
        }
    }
}

fn show(question: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(question.as_bytes())?;
    stdout.flush()
}

fn read_lines(to: &mpsc::Sender<io::Result<String>>) {
    loop {
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) => return,
            Ok(_) if to.blocking_send(Ok(line)).is_ok() => {}
            Ok(_) => return,
            Err(error) => {
                let _ = to.blocking_send(Err(error));
                return;
            }
        }
    }
}

/// While this lives, the terminal shows nothing of what is typed but the end of the line. What was typed before is thrown away, so that
/// no half of a secret is shown and the other half taken.
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
