//! Chats that have been talking for a while: everything that real turns leave in the store, written
//! by the store's own functions. Must not know what is measured.

use claw_core::domain::{
    Address, Block, Event, EventBody, Finish, Inbound, InboundBody, Origin, Outbound, OutboundBody,
    SessionId, TurnEnd, Usage,
};
use claw_core::store::{Store, StoreError, Tx, now_ms};

use crate::bot::ID;
use crate::gateway::Home;

/// What a message and its answer have, in bytes each.
const TEXT_BYTES: usize = 500;
/// So many chats go into one commit.
const CHATS_AT_ONCE: usize = 50;

/// Writes `turns` exchanges of each chat.
pub fn write(home: &Home, chats: &[i64], turns: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&home.path().join("claw.db")).unwrap();
        for some in chats.chunks(CHATS_AT_ONCE) {
            let some = some.to_vec();
            store
                .write(move |tx| some.iter().try_for_each(|chat| conversation(tx, *chat, turns)))
                .await
                .unwrap();
        }
    });
}

fn conversation(tx: &Tx<'_>, chat: i64, turns: u64) -> Result<(), StoreError> {
    let session = SessionId::new(format!("telegram.{ID}.{chat}")).unwrap();
    let address = Address(format!("telegram/{ID}/{chat}"));
    for turn in 0..turns {
        // Far below the ids that the bot hands out later, and different for every chat.
        let update = -(chat * 10_000 + turn as i64);
        tx.keep_update(ID, update, "{}")?;
        tx.finish_update(ID, update, "accepted")?;
        exchange(tx, &session, &address, chat, turn)?;
    }
    Ok(())
}

fn exchange(
    tx: &Tx<'_>,
    session: &SessionId,
    address: &Address,
    chat: i64,
    turn: u64,
) -> Result<(), StoreError> {
    let principal = format!("telegram:{chat}");
    let words = |who: &str| format!("{who} {turn} {}", "word ".repeat(TEXT_BYTES / 5));
    let blocks = |who: &str| vec![Block::Text { text: words(who) }];
    let inbound = Inbound {
        session: session.clone(),
        from: address.clone(),
        principal: principal.clone(),
        origin: Origin::Owner,
        body: InboundBody::message(blocks("asked")),
    };
    let inbox_id = tx.add_inbound(&inbound, u32::MAX)?;
    tx.mark_absorbed(inbox_id)?;
    let first = turn * 5 + 1;
    let usage = Usage { input_tokens: 1000, output_tokens: 100, ..Usage::default() };
    let (provider, model) = ("openai-compatible".to_owned(), "stand-in".to_owned());
    let bodies = [
        EventBody::TurnStarted { origin: Origin::Owner, principal, role: None },
        EventBody::UserMessage {
            blocks: blocks("asked"),
            inbox_id,
            from: address.clone(),
            origin: Origin::Owner,
        },
        EventBody::PromptPacked {
            from_seq: 1,
            dropped_events: 0,
            estimated_tokens: 1000,
            account: None,
        },
        EventBody::ModelReply {
            blocks: blocks("answered"),
            finish: Finish::Complete,
            usage,
            provider,
            model,
            notice: None,
        },
        EventBody::TurnEnded { end: TurnEnd::Answered },
    ];
    for (seq, body) in (first..).zip(bodies) {
        tx.append_event(session, &Event { seq, at_ms: now_ms(), body })?;
    }
    tx.add_usage(session, first + 3, "openai-compatible", "stand-in", &usage)?;
    let body = OutboundBody::Reply { turn_seq: first, step: 1, text: words("answered") };
    let row = tx.add_outbound(&Outbound { session: session.clone(), to: address.clone(), body })?;
    tx.mark_sent(row)
}
