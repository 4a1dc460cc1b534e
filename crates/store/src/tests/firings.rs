//! What a firing has said is answered once, and found again.

use super::*;

fn firing(id: &str, said: Option<&str>) -> NewFiring {
    NewFiring {
        id: id.into(),
        job: "j1".into(),
        revision: 1,
        session: Some(SessionId::new("main").unwrap()),
        became: FiringBecame::Words,
        title: "call mum".into(),
        schedule: "once".into(),
        said: said.map(str::to_owned),
    }
}

#[tokio::test]
async fn of_two_answers_one_is_kept() {
    let rig = Rig::new();
    let (one, other) = (rig.open(), rig.open());
    let rows = [firing("j1.1-1", Some("call mum")), firing("j2.1-1", None)];
    one.write(move |tx| rows.iter().try_for_each(|row| tx.add_firing(row).map(drop)))
        .await
        .unwrap();
    let answer = async |store: &Store, id: &'static str, answer: &'static str| {
        store.write(move |tx| tx.answer_firing(id, answer)).await.unwrap()
    };
    assert!(answer(&one, "j1.1-1", "10m").await);
    assert!(!answer(&other, "j1.1-1", "done").await, "another process, too");
    assert!(!answer(&one, "j2.1-1", "done").await, "it has said nothing");
    assert!(!answer(&one, "j9.1-1", "done").await, "there is none");
    let said = other.read(|tx| tx.said_firing("j1.1-1")).unwrap().unwrap();
    assert_eq!((said.said.as_str(), said.answer.as_deref()), ("call mum", Some("10m")));
    let newest = |name: &str| {
        let session = SessionId::new(name).unwrap();
        one.read(|tx| tx.newest_said_firing(&session)).unwrap().map(|(id, _)| id)
    };
    assert_eq!((newest("main").as_deref(), newest("other")), (Some("j1.1-1"), None));
}
