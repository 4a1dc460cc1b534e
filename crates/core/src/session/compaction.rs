//! The steps that make a window smaller: what goes is kept as an artifact first, then one event
//! says so. A kill in between leaves the window as it was. Tells what it came to. Must not know
//! when such a step is due, or how a summary is worded.

use claw_kit::counted::grouped;

use super::drive::Drive;
use super::watch::By;
use super::worker::SessionError;
use crate::domain::{
    CallId, CutResult, EventBody, Live, OutboundBody, Outcome, UnixMillis, heartbeat_of,
};
use crate::killpoint;
use crate::store::{InboxRow, now_ms};
use crate::turn::compaction::{ASKED_PER_HOUR_MAX, may_ask};
use crate::turn::summarise::{Summarised, asked_ms, cut_event, made};
use crate::turn::{cut, window};

/// A window that is smaller costs less as it is than the summary that it would begin anew with.
const IDLE_WORTH_TOKENS: u64 = 1_000;

impl Drive<'_> {
    /// What somebody is told who asks by `/compact`.
    pub(super) fn when_compacted(&self) -> &'static str {
        if may_ask(&self.log) {
            "The oldest exchanges will be summarised."
        } else {
            "The oldest exchanges will be summarised when less than three summaries were asked for \
             in an hour."
        }
    }

    /// Notes a long pause before the turn of this message, so that the turn begins with a summary.
    /// A heartbeat sees its newest turns themselves, and its budget is for its work.
    pub(super) fn begin_anew_if_idle(&mut self, row: &InboxRow) {
        if heartbeat_of(&row.inbound.principal).is_some() {
            return;
        }
        let Some(last_ms) = self.log.events().last().map(|event| event.at_ms) else { return };
        let idle_s = ((now_ms() - last_ms) / 1000).max(0) as u64;
        let limit_s = self.settings.idle_window_s;
        let is_idle = limit_s > 0 && idle_s >= limit_s && self.log.has_ended_turn();
        if is_idle && may_ask(&self.log) && window::size(&self.log).tokens >= IDLE_WORTH_TOKENS {
            self.push(EventBody::WindowIdle { idle_s });
        }
    }

    pub(super) async fn cut_results(&mut self, calls: Vec<CallId>) {
        let mut cut = Vec::new();
        for call in &calls {
            let Some(text) = self.text_of_result(call) else { continue };
            let kept = self.worker.gate.calls().keep_seen_result(call, &text).await;
            let named = cut::key(call).zip(kept.as_ref().ok());
            if let Some(((reply_seq, block), artifact)) = named {
                let artifact = artifact.clone();
                cut.push(CutResult { reply_seq, block, artifact });
            } else if let Err(error) = kept {
                return self.not_kept(&error, None);
            }
        }
        let event = cut_event(&self.log, cut);
        self.push(event);
    }

    fn text_of_result(&self, wanted: &CallId) -> Option<String> {
        self.log.events().iter().find_map(|event| match &event.body {
            EventBody::ToolResult { call, outcome } if call == wanted => match &**outcome {
                Outcome::Ended { output } => Some(output.text.clone()),
                _ => None,
            },
            _ => None,
        })
    }

    pub(super) async fn compact(&mut self, through_seq: u64) -> Result<(), SessionError> {
        if self.no_summary().await? {
            return Ok(());
        }
        let asked_at = Some(now_ms());
        let persona = self.persona().await?;
        let around = self.around(self.worker.ending().no_new_step());
        (self.live)(Live::Notice {
            text: "Summarising the oldest part of the conversation…".into(),
        });
        let settings = self.settings.clone();
        let with_facts = self.asks_for_facts();
        let asked =
            settings.runner.summarise(&self.log, &persona, through_seq, with_facts, &around);
        let replied =
            self.worker.interruptible(&self.session, &around.cancel, By::Stop, asked).await;
        killpoint::here("compact.summarised");
        match replied {
            // It is asked for again when claw goes on.
            Err(_) if self.worker.ending().has_begun() => {}
            Err(reason) => self.not_summarised(reason, asked_at),
            Ok(summarised) => self.summarised(through_seq, summarised, asked_at).await?,
        }
        Ok(())
    }

    async fn summarised(
        &mut self,
        through_seq: u64,
        Summarised { text, facts, spent }: Summarised,
        asked_at: Option<UnixMillis>,
    ) -> Result<(), SessionError> {
        let (mut kept, whole) = self.settings.runner.keeps(&self.log, through_seq);
        match self.worker.gate.calls().keep_text(self.session.as_str(), whole).await {
            Ok(archive) => kept.archive = Some(archive),
            Err(error) => {
                self.not_kept(&error, asked_at);
                return Ok(());
            }
        }
        killpoint::here("compact.archived");
        // Before the part goes: whoever comes after a kill has it summarised once more, and the
        // memory gives the same proposals again.
        let offered = self.propose_facts(&facts, through_seq).await?;
        killpoint::here("compact.proposed");
        let made = Box::new(made(&self.log, through_seq, &text, kept, asked_at));
        let (before, after) = (made.before_tokens, made.after_tokens);
        let less = 100 - (after * 100 / before.max(1)).min(100);
        let asked = self.log.asked_to_compact();
        let text_of_it =
            format!("Summarised: about {before} tokens before, {after} after ({less} % less).");
        self.tell_all(&asked, &OutboundBody::Notice { text: text_of_it });
        let here = self.who_is_here();
        let seq = self.push(EventBody::Summary { text, through_seq, spent, made });
        self.stage_facts(offered, seq, &here)
    }

    /// Drops the oldest part without a summary: what was kept before stays.
    pub(super) async fn drop_oldest(&mut self, through_seq: u64) {
        let (mut kept, whole) = self.settings.runner.keeps(&self.log, through_seq);
        // The log has it all the same, and the window has to become smaller.
        match self.worker.gate.calls().keep_text(self.session.as_str(), whole).await {
            Ok(archive) => kept.archive = Some(archive),
            Err(error) => tracing::warn!(%error, "a part of a conversation is in its log alone"),
        }
        let kept_summary = self.log.summary().unwrap_or_default().to_owned();
        let made = Box::new(made(&self.log, through_seq, &kept_summary, kept, None));
        let (before, after) = (made.before_tokens, made.after_tokens);
        let reason = "no summary made the window small enough".to_owned();
        let why = if self.is_refused_as_too_long() {
            "the model takes no more at once".to_owned()
        } else {
            let tokens = grouped(self.settings.runner.bounds.window_tokens);
            format!("the window is for {tokens} tokens")
        };
        self.say_to_all(format!(
            "The oldest part of this conversation was dropped without a summary ({why}): about {before} tokens before, {after} after. Rules and names of it \
             stay, and the log keeps it: `{} sessions show {}`.",
            self.worker.gate.calls().claw(),
            self.session
        ));
        self.push(EventBody::WindowDropped { reason, through_seq, kept_summary, made });
    }

    /// The window stays as it is. `asked` is when a model was asked in vain.
    pub(super) fn not_summarised(&mut self, reason: String, asked: Option<UnixMillis>) {
        // What the provider has refused as too long is dropped instead, which is told then.
        let then = if self.is_refused_as_too_long() {
            String::new()
        } else {
            format!(
                " The model still sees it; claw tries again in a later turn, at most \
                 {ASKED_PER_HOUR_MAX} times an hour."
            )
        };
        self.say_to_all(format!(
            "The oldest part of this conversation could not be summarised ({reason}).{then}"
        ));
        let asked_ms = asked_ms(&self.log, asked);
        self.push(EventBody::CompactionFailed { reason, asked_ms });
    }

    fn is_refused_as_too_long(&self) -> bool {
        self.turn().failure.is_some_and(|failure| failure.context_too_long)
    }

    /// Nothing may go that is kept nowhere.
    fn not_kept(&mut self, error: &std::io::Error, asked: Option<UnixMillis>) {
        self.not_summarised(format!("what would go cannot be written to the disk: {error}"), asked);
    }

    fn say_to_all(&mut self, text: String) {
        (self.live)(Live::Notice { text: text.clone() });
        let mut addresses = self.addresses();
        addresses.extend(self.log.asked_to_compact());
        addresses.sort();
        addresses.dedup();
        self.tell_all(&addresses, &OutboundBody::Notice { text });
    }
}
