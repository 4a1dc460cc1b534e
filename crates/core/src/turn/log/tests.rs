//! What of a log is kept in memory, and what an undo leaves of it.

use proptest::prelude::*;

use super::*;
use crate::domain::{Block, Compaction, EventBody, Role, TurnEnd};
use crate::turn::next::tests;
use crate::turn::transcript;

fn body(through_seq: u64) -> EventBody {
    EventBody::Summary {
        text: format!("through {through_seq}"),
        through_seq,
        spent: None,
        made: Box::new(Compaction::default()),
    }
}

fn ended() -> EventBody {
    EventBody::TurnEnded { end: TurnEnd::Answered }
}

fn seqs(log: &Log) -> Vec<u64> {
    log.events().iter().map(|event| event.seq).collect()
}

#[test]
fn numbers_go_on_and_a_boundary_hides_what_is_before_it() {
    let session = SessionId::new("main").unwrap();
    let mut log = Log::new(session.clone(), Vec::new(), 7);
    for _ in 0..4 {
        log.push(0, ended());
    }
    assert_eq!(seqs(&log), [8, 9, 10, 11]);
    log.push(0, body(9));
    assert_eq!((seqs(&log), log.summary()), (vec![10, 11, 12], Some("through 9")));
    let dropped = EventBody::WindowDropped {
        reason: "x".into(),
        through_seq: 10,
        kept_summary: "through 9".into(),
        made: Box::new(Compaction::default()),
    };
    log.push(0, dropped);
    assert_eq!((seqs(&log), log.summary()), (vec![11, 12, 13], Some("through 9")));
    log.push(0, EventBody::SessionCleared {});
    assert_eq!((seqs(&log), log.summary()), (vec![14], None));
    assert_eq!(log.next_seq(), 15);
    let read_back = Log::new(session, log.events().to_vec(), 14);
    assert_eq!((read_back.events(), read_back.next_seq()), (log.events(), 15));
}

/// What may happen to a conversation between two turns, or in one.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// A turn, with a call or without one.
    Exchange {
        calls: bool,
    },
    /// A turn in whose middle all turns before it are summarised.
    SummaryInside,
    Undo,
    /// All but the newest exchange is summarised.
    Summary,
    Clear,
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<bool>().prop_map(|calls| Act::Exchange { calls }),
        1 => Just(Act::SummaryInside),
        3 => Just(Act::Undo),
        1 => Just(Act::Summary),
        1 => Just(Act::Clear),
    ]
}

/// A conversation, what a model should see of it, and everything that was ever written.
struct Talk {
    log: Log,
    all: Vec<Event>,
    seen: Vec<String>,
    said: usize,
}

impl Talk {
    fn push(&mut self, body: EventBody) -> u64 {
        let event = self.log.push(0, body);
        self.all.push(event.clone());
        event.seq
    }

    fn exchange(&mut self, calls: bool, summary_inside: bool) {
        self.said += 1;
        let text = format!("m{}", self.said);
        self.push(tests::started());
        self.push(tests::said(&text));
        if calls {
            let reply = self.push(tests::uses(&["1"]));
            self.push(tests::result(tests::id(reply, 0), "r"));
        }
        if summary_inside && let Some(through) = self.last_end() {
            self.push(body(through));
            self.seen = vec![format!("through {through}")];
        }
        self.push(tests::text("ok"));
        self.push(ended());
        self.seen.push(text);
    }

    /// Where the newest ended turn of the window ends.
    fn last_end(&self) -> Option<u64> {
        self.ends().last().copied()
    }

    fn ends(&self) -> Vec<u64> {
        let end =
            |event: &Event| matches!(event.body, EventBody::TurnEnded { .. }).then_some(event.seq);
        self.log.events().iter().filter_map(end).collect()
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Exchange { calls } => self.exchange(calls, false),
            Act::SummaryInside => self.exchange(false, true),
            Act::Undo => {
                let Some([first, .., last]) = self.log.last_exchange() else { return };
                let (from_seq, through_seq) = (first.seq, last.seq);
                self.push(EventBody::ExchangeDropped { from_seq, through_seq });
                self.seen.pop();
            }
            Act::Summary => {
                let ends = self.ends();
                let [.., through, _] = ends[..] else { return };
                self.push(body(through));
                self.seen = vec![format!("through {through}"), self.seen.pop().unwrap()];
            }
            Act::Clear => {
                self.push(EventBody::SessionCleared {});
                self.seen.clear();
            }
        }
    }

    /// What a model is told, without its own words and the results.
    fn told(&self) -> Vec<String> {
        let messages = transcript::fold(&self.log);
        let blocks = messages
            .into_iter()
            .filter(|message| message.role == Role::User)
            .flat_map(|m| m.blocks);
        let text = |block| match block {
            Block::Text { text } => {
                let last = text.rsplit('\n').next().unwrap();
                Some(last.strip_prefix("> ").unwrap_or(last).to_owned())
            }
            _ => None,
        };
        blocks.filter_map(text).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// An undo drops the newest exchange that is still told, whatever happened before, and a
    /// restart changes nothing.
    #[test]
    fn undo_takes_one_exchange_at_a_time(acts in proptest::collection::vec(any_act(), 0..30)) {
        let log = Log::new(SessionId::new("main").unwrap(), Vec::new(), 0);
        let mut talk = Talk { log, all: Vec::new(), seen: Vec::new(), said: 0 };
        for act in acts {
            let nothing_left = talk.log.last_exchange().is_none();
            let only_summary = talk.seen.iter().all(|seen| seen.starts_with("through"));
            prop_assert_eq!(nothing_left, only_summary);
            talk.act(act);
            prop_assert_eq!(talk.told(), talk.seen.clone(), "after {:?}", act);
            let read_back = Log::new(talk.log.session().clone(), talk.all.clone(), talk.all.len() as u64);
            prop_assert_eq!(read_back.events(), talk.log.events());
            prop_assert!(talk.log.open_turn().is_none());
        }
    }
}

/// What was done stays done, whatever exchange it fell into.
#[test]
fn undo_takes_no_action_with_it() {
    let (tap, result) =
        (tests::confirmed_by_tap(tests::id(2, 9)), tests::acted(tests::id(2, 9), "r"));
    let mut log = tests::log(vec![
        tests::started(),
        tests::said("a"),
        tap,
        result,
        tests::text("b"),
        ended(),
    ]);
    log.push(0, tests::undone(1, 6));
    assert_eq!(seqs(&log), [3, 4, 7]);
}
