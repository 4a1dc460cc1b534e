//! Turns that jobs have begun, beside those of their owner.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::rig::{BOUNDS, Hooked, echoes, log, main, message, replies, worker};
use crate::domain::{Address, EventBody, Inbound, Origin, job_principal};
use crate::gate::tests::rig::{ALLOW, OWNER, Rig as GateRig};
use crate::model::{Script, Scripted};
use crate::session::Ran;

async fn comes(gate: &GateRig, (origin, principal): (Origin, String), text: &str) {
    let from = Address("console/1".into());
    let inbound = Inbound { session: main(), from, principal, origin, body: message(text) };
    gate.store.write(move |tx| tx.add_inbound(&inbound, 64)).await.unwrap();
}

/// In one turn both would act for the less trusted of them, and a job would have the owner's words.
#[tokio::test]
async fn no_job_speaks_in_a_turn_of_its_owner_and_nobody_in_a_turn_of_a_job() {
    let owner = || (Origin::Owner, OWNER.to_owned());
    let job = || (Origin::Schedule, job_principal("j1", 1));
    let other = || (Origin::Schedule, job_principal("j2", 1));
    for (first, second) in [(owner(), job()), (job(), owner()), (job(), other())] {
        let allows = format!("{ALLOW}origin = [\"owner\", \"schedule\"]\n");
        let gate = Arc::new(GateRig::new(&["legacy"], &allows));
        let script = [echoes(&["one"]), Script::text("First."), Script::text("Second.")];
        let inner = Arc::new(Scripted::new(script));
        let (hooked, late) = (gate.clone(), second.clone());
        let hook = move |n: usize| -> futures::future::BoxFuture<'static, ()> {
            let (gate, late) = (hooked.clone(), late.clone());
            Box::pin(async move {
                if n == 1 {
                    comes(&gate, late, "and this").await;
                }
            })
        };
        let model = Hooked { inner, hook: Box::new(hook), asked: AtomicUsize::new(0) };
        let worker = worker(&gate, Arc::new(model), BOUNDS);
        comes(&gate, first.clone(), "do it").await;
        assert_eq!(worker.run(&main(), &gate.live()).await.unwrap(), Ran::Idle);
        let began = log(&gate).into_iter().filter_map(|body| match body {
            EventBody::TurnStarted { origin, principal, .. } => Some((origin, principal)),
            _ => None,
        });
        assert_eq!(began.collect::<Vec<_>>(), [first, second]);
        let replies = replies(&gate);
        let said: Vec<_> = replies.iter().filter(|text| !text.starts_with('⏰')).collect();
        assert_eq!(said, ["First.", "Second."]);
    }
}
