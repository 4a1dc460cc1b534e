//! A question as a request for permission: all that claw's question says, and the answers that make
//! sense in an editor. Pure. Must not know who answers, or what an answer does.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, ToolCallContent, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use serde_json::{Map, Value};

use super::blocks::{content, differences, fenced};
use super::call_view::{changed_file, kind, locations};
use crate::domain::{Answer, CallList, Choice, Effect, Question, Scope, Term};
use crate::doors::clock::Clock;
use crate::doors::input_answers;
use crate::doors::staged_questions;

/// The server of a question that is about no call of a server: whether a turn may go on, and
/// several calls together.
const CLAW: &str = "claw";

/// The number under which an editor knows what a question is about: the call's own, so that the
/// call takes the question's place when it runs.
pub fn tool_call_id(question: &Question) -> String {
    match question.list {
        Some(_) => format!("question-{}", question.approval),
        None => question.call.to_string(),
    }
}

/// Whether nothing runs under that number: what an answer lets go on has numbers of its own.
pub fn asks_for_others(question: &Question) -> bool {
    question.list.is_some() || question.server == CLAW
}

/// What is asked, whole: a yes rests on it.
pub fn call(question: &Question, workspace: &Path, clock: &Clock) -> ToolCallUpdate {
    let arguments = as_json(&question.arguments);
    let fields = ToolCallUpdateFields::new()
        .title(title(question))
        .kind(kind(&question.server, &question.tool))
        .status(ToolCallStatus::Pending)
        .content(contents(question, &arguments, workspace, clock))
        .locations(locations(&question.server, &arguments, workspace));
    ToolCallUpdate::new(tool_call_id(question), fields)
}

fn title(question: &Question) -> String {
    match (&question.effect, &question.list, &question.staged) {
        (Some(effect), ..) => {
            let danger = if effect.danger { "⚠ " } else { "" };
            format!("{danger}{}", effect.says)
        }
        (None, Some(list), _) => format!("{} calls", list.items.len()),
        (None, None, Some(staged)) => staged_questions::head(staged),
        (None, None, None) => format!("May {}/{} run this?", question.server, question.tool),
    }
}

/// Shown values are text already, each as a string.
fn as_json(arguments: &[(String, String)]) -> Value {
    let pairs = arguments.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn contents(
    question: &Question,
    arguments: &Value,
    workspace: &Path,
    clock: &Clock,
) -> Vec<ToolCallContent> {
    let mut parts = Vec::new();
    let effect = question.effect.clone().unwrap_or_else(|| of_older(question));
    let file = changed_file(&question.server, arguments, workspace);
    match file.filter(|_| !effect.difference.is_empty()) {
        Some(file) => parts.extend(differences(&file, &effect.difference)),
        None if !effect.difference.is_empty() => parts.push(content(&fenced(&effect.difference))),
        None => {}
    }
    let mut lines: Vec<String> = effect.notes.clone();
    lines.extend(effect.asker.clone());
    lines.extend(effect.why.as_ref().map(|why| format!("Why: {why}")));
    lines.extend(question.list.as_ref().map(listed));
    lines.extend(input_answers::typed(question).map(|wants| {
        let id = &question.approval;
        format!("It takes {wants}: `claw approve {id} --value TEXT` in a terminal gives it.")
    }));
    // Those of a list are its calls once more.
    let is_told = |name: &str| question.list.is_some() || effect.tells(name);
    for (name, value) in &question.arguments {
        if !is_told(name) {
            lines.push(format!("{name}:\n{}", fenced(value)));
        }
    }
    lines.push(format!("Open until {}.", clock.until(question.expires_at_ms)));
    parts.push(content(&lines.join("\n\n")));
    parts
}

/// A question of an older claw, or about a turn, says why it asks.
fn of_older(question: &Question) -> Effect {
    Effect { why: Some(question.why.clone()), ..Effect::default() }
}

/// Every call of a list, with what has become of it.
fn listed(list: &CallList) -> String {
    let item = |(number, item): (u32, &crate::domain::ListedCall)| {
        let state = if item.is_open() { "" } else { " (answered)" };
        let danger = if item.danger { "⚠ " } else { "" };
        let notes: String = item.notes.iter().map(|note| format!("\n   {note}")).collect();
        let texts = [&item.difference, &item.content].into_iter().filter(|text| !text.is_empty());
        let texts: String = texts.map(|text| format!("\n\n{}\n", fenced(text))).collect();
        format!("{number}. {danger}{}{state}{notes}{texts}", item.says)
    };
    list.numbered().map(item).collect::<Vec<_>>().join("\n")
}

/// The answers that an editor offers: yes once, what was offered to spare more questions, a mode,
/// and no. The others are for the console and for `claw approve`.
pub fn options(question: &Question) -> Vec<PermissionOption> {
    let offered = offered(question);
    let option = |(choice, kind): (&Choice, PermissionOptionKind)| {
        PermissionOption::new(choice.key.clone(), label(question, choice), kind)
    };
    offered.into_iter().map(option).collect()
}

/// The answer behind an option, if it is one of those that were offered.
pub fn answer_of(question: &Question, option: &str) -> Option<Answer> {
    let offered = offered(question).into_iter();
    offered
        .map(|(choice, _)| choice)
        .find(|choice| choice.key == option)
        .map(|it| it.answer.clone())
}

fn offered(question: &Question) -> Vec<(&Choice, PermissionOptionKind)> {
    let offer = question.effect.as_ref().and_then(|effect| effect.offer.as_deref());
    let open = question.list.as_ref().map(CallList::open);
    let kind = |choice: &Choice| {
        Some(match &choice.answer {
            Answer::Allow { term: Term::Once, scope: Scope::Exact } | Answer::Press { .. } => {
                PermissionOptionKind::AllowOnce
            }
            // A call of a list that is answered already is asked no more.
            Answer::Pick { yes, .. } => {
                let still = |number: &u32| open.as_ref().is_none_or(|open| open.contains(number));
                let asked = !yes.is_empty() && yes.iter().all(still);
                asked.then_some(PermissionOptionKind::AllowOnce)?
            }
            Answer::Give { .. } | Answer::Skip => PermissionOptionKind::AllowOnce,
            Answer::Allow { scope: Scope::Mode { .. }, .. } => PermissionOptionKind::AllowAlways,
            Answer::Allow { .. } if offer == Some(choice.key.as_str()) => {
                PermissionOptionKind::AllowAlways
            }
            // A word to the model is written as a message: `no, …`.
            Answer::Deny { .. } if choice.key.contains(' ') => return None,
            Answer::Deny { .. } => PermissionOptionKind::RejectOnce,
            Answer::Allow { .. } | Answer::Never => return None,
        })
    };
    question.choices.iter().filter_map(|choice| Some((choice, kind(choice)?))).collect()
}

fn label(question: &Question, choice: &Choice) -> String {
    if let Some(label) = staged_questions::label(question, choice) {
        return match label.quoted {
            Some(quoted) => format!("{}: “{quoted}”", label.shown),
            None => label.shown,
        };
    }
    let mut letters = choice.label.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use claw_test_kit::question as asked;

    fn with(choices: &[(&str, Answer)]) -> Question {
        let choice = |(key, answer): &(&str, Answer)| Choice {
            key: (*key).to_owned(),
            label: format!("answer {key}"),
            answer: answer.clone(),
        };
        Question { choices: choices.iter().map(choice).collect(), ..asked() }
    }

    fn allow(term: Term, scope: Scope) -> Answer {
        Answer::Allow { term, scope }
    }

    #[test]
    fn only_answers_that_make_sense_in_an_editor_are_offered() {
        let mode = Scope::Mode { mode: crate::domain::Mode::Edits };
        let mut question = with(&[
            ("y", allow(Term::Once, Scope::Exact)),
            ("e", allow(Term::Session, mode)),
            ("s", allow(Term::Session, Scope::Exact)),
            ("ab", allow(Term::Always, Scope::Files { path: "notes".into() })),
            ("never", Answer::Never),
            ("n", Answer::Deny { word: None }),
            ("n WORDS", Answer::Deny { word: None }),
        ]);
        let keys = |question: &Question| -> Vec<String> {
            options(question).iter().map(|one| one.option_id.to_string()).collect()
        };
        assert_eq!(keys(&question), ["y", "e", "n"]);
        question.effect = Some(Effect { offer: Some("ab".into()), ..Effect::default() });
        assert_eq!(keys(&question), ["y", "e", "ab", "n"]);
        // What was not offered is no answer, though the question has it.
        for not_offered in ["s", "never", "n WORDS", "", "Y"] {
            assert_eq!(answer_of(&question, not_offered), None, "{not_offered}");
        }
        assert_eq!(answer_of(&question, "n"), Some(Answer::Deny { word: None }));
    }

    #[test]
    fn all_arguments_that_the_sentence_does_not_tell_stand_below_it() {
        let mut question = with(&[]);
        question.arguments = vec![("command".into(), "rm -r a".into()), ("cwd".into(), "b".into())];
        question.effect =
            Some(Effect { says: "Run it".into(), told: vec!["cwd".into()], ..Effect::default() });
        let asked = call(&question, Path::new("/w"), &Clock::system());
        let text = format!("{:?}", asked.fields.content);
        assert!(text.contains("rm -r a") && !text.contains("cwd"), "{text}");
        assert_eq!(asked.fields.title.as_deref(), Some("Run it"));
    }
}
