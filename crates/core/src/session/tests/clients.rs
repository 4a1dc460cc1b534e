//! Turns that an MCP client has begun: what they may take, whose they are, what they see of their
//! owner.

use super::rig::{Rig, echoes, kinds, worker_of};
use crate::domain::{Address, ClientName, Event, EventBody, Inbound, Origin, SessionId, TurnEnd};
use crate::gate::tests::rig::{ALLOW, OWNER, Rig as GateRig};
use crate::model::Script;
use crate::session::Ran;
use crate::turn::persona::{Notes, Persona, PersonaText, Personas};

fn laptop() -> ClientName {
    ClientName::new("laptop").unwrap()
}

fn session() -> SessionId {
    laptop().session(None).unwrap()
}

/// A client may do it without a question.
fn allows_clients() -> String {
    format!("{ALLOW}origin = [\"owner\", \"mcp_client\"]\n")
}

async fn writes(rig: &Rig, principal: &str, origin: Origin, text: &str) {
    let inbound = Inbound {
        session: session(),
        from: laptop().address(),
        principal: principal.to_owned(),
        origin,
        body: super::rig::message(text),
    };
    rig.gate.store.write(move |tx| tx.add_inbound(&inbound, 64)).await.unwrap();
}

async fn asks(rig: &Rig, text: &str) {
    writes(rig, &laptop().principal(), Origin::McpClient, text).await;
}

async fn runs(rig: &Rig) -> Ran {
    rig.worker.run(&session(), &rig.gate.live()).await.unwrap()
}

fn events(rig: &Rig) -> Vec<Event> {
    rig.gate.store.read(|tx| tx.events_from(&session(), 1)).unwrap()
}

#[tokio::test]
async fn its_tokens_are_its_own_and_a_turn_ends_where_they_do() {
    let rig = Rig::new(&allows_clients(), [echoes(&["a"]), echoes(&["b"]), Script::text("no")]);
    let day = rig.worker.settings().budget.today();
    let most = rig.worker.settings().serve.tokens_day_max;
    // All but a few: the first reply takes them.
    let of = day.clone();
    let spend = move |tx: &crate::store::Tx<'_>| tx.count_client(&laptop(), &of, (0, most - 1));
    rig.gate.store.write(spend).await.unwrap();
    asks(&rig, "go").await;
    assert_eq!(runs(&rig).await, Ran::Idle);
    assert_eq!(rig.model.requests().len(), 1);
    assert_eq!(rig.gate.effects("legacy"), ["a"]);
    let log = events(&rig);
    let ended = log.iter().find_map(|event| match &event.body {
        EventBody::TurnEnded { end: TurnEnd::Limit { text } } => Some(text.clone()),
        _ => None,
    });
    let ended = ended.unwrap();
    assert!(ended.contains("`laptop` has used today's budget"), "{ended}");
    // The next one asks no model at all.
    asks(&rig, "again").await;
    runs(&rig).await;
    assert_eq!(rig.model.requests().len(), 1);
    let row = rig.gate.store.read(|tx| tx.client(&laptop())).unwrap().unwrap();
    assert!(row.used_on(&day).1 >= most, "{row:?}");
    // The owner's own turns take nothing of it.
    let rig = Rig::new("", [Script::text("yes")]);
    rig.turn("hello").await;
    assert_eq!(rig.gate.store.read(|tx| tx.client(&laptop())).unwrap(), None);
}

#[tokio::test]
async fn a_revoked_client_goes_on_with_nothing() {
    let rig = Rig::new("", [echoes(&["a"]), Script::text("no")]);
    asks(&rig, "go").await;
    assert_eq!(runs(&rig).await, Ran::Parked);
    asks(&rig, "waits behind it").await;
    let calls = rig.gate.gate.calls();
    let nobody = ClientName::new("nobody").unwrap();
    assert_eq!(calls.end_client(&nobody, false, OWNER).await.unwrap(), None);
    assert_eq!(calls.end_client(&laptop(), false, OWNER).await.unwrap(), Some((0, 1)));
    assert!(rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap().is_empty());
    assert_eq!(runs(&rig).await, Ran::Idle);
    assert_eq!(rig.model.requests().len(), 1, "a model was asked");
    assert!(rig.gate.effects("legacy").is_empty());
    let bodies: Vec<_> = events(&rig).into_iter().map(|event| event.body).collect();
    let ends = kinds(&bodies).iter().filter(|kind| *kind == "turn.ended").count();
    assert_eq!(ends, 2, "{:?}", kinds(&bodies));
}

#[tokio::test]
async fn a_question_of_its_turn_names_it_and_no_grant_of_its_owner_reaches_it() {
    let rig = Rig::new("", [echoes(&["a"]), Script::text("ok"), echoes(&["a"])]);
    rig.turn("mine").await;
    rig.answer(&crate::gate::tests::rig::allow(crate::domain::Term::Always)).await;
    assert_eq!(rig.run().await, Ran::Idle);
    assert_eq!(rig.gate.effects("legacy"), ["a"]);
    asks(&rig, "go").await;
    assert_eq!(runs(&rig).await, Ran::Parked);
    let open = rig.gate.store.read(|tx| tx.open_approvals(None)).unwrap();
    let effect = open[0].question.effect.clone().unwrap();
    assert_eq!(effect.asker.as_deref(), Some("MCP client “laptop” asks"));
    assert!(effect.for_client);
    assert_eq!(rig.gate.effects("legacy"), ["a"]);
}

#[tokio::test]
async fn no_client_speaks_in_a_turn_of_its_owner() {
    let rig = Rig::new("", [echoes(&["a"]), Script::text("one"), Script::text("two")]);
    writes(&rig, OWNER, Origin::Owner, "mine").await;
    assert_eq!(runs(&rig).await, Ran::Parked);
    asks(&rig, "theirs").await;
    rig.allow().await;
    assert_eq!(runs(&rig).await, Ran::Idle);
    let begun: Vec<_> = events(&rig)
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::TurnStarted { principal, .. } => Some(principal),
            _ => None,
        })
        .collect();
    assert_eq!(begun, [OWNER.to_owned(), laptop().principal()]);
}

#[tokio::test]
async fn what_the_persona_says_of_its_owner_is_not_for_a_client() {
    let gate = GateRig::new(&["legacy"], "");
    let text = |of: &str, text: &str| PersonaText {
        name: Some(of.to_owned()),
        text: text.to_owned(),
        of: of.to_owned(),
        cut: None,
    };
    let persona = Persona {
        texts: vec![
            text("SOUL.md", "You are kind."),
            text("USER.md", "She lives in Graz."),
            text("MEMORY.md", "The code is 17."),
        ],
        notes: Some(Notes {
            folder: "/secret/folder".into(),
            about_owner: None,
            memory: Some("/secret/folder/MEMORY.md".into()),
        }),
        ..Persona::of("", "/w", "test")
    };
    let mut rig = Rig::on(gate, [Script::text("one"), Script::text("two")]);
    let bounds = super::rig::BOUNDS;
    rig.worker = worker_of(&rig.gate, rig.model.clone(), bounds, Personas::fixed(persona));
    asks(&rig, "who is she?").await;
    runs(&rig).await;
    rig.turn("who am I?").await;
    let asked: Vec<_> = rig.model.requests().iter().map(|asked| format!("{asked:?}")).collect();
    for private in ["Graz", "code is 17", "/secret/folder"] {
        assert!(!asked[0].contains(private), "{private}");
        assert!(asked[1].contains(private), "{private}");
    }
    assert!(asked[0].contains("You are kind."));
    let to = Address("mcp/laptop".into());
    assert!(!rig.gate.store.read(|tx| tx.queued_outbound(&to)).unwrap().is_empty());
}
