//! `claw approvals`, `claw approve ID`, `claw deny ID`: the open questions, and the answers, from
//! any process. Must not know how a grant is matched.

use std::process::ExitCode;
use std::sync::Arc;

use claw_kit::counted::counted;
use serde_json::{Value, json};

use super::ask_progress::on_stderr;
use super::fail::UserError;
use super::{approval_answers, ask, fail, out};
use crate::app::App;
use crate::domain::{
    Answer, ApprovalId, CallList, CallOwner, Question, SessionId, Term, client_name_of,
};
use crate::doors::follow::{Follow, Followed};
use crate::doors::input_answers::{self, ReadInput, read_input};
use crate::doors::instance_outbox::InstanceOutbox;
use crate::doors::{list_answers, staged_questions};
use crate::store::{DecideRefused, now_ms};
use crate::terminal::question::brief_lines;
use crate::terminal::size::terminal_size;
use crate::terminal::style::Look;
use crate::whose::claw;

/// Shows all of one question, open or closed.
pub fn show(app: &App, id: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let id = ApprovalId(id.to_owned());
    let Some(row) = app.store.read(|tx| tx.approval(&id))? else {
        return Err(DecideRefused::NotFound(id.0).into());
    };
    out::line(&match as_json {
        true => question_json(&row.question).to_string(),
        false => whole_text(&claw(app), &row.question, row.is_overdue(now_ms())),
    })?;
    Ok(ExitCode::from(fail::DONE))
}

/// Lists the open questions.
pub fn list(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let rows = app.store.read(|tx| tx.open_questions(None))?;
    for row in &rows {
        let shown = if as_json {
            question_json(&row.question).to_string()
        } else {
            question_text(&claw(app), &row.question)
        };
        out::line(&shown)?;
    }
    if rows.is_empty() && !as_json {
        out::err_line("Nothing waits for an answer.");
    }
    if !app.config.home.is_agents() {
        super::whose::tell_of_others(app)?;
    }
    Ok(ExitCode::from(fail::DONE))
}

/// Answers a question and carries the turn on.
pub async fn answer(
    app: &App,
    id: &str,
    answer: Answer,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    // On the heap: every command carries this future.
    Box::pin(answer_and_go_on(app, id, answer, as_json)).await
}

async fn answer_and_go_on(
    app: &App,
    id: &str,
    answer: Answer,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let worker = app.worker().await?;
    let instance = Arc::new(app.open_door("console")?);
    let visitor = app.console_visitor(instance.address());
    let decided = app.router.answer(&visitor, &ApprovalId(id.to_owned()), &answer).await?;
    if let Some(session) = &decided.question.session {
        // The turn goes on where it was asked.
        worker.keep_here(session).await?;
    }
    out::err_line(&told(app, &decided.question, &answer)?);
    tell_of_settled(app, &decided.question)?;
    let Some(session) = decided.question.session.clone() else {
        return told_to_client(&decided.question, as_json);
    };
    if decided.question.input.is_some()
        && app.gate.calls().under_way(&decided.question.call)?.is_some()
        && app.store.session_is_held(&session)?
    {
        // Its call runs in the process that has asked. One that is gone has left a turn, which goes
        // on below and says that the answer came too late.
        return Ok(quiet(app, &session));
    }
    let follow = Follow {
        outbox: InstanceOutbox::new(&app.mail, instance, &session),
        worker,
        live: on_stderr(),
    };
    if decided.question.staged.is_some() {
        let acted = super::staged_report::carry_out(app, &follow, &decided, as_json);
        let acted = super::interrupt::stoppable(app, &visitor, &session, acted).await?;
        return Ok(acted.unwrap_or(ExitCode::from(fail::INTERRUPTED)));
    }
    let told = async {
        follow.finish_leftovers().await?;
        loop {
            let ran = follow.worker.run(&session, &follow.live).await?;
            // Whoever has asked may be gone, and then what the turn says is shown here.
            follow.outbox.adopt().await?;
            if let Some(followed) = ask::unless_answered(app, &follow, &visitor, ran).await? {
                return Ok(followed);
            }
        }
    };
    let asked = ask::Ask {
        text: String::new(),
        session: session.clone(),
        json: as_json,
        own_turn: false,
        mode: None,
    };
    match Box::pin(super::interrupt::stoppable(app, &visitor, &session, told)).await? {
        None => Ok(ExitCode::from(fail::INTERRUPTED)),
        Some(Followed::Replied { turn_seq, text, outbox_id }) => {
            let code = ask::finish(app, &asked, None, turn_seq, &text)?;
            follow.shown(outbox_id).await?;
            Ok(code)
        }
        Some(Followed::Waits(questions)) => ask::waits(app, &asked, &questions),
        Some(Followed::Quiet) => Ok(quiet(app, &session)),
    }
}

/// The answer that a text gives to a question for a value.
pub fn value_of(app: &App, id: &str, text: &str) -> anyhow::Result<Answer> {
    let id = ApprovalId(id.to_owned());
    let Some(question) = app.gate.calls().question(&id)? else {
        return Err(DecideRefused::NotFound(id.0).into());
    };
    match read_input(text, &question, true) {
        Some(ReadInput::Answer(answer)) => Ok(answer),
        Some(ReadInput::Unclear(sentence)) => Err(UserError::because(sentence)),
        Some(ReadInput::NotAnAnswer) => Err(UserError::because("The value is empty.")),
        None => Err(UserError::because(format!(
            "The question {id} asks for a yes and for no value; `{} approve {id}` gives it.",
            claw(app)
        ))),
    }
}

/// What the same answer has answered besides. Sessions that no process looks after go on later.
fn tell_of_settled(app: &App, question: &Question) -> anyhow::Result<()> {
    let mut settled = app.store.read(|tx| tx.approvals_settled_with(&question.approval))?;
    if settled.is_empty() {
        return Ok(());
    }
    let others = counted(settled.len(), "other open question");
    out::err_line(&format!("It also answers {others}."));
    settled.retain(|row| row.question.session != question.session);
    settled.dedup_by(|one, other| one.question.session == other.question.session);
    for session in settled.into_iter().filter_map(|row| row.question.session) {
        out::err_line(&format!(
            "The session `{session}` goes on where it runs, or with your next message there."
        ));
    }
    Ok(())
}

/// What the answer has done. One that holds for longer says what it made, and how that is taken
/// back.
fn told(app: &App, question: &Question, answer: &Answer) -> anyhow::Result<String> {
    let (word, until) = match answer {
        Answer::Allow { term: Term::TenMinutes, .. } => ("Allowed", "for 10 minutes"),
        Answer::Allow { term: Term::Session, .. } => ("Allowed", "until its session ends or /new"),
        Answer::Allow { term: Term::Always, .. } => ("Allowed", "until you revoke it"),
        Answer::Never => ("Denied", "now and always"),
        _ => return Ok(in_words(question, answer)),
    };
    let rows = app.store.read(|tx| tx.audit_of(&question.call))?;
    let given = rows.iter().rev().find_map(|row| row.body.get("grant"));
    let number = given.and_then(|grant| grant.get("id")?.as_i64());
    let (Some(number), Some(grant)) = (number, given) else {
        return Ok(in_words(question, answer));
    };
    let says = grant.get("says").and_then(Value::as_str).unwrap_or_default();
    Ok(format!(
        "{word}, {until}: {} (grant {number}; `{} grants revoke {number}` takes it back).",
        out::clean(says),
        claw(app)
    ))
}

fn in_words(question: &Question, answer: &Answer) -> String {
    if let Some(list) = &question.list {
        return list_answers::in_words(answer, list);
    }
    if let Some(effect) = question.effect.as_ref().filter(|_| question.staged.is_some()) {
        let word = if matches!(answer, Answer::Allow { .. }) { "Yes" } else { "No" };
        return format!("{word}: {}", effect.says);
    }
    if question.input.is_some() {
        return format!("{}.", out::clean(&input_answers::in_words(answer, question)));
    }
    let word = match (answer, &question.staged) {
        (Answer::Press { .. }, _) => "Pressed",
        (Answer::Pick { .. } | Answer::Give { .. } | Answer::Skip, _) => "Answered",
        (Answer::Allow { .. }, Some(_)) => "Confirmed",
        (Answer::Allow { .. }, None) => "Allowed",
        (_, Some(_)) => "Cancelled",
        (_, None) => "Denied",
    };
    let about = question
        .staged
        .as_ref()
        .map(|staged| format!(", {}", staged_questions::in_a_list(staged)))
        .unwrap_or_default();
    format!("{word}: {}/{}{about}", question.server, question.tool)
}

/// No session waits for the answer to a client's call: whoever drives that client sees it.
fn told_to_client(question: &Question, as_json: bool) -> anyhow::Result<ExitCode> {
    out::err_line("The client that asked for it goes on with this answer.");
    if as_json {
        out::line(
            &json!({"id": question.approval.0, "call": question.call.to_string()}).to_string(),
        )?;
    }
    Ok(ExitCode::from(fail::DONE))
}

/// The turn went on in another process, which shows what comes of it.
fn quiet(app: &App, session: &SessionId) -> ExitCode {
    let open = app.store.read(|tx| tx.turn_open(session)).unwrap_or(false);
    out::err_line(if open {
        "The turn goes on where it was started."
    } else {
        "The turn has ended; its reply went to where it was asked."
    });
    ExitCode::from(fail::DONE)
}

/// A question as one JSON object.
pub fn question_json(question: &Question) -> Value {
    json!({
        "id": question.approval.0,
        "session": question.session,
        "call": question.call.to_string(),
        "server": question.server,
        "tool": question.tool,
        "arguments": question.arguments.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>(),
        "why": question.why,
        "effect": question.effect,
        "expires_at_ms": question.expires_at_ms,
        "staged": question.staged,
        "list": question.list,
        "choices": question.choices,
        "input": question.input,
    })
}

/// A question for a person, as short as it gets, with how to answer it and how to see all of it.
pub fn question_text(claw: &str, question: &Question) -> String {
    if question.staged.is_some() && !staged_questions::in_our_words(question) {
        return whole_text(claw, question, false);
    }
    let look = Look::new(terminal_size().columns, false);
    let mut rows = brief_lines(question, &question.approval.0, look);
    rows.push(format!("  {}.", whose(question)));
    rows.push(format!(
        "  {claw} approve {0} · {claw} deny {0} · {claw} approvals {0}",
        question.approval
    ));
    if question.list.is_some() {
        rows.push("  The first two are for all of them; the last shows the id of each.".to_owned());
    }
    rows.join("\n") + &approval_answers::by_command(claw, question)
}

fn whose(question: &Question) -> String {
    match question.call.owner() {
        CallOwner::Session(session) => format!("Session `{session}`"),
        CallOwner::Client(principal) => {
            let client = client_name_of(principal).unwrap_or(principal);
            format!("MCP client `{}`", out::clean(client))
        }
        CallOwner::Claw => "Claw itself".to_owned(),
    }
}

/// All of a question, with how to answer it.
fn whole_text(claw: &str, question: &Question, is_overdue: bool) -> String {
    let mut text = format!("? {}  {}/{}", question.approval, question.server, question.tool);
    if let Some(staged) = &question.staged {
        let group = staged_questions::group(staged)
            .map_or(String::new(), |group| format!("  (group {group})"));
        text.push_str(&format!("\n  {}{group}", staged_questions::in_a_list(staged)));
    }
    if let Some(effect) = &question.effect {
        let danger = if effect.danger { "⚠ " } else { "" };
        text.push_str(&format!("\n  {danger}{}.", effect.says));
        for note in effect.notes.iter().chain(&effect.asker) {
            text.push_str(&format!("\n  {note}."));
        }
        for line in effect.difference.lines() {
            text.push_str(&format!("\n    {line}"));
        }
    }
    for (number, item) in question.list.iter().flat_map(CallList::numbered) {
        let state = if item.is_open() { String::new() } else { format!(" [{}]", item.state) };
        let danger = if item.danger { "⚠ " } else { "" };
        text.push_str(&format!("\n    {number}  {}{state}  {danger}{}", item.approval, item.says));
        for note in &item.notes {
            text.push_str(&format!("\n       {note}."));
        }
        for line in item.difference.lines().chain(item.content.lines()) {
            text.push_str(&format!("\n       │ {line}"));
        }
    }
    let arguments = question.arguments.iter().filter(|_| question.list.is_none());
    for (name, value) in arguments {
        if value.contains('\n') {
            text.push_str(&format!("\n    {name}:"));
            for line in value.split('\n') {
                text.push_str(&format!("\n      {line}"));
            }
        } else {
            text.push_str(&format!("\n    {name}: {value}"));
        }
    }
    text.push_str(&format!("\n  Asked because {}. {}.", question.why, whose(question)));
    if is_overdue {
        text.push_str("\n  Its time is over: no answer counts. Ask again for what you want.");
        return text;
    }
    if let Some(staged) = &question.staged {
        text.push_str(&format!("\n  {}", approval_answers::of_staged(claw, question, staged)));
        return text;
    }
    text.push_str("\n  Answer with:");
    for (command, does) in approval_answers::each(claw, question) {
        text.push_str(&format!("\n    {command}\n      {does}"));
    }
    if question.list.is_some() {
        text.push_str(
            "\n  That is for all of it that is open; with the id of a call it is for that one.",
        );
    }
    text
}
