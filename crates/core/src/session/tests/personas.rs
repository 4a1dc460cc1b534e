//! What the owner hears of a persona: a role that is gone, a file that cannot be read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::rig::{BOUNDS, Rig, main, message, notices, worker_of};
use crate::domain::{Address, Inbound, Origin};
use crate::gate::tests::rig::Rig as GateRig;
use crate::model::{Script, Scripted};
use crate::turn::persona::{Persona, PersonaSeen, Personas};

/// What a disk would hold: what is wrong with a file, and the roles that there are.
#[derive(Default)]
struct Written {
    fault: Option<&'static str>,
    roles: Vec<&'static str>,
}

type Disk = Arc<Mutex<Written>>;

fn rig(script: impl IntoIterator<Item = Script>) -> (Rig, Disk) {
    let disk = Disk::default();
    let written = disk.clone();
    let now = move |role: Option<&str>| {
        let written = written.lock().unwrap();
        let role_is_gone = role.is_some_and(|role| !written.roles.contains(&role));
        let known = role.filter(|_| !role_is_gone).unwrap_or("nobody");
        let files = BTreeMap::from([("USER.md".to_owned(), written.fault.map(str::to_owned))]);
        PersonaSeen {
            persona: Persona::of(&format!("as {known}"), "/w", "os"),
            files,
            role_is_gone,
        }
    };
    let personas = Personas { now: Arc::new(now), default_role: None };
    let (gate, model) = (GateRig::new(&[], ""), Arc::new(Scripted::new(script)));
    let worker = worker_of(&gate, model.clone(), BOUNDS, personas);
    (Rig { gate, worker, model }, disk)
}

impl Rig {
    /// How the system prompts of all requests began.
    fn systems(&self) -> Vec<String> {
        let line = |system: String| system.lines().next().unwrap().to_owned();
        self.model.requests().into_iter().map(|request| line(request.system)).collect()
    }

    async fn choose(&self, role: Option<&'static str>) {
        self.gate.store.write(move |tx| tx.set_session_role(&main(), role, "p")).await.unwrap();
    }
}

#[tokio::test]
async fn a_role_that_is_gone_is_told_once_and_again_when_it_goes_again() {
    let (rig, disk) = rig(["1", "2", "3", "4"].map(Script::text));
    rig.choose(Some("tutor")).await;
    for said in ["one", "two"] {
        rig.turn(said).await;
    }
    assert_eq!(rig.notices().len(), 1, "{:?}", rig.notices());
    assert!(rig.notices()[0].starts_with("The role `tutor` is not in `claw.toml` any more"));
    disk.lock().unwrap().roles = vec!["tutor"];
    rig.turn("three").await;
    disk.lock().unwrap().roles = vec![];
    rig.turn("four").await;
    assert_eq!(rig.systems(), ["as nobody", "as nobody", "as tutor", "as nobody"]);
    assert_eq!(rig.notices().len(), 2);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_told_once_and_to_the_owner_alone() {
    let (rig, disk) = rig(["1", "2", "3", "4", "5"].map(Script::text));
    disk.lock().unwrap().fault = Some("`USER.md` is broken");
    let guest = Inbound {
        session: main(),
        from: Address("console/1".into()),
        principal: "guest".into(),
        origin: Origin::Forwarded,
        body: message("hello"),
    };
    rig.gate.store.write(move |tx| tx.add_inbound(&guest, 64).map(drop)).await.unwrap();
    rig.run().await;
    assert!(notices(&rig.gate).is_empty(), "an allowed user is nobody to tell it");
    for said in ["one", "two"] {
        rig.turn(said).await;
    }
    assert_eq!(rig.notices(), ["`USER.md` is broken"]);
    disk.lock().unwrap().fault = None;
    rig.turn("three").await;
    disk.lock().unwrap().fault = Some("`USER.md` is broken");
    rig.turn("four").await;
    assert_eq!(rig.notices(), ["`USER.md` is broken"; 2]);
}
