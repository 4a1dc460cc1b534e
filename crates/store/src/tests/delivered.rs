//! What goes from the queues: what is closed and old, and nothing that somebody still needs.

use super::*;
use claw_domain::{
    Address, Inbound, InboundBody, Origin, Outbound, OutboundBody, PostedQuestion, PostedState,
};

fn message() -> Inbound {
    Inbound {
        session: session(),
        from: Address("console/1".into()),
        principal: "console:uid:1".into(),
        origin: Origin::Owner,
        body: InboundBody::Stop,
    }
}

fn reply(name: &str) -> Outbound {
    let session = SessionId::new(name).unwrap();
    Outbound {
        session,
        to: Address("console/1".into()),
        body: OutboundBody::Notice { text: "n".into() },
    }
}

#[tokio::test]
async fn closed_rows_go_when_they_are_old_and_nothing_that_waits_does() {
    let rig = Rig::new();
    let store = rig.open();
    store
        .write(|tx| {
            for closed in [true, false] {
                let id = tx.add_inbound(&message(), 9)?;
                if closed {
                    tx.mark_absorbed(id)?;
                }
            }
            for (name, sent) in [("done", true), ("done", true), ("waits", true), ("waits", false)]
            {
                let id = tx.add_outbound(&reply(name))?;
                if sent {
                    tx.mark_sent(id)?;
                }
            }
            for (message, state) in [
                (1, PostedState::Closed),
                (2, PostedState::Open),
                (3, PostedState::ReasonClosed),
                (4, PostedState::Stale),
            ] {
                let approval = ApprovalId("a".into());
                tx.add_posted(&PostedQuestion {
                    approval,
                    address: Address("t/1".into()),
                    message,
                    state,
                    file: false,
                    sent_s: 0,
                })?;
            }
            Ok(())
        })
        .await
        .unwrap();
    let left = || {
        let conn = Connection::open(rig.path()).unwrap();
        ["inbox", "outbox", "posted"].map(|table| {
            conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0))
                .unwrap()
        })
    };
    assert_eq!(
        store.write(|tx| tx.forget_delivered(0, 10)).await.unwrap(),
        2,
        "questions that are gone have no time"
    );
    assert_eq!(left(), [2, 4, 2]);
    let later = now_ms() + 1000;
    assert_eq!(store.write(move |tx| tx.forget_delivered(later, 10)).await.unwrap(), 3);
    assert_eq!(left(), [1, 2, 2], "one waits, and one can still be compared with it");
    assert_eq!(store.write(move |tx| tx.forget_delivered(later, 10)).await.unwrap(), 0);
}
