//! The calls that run right now, with the last row of each one's progress. Owns which of them have
//! a row below the text, and how often progress is printed; must not know turns or the terminal.

use std::time::{Duration, Instant};

use crate::domain::CallId;

use crate::doors::clean::clean_line;
use crate::terminal::bar::bar;
use crate::terminal::wrap::width;

/// Without a terminal, the progress of one call is printed at most this often.
const PLAIN_PROGRESS_EVERY: Duration = Duration::from_secs(2);
/// Running calls that have a row of their own; the others are counted.
const CALL_ROWS_MAX: usize = 4;

#[derive(Debug)]
struct RunningCall {
    call: CallId,
    title: String,
    progress: String,
    /// When its progress was last printed as a line.
    printed: Option<Instant>,
}

/// In the order in which they started.
#[derive(Debug, Default)]
pub struct RunningCalls(Vec<RunningCall>);

impl RunningCalls {
    pub fn start(&mut self, call: CallId, title: String) {
        self.0.push(RunningCall { call, title, progress: String::new(), printed: None });
    }

    pub fn end(&mut self, call: &CallId) {
        self.0.retain(|running| running.call != *call);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Notes the progress of a running call. Returns its last row that shows something.
    pub fn progress(&mut self, call: &CallId, text: &str) -> Option<String> {
        let running = self.0.iter_mut().find(|running| running.call == *call)?;
        let row = text.lines().rev().map(clean_line).find(|row| !row.is_empty())?;
        running.progress.clone_from(&row);
        Some(row)
    }

    /// Whether enough time has passed since the call's progress was last printed. Notes the time if
    /// so.
    pub fn may_print(&mut self, call: &CallId, now: Instant) -> bool {
        let Some(running) = self.0.iter_mut().find(|running| running.call == *call) else {
            return false;
        };
        if running.printed.is_some_and(|at| now.duration_since(at) < PLAIN_PROGRESS_EVERY) {
            return false;
        }
        running.printed = Some(now);
        true
    }

    /// What is shown of them below the text; a row that is too long for `room` columns takes two.
    pub fn rows(&self, room: usize) -> Vec<String> {
        let mut rows = Vec::new();
        for running in self.0.iter().take(CALL_ROWS_MAX) {
            let title = format!("running: {}", running.title);
            let progress =
                bar(&running.progress, room / 4).unwrap_or_else(|| running.progress.clone());
            let both = format!("{title} · {progress}");
            if progress.is_empty() {
                rows.push(title);
            } else if width(&both) <= room {
                rows.push(both);
            } else {
                rows.push(title);
                rows.push(format!("  {progress}"));
            }
        }
        if self.0.len() > CALL_ROWS_MAX {
            rows.push(format!("and {} more", self.0.len() - CALL_ROWS_MAX));
        }
        rows
    }
}
