//! What the calls of jobs have of their own: a question names the job that asks, "always" is for
//! that job alone, and what was granted ends with the job. Must not know how a job fires, or doors.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Calls;
use crate::domain::{
    Answer, Choice, Effect, OwnServerName, Scope, Term, ToolCall, ToolOutput, escape,
    heartbeat_named, job_of,
};
use crate::store::{AuditEntry, GrantRow, JobName, StoreError, Tx};

/// When a job would fire that is not made yet.
#[derive(Clone, Debug)]
pub struct JobPreview {
    pub when: String,
    /// The next three firings.
    pub next: Vec<String>,
}

type Look = dyn Fn(&Value) -> Option<JobPreview> + Send + Sync;

/// Tells it of the arguments of `schedule`, or nothing where they name no time.
#[derive(Clone)]
pub struct PreviewJob(Arc<Look>);

impl PreviewJob {
    pub fn new(look: impl Fn(&Value) -> Option<JobPreview> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    /// One that knows nothing.
    pub fn none() -> Self {
        Self::new(|_| None)
    }

    pub(super) fn of(&self, fields: &Value) -> Option<JobPreview> {
        (self.0)(fields)
    }
}

impl fmt::Debug for PreviewJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PreviewJob")
    }
}

impl Calls {
    /// Says in the question which job asks, and offers "always" for it.
    pub(super) fn name_job(
        &self,
        call: &ToolCall,
        choices: &[Choice],
        effect: &mut Effect,
    ) -> Result<(), StoreError> {
        let Some((job, revision)) = job_of(&call.principal) else { return Ok(()) };
        let name = self.store.read(|tx| tx.job_name(job, revision))?;
        effect.asker = Some(asks(job, name));
        effect.for_job = true;
        let exact = Answer::Allow { term: Term::Always, scope: Scope::Exact };
        effect.offer =
            choices.iter().find(|choice| choice.answer == exact).map(|choice| choice.key.clone());
        Ok(())
    }

    /// A call of the scheduler has ended well: what was granted to a job that is not there any
    /// more, or is another one now, ends.
    pub(super) async fn end_grants_of_job(
        &self,
        call: &ToolCall,
        output: &ToolOutput,
    ) -> Result<(), StoreError> {
        let changes = ["cancel", "change"].contains(&call.tool.as_str());
        if output.is_error
            || !changes
            || self.hub.builtin(&call.server) != Some(OwnServerName::Scheduler)
        {
            return Ok(());
        }
        let Some(id) = call.arguments.get("id").and_then(Value::as_str) else { return Ok(()) };
        let id = id.trim().to_owned();
        self.end_grants(move |job, _| job == id).await
    }

    /// Ends what was granted to jobs that are none of these, at these revisions.
    pub async fn end_grants_of_other_jobs(
        &self,
        known: BTreeSet<(String, i64)>,
    ) -> Result<(), StoreError> {
        let is_over = move |job: &str, revision| {
            heartbeat_named(job).is_none() && !known.contains(&(job.to_owned(), revision))
        };
        self.end_grants(is_over).await
    }

    /// Ends what was granted to a heartbeat while its entry was another one.
    pub async fn end_grants_of_earlier(
        &self,
        heartbeat: &str,
        revision: i64,
    ) -> Result<(), StoreError> {
        let name = heartbeat.to_owned();
        let is_over =
            move |job: &str, of: i64| heartbeat_named(job) == Some(&name) && of != revision;
        self.end_grants(is_over).await
    }

    /// Whether anything is granted to a job.
    pub fn has_grants_of_jobs(&self) -> Result<bool, StoreError> {
        let grants = self.store.read(|tx| tx.grants())?;
        let is_job = |(job, _): (&str, i64)| heartbeat_named(job).is_none();
        Ok(grants.iter().any(|grant| job_of(&grant.principal).is_some_and(is_job)))
    }

    async fn end_grants(
        &self,
        is_over: impl Fn(&str, i64) -> bool + Send + 'static,
    ) -> Result<(), StoreError> {
        let ends = move |grant: &GrantRow| {
            job_of(&grant.principal).is_some_and(|(job, revision)| is_over(job, revision))
        };
        if !self.store.read(|tx| tx.grants())?.iter().any(&ends) {
            return Ok(());
        }
        let end = move |tx: &Tx<'_>| {
            for grant in tx.grants()?.into_iter().filter(&ends) {
                tx.revoke_grant(grant.id)?;
                let body = json!({"grant": grant.id, "by": "the end of its job"});
                tx.audit(&AuditEntry { kind: "revoked", call: String::new(), body })?;
            }
            Ok(())
        };
        self.store.write(end).await
    }
}

/// `j3` is job 3 to a person.
fn number(job: &str) -> &str {
    job.strip_prefix('j').filter(|number| !number.is_empty()).unwrap_or(job)
}

/// What a person calls it, in the middle of a sentence.
pub(super) fn called(job: &str) -> String {
    match heartbeat_named(job) {
        Some(name) => format!("heartbeat {name}"),
        None => format!("job {}", number(job)),
    }
}

fn asks(job: &str, name: Option<JobName>) -> String {
    if let Some(heartbeat) = heartbeat_named(job) {
        return format!("Heartbeat {heartbeat} asks");
    }
    match name {
        Some(name) => {
            let schedule = escape::visible(&name.schedule).replace('`', "'");
            format!("Job {} “{}” ({schedule}) asks", number(job), name.title)
        }
        None => format!("Job {} asks", number(job)),
    }
}
