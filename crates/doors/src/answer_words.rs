//! An answer in words, for whoever has given it, and for a chat that it was not given in. Must not
//! know what an answer does.

use super::clean::clean_line;
use crate::call_list;
use crate::clock::Clock;
use crate::domain::{Answer, Question, Scope, Term};
use crate::door::Closed;
use crate::{input_answers, reached};

/// What an answer that was just given has allowed or denied. One that holds for longer than this
/// call is told in the words of the question, because the call alone would say too little.
pub fn in_words(answer: &Answer, question: &Question) -> String {
    if question.input.is_some() {
        return clean_line(&format!("{}.", input_answers::in_words(answer, question)));
    }
    let about = || clean_line(&call_list::about(question));
    let label = question
        .choices
        .iter()
        .find(|choice| choice.answer == *answer)
        .map(|choice| clean_line(&choice.label));
    let offered = |start: &str| label.as_deref().and_then(|label| label.strip_prefix(start));
    match answer {
        Answer::Allow { term: Term::Once, .. } => format!("Allowed once: {}", about()),
        Answer::Allow { term, .. } => {
            let taken_back = if *term == Term::Always { " (/grants)" } else { "" };
            match offered("allow ") {
                Some(what) => format!("Allowed: {what}{taken_back}."),
                None => format!("Allowed {}: {}{taken_back}", for_how_long(*term), about()),
            }
        }
        Answer::Deny { .. } => format!("Denied: {}", about()),
        Answer::Never => match offered("deny ") {
            Some(what) => format!("Denied: {what} (/grants)."),
            None => format!("Denied permanently: {}", about()),
        },
        Answer::Press { .. } => format!("Pressed: {}", about()),
        Answer::Pick { .. } | Answer::Give { .. } | Answer::Skip => {
            format!("Answered: {}", about())
        }
    }
}

fn for_how_long(term: Term) -> &'static str {
    match term {
        Term::Once => "once",
        Term::TenMinutes => "for 10 minutes",
        Term::Session => "for this session",
        Term::Always => "until you revoke it",
    }
}

/// What became of a question that was not answered here; completes "The question about … ".
/// `owner` is the principal of whoever sits at this machine.
pub fn closed(how: &Closed, question: &Question, owner: &str) -> String {
    match how {
        Closed::Expired { .. } => "has expired".to_owned(),
        Closed::Superseded { why, .. } => {
            // Rows of an older claw name no reason.
            let why = Some(clean_line(why)).filter(|why| !why.is_empty() && why != "superseded");
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            format!("was closed{why}")
        }
        Closed::AskedAgain => "was asked again".to_owned(),
        Closed::Answered { answer, by, .. } => {
            let term = match answer {
                // The words are those of another question, which the grant was given with.
                Answer::Allow { .. } if by.starts_with("grant ") => String::new(),
                Answer::Allow { scope: Scope::Mode { mode }, .. } => format!(" with mode {mode}"),
                Answer::Allow { .. } if question.staged.is_some() || question.input.is_some() => {
                    String::new()
                }
                Answer::Allow { term, .. } => format!(" {}", for_how_long(*term)),
                Answer::Deny { word: Some(word) } => format!(" (“{}”)", clean_line(word)),
                Answer::Never => " permanently".to_owned(),
                _ => String::new(),
            };
            format!("was {}{term}{}", decided(answer, question), whom(by, owner))
        }
    }
}

fn decided(answer: &Answer, question: &Question) -> &'static str {
    if question.input.is_some() {
        let is_no = matches!(answer, Answer::Deny { .. } | Answer::Never);
        return if is_no { "declined" } else { "answered" };
    }
    match (answer, question.staged.is_some()) {
        (Answer::Allow { .. }, true) => "confirmed",
        (Answer::Allow { .. }, false) => "allowed",
        (Answer::Deny { .. } | Answer::Never, true) => "cancelled",
        (Answer::Deny { .. } | Answer::Never, false) => "denied",
        (Answer::Press { .. } | Answer::Pick { .. } | Answer::Give { .. } | Answer::Skip, _) => {
            "answered"
        }
    }
}

/// Who has answered, as the end of a sentence.
fn whom(by: &str, owner: &str) -> String {
    match by.split_once(':') {
        _ if by.is_empty() => String::new(),
        _ if by == owner => ", from another terminal".to_owned(),
        Some(("telegram", user)) => format!(" by the Telegram user {}", clean_line(user)),
        _ => format!(" by {}", clean_line(by)),
    }
}

/// What waits on after the person has left this agent, and how to come back to it.
pub fn stays_open(open: &[Question], agent: &str, clock: &Clock) -> String {
    let claw = reached::claw(agent);
    let first = open.iter().map(|question| question.expires_at_ms).min().unwrap_or_default();
    let until = clock.until(first);
    let mut sessions = open.iter().map(|question| question.session.as_ref());
    let session = sessions.next().flatten();
    // `claw chat` asks what its own session has asked.
    let session = session.filter(|one| sessions.all(|other| other == Some(*one)));
    let back = session.map(|session| format!("`{claw} chat --session {session}` asks again"));
    let back = back.unwrap_or_else(|| format!("`{claw} approvals` lists what waits"));
    match open {
        [one] => format!(
            "1 question stays open until {until}: `{claw} approve {0}` allows it, `{claw} deny {0}` \
             denies it, {back}.",
            one.approval
        ),
        many => format!(
            "{} questions stay open, the first until {until}: `{claw} approvals` lists them, {back}.",
            many.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Choice, Mode};
    use claw_test_kit::question;

    fn allow(term: Term, scope: Scope) -> Answer {
        Answer::Allow { term, scope }
    }

    #[test]
    fn a_standing_answer_repeats_what_was_offered() {
        let always = allow(Term::Always, Scope::Files { path: "notes".into() });
        let mut question = question();
        let label = "allow writing files at or below notes, until you revoke it";
        let choice = |answer: &Answer, label: &str| Choice {
            key: "ab".into(),
            label: label.into(),
            answer: answer.clone(),
        };
        let never = "deny filesystem/write_file with exactly these arguments, now and always";
        question.choices = vec![choice(&always, label), choice(&Answer::Never, never)];
        assert_eq!(
            in_words(&always, &question),
            "Allowed: writing files at or below notes, until you revoke it (/grants)."
        );
        assert_eq!(
            in_words(&Answer::Never, &question),
            "Denied: filesystem/write_file with exactly these arguments, now and always (/grants)."
        );
        let once = allow(Term::Once, Scope::Exact);
        assert_eq!(in_words(&once, &question), "Allowed once: filesystem/write_file");
    }

    #[test]
    fn what_became_of_a_question_elsewhere_says_yes_or_no_and_by_whom() {
        let question = question();
        let told = |answer, by: &str| {
            let how = Closed::Answered { answer, by: by.into(), at_ms: 1, end: None };
            closed(&how, &question, "console:uid:7")
        };
        let once = || allow(Term::Once, Scope::Exact);
        assert_eq!(told(once(), "console:uid:7"), "was allowed once, from another terminal");
        assert_eq!(told(once(), "telegram:5"), "was allowed once by the Telegram user 5");
        assert_eq!(told(once(), "grant 3"), "was allowed by grant 3");
        let word = Answer::Deny { word: Some("use b".into()) };
        assert_eq!(told(word, "console:uid:7"), "was denied (“use b”), from another terminal");
        let mode = allow(Term::Session, Scope::Mode { mode: Mode::Work });
        assert_eq!(told(mode, "telegram:5"), "was allowed with mode work by the Telegram user 5");
        let stopped =
            |why: &str| closed(&Closed::Superseded { at_ms: 1, why: why.into() }, &question, "");
        assert_eq!(stopped("the turn was stopped"), "was closed: the turn was stopped");
        assert_eq!(stopped("superseded"), "was closed");
    }

    #[test]
    fn who_leaves_is_told_where_each_question_is_asked_again() {
        let clock = Clock::system();
        let here = question();
        assert_eq!(here.session.as_ref().map(ToString::to_string).as_deref(), Some("main"));
        let told = stays_open(&[here.clone(), here.clone()], "main", &clock);
        assert!(told.ends_with("`claw chat --session main` asks again."), "{told}");
        let mut elsewhere = here.clone();
        elsewhere.session = None;
        for open in [[here.clone(), elsewhere.clone()], [elsewhere, here]] {
            let told = stays_open(&open, "work", &clock);
            assert!(told.ends_with("`claw --agent work approvals` lists what waits."), "{told}");
        }
    }
}
