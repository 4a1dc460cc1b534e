//! What a typed line means: a message, an answer, numbers of what is staged. Each rule by itself.

use super::*;
use crate::domain::{CallId, Choice, Scope, SessionId};

const ONCE: Answer = Answer::Allow { term: Term::Once, scope: Scope::Exact };

fn question(id: &str) -> Question {
    let session = SessionId::new("main").unwrap();
    Question {
        approval: ApprovalId(id.into()),
        call: CallId::Reply { session: session.clone(), reply_seq: 3, block: 0 },
        session: Some(session),
        server: "bash".into(),
        tool: "run".into(),
        arguments: vec![("command".into(), format!("echo {id}"))],
        why: "it asks".into(),
        expires_at_ms: 1_000,
        choices: vec![Choice { key: "y".into(), label: "allow once".into(), answer: ONCE }],
        staged: None,
    }
}

struct ChatCommands {
    state: ChatState,
    now: Instant,
}

impl ChatCommands {
    fn new(interactive: bool) -> Self {
        Self { state: ChatState::new(interactive), now: Instant::now() }
    }

    fn later(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    fn ask(&mut self, id: &str) -> Option<usize> {
        self.state.ask(&question(id), self.now)
    }

    fn sent(&mut self, input: Input) -> Vec<ConsoleEvent> {
        let effects = self.state.input(input, self.now, 0);
        effects
            .into_iter()
            .filter_map(|e| if let Effect::Send(event) = e { Some(event) } else { None })
            .collect()
    }

    fn typed(&mut self, line: &str) -> Vec<ConsoleEvent> {
        self.sent(Input::Line(line.into()))
    }
}

fn answer(id: &str, answer: Answer) -> Vec<ConsoleEvent> {
    vec![ConsoleEvent::Answer { approval: ApprovalId(id.into()), answer }]
}

fn message(text: &str) -> Vec<ConsoleEvent> {
    vec![ConsoleEvent::Line(text.into())]
}

#[test]
fn a_typed_answer_goes_to_the_one_open_question_and_of_several_to_none() {
    let mut desk = ChatCommands::new(true);
    assert_eq!(desk.typed("y"), message("y"), "without a question it is a message");
    assert_eq!((desk.ask("a"), desk.ask("b"), desk.ask("a")), (Some(1), Some(2), None));
    desk.later(1_000);
    for line in ["y", "yes", "ok", "n", "no, use plan.md"] {
        let effects = desk.state.input(Input::Line(line.into()), desk.now, 0);
        assert!(
            matches!(&effects[..], [Effect::Note(text)] if text.contains("2 questions are open")),
            "{effects:?}"
        );
    }
    assert_eq!(desk.typed("y 1"), answer("a", ONCE));
    desk.later(1_000);
    assert_eq!(desk.typed("ok"), answer("b", ONCE));
    assert_eq!(desk.typed("ok"), message("ok"));
}

#[test]
fn a_remark_is_sent_and_leaves_the_question_open() {
    let mut desk = ChatCommands::new(true);
    desk.ask("a");
    desk.later(1_000);
    let effects = desk.state.input(Input::Line("yes, but what is it?".into()), desk.now, 0);
    assert_eq!(effects[0], Effect::Send(ConsoleEvent::Line("yes, but what is it?".into())));
    assert!(matches!(&effects[1], Effect::Note(text) if text.contains("bash/run")), "{effects:?}");
    let word = Answer::Deny { word: Some("use plan.md".into()) };
    assert_eq!(desk.typed("no, use plan.md"), answer("a", word));
}

#[test]
fn a_number_or_an_id_names_another_question() {
    let mut desk = ChatCommands::new(true);
    for id in ["a", "b", "c", "dddd"] {
        desk.ask(id);
    }
    desk.later(1_000);
    assert_eq!(desk.typed("y 2"), answer("b", ONCE));
    let word = Answer::Deny { word: Some("because no".into()) };
    assert_eq!(desk.typed("#3 n because no"), answer("c", word));
    assert_eq!(desk.typed("y dddd"), answer("dddd", ONCE));
    assert_eq!(desk.typed("y 9"), [], "there is no question 9, and nothing is guessed");
    assert_eq!(desk.typed("9 y"), []);
    assert_eq!(desk.typed("2 files are missing"), message("2 files are missing"));
    assert_eq!(desk.typed("yse"), []);
    assert_eq!(desk.typed("y"), answer("a", ONCE), "it is the only one now");
}

#[test]
fn an_approval_never_hits_a_question_that_was_not_read() {
    let mut desk = ChatCommands::new(true);
    desk.ask("a");
    desk.ask("b");
    desk.later(5_000);
    assert!(desk.state.close(&ApprovalId("a".into()), desk.now).is_some());
    desk.later(100);
    assert_eq!(desk.typed("y"), [], "it was meant for the question that has just gone");
    assert_eq!(desk.typed("n"), answer("b", Answer::Deny { word: None }), "a refusal harms nobody");
    desk.ask("c");
    assert_eq!(desk.typed("y 1"), []);
    desk.later(1_000);
    assert_eq!(desk.typed("y 1"), answer("c", ONCE));
}

#[test]
fn an_expired_question_allows_nothing() {
    let mut desk = ChatCommands::new(false);
    desk.ask("a");
    let effects = desk.state.input(Input::Line("y".into()), desk.now, 1_000);
    assert!(
        matches!(&effects[..], [Effect::Note(text)] if text.contains("expired")),
        "{effects:?}"
    );
}

fn item(id: &str) -> Question {
    let staged = Staged::Item { summary: format!("Do {id}"), group: None, number: 1, of: 1 };
    Question { staged: Some(staged), ..question(id) }
}

#[test]
fn what_is_staged_is_answered_by_number_and_stays_open_otherwise() {
    let mut desk = ChatCommands::new(true);
    assert_eq!(desk.typed("1"), message("1"), "nothing is staged");
    desk.state.staged.stage(vec![item("a"), item("b"), item("c")], desk.now);
    assert_eq!(desk.typed("1"), [], "nobody has read it yet");
    desk.later(1_000);
    assert_eq!(desk.typed("what is it?"), message("what is it?"));
    assert_eq!(desk.typed("yes"), message("yes"));
    assert_eq!(desk.typed("7"), []);
    let both = [answer("a", ONCE), answer("c", Answer::Deny { word: None })].concat();
    assert_eq!(desk.typed("1 -3"), both);
    assert_eq!(desk.typed("1"), [], "it is answered");
    assert_eq!(
        desk.state.close(&ApprovalId("b".into()), desk.now).unwrap(),
        "What was staged as 2 “Do b”"
    );
    assert_eq!(desk.typed("2"), message("2"));
}

#[test]
fn a_question_and_what_is_staged_do_not_get_in_each_others_way() {
    let mut desk = ChatCommands::new(true);
    desk.ask("q");
    desk.state.staged.stage(vec![item("a"), item("b")], desk.now);
    desk.later(1_000);
    assert_eq!(desk.typed("y"), answer("q", ONCE));
    assert_eq!(desk.typed("all"), [answer("a", ONCE), answer("b", ONCE)].concat());
}

#[test]
fn what_is_over_is_not_confirmed() {
    let mut desk = ChatCommands::new(false);
    desk.state.staged.stage(vec![item("a"), item("b")], desk.now);
    let effects = desk.state.input(Input::Line("1".into()), desk.now, 1_000);
    assert!(
        matches!(&effects[0], Effect::Note(text) if text.contains("Expired, and not run: 1 “Do a”")),
        "{effects:?}"
    );
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Send(_))));
}

#[test]
fn the_list_is_shown_again() {
    let mut desk = ChatCommands::new(true);
    let nothing = desk.state.input(Input::Line("/staged".into()), desk.now, 0);
    assert!(matches!(&nothing[..], [Effect::Note(text)] if text.contains("Nothing is staged")));
    desk.state.staged.stage(vec![item("a")], desk.now);
    assert_eq!(desk.state.input(Input::Line("/staged".into()), desk.now, 0), [Effect::Staged]);
}

#[test]
fn ctrl_c_stops_then_leaves() {
    let interrupt = || Input::Interrupt { discarded: false };
    let mut desk = ChatCommands::new(true);
    desk.typed("go");
    assert_eq!(
        desk.sent(Input::Interrupt { discarded: true }),
        [],
        "it only threw the typed line away"
    );
    assert_eq!(desk.sent(interrupt()), [ConsoleEvent::Interrupt]);
    desk.later(2_500);
    assert_eq!(desk.sent(interrupt()), [ConsoleEvent::Interrupt], "too late for the second of two");
    desk.later(500);
    assert_eq!(desk.sent(interrupt()), [ConsoleEvent::Quit]);
}

#[test]
fn one_ctrl_c_at_an_idle_prompt_says_how_to_leave_and_two_leave() {
    let interrupt = || Input::Interrupt { discarded: false };
    let mut idle = ChatCommands::new(true);
    let told = idle.state.input(interrupt(), idle.now, 0);
    assert!(
        matches!(&told[..], [Effect::Note(how)] if how.contains("once more") && how.contains("/quit")),
        "{told:?}"
    );
    idle.later(2_500);
    assert_eq!(idle.sent(interrupt()), [], "too late for the second of two");
    idle.later(500);
    assert_eq!(idle.sent(interrupt()), [ConsoleEvent::Quit]);
    assert_eq!(
        ChatCommands::new(false).sent(interrupt()),
        [ConsoleEvent::Interrupt],
        "a pipe has nobody to tell"
    );
}

#[test]
fn the_end_of_a_pipe_waits_for_the_turn() {
    let mut desk = ChatCommands::new(false);
    assert_eq!(desk.typed("one"), message("one"));
    assert_eq!(desk.typed("two"), message("two"));
    assert_eq!(desk.sent(Input::Eof), []);
    assert_eq!(desk.state.idle(1), None, "this idle knows nothing of the second message");
    assert_eq!(desk.state.idle(2), Some(vec![Effect::Send(ConsoleEvent::Quit), Effect::Leave]));
}
