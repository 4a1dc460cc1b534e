//! Names and tokens: who has which, and what a revoked client has left.

use std::os::unix::fs::PermissionsExt as _;

use super::rig::{Rig, name};
use crate::domain::Outcome;

#[tokio::test]
async fn a_token_is_its_clients_until_it_is_revoked_in_any_process() {
    let rig = Rig::new("");
    let new = rig.clients.add(&name("laptop"), "tests").await.unwrap();
    let other = rig.again();
    let owner = |rig: &Rig, token: &str| rig.clients.client_of_token(token).unwrap();
    assert_eq!(owner(&other, &new.token), Some(name("laptop")));
    for wrong in ["", "claw_", &new.token[..new.token.len() - 1], &format!("{} ", new.token)] {
        assert_eq!(owner(&other, wrong), None, "{wrong:?}");
    }
    let phone = other.clients.add(&name("phone"), "tests").await.unwrap();
    assert_eq!(owner(&rig, &phone.token), Some(name("phone")));
    // A new token takes the place of the old one.
    let newer = rig.clients.add(&name("laptop"), "tests").await.unwrap();
    assert_eq!(owner(&other, &new.token), None);
    assert_eq!(owner(&other, &newer.token), Some(name("laptop")));
    other.clients.revoke(&name("laptop"), "tests").await.unwrap().unwrap();
    assert_eq!(owner(&rig, &newer.token), None);
    assert_eq!(owner(&rig, &phone.token), Some(name("phone")));
    assert_eq!(rig.clients.revoke(&name("nobody"), "tests").await.unwrap(), None);
}

#[tokio::test]
async fn a_token_is_masked_wherever_it_would_be_written() {
    let rig = Rig::new("");
    let new = rig.clients.add(&name("laptop"), "tests").await.unwrap();
    let words = rig.gate.gate.redactor().redact(&new.token).into_owned();
    assert_eq!(words, "[redacted:token of client laptop]");
    // Another process knows it as soon as it has looked.
    let other = rig.again();
    assert_eq!(other.clients.known().unwrap()[0].name, name("laptop"));
    assert!(!other.gate.gate.redactor().redact(&new.token).contains(&new.token));
}

#[tokio::test]
async fn a_token_that_others_can_read_does_not_count() {
    let rig = Rig::new("");
    let new = rig.clients.add(&name("laptop"), "tests").await.unwrap();
    let mode = |mode| {
        std::fs::set_permissions(&new.file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let meta = std::fs::metadata(&new.file).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    mode(0o640);
    assert_eq!(rig.clients.client_of_token(&new.token).unwrap(), None);
    assert_eq!(rig.clients.token_faults().len(), 1);
    mode(0o600);
    assert_eq!(rig.clients.client_of_token(&new.token).unwrap(), Some(name("laptop")));
    let linked = new.file.with_file_name("phone.token");
    std::os::unix::fs::symlink(&new.file, &linked).unwrap();
    let known: Vec<_> =
        rig.clients.known().unwrap().into_iter().filter(|client| client.has_token).collect();
    assert_eq!(known.len(), 1, "a link is no token: {known:?}");
}

#[tokio::test]
async fn a_revoked_client_has_nothing_left_and_is_refused_until_it_is_added() {
    let rig = Rig::new("");
    let asked = rig.waits("laptop", "x").await;
    let others = rig.waits("phone", "x").await;
    let revoked = rig.clients.revoke(&name("laptop"), "console:uid:1").await.unwrap().unwrap();
    assert_eq!(revoked.questions, 1);
    assert!(rig.gate.gate.calls().question(&asked.id).unwrap().is_none(), "it is open");
    assert!(rig.gate.gate.calls().question(&others.id).unwrap().is_some(), "another's is closed");
    // Neither a new call nor the end of an old one.
    for text in ["x", "y"] {
        let words = rig.refused("laptop", text).await;
        assert!(words.contains("`laptop` was revoked by its owner"), "{words}");
        assert!(words.contains("`claw --agent work clients add laptop`"), "{words}");
    }
    assert!(rig.clients.may_ask(&name("laptop")).await.is_err());
    let known = rig.clients.known().unwrap();
    assert!(
        known.iter().any(|client| client.name == name("laptop") && client.revoked_ms.is_some())
    );
    rig.clients.add(&name("laptop"), "console:uid:1").await.unwrap();
    // What was asked before has ended with it.
    let call = rig.begin("laptop", "x").await;
    let (outcome, _) = rig.end(&call).await;
    let Outcome::Denied { reason, .. } = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("revoked the client"), "{reason}");
    assert!(rig.effects().is_empty());
    rig.gate.verify();
}
