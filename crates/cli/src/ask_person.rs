//! Puts a question to the person at the terminal of a one-shot command, until it is answered there
//! or elsewhere. Must not know what an answer grants.

use std::future::Future;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::time::Duration;

use rustix::termios::{QueueSelector, tcflush};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use super::out;
use crate::domain::{Answer, ApprovalState, Question};
use crate::doors::clean::clean_line;
use crate::doors::door::Closed;
use crate::doors::questions::closed;
use crate::doors::{answer_words, call_list};
use crate::mail::{Mail, time_until};
use crate::terminal::question::{Clock, ParsedAnswer, parse_answer, question_lines, whole_lines};
use crate::terminal::size::terminal_size;
use crate::terminal::style::Look;

/// A question whose time is over stands for so long at least, in case somebody has answered at the
/// last moment.
const EXPIRED_STANDS: Duration = Duration::from_secs(1);
/// Why a question closes whose turn is told to stop.
const STOPPED: &str = "the turn is stopped";

/// What came of a question.
pub enum QuestionOutcome {
    Answered(Answer),
    /// It was answered elsewhere, or closed; the person was told.
    Closed,
    /// The end of input: it stays open.
    LeftOpen,
}

/// Whether there is somebody to ask.
pub fn possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks until the answer is clear, or the question is open no more. `owner` is the principal of
/// whoever sits here.
pub async fn ask(mail: &Mail, question: &Question, owner: &str) -> anyhow::Result<QuestionOutcome> {
    let look = Look::new(terminal_size().columns, false);
    for line in question_lines(question, None, look) {
        out::err_line(&line);
    }
    let closed = closed_elsewhere(mail, question);
    tokio::pin!(closed);
    loop {
        let line = tokio::select! {
            biased;
            how = &mut closed => {
                say_closed(&how?, question, owner);
                return Ok(QuestionOutcome::Closed);
            }
            line = typed() => line?,
        };
        let Some(line) = line else { return Ok(QuestionOutcome::LeftOpen) };
        if line.trim() == "?" {
            for line in whole_lines(question, None, look, &Clock::system()) {
                out::err_line(&line);
            }
            continue;
        }
        match parse_answer(&line, question) {
            ParsedAnswer::Answer(answer) => return Ok(QuestionOutcome::Answered(answer)),
            ParsedAnswer::Unclear(sentence) => out::err_line(&sentence),
            ParsedAnswer::NotAnAnswer => {
                out::err_line("Please answer with one of the letters above; Ctrl-D leaves it open.")
            }
        }
    }
}

/// Waits until a question is no longer open, and says how that came. It subscribes to changes at
/// once, so that none is missed before it waits.
fn closed_elsewhere(
    mail: &Mail,
    question: &Question,
) -> impl Future<Output = anyhow::Result<Closed>> {
    let (mut changes, stands_until) = (mail.changes(), Instant::now() + EXPIRED_STANDS);
    async move {
        loop {
            let mut left = Duration::MAX;
            if let Some(row) = mail.asked_question(&question.approval)? {
                if row.state != ApprovalState::Waiting {
                    return Ok(closed(&row, None).0);
                }
                // The run of its session closes it, and comes when nobody is asked any more.
                let session = question.session.as_ref();
                let stops = session.map(|session| mail.stop_queued(session)).transpose()?;
                if stops == Some(true) {
                    let (at_ms, why) = (Clock::system().now_ms, STOPPED.to_owned());
                    return Ok(Closed::Superseded { at_ms, why });
                }
                let stands = stands_until.saturating_duration_since(Instant::now());
                left = time_until(row.expires_ms).max(stands);
                // So it does with this one.
                if row.expires_ms <= Clock::system().now_ms && stands.is_zero() {
                    return Ok(Closed::Expired { at_ms: row.expires_ms });
                }
            }
            changes.wait_at_most(left).await;
        }
    }
}

/// Below the prompt. What was typed there was for this question and is for nobody else.
fn say_closed(how: &Closed, question: &Question, owner: &str) {
    // A terminal that cannot do it gives the letters to whoever reads next, as it did before.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    let about = clean_line(&call_list::about(question));
    let how = answer_words::closed(how, question, owner);
    out::err_line(&format!("\nclaw: the question about {about} {how}."));
}

/// Asks on the terminal; only a clear yes is one.
pub fn agreed(question: &str) -> io::Result<bool> {
    out::err_prompt(&format!("{question} [y/N] "))?;
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        end_line()?;
    }
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// A line of the terminal, which has it to read only when it is whole. `None` at the end of input.
async fn typed() -> anyhow::Result<Option<String>> {
    io::stderr().write_all(b"> ")?;
    // Where the system cannot tell of a line, it is waited for in vain: the question
    // closes behind it.
    #[expect(deprecated, reason = "standard input stays open; what replaces it is unsafe")]
    let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE);
    if let Ok(terminal) = terminal {
        let _a_line = terminal.readable().await?;
    }
    Ok(tokio::task::spawn_blocking(read_line).await??)
}

fn read_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    if read == 0 {
        end_line()?;
    }
    Ok((read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// Ctrl-D leaves the cursor behind the question.
fn end_line() -> io::Result<()> {
    io::stderr().write_all(b"\n")
}
