//! What of a log is kept in memory.

use super::*;
use crate::domain::{EventBody, TurnEnd};

fn body(through_seq: u64) -> EventBody {
    EventBody::Summary { text: format!("through {through_seq}"), through_seq }
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
    let dropped = EventBody::WindowDropped { reason: "x".into(), through_seq: 10, kept_summary: "through 9".into() };
    log.push(0, dropped);
    assert_eq!((seqs(&log), log.summary()), (vec![11, 12, 13], Some("through 9")));
    log.push(0, EventBody::SessionCleared {});
    assert_eq!((seqs(&log), log.summary()), (vec![14], None));
    assert_eq!(log.next_seq(), 15);
    let read_back = Log::new(session, log.events().to_vec(), 14);
    assert_eq!((read_back.events(), read_back.next_seq()), (log.events(), 15));
}
