//! What a typed line means: a message, an answer, numbers of what is staged. Each rule by itself.

use super::*;
use crate::domain::{CallId, Choice, Scope, Term};

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
        effect: None,
        expires_at_ms: 1_000,
        choices: vec![Choice { key: "y".into(), label: "allow once".into(), answer: ONCE }],
        staged: None,
        list: None,
        input: None,
    }
}

struct Console {
    state: ChatState,
    now: Instant,
}

impl Console {
    fn new(interactive: bool) -> Self {
        Self {
            state: ChatState::new(interactive, SessionId::new("main").unwrap()),
            now: Instant::now(),
        }
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
    let mut console = Console::new(true);
    assert_eq!(console.typed("y"), message("y"), "without a question it is a message");
    assert_eq!((console.ask("a"), console.ask("b"), console.ask("a")), (Some(1), Some(2), None));
    console.later(1_000);
    for line in ["y", "yes", "ok", "n", "no, use plan.md"] {
        let effects = console.state.input(Input::Line(line.into()), console.now, 0);
        assert!(
            matches!(&effects[..], [Effect::Note(text)] if text.contains("2 questions are open")),
            "{effects:?}"
        );
    }
    assert_eq!(console.typed("y 1"), answer("a", ONCE));
    console.later(1_000);
    assert_eq!(console.typed("ok"), answer("b", ONCE));
    assert_eq!(console.typed("ok"), message("ok"));
}

#[test]
fn who_has_to_name_a_question_is_told_the_numbers_that_there_are() {
    let mut console = Console::new(true);
    for id in ["a", "b", "c"] {
        console.ask(id);
    }
    console.later(1_000);
    assert_eq!(console.typed("y 1"), answer("a", ONCE));
    let effects = console.state.input(Input::Line("y".into()), console.now, 0);
    let [Effect::Note(text)] = &effects[..] else { panic!("{effects:?}") };
    assert!(text.ends_with("Name one: `y 2` or `y 3`."), "{text}");
    let effects = console.state.input(Input::Line("hello".into()), console.now, 0);
    let told = effects.iter().any(
        |effect| matches!(effect, Effect::Note(text) if text.ends_with("type `y 2`, for example.")),
    );
    assert!(told, "{effects:?}");
}

#[test]
fn a_question_of_another_session_holds_up_no_message_here() {
    let mut console = Console::new(true);
    let mut elsewhere = question("a");
    elsewhere.session = Some(SessionId::new("another").unwrap());
    console.state.ask(&elsewhere, console.now);
    console.later(1_000);
    let line = || Input::Line("hello".into());
    let effects = console.state.input(line(), console.now, 0);
    let sent = Effect::Send(ConsoleEvent::Line("hello".into()));
    assert_eq!(effects, std::slice::from_ref(&sent));
    console.ask("b");
    let effects = console.state.input(line(), console.now, 0);
    let [first, Effect::Note(text)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(*first, sent);
    assert!(text.ends_with("is answered: type y 2 or n 2."), "{text}");
}

#[test]
fn a_row_of_the_one_list_is_allowed_alone_also_as_the_manual_writes_it() {
    let mut console = Console::new(true);
    let mut list = question("a");
    let pick = |number: u32| Answer::Pick { yes: vec![number], no: Vec::new() };
    list.choices.extend([1, 2].map(|number| Choice {
        key: number.to_string(),
        label: "only this".into(),
        answer: pick(number),
    }));
    console.state.ask(&list, console.now);
    console.later(1_000);
    let none = console.state.input(Input::Line("y 3".into()), console.now, 0);
    assert!(matches!(&none[..], [Effect::Note(text)] if text.contains("no open question 3")));
    assert_eq!(console.typed("y 2"), answer("a", pick(2)));
}

#[test]
fn a_remark_is_sent_and_leaves_the_question_open() {
    let mut console = Console::new(true);
    console.ask("a");
    console.later(1_000);
    let effects = console.state.input(Input::Line("yes, but what is it?".into()), console.now, 0);
    assert_eq!(effects[0], Effect::Send(ConsoleEvent::Line("yes, but what is it?".into())));
    assert!(matches!(&effects[1], Effect::Note(text) if text.contains("bash/run")), "{effects:?}");
    let word = Answer::Deny { word: Some("use plan.md".into()) };
    assert_eq!(console.typed("no, use plan.md"), answer("a", word));
}

#[test]
fn a_number_or_an_id_names_another_question() {
    let mut console = Console::new(true);
    for id in ["a", "b", "c", "dddd"] {
        console.ask(id);
    }
    console.later(1_000);
    assert_eq!(console.typed("y 2"), answer("b", ONCE));
    let word = Answer::Deny { word: Some("because no".into()) };
    assert_eq!(console.typed("#3 n because no"), answer("c", word));
    assert_eq!(console.typed("y dddd"), answer("dddd", ONCE));
    assert_eq!(console.typed("y 9"), [], "there is no question 9, and nothing is guessed");
    assert_eq!(console.typed("9 y"), []);
    assert_eq!(console.typed("2 files are missing"), message("2 files are missing"));
    assert_eq!(console.typed("yse"), []);
    assert_eq!(console.typed("y"), answer("a", ONCE), "it is the only one now");
}

#[test]
fn an_approval_never_hits_a_question_that_was_not_read() {
    let mut console = Console::new(true);
    console.ask("a");
    console.ask("b");
    console.later(5_000);
    assert!(console.state.close(&ApprovalId("a".into()), console.now).is_some());
    console.later(100);
    assert_eq!(console.typed("y"), [], "it was meant for the question that has just gone");
    assert_eq!(
        console.typed("n"),
        answer("b", Answer::Deny { word: None }),
        "a refusal harms nobody"
    );
    console.ask("c");
    assert_eq!(console.typed("y 1"), []);
    console.later(1_000);
    assert_eq!(console.typed("y 1"), answer("c", ONCE));
}

#[test]
fn an_expired_question_allows_nothing() {
    let mut console = Console::new(false);
    console.ask("a");
    let effects = console.state.input(Input::Line("y".into()), console.now, 1_000);
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
    let mut console = Console::new(true);
    assert_eq!(console.typed("1"), message("1"), "nothing is staged");
    console.state.staged.stage(vec![item("a"), item("b"), item("c")], console.now);
    assert_eq!(console.typed("1"), [], "nobody has read it yet");
    console.later(1_000);
    assert_eq!(console.typed("what is it?"), message("what is it?"));
    assert_eq!(console.typed("yes"), message("yes"));
    assert_eq!(console.typed("7"), []);
    let both = [answer("a", ONCE), answer("c", Answer::Deny { word: None })].concat();
    assert_eq!(console.typed("1 -3"), both);
    assert_eq!(console.typed("1"), [], "it is answered");
    assert_eq!(
        console.state.close(&ApprovalId("b".into()), console.now).unwrap(),
        "What was staged as 2 “Do b”"
    );
    assert_eq!(console.typed("2"), message("2"));
}

#[test]
fn a_question_and_what_is_staged_do_not_get_in_each_others_way() {
    let mut console = Console::new(true);
    console.ask("q");
    console.state.staged.stage(vec![item("a"), item("b")], console.now);
    console.later(1_000);
    assert_eq!(console.typed("y"), answer("q", ONCE));
    assert_eq!(console.typed("all"), [answer("a", ONCE), answer("b", ONCE)].concat());
}

#[test]
fn what_is_over_is_not_confirmed() {
    let mut console = Console::new(false);
    console.state.staged.stage(vec![item("a"), item("b")], console.now);
    let effects = console.state.input(Input::Line("1".into()), console.now, 1_000);
    assert!(
        matches!(&effects[0], Effect::Note(text) if text.contains("Expired, and not run: 1 “Do a”")),
        "{effects:?}"
    );
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Send(_))));
}

#[test]
fn the_list_is_shown_again() {
    let mut console = Console::new(true);
    let nothing = console.state.input(Input::Line("/staged".into()), console.now, 0);
    assert!(matches!(&nothing[..], [Effect::Note(text)] if text.contains("Nothing is staged")));
    console.state.staged.stage(vec![item("a")], console.now);
    assert_eq!(
        console.state.input(Input::Line("/staged".into()), console.now, 0),
        [Effect::Staged]
    );
}

#[test]
fn ctrl_c_stops_then_leaves() {
    let interrupt = || Input::Interrupt { discarded: false };
    let mut console = Console::new(true);
    console.typed("go");
    assert_eq!(
        console.sent(Input::Interrupt { discarded: true }),
        [],
        "it only threw the typed line away"
    );
    assert_eq!(console.sent(interrupt()), [ConsoleEvent::Interrupt]);
    console.later(2_500);
    assert_eq!(
        console.sent(interrupt()),
        [ConsoleEvent::Interrupt],
        "too late for the second of two"
    );
    console.later(500);
    assert_eq!(console.sent(interrupt()), [ConsoleEvent::Quit]);
}

#[test]
fn one_ctrl_c_at_an_idle_prompt_says_how_to_leave_and_two_leave() {
    let interrupt = || Input::Interrupt { discarded: false };
    let mut idle = Console::new(true);
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
        Console::new(false).sent(interrupt()),
        [ConsoleEvent::Interrupt],
        "a pipe has nobody to tell"
    );
}

#[test]
fn the_end_of_a_pipe_waits_for_the_turn() {
    let mut console = Console::new(false);
    assert_eq!(console.typed("one"), message("one"));
    assert_eq!(console.typed("two"), message("two"));
    assert_eq!(console.sent(Input::Eof), []);
    assert_eq!(console.state.idle(1), None, "this idle knows nothing of the second message");
    assert_eq!(console.state.idle(2), Some(vec![Effect::Send(ConsoleEvent::Quit), Effect::Leave]));
}
