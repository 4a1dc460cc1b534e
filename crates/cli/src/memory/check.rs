//! `claw memory check`, and what the doctor says of the memory: whether the index equals the files.

use std::process::ExitCode;

use claw_mcp_memory::Notes;
use serde_json::json;

use super::{HOW_TO_ADD, open, shared};
use crate::app::App;
use crate::whose::claw;
use crate::{fail, out};

pub fn run(app: &App, notes: &Notes, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut report = notes.check().map_err(anyhow::Error::msg)?;
    report.lines.extend(shared::lines(app, notes));
    if as_json {
        let folder = notes.folder().display().to_string();
        out::line(
            &json!({"id": folder, "ok": report.is_equal, "lines": report.lines}).to_string(),
        )?;
    } else {
        report.lines.iter().try_for_each(|line| out::line(&out::clean(line)))?;
    }
    Ok(ExitCode::from(if report.is_equal { fail::DONE } else { fail::BROKEN }))
}

/// How the lines of a report begin that say how things are, and ask for nothing.
const NOTHING_TO_DO: [&str; 2] =
    ["The trash holds ", "Hits are found by words; no embeddings endpoint is configured."];

/// The sum, and behind it what a person should act on: one is named, of more the command tells.
fn told(claw: &str, mut lines: Vec<String>) -> String {
    let sum = lines.pop().unwrap_or_default();
    lines.retain(|line| !NOTHING_TO_DO.iter().any(|start| line.starts_with(start)));
    match lines.as_slice() {
        [] => sum,
        [one] => format!("{sum} {one}"),
        [first, more @ ..] => {
            let first = first.trim_end_matches('.');
            format!("{sum} {first}; `{claw} memory check` names {} more.", more.len())
        }
    }
}

/// How the memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Well,
    /// It works, and somebody has to mend something.
    Faulty,
    /// The index differs from the files, or they cannot be used.
    Broken,
}

/// For the doctor: how it is, and a sentence.
pub fn look(app: &App) -> (Health, String) {
    if app.memory().is_none() {
        let text = format!("claw remembers nothing of what it is told; {HOW_TO_ADD}");
        return (Health::Well, text);
    }
    let looked = open(app).and_then(|notes| {
        let report = notes.look().map_err(anyhow::Error::msg)?;
        Ok((report, shared::lines(app, &notes)))
    });
    match looked {
        Ok((report, shared)) => {
            let shared: String = shared.iter().map(|line| format!(" {line}")).collect();
            let health = match (report.is_equal, report.has_faults) {
                (true, false) => Health::Well,
                (true, true) => Health::Faulty,
                (false, _) => Health::Broken,
            };
            (health, told(&claw(app), report.lines) + &shared)
        }
        Err(error) => (Health::Broken, format!("{error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doctor_names_what_to_act_on_and_nothing_else() {
        let lines = |all: &[&str]| all.iter().map(|line| (*line).to_owned()).collect();
        let sum = "9 notes; the index equals the files.";
        let trash = "The trash holds 6 files, 1 KiB.";
        let words = "Hits are found by words; no embeddings endpoint is configured.";
        assert_eq!(told("claw", lines(&[trash, words, sum])), sum);
        let fault = "anna.md: line 2 is no front matter.";
        assert_eq!(told("claw", lines(&[fault, trash, sum])), format!("{sum} {fault}"));
        assert_eq!(
            told("claw", lines(&[fault, "b.md: the same.", sum])),
            format!("{sum} anna.md: line 2 is no front matter; `claw memory check` names 1 more.")
        );
    }
}
