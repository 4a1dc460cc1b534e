//! `claw ask TEXT`: one turn. The reply goes to stdout, everything else to stderr. Must not know turns.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;

use super::fail::{self, UserError};
use super::follow::{Follow, Followed};
use super::{ask_person, out, staged, turn_report};
use crate::app::App;
use crate::domain::{Live, LiveSink, Question, SessionId, TurnEnd, escape};
use crate::router::{Order, Visitor};

/// The longest text that is read from standard input, in bytes.
const STDIN_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub struct Ask {
    pub text: String,
    pub session: SessionId,
    pub json: bool,
}

pub async fn run(app: &App, ask: Ask) -> anyhow::Result<ExitCode> {
    let text = text_of(&ask.text)?;
    let worker = app.worker().await?;
    let instance = app.open_door("console")?;
    let visitor = app.console_visitor(instance.address());
    for warning in &app.warnings {
        out::err_line(&format!("claw: {warning}"));
    }
    let follow = Follow { app, worker, instance: &instance, session: &ask.session, live: on_stderr() };
    let told = async {
        follow.finish_leftovers().await?;
        show_leftovers(&follow).await?;
        app.router.message(&visitor, &ask.session, &text).await?;
        answer_until_done(&follow, &visitor).await
    };
    let followed = super::interrupt::stoppable(app, &visitor, &ask.session, told).await?;
    let done = match followed {
        None => Ok(ExitCode::from(fail::INTERRUPTED)),
        Some(Followed::Replied { turn_seq, text, outbox_id }) => {
            let code = finish(&follow, &ask, turn_seq, &text)?;
            follow.shown(outbox_id).await?;
            Ok(code)
        }
        Some(Followed::Waits(questions)) => Ok(waits(&ask, &questions)),
        Some(Followed::Quiet) => Ok(ExitCode::from(fail::DONE)),
    };
    super::retention::behind_a_command(app).await;
    done
}

fn text_of(text: &str) -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    let text = if text == "-" || (text.is_empty() && !stdin.is_terminal()) {
        let mut read = String::new();
        let size = stdin.lock().take(STDIN_BYTES_MAX + 1).read_to_string(&mut read).map_err(|error| {
            UserError::because(format!("standard input is not UTF-8 text ({error}); convert it first"))
        })?;
        if size as u64 > STDIN_BYTES_MAX {
            return Err(UserError::because(format!(
                "standard input is over {STDIN_BYTES_MAX} bytes; put it into a file of the workspace and name the file"
            )));
        }
        read
    } else {
        text.to_owned()
    };
    if text.trim().is_empty() {
        return Err(UserError::because(
            "there is nothing to ask; write it behind the command: claw ask \"what is in this folder?\"",
        ));
    }
    Ok(text)
}

/// Progress for a person who waits. Text of the model is not streamed: stdout gets the whole reply, once.
pub fn on_stderr() -> LiveSink {
    Arc::new(|live| match live {
        Live::CallStarted { title, .. } => out::err_line(&format!("running: {title}")),
        Live::CallEnded { ok: false, title, summary, .. } if !summary.is_empty() => {
            out::err_line(&format!("not done: {title}: {summary}"));
        }
        Live::StepRestarted { why, .. } => out::err_line(&format!("{} Asking again.", escape::visible(&why))),
        Live::Server { text } | Live::Notice { text } => out::err_line(&out::clean(&text)),
        _ => {}
    })
}

/// What earlier runs of this session still had to say.
pub async fn show_leftovers(follow: &Follow<'_>) -> anyhow::Result<()> {
    let mut left = Vec::new();
    for row in follow.app.mail.waiting(follow.instance.address())? {
        match row.outbound.body {
            crate::domain::OutboundBody::Reply { text, .. } => {
                out::err_line(&format!("(an earlier turn ended while nobody was here)\n{}\n", out::clean(&text)));
            }
            crate::domain::OutboundBody::Notice { text } => out::err_line(&out::clean(&text)),
            crate::domain::OutboundBody::Question { question, .. } if question.staged.is_some() => {
                left.extend(follow.app.gate.question(&question.approval)?);
            }
            // An open question is asked again below, from the store.
            crate::domain::OutboundBody::Question { .. } | crate::domain::OutboundBody::Said { .. } => {}
        }
        follow.app.mail.shown(row.id).await?;
    }
    staged::tell(&left);
    Ok(())
}

/// Follows the turn; questions are put to the person at the terminal, if there is one.
pub async fn answer_until_done(follow: &Follow<'_>, visitor: &Visitor) -> anyhow::Result<Followed> {
    loop {
        match follow.until_said(|notice| out::err_line(&out::clean(notice))).await? {
            Followed::Waits(questions) if ask_person::possible() => {
                for question in questions {
                    let Some(answer) = ask_person::ask(&question).await? else {
                        return Ok(Followed::Waits(follow.open_questions()?));
                    };
                    if let Err(error) = follow.app.router.answer(visitor, &question.approval, &answer).await {
                        out::err_line(&format!("claw: {error}"));
                    }
                }
            }
            followed => return Ok(followed),
        }
    }
}

pub fn finish(follow: &Follow<'_>, ask: &Ask, turn_seq: u64, text: &str) -> anyhow::Result<ExitCode> {
    let report = turn_report::read(&follow.app.store, follow.session, turn_seq)?;
    let staged = staged::since(&follow.app.store, follow.session, turn_seq)?;
    let failed = matches!(report.end, Some(TurnEnd::Failed { .. }));
    if ask.json {
        out::line(
            &json!({
                "id": format!("{}:{turn_seq}", ask.session),
                "reply": if failed { None } else { Some(text) },
                "error": if failed { Some(text) } else { None },
                "end": report.end,
                "calls": report.calls,
                "usage": report.usage,
                "steps": report.steps,
                "model": report.model,
                "staged": staged::as_json(&staged),
            })
            .to_string(),
        );
    } else if failed {
        out::err_line(&format!("claw: {}", out::clean(text)));
    } else {
        super::out::reply(text);
    }
    staged::tell(&staged);
    Ok(ExitCode::from(match report.end {
        Some(TurnEnd::Failed { .. }) => fail::MODEL_UNAVAILABLE,
        Some(TurnEnd::Stopped { .. }) => fail::INTERRUPTED,
        Some(TurnEnd::Limit { .. }) => fail::BROKEN,
        Some(TurnEnd::Answered) | None => fail::DONE,
    }))
}

/// Says what waits and how to answer it.
pub fn waits(ask: &Ask, questions: &[Question]) -> ExitCode {
    if ask.json {
        let list: Vec<_> = questions.iter().map(super::approvals::question_json).collect();
        out::line(&json!({"id": format!("{}", ask.session), "reply": null, "waiting": list}).to_string());
    }
    for question in questions {
        out::err_line(&super::approvals::question_text(question));
    }
    ExitCode::from(fail::WAITS)
}

/// `/stop` from a command: the session ends its turn durably.
pub async fn stop(app: &App, visitor: &Visitor, session: &SessionId) -> anyhow::Result<()> {
    app.router.order(visitor, session, Order::Stop).await?;
    Ok(())
}
