//! Waits for what a turn has to say to one address: runs the session, and hands over what comes
//! out. Shared by `ask`, `approve` and `deny`. Must not know how anything is shown.

use std::sync::Arc;

use super::instance_outbox::InstanceOutbox;
use crate::domain::{LiveSink, OutboundBody, Question};
use crate::session::{Ran, Worker};

/// How following ended.
pub enum Followed {
    /// The turn that began with this event has ended, with this text. Whoever has shown it says so
    /// with `Follow::shown`: until then it counts as not shown, and a later run shows it.
    Replied { turn_seq: u64, text: String, outbox_id: i64 },
    /// These questions wait for an answer.
    Waits(Vec<Question>),
    /// Nothing is left to do, and no reply came (for example after an order).
    Quiet,
}

/// Follows one session on behalf of one instance.
pub struct Follow {
    pub outbox: InstanceOutbox,
    pub worker: Arc<Worker>,
    pub live: LiveSink,
}

impl Follow {
    /// Collects what a run has addressed to this instance. `notice` gets every notice as it is
    /// read, and says whether it was shown; one that was not waits for a later run.
    pub async fn said(
        &self,
        ran: Ran,
        mut notice: impl FnMut(&str) -> bool,
    ) -> anyhow::Result<Followed> {
        let mut replied: Option<(u64, String, i64)> = None;
        let mut asked = Vec::new();
        for row in self.outbox.waiting()? {
            match row.outbound.body {
                OutboundBody::Reply { turn_seq, text, .. } => {
                    // Two turns ended: the older reply is read out first, or nobody would ever see
                    // it.
                    if let Some((_, older, id)) = replied.replace((turn_seq, text, row.id))
                        && notice(&older)
                    {
                        self.shown(id).await?;
                    }
                    continue;
                }
                // What was staged asks for nothing on the way of this turn; whoever has asked reads
                // it behind the reply.
                OutboundBody::Question { question, .. } if question.staged.is_some() => {}
                OutboundBody::Question { question, .. } => asked.push(*question),
                OutboundBody::Notice { text } | OutboundBody::Reminder { text, .. }
                    if !notice(&text) =>
                {
                    continue;
                }
                OutboundBody::Notice { .. } | OutboundBody::Reminder { .. } => {}
                // A chat alone is told one.
                OutboundBody::Digest { .. } => {}
                // Standard output gets the answer and nothing else; the log has the rest.
                OutboundBody::Said { .. } => {}
            }
            self.shown(row.id).await?;
        }
        // A question that was answered or superseded meanwhile is no longer open.
        let mut open = Vec::new();
        for question in asked {
            open.extend(self.outbox.mail.open_question(&question.approval)?);
        }
        if ran == Ran::Parked && open.is_empty() {
            open = self.open_questions()?;
        }
        Ok(match replied {
            Some((turn_seq, text, outbox_id)) => Followed::Replied { turn_seq, text, outbox_id },
            None if !open.is_empty() => Followed::Waits(open),
            None => Followed::Quiet,
        })
    }

    /// Says that a row of the outbox was shown.
    pub async fn shown(&self, outbox_id: i64) -> anyhow::Result<()> {
        Ok(self.outbox.shown(outbox_id).await?)
    }

    /// Every open question that a turn of the session waits for, whoever it was put to.
    pub fn open_questions(&self) -> anyhow::Result<Vec<Question>> {
        let rows = self.outbox.mail.open_questions(Some(&self.outbox.session))?;
        Ok(rows
            .into_iter()
            .map(|row| row.question)
            .filter(|question| question.staged.is_none())
            .collect())
    }

    /// Finishes what an earlier run of this session left, and takes over what its door has not
    /// shown.
    pub async fn finish_leftovers(&self) -> anyhow::Result<()> {
        if self.worker.left_over(&self.outbox.session)? {
            self.worker.run(&self.outbox.session, &self.live).await?;
        }
        Ok(self.outbox.adopt().await?)
    }
}
