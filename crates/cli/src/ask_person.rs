//! Puts a question to the person at the terminal of a one-shot command. Must not know what an
//! answer grants.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::out;
use crate::domain::{Answer, Question};
use crate::terminal::question::{Clock, ParsedAnswer, parse_answer, question_lines, whole_lines};
use crate::terminal::size::terminal_size;
use crate::terminal::style::Look;

/// Whether there is somebody to ask.
pub fn possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks until the answer is clear. `None` at the end of input: the question then stays open.
pub async fn ask(question: &Question) -> anyhow::Result<Option<Answer>> {
    let look = Look::new(terminal_size().columns, false);
    for line in question_lines(question, None, look) {
        out::err_line(&line);
    }
    loop {
        let Some(line) = tokio::task::spawn_blocking(read_line).await?? else { return Ok(None) };
        if line.trim() == "?" {
            for line in whole_lines(question, None, look, &Clock::system()) {
                out::err_line(&line);
            }
            continue;
        }
        match parse_answer(&line, question) {
            ParsedAnswer::Answer(answer) => return Ok(Some(answer)),
            ParsedAnswer::Unclear(sentence) => out::err_line(&sentence),
            ParsedAnswer::NotAnAnswer => {
                out::err_line("Please answer with one of the letters above; Ctrl-D leaves it open.")
            }
        }
    }
}

/// Asks on the terminal; only a clear yes is one.
pub fn agreed(question: &str) -> io::Result<bool> {
    out::err_prompt(&format!("{question} [y/N] "))?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn read_line() -> io::Result<Option<String>> {
    let mut stderr = io::stderr();
    stderr.write_all(b"> ")?;
    stderr.flush()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}
