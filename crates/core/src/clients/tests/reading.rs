//! What a client may read: what became of its own messages, and its own sessions.

use serde_json::json;

use super::rig::{Rig, name};
use crate::clients::{AskState, ClientRefusal, SessionRow};
use crate::domain::{
    Block, CallId, ClientName, Event, EventBody, Finish, Inbound, InboundBody, Origin, Outcome,
    SessionId, ToolOutput, ToolUse, TurnCallState, TurnEnd, Usage,
};
use crate::gate::tests::rig::OWNER;

fn text(text: &str) -> Vec<Block> {
    vec![Block::Text { text: text.to_owned() }]
}

/// A message of a client, as its door puts it into the inbox.
async fn asks(rig: &Rig, client: &ClientName, own: Option<&str>, words: &str) -> i64 {
    let inbound = Inbound {
        session: client.session(own).unwrap(),
        from: client.address(),
        principal: client.principal(),
        origin: Origin::McpClient,
        body: InboundBody::message(text(words)),
    };
    rig.gate.store.write(move |tx| tx.add_inbound(&inbound, 64)).await.unwrap()
}

/// The holder of a session's lock appends to its log.
async fn appends(rig: &Rig, session: &SessionId, bodies: Vec<EventBody>, absorbed: Option<i64>) {
    let session = session.clone();
    let append = move |tx: &crate::store::Tx<'_>| {
        for body in bodies {
            let seq = tx.last_seq(&session)? + 1;
            tx.append_event(&session, &Event { seq, at_ms: 1_000 + seq as i64, body })?;
        }
        absorbed.map_or(Ok(()), |id| tx.mark_absorbed(id))
    };
    rig.gate.store.write(append).await.unwrap();
}

fn started(client: &ClientName) -> EventBody {
    let principal = client.principal();
    EventBody::TurnStarted { origin: Origin::McpClient, principal, role: None }
}

fn said(client: &ClientName, inbox_id: i64, words: &str) -> EventBody {
    let (blocks, from) = (text(words), client.address());
    EventBody::UserMessage { blocks, inbox_id, from, origin: Origin::McpClient }
}

fn replied(blocks: Vec<Block>) -> EventBody {
    EventBody::ModelReply {
        blocks,
        finish: Finish::Complete,
        usage: Usage { input_tokens: 7, output_tokens: 2, ..Usage::default() },
        provider: "p".into(),
        model: "m".into(),
        notice: None,
    }
}

fn echo_use() -> Block {
    let input = json!({"text": "x"});
    let (id, name) = ("1".to_owned(), "legacy__echo".to_owned());
    Block::ToolUse(Box::new(ToolUse { id, name, input, broken_input: None }))
}

#[tokio::test]
async fn a_message_is_followed_from_the_inbox_to_its_answer_by_its_own_client_alone() {
    let rig = Rig::new("");
    let laptop = name("laptop");
    let session = laptop.session(None).unwrap();
    let state = |client: &ClientName, id| rig.clients.ask_state(client, id).unwrap();
    let id = asks(&rig, &laptop, None, "hello").await;
    assert_eq!(state(&laptop, id), Some(AskState::Queued));
    let begun = vec![started(&laptop), said(&laptop, id, "hello"), replied(vec![echo_use()])];
    appends(&rig, &session, begun, Some(id)).await;
    let Some(AskState::Working { turn_seq: 1, calls }) = state(&laptop, id) else {
        panic!("{:?}", state(&laptop, id))
    };
    assert_eq!((calls[0].name.as_str(), calls[0].state), ("legacy__echo", TurnCallState::Running));
    // One that comes while it runs joins it.
    let second = asks(&rig, &laptop, None, "and more").await;
    let call = CallId::Reply { session: session.clone(), reply_seq: 3, block: 0 };
    let output = ToolOutput { text: "x".into(), ..ToolOutput::default() };
    let ended = vec![
        EventBody::ToolResult { call, outcome: Box::new(Outcome::Ended { output }) },
        said(&laptop, second, "and more"),
        replied(text("Done.")),
        EventBody::TurnEnded { end: TurnEnd::Answered },
    ];
    appends(&rig, &session, ended, Some(second)).await;
    for (id, joins) in [(id, false), (second, true)] {
        let Some(AskState::Done { text, end, calls, usage, joined, .. }) = state(&laptop, id)
        else {
            panic!("{:?}", state(&laptop, id))
        };
        assert_eq!((text.as_str(), &end, joined), ("Done.", &TurnEnd::Answered, joins));
        assert_eq!((calls[0].state, usage.input_tokens), (TurnCallState::Ended, 14));
    }
    // What is another's, and what never was, are the same.
    for other in ["phone", "laptop-2", "lap"] {
        assert_eq!(state(&name(other), id), None, "{other}");
        assert_eq!(rig.clients.session_of_ask(&name(other), id).unwrap(), None);
    }
    for never in [0, -1, 999, i64::MAX] {
        assert_eq!(state(&laptop, never), None, "{never}");
    }
    assert_eq!(rig.clients.session_of_ask(&laptop, id).unwrap(), Some(session));
}

#[tokio::test]
async fn what_an_owner_says_is_no_handle_of_a_client() {
    let rig = Rig::new("");
    let laptop = name("laptop");
    let inbound = Inbound {
        session: laptop.session(None).unwrap(),
        from: crate::domain::Address("console/1".into()),
        principal: OWNER.into(),
        origin: Origin::Owner,
        body: InboundBody::message(text("mine")),
    };
    let id = rig.gate.store.write(move |tx| tx.add_inbound(&inbound, 64)).await.unwrap();
    assert_eq!(rig.clients.ask_state(&laptop, id).unwrap(), None);
}

#[tokio::test]
async fn a_client_reads_its_own_sessions_part_by_part() {
    let rig = Rig::new("");
    let laptop = name("laptop");
    let (usual, own) = (laptop.session(None).unwrap(), laptop.session(Some("notes")).unwrap());
    for (session, own) in [(&usual, None), (&own, Some("notes"))] {
        let id = asks(&rig, &laptop, own, "hello").await;
        let turn = vec![
            started(&laptop),
            EventBody::TurnContext { text: "[mode: ask; git: branch `secret`]".into() },
            said(&laptop, id, "hello"),
            replied(text("Hi.")),
            EventBody::TurnEnded { end: TurnEnd::Answered },
        ];
        appends(&rig, session, turn, Some(id)).await;
    }
    let sessions = rig.clients.sessions(&laptop).unwrap();
    let mut names: Vec<_> = sessions.iter().map(|row| row.session.clone()).collect();
    names.sort();
    assert_eq!(names, [None, Some("notes".to_owned())]);
    assert!(sessions.iter().all(|row| row.turns == 1 && !row.is_open), "{sessions:?}");
    assert!(rig.clients.sessions(&name("lap")).unwrap().is_empty());
    let part = |after, limit| rig.clients.read_session(&laptop, &own, after, limit).unwrap();
    let whole = part(0, 50);
    assert_eq!((whole.rows.len(), whole.next_after), (4, None), "{whole:?}");
    assert!(!format!("{whole:?}").contains("secret"), "{whole:?}");
    let (one, two) = (part(0, 2), part(3, 2));
    assert_eq!(one.next_after, Some(3));
    assert!(
        matches!(&one.rows[1], SessionRow::Message { text, from: "client", .. } if text == "hello")
    );
    assert_eq!([one.rows, two.rows].concat(), whole.rows);
    assert_eq!(two.next_after, None);
    let main = SessionId::new("main").unwrap();
    let never = laptop.session(Some("never")).unwrap();
    for (client, session) in [(&laptop, &main), (&name("phone"), &usual), (&laptop, &never)] {
        let refused = rig.clients.read_session(client, session, 0, 10);
        assert!(matches!(refused, Err(ClientRefusal::NoSession)), "{refused:?}");
    }
}

#[tokio::test]
async fn events_go_on_where_the_cursor_stands_and_none_comes_twice() {
    let rig = Rig::new("");
    let laptop = name("laptop");
    let session = laptop.session(None).unwrap();
    let next = |cursor: Option<&str>, limit| rig.clients.events(&laptop, None, cursor, limit);
    let id = asks(&rig, &laptop, None, "hello").await;
    appends(&rig, &session, vec![started(&laptop), said(&laptop, id, "hello")], Some(id)).await;
    let now = next(None, 10).unwrap();
    assert!(now.events.is_empty(), "{now:?}");
    appends(&rig, &session, vec![replied(text("Hi."))], None).await;
    // A session that was not there yet.
    let id = asks(&rig, &laptop, Some("later"), "again").await;
    let later = laptop.session(Some("later")).unwrap();
    appends(&rig, &later, vec![started(&laptop), said(&laptop, id, "again")], Some(id)).await;
    let mut seen = Vec::new();
    let mut cursor = now.cursor;
    for _ in 0..4 {
        let part = next(Some(&cursor), 1).unwrap();
        seen.extend(part.events);
        cursor = part.cursor;
    }
    let of =
        |own: Option<&str>| seen.iter().filter(|event| event.session.as_deref() == own).count();
    assert_eq!((seen.len(), of(None), of(Some("later"))), (3, 1, 2), "{seen:?}");
    for odd in ["x", "", "e30=", &"A".repeat(20_000)] {
        assert!(matches!(next(Some(odd), 1), Err(ClientRefusal::Odd(_))), "{odd:.20}");
    }
    let foreign = rig.clients.events(&name("phone"), Some(&session), Some(&cursor), 1);
    assert!(matches!(foreign, Err(ClientRefusal::NoSession)), "{foreign:?}");
    // A cursor of another client's names sessions that are not its own: it sees nothing of them.
    let phones = rig.clients.events(&name("phone"), None, Some(&cursor), 10).unwrap();
    assert!(phones.events.is_empty(), "{phones:?}");
}
