//! What a turn has staged, at the command line: the list with ids behind a reply, and what came of
//! an action that was confirmed here. Must not know how an action is run.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::{approvals, fail, out};
use crate::app::App;
use crate::domain::{Outcome, Question, SessionId, Staged};
use crate::doors::follow::{Follow, Followed};
use crate::doors::staged_questions;
use crate::mail::{AnsweredCall, AskedQuestion};
use crate::store::{Store, StoreError};
use crate::whose::claw;

/// What was staged in a session since this event and is still open, in the order of its list.
pub fn since(store: &Store, session: &SessionId, seq: u64) -> Result<Vec<Question>, StoreError> {
    let rows = store.read(|tx| tx.open_approvals(Some(session)))?;
    let mut found: Vec<Question> = rows.into_iter().map(|row| row.question).collect();
    found.retain(|question| question.staged.is_some() && question.call.seq() >= Some(seq));
    found.sort_by_key(|question| question.staged.as_ref().map(staged_questions::place));
    Ok(found)
}

/// For a person: everything, whole, with how to confirm it.
pub fn tell(app: &App, questions: &[Question]) {
    let items = questions
        .iter()
        .filter(|question| matches!(question.staged, Some(Staged::Item { .. })))
        .count();
    match (items, questions.len()) {
        (_, 0) => return,
        (0, _) => out::err_line("\nButtons:"),
        (items, _) => out::err_line(&format!(
            "\n{}: nothing of it is done yet.",
            staged_questions::count(items)
        )),
    }
    for question in questions {
        out::err_line(&approvals::question_text(&claw(app), question));
    }
}

/// Carries out what was confirmed here, and says what came of it. No model is asked.
pub async fn carry_out(
    app: &App,
    follow: &Follow,
    decided: &AskedQuestion,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let store = &app.store;
    let seq = store.read(|tx| tx.last_seq(&follow.outbox.session))?;
    let mut told = 0;
    let mut notice = |text: &str| {
        told += 1;
        out::notice(text)
    };
    // What the action has to say goes to whoever was there when it was staged; of those who are
    // gone this is the heir, when it has run.
    for _ in 0..2 {
        follow.finish_leftovers().await?;
        let ran = follow.worker.run(&follow.outbox.session, &follow.live).await?;
        if let Followed::Replied { text, outbox_id, .. } = follow.said(ran, &mut notice).await?
            && notice(&text)
        {
            follow.shown(outbox_id).await?;
        }
    }
    let Some(now) = app.mail.asked_question(&decided.id)? else {
        return Ok(ExitCode::from(fail::BROKEN));
    };
    let calls = app.mail.calls_of(&now)?;
    let new = since(store, &follow.outbox.session, seq + 1)?;
    if json {
        let calls: Vec<Value> = calls
            .iter()
            .map(|call| json!({"id": call.id.to_string(), "tool": format!("{}/{}", call.server, call.tool), "outcome": call.outcome}))
            .collect();
        out::line(
            &json!({"id": decided.id.0, "answer": now.answer, "calls": calls, "staged": as_json(&new)}).to_string(),
        )?;
    } else if told == 0 {
        calls.iter().for_each(|call| out::err_line(&became(call)));
    }
    tell(app, &new);
    Ok(ExitCode::from(fail::DONE))
}

fn became(call: &AnsweredCall) -> String {
    let what = format!("{}/{}", call.server, call.tool);
    match &call.outcome {
        Some(Outcome::Ended { output }) if output.is_error => {
            format!("Failed: {what}: {}", out::clean(&output.text))
        }
        Some(Outcome::Ended { output }) => format!("Done: {what}: {}", out::clean(&output.text)),
        Some(Outcome::Denied { reason, .. }) => format!("Not run: {what}: {}", out::clean(reason)),
        Some(Outcome::Unknown { reason }) => {
            format!(
                "Unknown: {what} may or may not have run ({}). It is not repeated.",
                out::clean(reason)
            )
        }
        Some(Outcome::Parked { .. } | Outcome::Left) | None => {
            format!("On its way where it was staged: {what}")
        }
    }
}

/// As one list of JSON objects.
pub fn as_json(questions: &[Question]) -> Vec<Value> {
    questions.iter().map(approvals::question_json).collect()
}
