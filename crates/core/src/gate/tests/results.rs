//! What comes back: cut, kept, limited by the turn's time; and what the door is told meanwhile.

use std::time::Duration;

use serde_json::json;

use super::rig::{ALLOW, Rig, echo, tool};
use crate::domain::{DeniedBy, Live, Outcome};

#[tokio::test]
async fn a_large_result_is_cut_and_kept_whole() {
    let rig = Rig::new(&["legacy"], ALLOW);
    let whole = format!("head {} tail", "ä".repeat(5000));
    let text = rig.ended(echo(1, &whole)).await;
    assert!(text.len() < 1500 && text.starts_with("head ") && text.ends_with(" tail"), "{text}");
    let digest = crate::domain::canonical::sha256_hex(&whole);
    assert!(
        text.contains(&format!("artifact {digest}")) && text.contains("limits.tool_result_bytes"),
        "{text}"
    );
    assert_eq!(std::fs::read_to_string(rig.home().join("artifacts").join(digest)).unwrap(), whole);
    assert_eq!(rig.ended(echo(1, &whole)).await, text, "what was kept is what the model saw");
    assert_eq!(
        rig.ended(echo(2, &"x".repeat(1024))).await.len(),
        1024,
        "the limit itself is not cut"
    );
}

#[tokio::test]
async fn the_end_of_the_turn_cuts_a_call() {
    let rig = Rig::new(&["never"], &ALLOW.replace("legacy", "never"));
    let mut call = echo(1, "hi");
    call.server = "never".into();
    // The server is up, so that the time is spent in the call.
    rig.gate.hub().tools("never").await.unwrap();
    let mut context = rig.context();
    const TURN: Duration = Duration::from_secs(9);
    context.deadline = tokio::time::Instant::now() + TURN;
    let cancel = context.cancel.clone();
    let turn_ends = async {
        while !rig.record("never").contains("tools/call") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::pause();
        tokio::time::advance(TURN).await;
        tokio::time::resume();
    };
    let outcome = tokio::join!(rig.gate.call(call, context), turn_ends).0;
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    assert!(cancel.is_cancelled(), "its siblings are cut, too");
}

#[tokio::test]
async fn a_stop_does_not_wait_for_a_server_that_is_slow_to_start() {
    let rig = Rig::new(&["mute"], "");
    let mut call = echo(1, "hi");
    call.server = "mute".into();
    let context = rig.context();
    let cancel = context.cancel.clone();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let both = async { tokio::join!(rig.gate.call(call, context), stop).0 };
    let outcome = tokio::time::timeout(Duration::from_secs(30), both)
        .await
        .expect("not before the server is given up");
    assert_eq!(outcome, Outcome::denied(DeniedBy::Stop, "it was stopped before it ran"));
}

#[tokio::test]
async fn the_door_hears_what_runs_and_how_it_ended() {
    let rig = Rig::new(&["legacy"], ALLOW);
    rig.ended(tool(1, "progress", json!({"path": "a\u{202e}b"}))).await;
    let lives = rig.lives.lock().unwrap().clone();
    let texts: Vec<&str> = lives
        .iter()
        .filter_map(|live| match live {
            Live::CallProgress { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["one", "two", "three"]);
    assert!(
        matches!(&lives[0], Live::CallStarted { title, .. } if title.contains("legacy/progress") && !title.contains('\u{202e}'))
    );
    assert!(matches!(lives.last().unwrap(), Live::CallEnded { ok: true, .. }));
}

#[tokio::test]
async fn files_of_a_result_are_kept_and_images_are_named_for_the_model() {
    let rig = Rig::new(&["files"], &ALLOW.replace("legacy", "files"));
    let mut call = echo(1, "");
    call.server = "files".into();
    let Outcome::Ended { output } = rig.call(call.clone()).await else { panic!() };
    let kept = |kind: &str| {
        let line = output
            .text
            .lines()
            .find(|line| line.contains(kind))
            .unwrap_or_else(|| panic!("{output:?}"));
        let (before, path) = line.trim_end_matches(']').rsplit_once(", copy: ").unwrap();
        let digest = before.rsplit(' ').next().unwrap().to_owned();
        let bytes = std::fs::read(rig.home().join("artifacts").join(&digest)).unwrap();
        assert!(path.starts_with("inbox/") && path.contains("/files-echo-"), "{line}");
        assert_eq!(
            std::fs::read(rig.home().join(path)).unwrap(),
            bytes,
            "the copy that tools reach: {line}"
        );
        assert_eq!(crate::domain::canonical::sha256_hex(&bytes), digest, "{line}");
        (digest, bytes)
    };
    let (digest, png) = kept("[image, image/png, 70 bytes");
    assert_eq!(&png[..4], b"\x89PNG");
    assert_eq!(kept("[audio, audio/wav, 6 bytes").1, b"RIFF\0\0");
    assert_eq!(kept("[resource file:///blob, application/zip, 4 bytes").1, b"PK\x03\x04");
    assert!(
        output.text.contains("written down")
            && output.text.contains("[link to the resource file:///elsewhere")
    );
    let image = crate::domain::ImageRef { mime: "image/png".into(), digest, bytes: 70 };
    assert_eq!(output.images, [image], "the model is shown images alone");

    // Structured content that the text does not hold stands behind it, and the whole is kept.
    let cut =
        output.text.lines().find(|line| line.contains("the whole is kept as artifact")).unwrap();
    let path = cut.rsplit_once(", copy: ").unwrap().1.trim_end_matches(" …]");
    let whole = std::fs::read_to_string(rig.home().join(path)).unwrap();
    assert!(
        whole.contains("does not hold]\n{\"long\":\"yyy") && whole.ends_with("yyy\"}"),
        "{path}"
    );

    rig.store.write(|_| Ok(())).await.unwrap();
    let rows = rig.store.read(|tx| tx.artifacts()).unwrap();
    assert_eq!(rows.len(), 4, "every file has its row: {rows:?}");
    assert_eq!(
        rig.row(&call.id).await.outcome,
        Some(Outcome::Ended { output }),
        "the log has what the model saw"
    );
}
