//! The effect of a call, with a look at the workspace where the words need one, and whether that
//! look would see the same again. Must not know what is said of it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use super::approvals::call_of_row;
use super::frozen::shown_digest;
use super::{AskedAgain, Calls, Grounds, JobPreview, effect};
use crate::catalog::Tool;
use crate::domain::{Effect, Mode, OwnServerName, ToolCall, ToolHints, Trust, escape};
use crate::hub::names::look;
use crate::policy::Facts;
use crate::store::{ApprovalRow, CallRow, PinRow, StoreError, Tx};
use crate::workspace::{PathContents, Workspace};

/// How long a question waits for a look. Without it the sentence says less.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);
/// The longest reason in a question, in characters; the whole is behind `?`.
const WHY_CHARS_MAX: usize = 72;
/// Rules that say no more than what class the tool is of.
const CLASSES: &str = "class.";

impl Calls {
    /// What a person reads of a call before the answer.
    pub(super) async fn effect(&self, call: &ToolCall, tool: &Tool, grounds: &Grounds) -> Effect {
        let facts = self.facts(call, tool.hints.destructive);
        let seen = self.look(call).await;
        let mark = seen.as_ref().map(PathContents::mark);
        // A file may hold a secret that claw knows.
        let seen = seen.map(|seen| match seen {
            PathContents::Text(text) => {
                PathContents::Text(self.redactor.redact(&text).into_owned())
            }
            seen => seen,
        });
        let mut effect = effect::effect_of(&facts, seen.as_ref(), tool.title.as_deref());
        effect.seen = mark;
        if let Some(preview) = self.preview_of(&facts) {
            effect::say_when(&mut effect, &facts, &preview);
        }
        if self.is_job_in_a_mode(call) {
            effect.notes.push("A background job is asked about in every mode".to_owned());
        }
        let strange = self.look_of(call);
        effect.danger |= !strange.is_empty();
        effect.notes.extend(strange);
        if tool.trust == Trust::Hints && tool.hints.says_destroys() {
            effect.notes.push("Its server says that it destroys".to_owned());
        }
        if let Some(why) = grounds.again {
            effect.notes.insert(0, self.why_again(why));
        }
        if !grounds.rule.starts_with(CLASSES) {
            effect.why = Some(short(&grounds.why));
        }
        effect
    }

    fn why_again(&self, why: AskedAgain) -> String {
        match why {
            AskedAgain::Changed => {
                "Asked again: what it changes has changed since your answer".to_owned()
            }
            AskedAgain::Moved => format!(
                "Asked again: it would run in {} now",
                escape::visible(&self.workspace().display().to_string())
            ),
        }
    }

    /// Whether somebody who has given a mode may wonder why this is asked about.
    fn is_job_in_a_mode(&self, call: &ToolCall) -> bool {
        let facts = self.facts(call, None);
        let is_job = facts.builtin == Some(OwnServerName::Bash) && facts.tool == "start";
        let mode = |session| self.mode(session, &call.principal).ok().flatten();
        is_job && call.session().and_then(mode).is_some_and(|found| found.mode == Mode::Work)
    }

    /// When the job would fire that this call makes or changes.
    fn preview_of(&self, facts: &Facts<'_>) -> Option<JobPreview> {
        let fields = match (facts.builtin, facts.tool) {
            (Some(OwnServerName::Scheduler), "schedule") => facts.arguments,
            (Some(OwnServerName::Scheduler), "change") => facts.arguments.get("to")?,
            _ => return None,
        };
        self.surroundings.preview_job.of(fields)
    }

    /// Whether everything that a question showed of a call is still so. What was stored of it is
    /// the same, and so is what the workspace has where the words rest on that.
    pub async fn is_as_shown(
        &self,
        row: &CallRow,
        approval: &ApprovalRow,
        call: &ToolCall,
    ) -> bool {
        let Some(effect) = &approval.question.effect else { return row.shown.is_empty() };
        if shown_digest(effect).ok().as_ref() != Some(&row.shown) {
            return false;
        }
        match &effect.seen {
            None => true,
            mark => self.look(call).await.as_ref().map(PathContents::mark) == *mark,
        }
    }

    /// Whether the question about one of these calls would have had the mark of danger: by its
    /// arguments, or because its server calls the tool destructive. What a file held then is not
    /// known any more.
    pub fn is_any_dangerous(&self, tx: &Tx<'_>, rows: &[CallRow]) -> Result<bool, StoreError> {
        let mut pins: BTreeMap<&str, Vec<PinRow>> = BTreeMap::new();
        for row in rows {
            let of_server = match pins.entry(&row.server) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => free.insert(tx.pins(Some(&row.server))?),
            };
            let pin = of_server.iter().find(|pin| pin.tool == row.tool);
            let hint = pin.and_then(|pin| ToolHints::of(&pin.raw).destructive);
            let Ok(call) = call_of_row(row) else { return Ok(true) };
            if effect::is_dangerous(&self.facts(&call, hint)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn look(&self, call: &ToolCall) -> Option<PathContents> {
        let facts = self.facts(call, None);
        let (path, last) = effect::looks_at(&facts)?;
        let (path, workspace) = (path.to_owned(), self.surroundings.workspace.clone());
        let look = tokio::task::spawn_blocking(move || {
            Workspace::open(&workspace).ok()?.look(&path, last)
        });
        in_time(async { look.await.ok().flatten() }).await
    }

    /// What a person should know of the names in a question.
    pub(super) fn look_of(&self, call: &ToolCall) -> Vec<String> {
        let pins = self.store.read(|tx| tx.pins(Some(&call.server))).unwrap_or_default();
        let twin = look::twin(
            &call.tool,
            pins.iter().map(|pin| pin.tool.as_str()).filter(|tool| !tool.is_empty()),
        );
        let twin = twin.map(|twin| {
            format!("the name `{}` looks like `{twin}`, which is another tool", call.tool)
        });
        let notes = [look::note(&call.server), look::note(&call.tool), twin];
        notes.into_iter().flatten().map(|note| escape::visible(&note)).collect()
    }
}

/// What a look brings, if it is not too long about it. It goes on behind the question then.
async fn in_time(look: impl Future<Output = Option<PathContents>>) -> Option<PathContents> {
    let seen = tokio::time::timeout(LOOK_TIME_MAX, look).await;
    seen.unwrap_or_else(|_| {
        tracing::warn!("the workspace takes long; a question says less");
        None
    })
}

fn short(why: &str) -> String {
    let why = escape::visible(why);
    match why.char_indices().nth(WHY_CHARS_MAX) {
        Some((end, _)) => format!("{}…", why[..end].trim_end()),
        None => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_look_that_takes_long_holds_no_question_up() {
        let asked = tokio::time::Instant::now();
        assert!(in_time(std::future::pending()).await.is_none());
        // Timers go by milliseconds.
        assert!(asked.elapsed() <= LOOK_TIME_MAX + Duration::from_millis(1));
        let slow = async {
            tokio::time::sleep(LOOK_TIME_MAX / 2).await;
            Some(PathContents::Nothing)
        };
        assert!(matches!(in_time(slow).await, Some(PathContents::Nothing)));
    }
}
