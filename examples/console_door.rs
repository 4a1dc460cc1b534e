//! The console door without the rest of claw: a script answers every line with a streamed text, a
//! call and a question. Run it in a terminal with `cargo run --example console_door`, or feed it a
//! pipe.

use std::time::Duration;

use claw_core::domain::{
    Answer, ApprovalId, CallId, Choice, Live, OutboundBody, Question, Scope, SessionId, Term,
    UnixMillis,
};
use claw_door_console::chat::{ConsoleEvent, ConsoleShow, run};
use claw_door_console::editor::{Console, EditorSettings};
use tokio::sync::mpsc;

const REPLY: &str = "# A heading\n\nA paragraph with **bold**, *italic* and `code`, long enough to be wrapped at the right \
    edge of the terminal, with [a link](https://example.org/).\n\n- first\n- second with 日本語 in it\n  1. nested\n\n\
    ```rust\nfn main() {}\n```\n\n| name | size |\n|:-----|-----:|\n| a.txt | 12 |\n| long-name.txt | 1234567 |\n\n\
    Escape sequences are harmless: \u{1b}[31mnot red\u{1b}[0m \u{202e}abc.\n";

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let history = std::env::args().nth(1).map(Into::into);
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    // Which outputs have reached the terminal. Nothing is marked here, so that nobody listens.
    let (written, _unheard) = mpsc::unbounded_channel();
    let console =
        Console::open(EditorSettings { history, no_colour, ..EditorSettings::default() }, written)?;
    let session = SessionId::new("main")?;
    let whose = ("main".to_owned(), session, jiff::tz::TimeZone::system());
    let (show, shows) = mpsc::channel(64);
    let (events, mut inbox) = mpsc::channel(64);
    let script = async move {
        let (mut turn, mut taken) = (0, 0);
        while let Some(event) = inbox.recv().await {
            taken += 1;
            match event {
                ConsoleEvent::Quit => break,
                ConsoleEvent::Line(_) | ConsoleEvent::Answer { .. } => {
                    turn += 10;
                    answer(turn, &show, &event).await?;
                }
                ConsoleEvent::Command(command, _) => {
                    show.send(ConsoleShow::Status(format!("You asked for **{command:?}**.")))
                        .await?;
                }
                ConsoleEvent::Foreign { otherwise, .. } => {
                    show.send(ConsoleShow::Error(otherwise)).await?;
                }
                ConsoleEvent::Interrupt => {
                    show.send(ConsoleShow::Error("Nothing to stop here.".into())).await?
                }
            }
            show.send(ConsoleShow::TurnIdle { taken }).await?;
        }
        anyhow::Ok(())
    };
    // A person who leaves ends the script with it, whatever it was about to say.
    tokio::select! {
        result = script => result,
        ended = run(console, whose, shows, events) => Ok(ended.map(drop)?),
    }
}

async fn answer(
    turn_seq: u64,
    show: &mpsc::Sender<ConsoleShow>,
    event: &ConsoleEvent,
) -> anyhow::Result<()> {
    let live = |live| show.send(ConsoleShow::Live(live));
    let session = SessionId::new("main")?;
    let call = CallId::Reply { session: session.clone(), reply_seq: turn_seq + 1, block: 0 };
    live(Live::StepStarted { turn_seq, step: 0 }).await?;
    let title = "bash run  ls -la".to_owned();
    live(Live::CallStarted { call: call.clone(), title: title.clone() }).await?;
    for part in 1..=10 {
        live(Live::CallProgress { call: call.clone(), text: format!("{part} of 10\n") }).await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    live(Live::CallEnded {
        call: call.clone(),
        ok: true,
        title,
        summary: "exit 0, 1.0 s".into(),
        diff: String::new(),
        output: String::new(),
    })
    .await?;
    if let ConsoleEvent::Line(line) = event
        && line.contains("ask")
    {
        let question = Box::new(question(&format!("q{turn_seq}"), call, session, line));
        show.send(ConsoleShow::Out(OutboundBody::Question { turn_seq, question })).await?;
        return Ok(());
    }
    live(Live::StepStarted { turn_seq, step: 1 }).await?;
    for word in REPLY.split_inclusive(' ') {
        live(Live::Text { turn_seq, step: 1, text: word.to_owned() }).await?;
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    show.send(ConsoleShow::Out(OutboundBody::Reply { turn_seq, step: 1, text: REPLY.to_owned() }))
        .await?;
    Ok(())
}

fn question(id: &str, call: CallId, session: SessionId, line: &str) -> Question {
    let allow = |key: &str, term, label: &str| Choice {
        key: key.into(),
        label: label.into(),
        answer: Answer::Allow { term, scope: Scope::Exact },
    };
    Question {
        approval: ApprovalId(id.into()),
        call,
        session: Some(session),
        server: "bash".into(),
        tool: "run".into(),
        arguments: vec![("command".into(), line.into()), ("timeout_s".into(), "30".into())],
        why: "running a command is mutating, and no rule allows this one".into(),
        effect: None,
        expires_at_ms: UnixMillis::MAX / 1_000_000,
        staged: None,
        list: None,
        input: None,
        choices: vec![
            allow("y", Term::Once, "allow once: exactly these arguments, this time"),
            allow("10m", Term::TenMinutes, "allow exactly these arguments for 10 minutes"),
            Choice {
                key: "n".into(),
                label: "deny; `n because …` tells the model why".into(),
                answer: Answer::Deny { word: None },
            },
        ],
    }
}
