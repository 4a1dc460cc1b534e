//! `claw schedule`: what comes when, by its owner's own hands. One file for what needs more than a
//! line; here is what they share. It works on the file of the jobs while servers run on it.

mod add;
mod heartbeats;
mod history;
mod import;
mod list;
mod place;

use std::process::ExitCode;

use claw_mcp_scheduler::Jobs;
use serde_json::{Value, json};

use super::args::ScheduleAction;
use super::fail::UserError;
use super::{fail, out, server};
use crate::app::App;
use crate::calls::job_words::{JobWords, id, says_no_job};
use crate::domain::SessionId;
use crate::mail::Instance;
use crate::whose::claw;

/// How a home that has no scheduler gets it.
const HOW_TO_ADD: &str = "add `\"scheduler\": {\"command\": \"claw\", \"args\": [\"server\", \"scheduler\"]}` to the servers of mcp.json";

pub async fn run(
    app: &App,
    action: Option<ScheduleAction>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let jobs = || open(app);
    match action.unwrap_or(ScheduleAction::List) {
        ScheduleAction::List => match jobs() {
            Ok(jobs) => list::run(app, &jobs, as_json).await,
            // Heartbeats need no scheduler.
            Err(why) => heartbeats::list(app, as_json).and(Err(why)),
        },
        ScheduleAction::Show { id } => list::show(app, &jobs()?, &id, as_json).await,
        ScheduleAction::Add(wanted) => add::run(app, &jobs()?, *wanted, as_json).await,
        ScheduleAction::Cancel { id } => change(app, &jobs()?, "cancel", &id, as_json).await,
        ScheduleAction::Pause { id } => change(app, &jobs()?, "pause", &id, as_json).await,
        ScheduleAction::Resume { id } => change(app, &jobs()?, "resume", &id, as_json).await,
        ScheduleAction::History { id, limit } => {
            history::run(&jobs()?, id.as_deref(), limit, as_json).await
        }
        ScheduleAction::Run { id } => fire(app, &jobs()?, &id, as_json),
        ScheduleAction::ImportHeartbeats { file, yes } => import::run(app, &file, yes, as_json),
    }
}

/// The jobs of this agent, by the same arguments as its server.
fn open(app: &App) -> anyhow::Result<Jobs> {
    let Some(launch) = &app.scheduler() else {
        return Err(UserError::because(format!(
            "mcp.json has no scheduler server, so nothing comes by itself; {HOW_TO_ADD}"
        )));
    };
    Jobs::open(&server::scheduler_args(launch)?).map_err(mistake)
}

/// A job that was named and is not there.
fn no_job(app: &App, typed: &str) -> anyhow::Error {
    let claw = claw(app);
    UserError::because(format!(
        "there is no job {typed}; `{claw} schedule list` shows all, `{claw} schedule history` what \
         became of others"
    ))
}

/// What a tool refuses about a job that was named.
fn mistake_about(app: &App, typed: &str, why: String) -> anyhow::Error {
    if says_no_job(&why) { no_job(app, typed) } else { mistake(why) }
}

/// What a tool refuses is about what was typed, or about the file.
fn mistake(why: String) -> anyhow::Error {
    UserError::because(in_options(why.trim_end_matches('.')))
}

/// What a tool says of its arguments, with the options that fill them.
fn in_options(why: &str) -> String {
    const OPTIONS: &[(&str, &str)] = &[
        ("`in_seconds`, `in_minutes`", "`--in`"),
        ("`in_seconds`", "`--in`"),
        ("`at_local`", "`--at`"),
        ("`date`", "`--date`"),
        ("`weekday`", "`--weekday`"),
        ("`every`", "`--every`"),
        ("`cron`", "`--cron`"),
        ("`zone`", "`--zone`"),
        ("`until`", "`--until`"),
    ];
    OPTIONS.iter().fold(why.to_owned(), |why, (field, option)| why.replace(field, option))
}

/// Does what a tool does, in the owner's name.
async fn tool(jobs: &Jobs, name: &str, mut arguments: Value) -> anyhow::Result<Value> {
    if let Value::Object(map) = &mut arguments {
        map.retain(|_, value| !value.is_null());
    }
    Ok(jobs.run(name, arguments).await.map_err(mistake)?.structured)
}

async fn change(
    app: &App,
    jobs: &Jobs,
    name: &str,
    typed: &str,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let done = jobs.run(name, json!({ "id": id(typed) })).await;
    let job = done.map_err(|why| mistake_about(app, typed, why))?.structured;
    let words = JobWords(&job);
    say(
        &job,
        as_json,
        match name {
            "cancel" => words.cancelled(),
            _ => words.paused_or_resumed(&format!("{} schedule", claw(app))),
        },
    )
}

fn fire(app: &App, jobs: &Jobs, typed: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let fired = jobs.fire(&id(typed)).map_err(|why| mistake_about(app, typed, why))?.structured;
    let words = format!("Job {typed} is due now; its own times stay as they are.");
    let done = say(&fired, as_json, words)?;
    tell_if_nothing_fires(app);
    Ok(done)
}

fn say(answer: &Value, as_json: bool, words: String) -> anyhow::Result<ExitCode> {
    out::line(&if as_json { answer.to_string() } else { out::clean(&words) })?;
    Ok(ExitCode::from(fail::DONE))
}

/// One line where nobody is there who would do what is due.
fn tell_if_nothing_fires(app: &App) {
    if let Some(why) = why_nothing_fires(app) {
        out::err_line(&why);
    }
}

/// One line behind a turn that has made a job, where no gateway would bring it.
pub(super) fn tell_if_only_a_chat_fires(app: &App, session: &SessionId) {
    if why_nothing_fires(app).is_some() {
        out::err_line(&format!(
            "claw: no gateway runs, so it comes only while `{} chat --session {session}` is open.",
            claw(app)
        ));
    }
}

fn why_nothing_fires(app: &App) -> Option<String> {
    if !app.config.has_bot() {
        return Some(format!(
            "No bot is set up, so no gateway sends what is due: only an open `{} chat` does, for \
             its own session. `claw init` sets up a bot.",
            claw(app)
        ));
    }
    let runs = Instance::runs(&app.config.home.root().join("locks"), "gateway");
    (!runs).then(|| {
        "No gateway runs, so nothing comes until one does: `claw gateway`, or permanently by \
         `claw service install`."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::in_options;

    #[test]
    fn a_refusal_names_the_options_that_were_typed() {
        let why =
            "when? Give exactly one of `in_seconds`, `in_minutes`, `at_local`, `every` and `cron`";
        assert_eq!(
            in_options(why),
            "when? Give exactly one of `--in`, `--at`, `--every` and `--cron`"
        );
    }
}
