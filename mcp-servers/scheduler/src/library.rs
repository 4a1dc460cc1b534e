//! The tools without a protocol, for a program that is its owner's own hands (`claw schedule`), and
//! what no tool does: a firing that somebody asks for. Works while servers run on the same file.
//! Must not know what a tool does.

use std::path::Path;

pub use claw_server_kit::library_result::LibraryResult;
use claw_server_kit::tools::Tools;
use serde_json::{Value, json};

use crate::args::Args;
use crate::job::number_of;
use crate::schedule::Schedule;
use crate::tools::{self, SharedSchedule};

/// The jobs of one file.
pub struct Jobs {
    shared: SharedSchedule,
    tools: Tools<SharedSchedule>,
}

impl Jobs {
    /// Makes the file if it is not there.
    ///
    /// # Errors
    /// One sentence: the file cannot be used, or there is no such zone.
    pub fn open(args: &Args) -> Result<Self, String> {
        let schedule = Schedule::open(args).map_err(|error| error.to_string())?;
        Ok(Self { shared: SharedSchedule::new(schedule), tools: Tools::new(tools::all(None)) })
    }

    /// Where the jobs lie.
    pub fn file(&self) -> std::path::PathBuf {
        self.shared.with_raw(|schedule| schedule.path.clone())
    }

    /// Copies the jobs as they are at one moment, into a file that is not there or empty.
    ///
    /// # Errors
    /// The file cannot be read whole, or the copy cannot be written.
    pub fn copy_into(&self, to: &Path) -> Result<(), String> {
        self.shared.with_raw(|schedule| schedule.copy_into(to)).map_err(|error| error.to_string())
    }

    /// What a copy needs before it goes on elsewhere: jobs that act and have come since are paused,
    /// because they may have acted. Each as one line.
    ///
    /// # Errors
    /// The file fails; then nothing was changed.
    pub fn hold_back(&self) -> Result<Vec<String>, String> {
        self.shared.with_raw(Schedule::hold_back).map_err(|error| error.to_string())
    }

    /// Does what the tool of that name does. Nothing becomes due by it that a server would not make
    /// due.
    ///
    /// # Errors
    /// What the tool refuses, in its words.
    pub async fn run(&self, tool: &str, arguments: Value) -> Result<LibraryResult, String> {
        self.tools.run(tool, self.shared.clone(), arguments).await
    }

    /// Makes a firing of a job due now, with an id of its own. The job's own times stay
    /// as they are.
    ///
    /// # Errors
    /// There is no such job, or too much is due.
    pub fn fire(&self, id: &str) -> Result<LibraryResult, String> {
        let fired = self.shared.with(|schedule| schedule.run(number_of(id)?));
        let (job, firing) = fired.map_err(|error| error.to_string())?;
        let text = format!("Due now: [{}] {}", firing.id, job.plan.what.line());
        Ok(LibraryResult { text, structured: json!({ "id": job.id(), "firing": firing.id }) })
    }
}
