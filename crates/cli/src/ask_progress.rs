//! What a person reads on stderr while a command waits for the end of a turn: which calls run, and
//! one row, written anew in its place: that the model works, or what the call has said that has
//! said something last. In a pipe or a file there is no such row. Must not know what a call does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::out;
use crate::domain::{CallId, Live, LiveSink, escape};
use crate::doors::clean::clean_line;
use crate::terminal::bar::bar;
use crate::terminal::thinking::Thinking;
use crate::terminal::wrap::width;

/// The row is not written more often than this: a server may tell of each byte.
const REDRAWN_EVERY: Duration = Duration::from_millis(100);
/// How often is looked whether the seconds of a model at work are others.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Progress for a person who waits. Text of the model is not streamed: stdout gets the whole reply,
/// once.
///
/// Must be called in a runtime: the row of a model at work is written by a task, until the sink is
/// dropped.
pub fn on_stderr() -> LiveSink {
    let progress = Arc::new(Progress::default());
    if out::err_columns().is_some() {
        claw_kit::task::spawn(count_seconds(Arc::downgrade(&progress)));
    }
    Arc::new(move |live| {
        progress.sees(&live, Instant::now());
        print(live);
        progress.has_printed();
    })
}

async fn count_seconds(progress: Weak<Progress>) {
    let mut looks = tokio::time::interval(LOOK_EVERY);
    loop {
        looks.tick().await;
        let Some(progress) = progress.upgrade() else { return };
        progress.ticks(Instant::now());
    }
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
    /// The model, and how often something was printed when it was seen to work last: behind
    /// anything else that was printed, such as its reply, it has no row any more.
    thinking: Option<(Thinking, u64)>,
    /// The model writes its reply.
    writes: bool,
}

impl Progress {
    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The row of the model counts its seconds, from the first one on.
    fn ticks(&self, now: Instant) {
        let mut shown = self.shown();
        let writes = shown.writes;
        let Some((thinking, printed)) = &mut shown.thinking else { return };
        if !thinking.tick(now) {
            return;
        }
        let Some(columns) = out::err_columns() else { return };
        let room = columns.saturating_sub(1);
        let row = within(&thinking.row(writes, room), room);
        if !out::err_row_since(*printed, &row) {
            shown.thinking = None;
        }
    }

    /// What the sink itself has printed ends no row of the model.
    fn has_printed(&self) {
        if let Some((_, printed)) = &mut self.shown().thinking {
            *printed = out::printed();
        }
    }

    /// Notes which calls run, and shows the progress of one. What is printed meanwhile takes the
    /// row away by itself.
    fn sees(&self, live: &Live, now: Instant) {
        let mut shown = self.shown();
        match live {
            Live::StepStarted { .. } => {
                shown.thinking = Some((Thinking::new(now), out::printed()));
                shown.writes = false;
            }
            Live::Text { text, .. } | Live::Reasoning { text, .. } => {
                shown.writes |= matches!(live, Live::Text { .. });
                if let Some((thinking, _)) = &mut shown.thinking {
                    thinking.heard(text.len());
                }
            }
            Live::CallStarted { call, title } => {
                shown.thinking = None;
                shown.running.push((call.clone(), title.clone()));
            }
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
