//! Every command's answer, from a store that holds what it is about; and who may not.

use serde_json::json;

use super::code::SHOWN_CHARS_MAX;
use super::*;
use crate::domain::Term;
use crate::domain::{
    Address, ApprovalId, Block, CallId, Event, EventBody, Finish, Inbound, InboundBody, ToolUse,
    TurnEnd, Usage,
};
use crate::gate::tests::rig::{OWNER, Rig as GateRig, allow, echo, session};
use crate::mail::Mail;

mod roles;

pub(super) struct Rig {
    pub(super) gate: GateRig,
    pub(super) commands: ChatCommands,
    visitor: Visitor,
}

impl Rig {
    pub(super) fn new() -> Self {
        let gate = GateRig::new(&["legacy"], "");
        let commands = ChatCommands::new(ChatCommandsParts {
            store: gate.store.clone(),
            gate: gate.gate.clone(),
            folder_gates: GatesOfFolders::default(),
            router: Router::new(Mail::new(gate.store.clone(), 64), gate.gate.clone()),
            model: ModelInUse {
                name: "m-1".into(),
                provider: "someone".into(),
                whys: vec!["It was asked for.".into()],
                overridden_by: Some("CLAW_MODEL".into()),
            },
            not_offered: std::sync::Arc::new(|name| {
                Box::pin(async move { (name == "nosuch").then(|| vec!["m-2".to_owned()]) })
            }),
            allowed_source: "claw.toml, telegram.allowed_chats".into(),
            roles: Roles::default(),
            prices: Prices::default(),
            workspace: "/w".into(),
            folder_for_chat: std::sync::Arc::new(|_| Err("There is no such folder.".to_owned())),
            heartbeats: std::sync::Arc::new(|| Ok(Vec::new())),
            agents: std::sync::Arc::new(Vec::new),
            agent: "main".into(),
            others: Vec::new(),
            window_tokens: 1000,
            digest_lines_max: 4,
            zone: TimeZone::UTC,
        });
        let from = Address("console/1".into());
        Self {
            gate,
            commands,
            visitor: Visitor { from, principal: OWNER.into(), origin: Origin::Owner },
        }
    }

    async fn said(&self, command: ChatCommand, words: &str) -> Option<String> {
        self.commands.command(&self.visitor, &session("main"), command, words).await.unwrap()
    }

    async fn says(&self, command: ChatCommand, words: &str) -> String {
        self.said(command, words).await.unwrap()
    }

    async fn log(&self, bodies: impl IntoIterator<Item = EventBody>) {
        let first = self.gate.store.read(|tx| tx.last_seq(&session("main"))).unwrap() + 1;
        for (n, body) in bodies.into_iter().enumerate() {
            let event = Event { seq: first + n as u64, at_ms: crate::store::now_ms(), body };
            self.gate
                .store
                .write(move |tx| tx.append_event(&session("main"), &event))
                .await
                .unwrap();
        }
    }

    fn queued(&self) -> Vec<InboundBody> {
        let rows = self.gate.store.read(|tx| tx.queued_inbound(&session("main"))).unwrap();
        rows.into_iter().map(|row| row.inbound.body).collect()
    }
}

fn opened(text: &str) -> [EventBody; 2] {
    let (blocks, from) = (vec![Block::Text { text: text.into() }], Address("console/1".into()));
    [
        EventBody::TurnStarted { origin: Origin::Owner, principal: OWNER.into(), role: None },
        EventBody::UserMessage { blocks, inbox_id: 1, from, origin: Origin::Owner },
    ]
}

fn tool_use(name: &str) -> EventBody {
    let asked = ToolUse { id: "1".into(), name: name.into(), input: json!({}), broken_input: None };
    EventBody::ModelReply {
        blocks: vec![Block::ToolUse(Box::new(asked))],
        finish: Finish::ToolUse,
        usage: Usage::default(),
        provider: "someone".into(),
        model: "m-1".into(),
        notice: None,
    }
}

fn ended() -> EventBody {
    EventBody::TurnEnded { end: TurnEnd::Answered }
}

#[tokio::test]
async fn orders_go_to_the_inbox_and_are_answered_from_there() {
    let rig = Rig::new();
    for command in [ChatCommand::New, ChatCommand::Stop, ChatCommand::Compact, ChatCommand::Undo] {
        assert_eq!(rig.said(command, "").await, None);
    }
    assert_eq!(
        rig.queued(),
        [InboundBody::Clear, InboundBody::Stop, InboundBody::Compact, InboundBody::Undo]
    );
    assert_eq!(rig.said(ChatCommand::Help, "").await, None, "the table of commands is the door's");
}

#[tokio::test]
async fn an_undo_in_a_turn_is_refused_at_once_unless_it_is_being_stopped() {
    let rig = Rig::new();
    rig.log(opened("go")).await;
    assert_eq!(rig.says(ChatCommand::Undo, "").await, crate::session::TURN_IS_OPEN);
    assert_eq!(rig.queued(), []);
    let other = session("other");
    rig.commands
        .parts()
        .router
        .message(&rig.visitor, &other, "a turn will begin with it")
        .await
        .unwrap();
    let said = rig.commands.command(&rig.visitor, &other, ChatCommand::Undo, "").await.unwrap();
    assert_eq!(said.unwrap(), crate::session::TURN_IS_OPEN);
    rig.said(ChatCommand::Stop, "").await;
    assert_eq!(rig.said(ChatCommand::Undo, "").await, None);
    assert_eq!(rig.queued(), [InboundBody::Stop, InboundBody::Undo]);
}

#[tokio::test]
async fn the_status_says_what_runs_and_what_waits() {
    let rig = Rig::new();
    let idle = rig.says(ChatCommand::Status, "").await;
    for part in [
        "- model: `m-1` (someone)",
        "- context: 0 exchanges, about 0 of 1000 tokens (0 %)",
        "- running: nothing",
        "- open questions: 0\n",
        "- queued messages: 0",
        "- stop switch: off\n- background jobs: 0\n",
        "- servers: 0 of 1 up, 0 failed\n  - `legacy`: starts on first need",
    ] {
        assert!(idle.contains(part), "{part} is not in:\n{idle}");
    }
    rig.log(opened(&"word ".repeat(200))).await;
    let asked = rig.says(ChatCommand::Status, "").await;
    assert!(asked.contains("- context: 1 exchange, about 258 of 1000 tokens (25 %)"), "{asked}");
    assert!(asked.contains("s ago: the model is asked\n"), "{asked}");
    rig.log([tool_use("legacy__echo")]).await;
    let calls = rig.says(ChatCommand::Status, "").await;
    assert!(calls.contains("s ago: `legacy/echo`\n"), "{calls}");
    let call = CallId::Reply { session: session("main"), reply_seq: 3, block: 0 };
    rig.log([EventBody::CallParked { call, approval: ApprovalId("q".into()) }]).await;
    let waits = rig.says(ChatCommand::Status, "").await;
    assert!(waits.contains("s ago: it waits for your answer\n"), "{waits}");
    // A dropped exchange is not in the context.
    rig.log([ended(), EventBody::ExchangeDropped { from_seq: 1, through_seq: 5 }]).await;
    let undone = rig.says(ChatCommand::Status, "").await;
    assert!(undone.contains("- context: 0 exchanges, about 0 of 1000"), "{undone}");
}

#[tokio::test]
async fn a_status_names_folders_and_processes_to_the_owner_alone() {
    let mut rig = Rig::new();
    rig.gate.parked(echo(3, "x")).await;
    let own = rig.says(ChatCommand::Status, "").await;
    assert!(own.contains("- workspace: `/w`") && own.contains("up (process "), "{own}");
    rig.visitor.origin = Origin::Forwarded;
    let theirs = rig.says(ChatCommand::Status, "").await;
    assert!(theirs.contains("`legacy`: up\n"), "{theirs}");
    assert!(!theirs.contains("/w") && !theirs.contains("process"), "{theirs}");
}

#[tokio::test]
async fn the_status_counts_questions_and_messages() {
    let rig = Rig::new();
    rig.gate.parked(echo(3, "x")).await;
    let message = Inbound {
        session: session("main"),
        from: rig.visitor.from.clone(),
        principal: OWNER.into(),
        origin: Origin::Owner,
        body: InboundBody::message(vec![]),
    };
    rig.gate.store.write(move |tx| tx.add_inbound(&message, 64)).await.unwrap();
    let status = rig.says(ChatCommand::Status, "").await;
    assert!(
        status.contains(
            "- running: a turn is about to begin\n- open questions: 1\n- queued messages: 1\n"
        ),
        "{status}"
    );
    assert!(
        status.contains("- servers: 1 of 1 up, 0 failed\n  - `legacy`: up (process "),
        "{status}"
    );
    let other = rig
        .commands
        .command(&rig.visitor, &session("other"), ChatCommand::Status, "")
        .await
        .unwrap()
        .unwrap();
    assert!(other.contains("- open questions: 0, and 1 in other sessions\n"), "{other}");
    let approvals = rig.says(ChatCommand::Approvals, "").await;
    assert!(approvals.contains("in `main`: `legacy/echo` · `text: x`"), "{approvals}");
    assert!(rig.says(ChatCommand::Tools, "").await.contains("- `legacy/echo`: "));
}

#[tokio::test]
async fn usage_is_told_by_day_by_session_and_by_model() {
    let rig = Rig::new();
    let add = |name: &'static str, seq: u64, model: &'static str, input: u64| {
        rig.gate.store.write(move |tx| {
            let usage = Usage {
                input_tokens: input,
                output_tokens: 2,
                cached_tokens: 1,
                ..Usage::default()
            };
            tx.add_usage(&session(name), seq, "someone", model, &usage)
        })
    };
    let none = rig.says(ChatCommand::Usage, "").await;
    assert!(none.contains("**This session, `main`**: 0 tokens in, 0 out, 0 replies"), "{none}");
    add("main", 1, "small", 10).await.unwrap();
    add("main", 2, "large", 20).await.unwrap();
    add("other", 1, "large", 40).await.unwrap();
    let usage = rig.says(ChatCommand::Usage, "").await;
    let (today, here) = usage.split_once("**This session").unwrap();
    assert!(
        today
            .contains("**Today, all sessions**: 70 tokens in (3 of them cached, 4 %), 6 out, 3 replies, price unknown"),
        "{usage}"
    );
    assert!(
        today.contains(
            "- `large` (someone): 60 tokens in (2 of them cached, 3 %), 4 out, 2 replies, price unknown\n- `small`"
        ),
        "{usage}"
    );
    assert!(
        here.contains("30 tokens in (2 of them cached, 6 %), 4 out, 2 replies, price unknown"),
        "{usage}"
    );
    assert!(
        here.contains("- `small` (someone): 10 tokens in (1 of them cached, 10 %), 2 out, 1 reply, price unknown\n"),
        "{usage}"
    );
}

#[tokio::test]
async fn what_was_written_to_the_cache_is_counted_by_model_and_in_all() {
    let rig = Rig::new();
    for (seq, model, written) in [(1, "small", 20), (2, "large", 7), (3, "large", 3)] {
        let usage = Usage {
            input_tokens: 100,
            output_tokens: 1,
            cached_tokens: 0,
            cache_write_tokens: written,
        };
        let store = &rig.gate.store;
        store
            .write(move |tx| tx.add_usage(&session("main"), seq, "someone", model, &usage))
            .await
            .unwrap();
    }
    let usage = rig.says(ChatCommand::Usage, "").await;
    for (of, written) in [("`small`", 20), ("`large`", 10), ("**This session", 30)] {
        let (_, rest) = usage.split_once(of).unwrap();
        let line = rest.lines().next().unwrap();
        assert!(line.contains(&format!("; {written} written to the cache)")), "{of}: {usage}");
    }
}

#[tokio::test]
async fn the_model_says_why_and_is_chosen_for_one_conversation() {
    let rig = Rig::new();
    let shown = rig.says(ChatCommand::Model, "").await;
    assert!(
        shown.starts_with("The model is `m-1` (someone). It was asked for.")
            && shown.contains("CLAW_MODEL")
    );
    let chosen = || rig.gate.store.read(|tx| tx.session_model(&session("main"))).unwrap();
    let how = rig.says(ChatCommand::Model, "m-2").await;
    assert!(how.contains("uses `m-2`") && chosen().as_deref() == Some("m-2"), "{how}");
    assert!(rig.says(ChatCommand::Model, "").await.contains("uses `m-2` since"));
    assert!(
        rig.says(ChatCommand::Model, "default").await.contains("all others") && chosen().is_none()
    );
    assert!(rig.says(ChatCommand::Model, "is it good").await.contains("`/model NAME`"));
    let refused = rig.says(ChatCommand::Model, "nosuch").await;
    assert!(
        refused.contains("no model `nosuch`") && refused.contains("`m-2`") && chosen().is_none(),
        "{refused}"
    );
}

#[tokio::test]
async fn grants_are_listed_and_taken_back() {
    let rig = Rig::new();
    assert_eq!(rig.says(ChatCommand::Grants, "").await, "No grants are in force.");
    let approval = rig.gate.parked(echo(3, "x")).await;
    rig.gate.gate.calls().decide(&approval, &allow(Term::Always), OWNER).await.unwrap();
    let listed = rig.says(ChatCommand::Grants, "").await;
    assert!(listed.starts_with("- **1** allowed: `legacy/echo"), "{listed}");
    assert!(
        listed.contains("(until revoked, for owner; not used yet)")
            && listed.contains("`/grants revoke ID`"),
        "{listed}"
    );
    for wrong in ["revoke 7", "revoke x"] {
        assert!(rig.says(ChatCommand::Grants, wrong).await.contains("`/grants` lists them"));
    }
    assert!(
        rig.says(ChatCommand::Grants, "forget 1")
            .await
            .contains("`/grants revoke ID` takes one back")
    );
    assert_eq!(rig.says(ChatCommand::Grants, "revoke 1").await, "Grant 1 is revoked.");
    assert_eq!(rig.says(ChatCommand::Grants, "").await, "No grants are in force.");
    let rows = rig.gate.store.read(|tx| tx.audit_after(0, 100)).unwrap();
    assert!(rows.iter().any(|row| row.kind == "revoked"));
}

#[tokio::test]
async fn the_stop_switch_goes_on_in_a_hurry_and_off_on_purpose() {
    let rig = Rig::new();
    let on = |rig: &Rig| rig.gate.store.read(|tx| tx.panic()).unwrap().is_some();
    assert!(rig.says(ChatCommand::Panic, "status").await.contains("is off") && !on(&rig));
    for words in ["", "on", "NOW!!"] {
        let said = rig.says(ChatCommand::Panic, words).await;
        assert!(said.contains("is on**") && said.contains("`/panic off`") && on(&rig), "{said}");
        assert!(rig.says(ChatCommand::Status, "").await.contains("**the stop switch is on**"));
        assert!(rig.says(ChatCommand::Panic, " OFF ").await.contains("is off") && !on(&rig));
    }
    let rows = rig.gate.store.read(|tx| tx.audit_after(0, 100)).unwrap();
    assert_eq!(
        rows.iter()
            .filter(|row| row.kind == "panic.on" && row.body.to_string().contains(OWNER))
            .count(),
        3
    );
}

#[tokio::test]
async fn only_the_owner_pulls_the_switch_and_takes_back_grants() {
    let mut rig = Rig::new();
    let approval = rig.gate.parked(echo(3, "x")).await;
    rig.gate.gate.calls().decide(&approval, &allow(Term::Always), OWNER).await.unwrap();
    for origin in
        [Origin::Button, Origin::Schedule, Origin::McpClient, Origin::SubAgent, Origin::Forwarded]
    {
        rig.visitor.origin = origin;
        for words in ["", "on", "off"] {
            assert_eq!(
                rig.says(ChatCommand::Panic, words).await,
                "Only the owner may use the stop switch."
            );
        }
        for command in [ChatCommand::Grants, ChatCommand::AllowedUsers, ChatCommand::Approvals] {
            for words in ["", "revoke 1", "remove 5"] {
                assert_eq!(rig.says(command, words).await, "Only the owner may see this.");
            }
        }
    }
    assert_eq!(rig.gate.store.read(|tx| tx.panic()).unwrap(), None);
    assert_eq!(rig.gate.store.read(|tx| tx.grants()).unwrap().len(), 1);
}

#[tokio::test]
async fn allowed_users_are_listed_and_removed_once() {
    let rig = Rig::new();
    assert!(rig.says(ChatCommand::AllowedUsers, "").await.contains("Nobody was let in"));
    rig.gate.store.write(|tx| tx.add_allowed_user(7, 66, "Mal`lory", "telegram:5")).await.unwrap();
    let listed = rig.says(ChatCommand::AllowedUsers, "").await;
    assert!(listed.contains("- `66` `` Mal`lory ``: let in by `telegram:5` at "), "{listed}");
    assert!(
        rig.says(ChatCommand::AllowedUsers, "remove them").await.contains("was let in; `/guests`")
    );
    assert!(
        rig.says(ChatCommand::AllowedUsers, "remove 66").await.contains("may not talk any more")
    );
    assert!(!rig.gate.store.read(|tx| tx.is_allowed_user(7, 66)).unwrap());
    assert!(rig.says(ChatCommand::AllowedUsers, "ask 66").await.contains("was ignored; `/guests`"));
    assert!(
        rig.says(ChatCommand::AllowedUsers, "remove 66").await.contains("was let in; `/guests`")
    );
}

/// A command that is handled again after a kill has no second effect and no second answer.
#[tokio::test]
async fn a_command_of_an_update_is_carried_out_and_answered_once() {
    let rig = Rig::new();
    let store = &rig.gate.store;
    store.write(|tx| tx.keep_update(7, 1, "{}").and(tx.keep_update(7, 2, "{}"))).await.unwrap();
    let (session, to) = (session("main"), Address("telegram/7/5".into()));
    let at = |update| AnswerTo::Update { bot: 7, update, session: session.clone(), to: to.clone() };
    let given = async |update, command, words: &str| {
        let said =
            rig.commands.answer(&rig.visitor, &session, command, words, &at(update)).await.unwrap();
        assert_eq!(said, None, "the answer is in the outbox");
    };
    given(1, ChatCommand::Panic, "off").await;
    set_panic(store, true, "console:uid:0").await.unwrap();
    given(1, ChatCommand::Panic, "off").await;
    assert!(store.read(|tx| tx.panic()).unwrap().is_some(), "what somebody did meanwhile stays");
    given(2, ChatCommand::Status, "").await;
    given(2, ChatCommand::Status, "").await;
    assert_eq!(store.read(|tx| tx.queued_outbound(&to)).unwrap().len(), 2);
    assert!(store.read(|tx| tx.kept_updates(7, 0)).unwrap().is_empty());
}

#[test]
fn code_is_code_whatever_is_in_it() {
    assert_eq!(code("a\\b"), "`a\\b`");
    assert_eq!(code("a`b``c"), "``` a`b``c ```");
    assert_eq!(code("a\nb\u{202e}"), "`a\\nb\\u{202e}`");
    let long = code(&"x".repeat(SHOWN_CHARS_MAX + 1));
    assert_eq!(long, format!("`{}…`", "x".repeat(SHOWN_CHARS_MAX)));
}
