//! What a chat shows of a turn while it runs: the answer as far as it is written, and the calls
//! that run. Pure: takes glimpses, and says what has to be sent or changed next. Must not know when
//! that is done, or how a door paints it.

use super::chat_door::Paint;
use crate::domain::{CallId, Live};

/// So many messages of an answer are shown while it is written; what is longer comes when it is
/// finished.
const DRAFT_PARTS_MAX: usize = 5;
/// The same in bytes of its Markdown: a longer text is not laid out again every second.
const DRAFT_BYTES_MAX: usize = 64 * 1024;

/// What a message shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    Text { turn_seq: u64, step: u32, part: usize },
    Call(CallId),
}

/// One message to send, or to change if it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftChange<T> {
    pub slot: Slot,
    pub message: Option<i64>,
    pub text: T,
    /// What runs, while it runs.
    pub running: Option<String>,
}

impl<T> DraftChange<T> {
    /// Whether the message gets a button to stop what runs. A new one gets it by its first change,
    /// when its number is on record: a kill in between leaves no button that nobody knows of.
    pub fn has_button(&self) -> bool {
        self.running.is_some() && self.message.is_some()
    }

    /// Whether the message of a call that runs is new.
    pub fn is_new_call(&self) -> bool {
        self.running.is_some() && self.message.is_none()
    }
}

/// All that is not finished in one session.
#[derive(Debug)]
pub struct Drafts<T> {
    text: Option<TextDraft<T>>,
    calls: Vec<CallDraft<T>>,
    changed: bool,
}

impl<T> Default for Drafts<T> {
    fn default() -> Self {
        Self { text: None, calls: Vec::new(), changed: false }
    }
}

#[derive(Debug)]
struct TextDraft<T> {
    key: (u64, u32),
    markdown: String,
    /// The messages that are there, each with what it shows, if that is known.
    shown: Vec<(i64, Option<T>)>,
}

#[derive(Debug)]
struct CallDraft<T> {
    call: CallId,
    title: String,
    progress: String,
    /// Whether it went well, and what there is to say about it.
    end: Option<(bool, String)>,
    /// Its message, and what that shows once it has all that it is to have.
    shown: Option<(i64, Option<T>)>,
}

impl<T: PartialEq> Drafts<T> {
    /// Takes a glimpse. Returns the step that it began, if it did: messages that an earlier run
    /// sent of it can be [adopted](Self::adopt).
    pub fn take(&mut self, live: Live) -> Option<(u64, u32)> {
        match live {
            Live::StepStarted { turn_seq, step } => {
                let key = (turn_seq, step);
                let again = self.text.take().filter(|text| text.key == key);
                let shown = again.map(|text| text.shown).unwrap_or_default();
                self.text = Some(TextDraft { key, markdown: String::new(), shown });
                return Some(key);
            }
            Live::Text { turn_seq, step, text } => {
                if let Some(draft) =
                    self.text.as_mut().filter(|draft| draft.key == (turn_seq, step))
                {
                    draft.markdown.push_str(&text);
                    self.changed = true;
                }
            }
            Live::StepRestarted { turn_seq, step, .. } => {
                if let Some(draft) =
                    self.text.as_mut().filter(|draft| draft.key == (turn_seq, step))
                {
                    draft.markdown.clear();
                }
            }
            Live::CallStarted { call, title } => {
                // What was said before it is complete, and comes by the outbox.
                self.text = None;
                self.calls.push(CallDraft {
                    call,
                    title,
                    progress: String::new(),
                    end: None,
                    shown: None,
                });
                self.changed = true;
            }
            Live::CallProgress { call, text } => {
                if let Some(draft) = self.calls.iter_mut().find(|draft| draft.call == call) {
                    draft.progress = text;
                    self.changed = true;
                }
            }
            Live::CallEnded { call, ok, summary, .. } => {
                // A call that was quick was never shown, and its end is in the answer.
                self.calls.retain(|draft| draft.call != call || draft.shown.is_some());
                if let Some(draft) = self.calls.iter_mut().find(|draft| draft.call == call) {
                    draft.end = Some((ok, summary));
                    self.changed = true;
                }
            }
            Live::Reasoning { .. }
            | Live::CallAsks { .. }
            | Live::Server { .. }
            | Live::Notice { .. } => {}
        }
        None
    }

    /// Messages that show the step that has just begun, sent by an earlier run.
    pub fn adopt(&mut self, messages: Vec<i64>) {
        if let Some(text) = self.text.as_mut().filter(|text| text.shown.is_empty()) {
            text.shown = messages.into_iter().map(|message| (message, None)).collect();
        }
    }

    /// Whether there may be something to send. Cheap, unlike [`Self::next_change`].
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// The next thing to do, calls first: they have the button that somebody may be looking for.
    pub fn next_change<P: Paint<T>>(&mut self) -> Option<DraftChange<T>> {
        let change = self.calls.iter().find_map(CallDraft::next::<P>);
        let change = change.or_else(|| self.text.as_ref()?.next::<P>());
        self.changed = change.is_some();
        change
    }

    /// A change was made, in this message.
    pub fn made(&mut self, change: DraftChange<T>, message: i64) {
        match change.slot {
            Slot::Text { turn_seq, step, part } => {
                let Some(text) = self.text.as_mut().filter(|text| text.key == (turn_seq, step))
                else {
                    return;
                };
                match text.shown.get_mut(part) {
                    Some(shown) => *shown = (message, Some(change.text)),
                    None => text.shown.push((message, Some(change.text))),
                }
            }
            Slot::Call(call) => {
                let running = change.running.is_some();
                // Without its button it is not yet what it is to be.
                let shown = (!running || change.message.is_some()).then_some(change.text);
                if let Some(draft) = self.calls.iter_mut().find(|draft| draft.call == call) {
                    draft.shown = Some((message, shown));
                }
                self.calls.retain(|draft| draft.call != call || draft.end.is_none() || running);
            }
        }
    }

    /// This will not be shown any further.
    pub fn give_up(&mut self, slot: &Slot) {
        match slot {
            Slot::Text { .. } => self.text = None,
            Slot::Call(call) => self.calls.retain(|draft| draft.call != *call),
        }
    }

    /// The turn has ended or waits: its words come by the outbox, and no call runs any more.
    pub fn close(&mut self) {
        self.text = None;
        self.calls.retain(|draft| draft.shown.is_some());
        for draft in &mut self.calls {
            draft.end.get_or_insert((false, String::new()));
        }
        self.changed = true;
    }
}

impl<T: PartialEq> TextDraft<T> {
    fn next<P: Paint<T>>(&self) -> Option<DraftChange<T>> {
        if self.markdown.len() > DRAFT_BYTES_MAX {
            return None;
        }
        let (turn_seq, step) = self.key;
        let parts = P::beginning(&self.markdown).into_iter().take(DRAFT_PARTS_MAX).enumerate();
        parts.map(|(part, text)| (part, text, self.shown.get(part))).find_map(
            |(part, text, shown)| {
                let unchanged = shown.is_some_and(|(_, before)| before.as_ref() == Some(&text));
                let slot = Slot::Text { turn_seq, step, part };
                (!unchanged).then(|| DraftChange {
                    slot,
                    message: shown.map(|(id, _)| *id),
                    text,
                    running: None,
                })
            },
        )
    }
}

impl<T: PartialEq> CallDraft<T> {
    fn next<P: Paint<T>>(&self) -> Option<DraftChange<T>> {
        let (text, running) = match &self.end {
            None => (P::running(&self.title, &self.progress), Some(self.title.clone())),
            Some((ok, summary)) => (P::ended(&self.title, *ok, summary), None),
        };
        let unchanged =
            self.shown.as_ref().is_some_and(|(_, before)| before.as_ref() == Some(&text));
        let (slot, message) =
            (Slot::Call(self.call.clone()), self.shown.as_ref().map(|(id, _)| *id));
        (!unchanged).then_some(DraftChange { slot, message, text, running })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SessionId;
    use crate::markdown::completed;

    /// A door whose messages have room for 20 bytes.
    struct Plain;

    impl Paint<String> for Plain {
        fn beginning(markdown: &str) -> Vec<String> {
            let text = completed(markdown).replace('*', "");
            let parts = text.as_bytes().chunks(20);
            parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
        }

        fn running(title: &str, progress: &str) -> String {
            format!("running {title} {progress}")
        }

        fn ended(title: &str, ok: bool, _: &str) -> String {
            format!("{title} {ok}")
        }
    }

    type Drafts = super::Drafts<String>;

    fn text(drafts: &mut Drafts, said: &str) {
        drafts.take(Live::Text { turn_seq: 1, step: 1, text: said.into() });
    }

    fn begun() -> Drafts {
        let mut drafts = Drafts::default();
        assert_eq!(drafts.take(Live::StepStarted { turn_seq: 1, step: 1 }), Some((1, 1)));
        drafts
    }

    /// Makes the next change as message `id`, and says what it was.
    fn make(drafts: &mut Drafts, id: i64) -> Option<(Option<i64>, String, bool)> {
        let change = drafts.next_change::<Plain>()?;
        let said = (change.message, change.text.clone(), change.has_button());
        drafts.made(change, id);
        Some(said)
    }

    fn call() -> CallId {
        CallId::Reply { session: SessionId::new("s").unwrap(), reply_seq: 2, block: 0 }
    }

    #[test]
    fn an_answer_grows_in_one_message_and_goes_on_in_the_next() {
        let mut drafts = begun();
        assert!(!drafts.changed() && drafts.next_change::<Plain>().is_none());
        text(&mut drafts, "one **tw");
        assert_eq!(make(&mut drafts, 10), Some((None, "one tw".into(), false)));
        assert!(drafts.next_change::<Plain>().is_none() && !drafts.changed());
        text(&mut drafts, "o**");
        assert_eq!(make(&mut drafts, 10), Some((Some(10), "one two".into(), false)));
        text(&mut drafts, &"x".repeat(20));
        let full = format!("one two{}", "x".repeat(13));
        assert_eq!(make(&mut drafts, 10), Some((Some(10), full, false)));
        assert_eq!(make(&mut drafts, 11), Some((None, "x".repeat(7), false)), "the first is full");
        assert!(drafts.next_change::<Plain>().is_none());
    }

    #[test]
    fn a_step_that_is_asked_again_is_shown_where_it_was() {
        let mut drafts = begun();
        text(&mut drafts, "first try");
        make(&mut drafts, 10);
        drafts.take(Live::StepRestarted { turn_seq: 1, step: 1, why: String::new() });
        assert!(drafts.next_change::<Plain>().is_none(), "an empty message cannot be sent");
        text(&mut drafts, "second");
        assert_eq!(make(&mut drafts, 10), Some((Some(10), "second".into(), false)));
        let mut later = begun();
        later.adopt(vec![10]);
        text(&mut later, "second");
        assert_eq!(make(&mut later, 10), Some((Some(10), "second".into(), false)));
    }

    #[test]
    fn a_call_has_a_button_while_it_runs_and_a_quick_one_is_not_shown() {
        let mut drafts = begun();
        text(&mut drafts, "I'll look.");
        drafts.take(Live::CallStarted { call: call(), title: "bash/run".into() });
        drafts.take(Live::CallProgress { call: call(), text: "half".into() });
        assert_eq!(make(&mut drafts, 10), Some((None, "running bash/run half".into(), false)));
        assert_eq!(
            make(&mut drafts, 10),
            Some((Some(10), "running bash/run half".into(), true)),
            "on record"
        );
        assert!(
            drafts.next_change::<Plain>().is_none(),
            "what was said before it is not drafted any more"
        );
        let end = || Live::CallEnded {
            call: call(),
            ok: true,
            title: "bash/run".into(),
            summary: String::new(),
            diff: String::new(),
            output: String::new(),
        };
        drafts.take(end());
        assert_eq!(make(&mut drafts, 10), Some((Some(10), "bash/run true".into(), false)));
        assert!(drafts.next_change::<Plain>().is_none() && drafts.calls.is_empty());
        drafts.take(Live::CallStarted { call: call(), title: "bash/run".into() });
        drafts.take(end());
        assert!(drafts.next_change::<Plain>().is_none());
    }

    #[test]
    fn nothing_is_left_with_a_button_at_the_end() {
        let mut drafts = begun();
        drafts.take(Live::CallStarted { call: call(), title: "bash/run".into() });
        make(&mut drafts, 10);
        drafts.close();
        assert_eq!(make(&mut drafts, 10), Some((Some(10), "bash/run false".into(), false)));
        let mut unseen = begun();
        text(&mut unseen, "half an ans");
        unseen.close();
        assert!(unseen.next_change::<Plain>().is_none());
    }
}
