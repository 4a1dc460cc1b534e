//! What a person reads on stderr while a command waits for the end of a turn: which calls run, and
//! one row of the call that has said something last, written anew in its place. In a pipe or a file
//! there is no such row. Must not know what a call does.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::out;
use crate::domain::{CallId, Live, LiveSink, escape};
use crate::doors::clean::clean_line;
use crate::terminal::bar::bar;
use crate::terminal::wrap::width;

/// The row is not written more often than this: a server may tell of each byte.
const REDRAWN_EVERY: Duration = Duration::from_millis(100);

/// Progress for a person who waits. Text of the model is not streamed: stdout gets the whole reply,
/// once.
pub fn on_stderr() -> LiveSink {
    let progress = Progress::default();
    Arc::new(move |live| {
        progress.sees(&live, Instant::now());
        print(live);
    })
}

fn print(live: Live) {
    match live {
        Live::CallStarted { title, .. } => out::err_line(&format!("running: {title}")),
        Live::CallEnded { ok: false, title, summary, .. } => {
            let why = if summary.is_empty() { String::new() } else { format!(": {summary}") };
            out::err_line(&format!("✗ {title}{why}"));
        }
        Live::CallAsks { approval, .. } => out::err_line(&format!(
            "claw: a server asks in the middle of its call, which waits. In another terminal: claw \
             approvals {approval}"
        )),
        Live::StepRestarted { why, .. } => {
            out::err_line(&format!("{} Asking again.", escape::visible(&why)))
        }
        Live::Server { text } | Live::Notice { text } => out::err_line(&out::clean(&text)),
        _ => {}
    }
}

/// Lives as long as the command that waits.
#[derive(Default)]
struct Progress(Mutex<Shown>);

#[derive(Default)]
struct Shown {
    /// The calls that run, by their titles.
    running: Vec<(CallId, String)>,
    drawn: Option<Instant>,
}

impl Progress {
    /// Notes which calls run, and shows the progress of one. What is printed meanwhile takes the
    /// row away by itself.
    fn sees(&self, live: &Live, now: Instant) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match live {
            Live::CallStarted { call, title } => shown.running.push((call.clone(), title.clone())),
            Live::CallEnded { call, .. } => {
                shown.running.retain(|(running, _)| running != call);
                shown.drawn = None;
                out::err_row_away();
            }
            Live::CallProgress { call, text } => {
                let Some(columns) = out::err_columns() else { return };
                if shown.drawn.is_some_and(|at| now.duration_since(at) < REDRAWN_EVERY) {
                    return;
                }
                let title = shown.running.iter().find(|(running, _)| running == call);
                let row = title.and_then(|(_, title)| row(title, text, columns));
                if let Some(row) = row {
                    shown.drawn = Some(now);
                    out::err_row(&row);
                }
            }
            _ => {}
        }
    }
}

/// The last line that shows something. It leaves the last column free, where a terminal may wrap.
fn row(title: &str, text: &str, columns: usize) -> Option<String> {
    let room = columns.saturating_sub(1);
    let said = text.lines().rev().map(clean_line).find(|line| !line.is_empty())?;
    let said = bar(&said, room / 4).unwrap_or(said);
    let both = format!("{title} · {said}");
    // The title stands above already.
    let row = if width(&both) <= room { both } else { said };
    Some(within(&row, room))
}

fn within(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        let longer = format!("{cut}{c}");
        if width(&longer) >= room {
            break;
        }
        cut = longer;
    }
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_the_call_where_there_is_room_and_never_wraps() {
        let row = |text: &str, columns| row("shop/import", text, columns);
        assert_eq!(row("2/4", 40).unwrap(), "shop/import · ████░░░░░ 2/4");
        assert_eq!(row("two\nthree\n\n", 40).unwrap(), "shop/import · three");
        let long = row("reading the third of forty files", 40).unwrap();
        assert_eq!(long, "reading the third of forty files");
        let longer = row(&"很".repeat(40), 40).unwrap();
        assert!(width(&longer) <= 39 && longer.ends_with('…'), "{longer}");
        assert_eq!(row(" \n\u{1b}[2J", 40).unwrap(), "shop/import · ␛[2J");
        assert_eq!(row("\n", 40), None);
    }
}
