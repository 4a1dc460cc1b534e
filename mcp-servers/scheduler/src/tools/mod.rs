//! The tools, one file each, and the one list of them. Owns what all tools share: definition,
//! arguments, reply. Must not know the protocol's messages.

mod asked;
mod cancel;
mod change;
mod due;
mod heartbeat;
mod history;
mod list;
mod now;
mod pause;
mod schedule;
mod shown;
mod take;

use std::sync::{Arc, Mutex, PoisonError};

use claw_server_kit::tools::{About, Effect};
use rmcp::model::{ContentBlock, JsonObject};

use crate::caller::Caller;
use crate::error::{Result, ToolError};
use crate::heartbeats::Heartbeats;
use crate::schedule::Schedule;

pub use asked::JobRequest;
pub use due::as_json as due_as_json;
pub use list::as_json as jobs_as_json;

type ToolDef = claw_server_kit::tools::ToolDef<SharedSchedule>;

/// All tools in the order in which they are listed, which never changes between connections.
pub fn all(heartbeats: Option<Heartbeats>) -> Vec<ToolDef> {
    let jobs = vec![
        schedule::tool(),
        list::tool(),
        change::tool(),
        pause::pause(),
        pause::resume(),
        cancel::tool(),
        due::tool(),
        take::tool(),
        history::tool(),
        now::tool(),
    ];
    jobs.into_iter().chain(heartbeats.into_iter().flat_map(heartbeat::tools)).collect()
}

/// The jobs as all calls share them.
#[derive(Clone)]
pub struct SharedSchedule {
    schedule: Arc<Mutex<Schedule>>,
    /// Who asks, as far as the host has said it of this call.
    caller: Option<Caller>,
}

impl SharedSchedule {
    pub fn new(schedule: Schedule) -> Self {
        Self { schedule: Arc::new(Mutex::new(schedule)), caller: None }
    }

    /// The same jobs, for one call.
    pub fn asked_by(&self, caller: Option<Caller>) -> Self {
        Self { schedule: Arc::clone(&self.schedule), caller }
    }

    /// Works on the jobs as they are now: what has come is due.
    ///
    /// # Errors
    /// The file fails, or what `work` gives.
    pub fn with<T>(&self, work: impl FnOnce(&mut Schedule) -> Result<T>) -> Result<T> {
        self.with_raw(|schedule| {
            schedule.caller.clone_from(&self.caller);
            schedule.tick()?;
            work(schedule)
        })
    }

    /// The same without a look at the clock.
    pub fn with_raw<T>(&self, work: impl FnOnce(&mut Schedule) -> T) -> T {
        // A panic of another call leaves nothing half done in here: its transaction is rolled back.
        work(&mut self.schedule.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether any firing waits to be taken.
///
/// # Errors
/// The file fails.
pub fn is_any_due(schedule: &Schedule) -> Result<bool> {
    Ok(crate::store::firings::count_due(&schedule.db)? > 0)
}

/// What a tool gives back: text for a model, and the same for a program.
struct Reply<O> {
    text: String,
    structured: O,
}

/// What a tool does, as the list of tools holds it.
fn on_jobs<I, O>(
    run: fn(&mut Schedule, I) -> Result<Reply<O>>,
) -> impl Fn(&SharedSchedule, I) -> Result<claw_server_kit::tools::Reply<O>> {
    move |shared, input| {
        let reply = shared.with(|schedule| run(schedule, input))?;
        let content = vec![ContentBlock::text(reply.text)];
        Ok(claw_server_kit::tools::Reply {
            content,
            structured: reply.structured,
            meta: JsonObject::new(),
        })
    }
}

/// The rows of a page, held below the server's own limit.
///
/// # Errors
/// Zero, which asks for nothing.
fn limit(asked: Option<u64>, schedule: &Schedule) -> Result<usize> {
    let max = schedule.limits.page_rows_max;
    let count = asked.unwrap_or(max).min(max);
    if count == 0 {
        return Err(ToolError::refused("limit must be at least 1."));
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}
