//! What is done before the power is lost, from a home's first start on, and what each word that was
//! seen promises. Must not know how a disk loses anything.

use anyhow::Context as _;

use crate::record::Recorder;

/// Whoever has seen `word` may rely on `promise`.
pub struct Fact {
    /// The number of the command that says it, or `effect` for what a tool did.
    pub by: &'static str,
    pub word: &'static str,
    /// A query that gives 1.
    pub promise: String,
    /// From the beginning of this command on it is open.
    pub until: Option<&'static str>,
}

/// The backups: the number of the command that tells one, and where it is.
pub const COPIES: [(&str, &str); 2] = [("9", "copy.tar"), ("12", "second.tar")];

fn ended(session: &str, turns: usize) -> String {
    format!(
        "SELECT count(*) >= {turns} FROM events WHERE session = '{session}' AND type = 'turn.ended'"
    )
}

fn call(file: &str) -> String {
    format!(
        "SELECT count(*) = 1 FROM calls WHERE arguments LIKE '%{file}%' AND state IN ('started', 'ended', 'unknown')"
    )
}

/// A state is rebuilt in another folder. A yes that has not started its call does not count there,
/// and the call is asked about once more.
fn question(file: &str, states: &str) -> String {
    format!(
        "SELECT count(*) >= 1 FROM approvals WHERE question LIKE '%{file}%' AND state IN ({states})"
    )
}

/// Plays it, and gives back what it promises.
pub fn play(recorder: &mut Recorder) -> anyhow::Result<Vec<Fact>> {
    recorder.claw(&["ask", "list"], 0)?;
    recorder.claw(&["ask", "write a.txt: hello"], 3)?;
    let id = open_question(recorder)?;
    recorder.claw(&["approve", &id], 0)?;
    recorder.claw(&["ask", "show large.txt"], 0)?;
    recorder.claw(&["ask", "--session", "other", "write b.txt: hello"], 3)?;
    let id = open_question(recorder)?;
    recorder.claw(&["deny", &id], 0)?;
    let copy = |(_, name)| recorder.seat.user().join(name).display().to_string();
    let [first, second] = COPIES.map(copy);
    recorder.claw(&["backup", &first], 0)?;
    recorder.claw(&["panic", "on"], 0)?;
    recorder.claw(&["panic", "off"], 0)?;
    recorder.claw_without_unnamed(&["backup", &second], 0)?;
    let fact = |by, word, promise: String| Fact { by, word, promise, until: None };
    let panic =
        |is: &str| format!("SELECT count(*) = 1 FROM meta WHERE key = 'panic' AND value {is} ''");
    Ok(vec![
        fact("1", "Listing", ended("main", 1)),
        fact("2", "approve", question("a.txt", "'waiting', 'approved'")),
        fact("4", "Allowed", question("a.txt", "'approved'")),
        fact("effect", "a.txt", call("a.txt")),
        fact("4", "Created", ended("main", 2)),
        fact("5", "a line that is kept", ended("main", 3)),
        fact("5", "a line that is kept", "SELECT count(*) >= 1 FROM artifacts".to_owned()),
        fact("6", "approve", question("b.txt", "'waiting', 'denied'")),
        fact("8", "Denied", question("b.txt", "'denied'")),
        Fact { until: Some("11"), ..fact("10", "is ON", panic("<>")) },
        fact("11", "is off", panic("=")),
    ])
}

fn open_question(recorder: &mut Recorder) -> anyhow::Result<String> {
    let said = recorder.claw(&["approvals", "--json"], 0)?;
    let row: serde_json::Value = serde_json::from_str(said.trim())?;
    Ok(row["id"].as_str().context("no question is open")?.to_owned())
}
