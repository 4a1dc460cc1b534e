//! What an owner is asked beside the calls: how far each question is, and homes in which the three
//! kinds had a table each.

use claw_domain::{
    Address, OwnerAnswer, OwnerQuestion, OwnerQuestionAbout, OwnerQuestionKind, OwnerQuestionState,
    Trust,
};

use super::*;
use crate::migrate;
use crate::schema::{FIRST, MIGRATIONS};

/// The last schema in which there were three tables.
const BEFORE: u32 = 32;
const ROWS: &str = "
    INSERT INTO strangers(bot, chat, at_ms, body, state, address, message, decided_by, decided_ms)
    VALUES (7, 1, 11, 'one', 'new', '', 0, '', 0), (7, 2, 12, 'two', 'told', 'telegram/7/5', 4, '', 0),
        (7, 3, 13, 'three', 'let_in', 'telegram/7/5', 5, 'telegram:5', 20),
        (7, -4, 14, 'four', 'ignored', 'telegram/7/5', 6, 'telegram:5', 21),
        (8, 1, 15, 'five', 'closed', 'telegram/8/5', 7, 'telegram:5', 22);
    INSERT INTO trust_questions(id, server, launch, shown, state, level, message, at_ms)
    VALUES ('a', 'docs', 'launch', '6 tools', 'told', NULL, 8, 16),
        ('b', 'docs', 'launch', '6 tools', 'decided', 'hints', 9, 17),
        ('c', 'docs', 'launch', '6 tools', 'stale', NULL, 10, 18);
    INSERT INTO pin_questions(id, server, forms, shown, state, message, at_ms)
    VALUES ('d', 'docs', '[[\"look\",\"pin\"]]', '+ changed', 'accepted', 11, 19),
        ('e', 'docs', '[]', '+ changed', 'kept', 12, 20);
";

fn at() -> Address {
    Address("telegram/7/5".to_owned())
}

fn new_server() -> OwnerQuestionAbout {
    OwnerQuestionAbout::NewServer { server: "docs".to_owned(), launch: "launch".to_owned() }
}

async fn write<T: Send + 'static>(
    store: &Store,
    job: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
) -> T {
    store.write(job).await.unwrap()
}

fn state(store: &Store, id: &str) -> OwnerQuestionState {
    store.read(|tx| tx.owner_question(id)).unwrap().unwrap().state
}

#[test]
fn three_tables_become_one_and_no_question_is_lost() {
    let rig = Rig::new();
    migrate::build_new(&rig.path(), &MIGRATIONS[..(BEFORE - FIRST) as usize]).unwrap();
    rig.tamper(ROWS);
    let store = rig.open();
    let of = |id: &str| store.read(|tx| tx.owner_question(id)).unwrap().unwrap();
    let end = |row: &OwnerQuestion| (row.state, row.answer, row.message);
    let access = |bot, chat| of(&OwnerQuestionAbout::access_id(bot, chat));
    for (row, about, shown, expected) in [
        (access(7, 1), (7, 1), "one", (OwnerQuestionState::New, None, 0)),
        (access(7, 2), (7, 2), "two", (OwnerQuestionState::Told, None, 4)),
        (access(7, 3), (7, 3), "three", (OwnerQuestionState::Decided, Some(OwnerAnswer::LetIn), 5)),
        (
            access(7, -4),
            (7, -4),
            "four",
            (OwnerQuestionState::Decided, Some(OwnerAnswer::Ignore), 6),
        ),
        (access(8, 1), (8, 1), "five", (OwnerQuestionState::Closed, None, 7)),
    ] {
        let (bot, chat) = about;
        assert_eq!(row.about, OwnerQuestionAbout::Access { bot, chat });
        assert_eq!((row.shown.as_str(), end(&row)), (shown, expected));
    }
    assert_eq!(access(7, 3).decided_by, "telegram:5");
    assert_eq!(access(7, 3).decided_ms, 20);
    for id in ["a", "b", "c"] {
        assert_eq!(of(id).about, new_server());
    }
    assert_eq!(end(&of("a")), (OwnerQuestionState::Told, None, 8));
    let hints = Some(OwnerAnswer::Trust(Trust::Hints));
    assert_eq!(end(&of("b")), (OwnerQuestionState::Decided, hints, 9));
    assert_eq!(end(&of("c")), (OwnerQuestionState::Stale, None, 10));
    let forms = vec![("look".to_owned(), "pin".to_owned())];
    let changed = OwnerQuestionAbout::ChangedTools { server: "docs".to_owned(), forms };
    assert_eq!((of("d").about, of("d").answer), (changed, Some(OwnerAnswer::Accept)));
    assert_eq!(of("e").answer, Some(OwnerAnswer::KeepWithheld));
    let shown = |bot| store.read(|tx| tx.owner_questions_to_show(bot)).unwrap();
    let ids: Vec<_> = shown(7).into_iter().map(|row| row.id).collect();
    assert_eq!(ids, ["access.7.1", "access.7.3", "access.7.-4", "b", "c", "d", "e"]);
    assert_eq!(shown(8).len(), 4, "a bot shows the requests of another one");
}

#[tokio::test]
async fn a_question_is_answered_once_after_it_was_shown_and_as_it_offers() {
    let rig = Rig::new();
    let store = rig.open();
    let decide =
        async |answer| write(&store, move |tx| tx.decide_owner_question("q", answer, "me")).await;
    write(&store, |tx| tx.ask_owner("q", &new_server(), "6 tools")).await;
    let yes = OwnerAnswer::Trust(Trust::Hints);
    assert!(!decide(yes).await, "nobody has seen it");
    write(&store, |tx| tx.owner_question_told("q", &at(), 4)).await;
    assert_eq!(state(&store, "q"), OwnerQuestionState::Told);
    assert!(!decide(OwnerAnswer::Accept).await, "an answer of another kind");
    assert!(decide(yes).await && !decide(OwnerAnswer::Trust(Trust::Nothing)).await);
    let row = store.read(|tx| tx.owner_question("q")).unwrap().unwrap();
    assert_eq!((row.answer, row.decided_by.as_str()), (Some(yes), "me"));
    write(&store, |tx| tx.close_owner_question("q")).await;
    assert_eq!(state(&store, "q"), OwnerQuestionState::Closed);
    assert!(store.read(|tx| tx.owner_questions_to_show(7)).unwrap().is_empty());
}

#[tokio::test]
async fn what_ends_elsewhere_is_shown_as_that_where_somebody_has_seen_it() {
    let rig = Rig::new();
    let store = rig.open();
    for id in ["seen", "unseen"] {
        write(&store, move |tx| tx.ask_owner(id, &new_server(), "6 tools")).await;
    }
    let changed = OwnerQuestionAbout::ChangedTools { server: "docs".to_owned(), forms: Vec::new() };
    write(&store, move |tx| tx.ask_owner("other", &changed, "+ changed")).await;
    write(&store, |tx| tx.owner_question_told("seen", &at(), 4)).await;
    let server = OwnerQuestionKind::NewServer;
    write(&store, move |tx| tx.end_owner_questions(server, "docs")).await;
    assert_eq!(state(&store, "seen"), OwnerQuestionState::Stale);
    assert_eq!(state(&store, "unseen"), OwnerQuestionState::Closed);
    assert_eq!(state(&store, "other"), OwnerQuestionState::New, "of another kind");
    // It was on its way to the screen when it ended.
    write(&store, |tx| tx.owner_question_told("unseen", &at(), 5)).await;
    assert_eq!(state(&store, "unseen"), OwnerQuestionState::Stale);
}
