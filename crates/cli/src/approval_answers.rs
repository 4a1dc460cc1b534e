//! How a question is answered at the command line: the command of each answer that it offers, and
//! what that answer does. Must not know what an answer grants.

use super::out;
use crate::domain::{Answer, Question, Scope, Staged, Term};
use crate::doors::reached::quoted;
use crate::doors::staged_questions;

/// Each answer that is on offer: its command, and what it does.
pub(super) fn each(claw: &str, question: &Question) -> Vec<(String, String)> {
    let mut answers: Vec<(String, String)> = Vec::new();
    if let Some(input) = &question.input {
        let id = &question.approval;
        if input.is_typed() {
            answers.push((format!("{claw} approve {id} --value TEXT"), input.wants()));
        }
        let given = question.choices.iter().filter(|it| !matches!(it.answer, Answer::Deny { .. }));
        answers.extend(given.map(|choice| {
            let does = out::clean(&choice.label).replace('\n', " ");
            (format!("{claw} approve {id} --value {}", choice.key), does)
        }));
    }
    for choice in &question.choices {
        // The key of a refusal with a word to the model has the word behind it.
        let words = choice.key.contains(' ');
        let Some(command) = command_of(claw, question, &choice.answer, words) else { continue };
        if !answers.iter().any(|(known, _)| *known == command) {
            answers.push((command, out::clean(&choice.label).replace('\n', " ")));
        }
    }
    answers
}

fn command_of(claw: &str, question: &Question, answer: &Answer, words: bool) -> Option<String> {
    let id = &question.approval;
    let (term, scope) = match answer {
        Answer::Allow { term: Term::Once, .. } => return Some(format!("{claw} approve {id}")),
        Answer::Deny { .. } if words => return Some(format!("{claw} deny {id} WORDS")),
        Answer::Deny { .. } => return Some(format!("{claw} deny {id}")),
        Answer::Never => return Some(format!("{claw} deny {id} --never")),
        Answer::Allow { scope: Scope::Mode { mode }, .. } => {
            return Some(format!("{claw} approve {id} --mode {mode}"));
        }
        Answer::Allow { term: Term::TenMinutes, scope } => ("10m", scope),
        Answer::Allow { term: Term::Session, scope } => ("session", scope),
        Answer::Allow { term: Term::Always, scope } => ("always", scope),
        Answer::Give { .. } | Answer::Skip => return None,
        Answer::Press { .. } | Answer::Pick { .. } => return None,
    };
    let what = match scope {
        Scope::Exact => String::new(),
        Scope::Below { path } => format!(" --below {}", quoted(path)),
        Scope::Files { path } if path.is_empty() => " --edits-below .".to_owned(),
        Scope::Files { path } => format!(" --edits-below {}", quoted(path)),
        Scope::Command { words } => format!(" --command {}", quoted(&words.join(" "))),
        Scope::Hosts { hosts } => format!(" --hosts {}", quoted(&hosts.join(","))),
        Scope::Mode { .. } => return None,
    };
    Some(format!("{claw} approve {id} --for {term}{what}"))
}

/// The words of the command line for the grant that claw offers.
fn offered(claw: &str, question: &Question) -> Option<String> {
    let key = question.effect.as_ref()?.offer.as_ref()?;
    let Answer::Allow { scope, .. } =
        &question.choices.iter().find(|choice| choice.key == *key)?.answer
    else {
        return None;
    };
    let (what, flag) = match scope {
        Scope::Files { path } if path.is_empty() => {
            ("edits anywhere in this workspace".to_owned(), " --edits-below .".to_owned())
        }
        Scope::Files { path } => {
            let quoted = path.replace('\'', "'\\''");
            (format!("edits below {}", out::clean(path)), format!(" --edits-below '{quoted}'"))
        }
        Scope::Exact => ("exactly this".to_owned(), String::new()),
        // Named below in any case.
        Scope::Below { .. } | Scope::Command { .. } | Scope::Hosts { .. } | Scope::Mode { .. } => {
            return None;
        }
    };
    Some(format!(
        "\n  To allow {what} from now on: {claw} approve {} --for always{flag}",
        question.approval
    ))
}

/// How the grants that the question offers are given.
pub(super) fn by_command(claw: &str, question: &Question) -> String {
    let mut text = offered(claw, question).unwrap_or_default();
    let scopes = question.choices.iter().filter_map(|choice| match &choice.answer {
        Answer::Allow { term: Term::Always, scope: Scope::Command { words } } => {
            Some(words.join(" "))
        }
        _ => None,
    });
    for command in scopes {
        text.push_str(&format!(
            "\n  For any `{command}` with known options and plain words: {claw} approve {} --for \
             always --command '{command}'",
            question.approval
        ));
    }
    let hosts = question.choices.iter().find_map(|choice| match &choice.answer {
        Answer::Allow { term: Term::Always, scope: Scope::Hosts { hosts } } => Some(hosts),
        _ => None,
    });
    if let Some(hosts) = hosts {
        text.push_str(&format!(
            "\n  For any command to {} alone: {claw} approve {} --for always --hosts {}",
            out::clean(&hosts.join(", ")),
            question.approval,
            hosts.join(",")
        ));
    }
    let modes = question.choices.iter().filter_map(|choice| match &choice.answer {
        Answer::Allow { scope: Scope::Mode { mode }, .. } => Some(mode),
        _ => None,
    });
    for mode in modes {
        text.push_str(&format!(
            "\n  For this and the like in this session: {claw} approve {} --mode {mode}",
            question.approval
        ));
    }
    text
}

/// What each command does is ours to say, whatever the server calls its buttons.
pub(super) fn of_staged(claw: &str, question: &Question, staged: &Staged) -> String {
    let id = &question.approval;
    if matches!(staged, Staged::Buttons { .. }) {
        return format!("Press one with: {claw} approve {id} --button NUMBER");
    }
    let label = |index: usize| {
        let label = question
            .choices
            .get(index)
            .and_then(|choice| staged_questions::label(question, choice));
        label.map(|label| format!(" ({})", label.shown)).unwrap_or_default()
    };
    format!(
        "Confirm with: {claw} approve {id}{}   or cancel with: {claw} deny {id}{}",
        label(0),
        label(1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ApprovalId, CallId, Choice, Mode, SessionId};

    #[test]
    fn each_answer_on_offer_has_its_command() {
        let allow = |term, scope| Answer::Allow { term, scope };
        let folder = || Scope::Files { path: "my notes".into() };
        let answers = [
            ("y", allow(Term::Once, Scope::Exact), "claw approve q7"),
            ("10", allow(Term::TenMinutes, Scope::Exact), "claw approve q7 --for 10m"),
            (
                "ab",
                allow(Term::Always, folder()),
                "claw approve q7 --for always --edits-below 'my notes'",
            ),
            (
                "sc",
                allow(Term::Session, Scope::Command { words: vec!["git".into(), "log".into()] }),
                "claw approve q7 --for session --command 'git log'",
            ),
            (
                "ah",
                allow(Term::Always, Scope::Hosts { hosts: vec!["a.org".into(), "b.org".into()] }),
                "claw approve q7 --for always --hosts a.org,b.org",
            ),
            (
                "e",
                allow(Term::Session, Scope::Mode { mode: Mode::Edits }),
                "claw approve q7 --mode edits",
            ),
            ("n", Answer::Deny { word: None }, "claw deny q7"),
            ("n WORDS", Answer::Deny { word: None }, "claw deny q7 WORDS"),
            ("never", Answer::Never, "claw deny q7 --never"),
        ];
        let choice = |(key, answer, _): &(&str, Answer, &str)| Choice {
            key: (*key).into(),
            label: format!("what {key} does"),
            answer: answer.clone(),
        };
        let session = SessionId::new("main").unwrap();
        let question = Question {
            approval: ApprovalId("q7".into()),
            call: CallId::Reply { session: session.clone(), reply_seq: 3, block: 0 },
            session: Some(session),
            server: "filesystem".into(),
            tool: "write_file".into(),
            arguments: Vec::new(),
            why: "it asks".into(),
            effect: None,
            expires_at_ms: 1_000,
            choices: answers.iter().map(choice).collect(),
            staged: None,
            list: None,
            input: None,
        };
        let expected: Vec<(String, String)> = answers
            .iter()
            .map(|(key, _, command)| ((*command).to_owned(), format!("what {key} does")))
            .collect();
        assert_eq!(each("claw", &question), expected);
    }
}
