//! The console as a door: what is sent to it stands at the end of a channel to the screen, which
//! knows what of it is there already. Must not know when anything is shown, or how it looks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::sync::mpsc;

use super::chat::ConsoleShow;
use crate::domain::{Address, ApprovalId, LiveSink, OutboundBody, Question, SessionId};
use crate::doors::answer_words;
use crate::doors::door::{Closed, Door, DoorFault, QuestionMessage};
use crate::mail::PostedQuestion;

/// Lives as long as its chat; the screen ends when the last of what holds it has gone.
pub struct ConsoleDoor {
    show: mpsc::Sender<ConsoleShow>,
    /// The number of the newest message. It counts within this process alone.
    newest: AtomicI64,
    /// The principal of whoever sits at this machine.
    owner: String,
}

impl ConsoleDoor {
    pub fn new(show: mpsc::Sender<ConsoleShow>, owner: String) -> Self {
        Self { show, newest: AtomicI64::new(0), owner }
    }

    /// What only a terminal shows. A screen that is gone ends the chat by itself.
    pub async fn show(&self, show: ConsoleShow) -> Result<i64, DoorFault> {
        let gone = |_| DoorFault::Gone("the terminal has gone".to_owned());
        self.show.send(show).await.map_err(gone)?;
        Ok(self.newest.fetch_add(1, Ordering::Relaxed))
    }

    /// The same, of which nobody has to know whether anybody was there.
    pub async fn say(&self, show: ConsoleShow) {
        let _ = self.show(show).await;
    }

    /// What has become of a question that is no longer open; `how` completes "The question about
    /// … ".
    pub async fn closed(&self, approval: ApprovalId, how: String) -> Result<(), DoorFault> {
        self.show(ConsoleShow::QuestionClosed { approval, how }).await.map(drop)
    }
}

impl Door for ConsoleDoor {
    const NAME: &'static str = "console";

    /// A row as it is: the screen completes what it has shown of it while it was written.
    type Text = OutboundBody;

    async fn send(&self, _: &Address, text: &OutboundBody) -> Result<i64, DoorFault> {
        self.show(ConsoleShow::Out(text.clone())).await
    }

    async fn ask(
        &self,
        _: &Address,
        turn: u64,
        question: &Question,
    ) -> Result<QuestionMessage, DoorFault> {
        let question = Box::new(question.clone());
        let body = OutboundBody::Question { turn_seq: turn, question };
        let message = self.show(ConsoleShow::Out(body)).await?;
        Ok(QuestionMessage { message, at_s: 0, file: false })
    }

    async fn show_answered(
        &self,
        _: &PostedQuestion,
        question: &Question,
    ) -> Result<(), DoorFault> {
        self.show(ConsoleShow::ListChanged(Box::new(question.clone()))).await.map(drop)
    }

    async fn close(
        &self,
        posted: &PostedQuestion,
        question: &Question,
        how: &Closed,
    ) -> Result<(), DoorFault> {
        let how = answer_words::closed(how, question, &self.owner);
        self.closed(posted.approval.clone(), how).await
    }

    fn glimpses(self: &Arc<Self>, _: &SessionId, _: &Address) -> LiveSink {
        let show = self.show.clone();
        // A full queue drops a glimpse; the outbox brings the whole.
        Arc::new(move |live| drop(show.try_send(ConsoleShow::Live(live))))
    }
}
