//! Starting many at once, slowly and somewhere: places, clocks, what is inherited, and where a
//! server runs.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::rig::{Rig, SOON, eventually, text};
use crate::{HubError, HubNotice, HubSettings, ServerState};

/// Servers that share one record, each started by this shell text; `"$0"` is the stranger, `"$1"`
/// its mode, `"$2"` the record.
fn rig_of(names: &[&str], mode: &str, script: &str, change: impl FnOnce(&mut HubSettings)) -> Rig {
    let dir = TempDir::new().unwrap();
    let record = dir.path().join(names[0]);
    let entry = json!({"command": "sh", "args": ["-c", script, Rig::exe(), mode, record]});
    let servers = names.iter().map(|name| ((*name).to_owned(), entry.clone())).collect();
    Rig::from_servers(Value::Object(servers), dir, change)
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[tokio::test]
async fn no_more_servers_start_at_a_time_than_there_are_places() {
    let places = |settings: &mut HubSettings| settings.starts = Arc::new(Semaphore::new(2));
    let rig = rig_of(&NAMES, "legacy", r#"exec "$0" "$1" "$2""#, places);
    let all = futures::future::join_all(NAMES.map(|name| rig.hub.tools(name))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    let (mut started, mut most) = (0_i32, 0);
    for line in rig.record("a") {
        started +=
            i32::from(line.starts_with("pid ")) - i32::from(line.starts_with("initialize with"));
        most = most.max(started);
    }
    assert!(started == 0 && (1..=2).contains(&most), "{most} at once: {:?}", rig.record("a"));
}

#[tokio::test]
async fn the_clock_of_a_start_begins_when_it_gets_its_place() {
    let slow = r#"sleep 2; exec "$0" "$1" "$2""#;
    let rig = rig_of(&NAMES, "legacy", slow, |settings| {
        settings.starts = Arc::new(Semaphore::new(1));
        settings.startup_timeout = Duration::from_secs(11);
    });
    // Six by 2 s and more are longer than one clock.
    let all = futures::future::join_all(NAMES.map(|name| rig.hub.tools(name))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
}

#[tokio::test]
async fn an_install_goes_on_when_it_is_late_and_a_retry_joins_it() {
    let dir = TempDir::new().unwrap();
    let (npx, record) = (dir.path().join("npx"), dir.path().join("x"));
    std::os::unix::fs::symlink(Rig::exe(), &npx).unwrap();
    let servers = json!({"x": {"command": npx, "args": ["late", record], "startup_timeout": 1000}});
    let rig = Rig::from_servers(servers, dir, |settings| settings.startup_timeout = SOON);
    let error = rig.hub.tools("x").await.unwrap_err();
    assert!(
        matches!(&error, HubError::Installing { installer, .. } if installer == "npx"),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "the server `x` is not up after 1 s; `npx` may be installing it and goes on for up to 10 min"
    );
    assert!(matches!(rig.state("x"), ServerState::Failed { .. }));
    // Who comes back waits for the same start.
    let (again, ()) = tokio::join!(rig.hub.tools("x"), async {
        fs::write(record.with_extension("go"), "").unwrap()
    });
    assert_eq!(again.unwrap().tools.len(), 7);
    assert_eq!(rig.starts("x"), 1, "the install was thrown away");
    assert!(matches!(&rig.notices.lock().unwrap()[..], [HubNotice::Failed { .. }]));
}

#[tokio::test]
async fn an_install_that_takes_more_than_its_ten_minutes_is_ended() {
    let dir = TempDir::new().unwrap();
    let (npx, record) = (dir.path().join("npx"), dir.path().join("x"));
    std::os::unix::fs::symlink(Rig::exe(), &npx).unwrap();
    let servers = json!({"x": {"command": npx, "args": ["late", record], "startup_timeout": 1000}});
    let rig = Rig::from_servers(servers, dir, |settings| settings.startup_timeout = SOON);
    let late = rig.hub.tools("x").await.unwrap_err();
    assert!(matches!(late, HubError::Installing { .. }), "{late:?}");
    let goes_by = async |seconds: u64| {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(seconds)).await;
        tokio::time::resume();
    };
    let ended = || match rig.state("x") {
        ServerState::Failed { reason, .. } => reason.contains("within 601 s"),
        _ => false,
    };
    goes_by(590).await;
    // Whoever asks now still waits for the same start.
    let joins = tokio::time::timeout(Duration::from_millis(100), rig.hub.tools("x")).await;
    assert!(joins.is_err() && !ended() && rig.starts("x") == 1, "{joins:?}");
    goes_by(10).await;
    eventually("it is ended", ended).await;
    // The next start is a new one, after a pause.
    goes_by(60).await;
    fs::write(record.with_extension("go"), "").unwrap();
    assert_eq!(rig.hub.tools("x").await.unwrap().tools.len(), 7);
    assert_eq!(rig.starts("x"), 2);
}

#[tokio::test]
async fn a_start_goes_on_when_who_waited_for_it_has_gone() {
    let dir = TempDir::new().unwrap();
    let record = dir.path().join("x");
    let rig = Rig::from_servers(
        json!({"x": {"command": Rig::exe(), "args": ["late", record]}}),
        dir,
        |_| {},
    );
    tokio::select! {
        _ = rig.hub.tools("x") => panic!("it cannot be up"),
        () = eventually("it is being started", || rig.starts("x") == 1) => {}
    }
    fs::write(record.with_extension("go"), "").unwrap();
    eventually("it is up", || matches!(rig.state("x"), ServerState::Up { .. })).await;
    rig.hub.tools("x").await.unwrap();
    assert_eq!(rig.starts("x"), 1);
}

#[tokio::test]
async fn a_start_that_fails_for_a_certificate_says_what_helps() {
    let script = "echo 'npm error code SELF_SIGNED_CERT_IN_CHAIN' >&2; exit 1";
    let rig = rig_of(&["x"], "", script, |_| {});
    let error = rig.hub.tools("x").await.unwrap_err().to_string();
    assert!(error.contains("NODE_EXTRA_CA_CERTS") && error.contains("SSL_CERT_FILE"), "{error}");
}

#[tokio::test]
async fn certificates_proxies_and_language_are_inherited_by_a_list_that_can_be_changed() {
    let dir = TempDir::new().unwrap();
    let entry = json!({"command": Rig::exe(), "args": ["legacy"]});
    let mut own = entry.clone();
    own["inherit"] = json!(["...", "MY_SETTING"]);
    let mut bare = entry.clone();
    bare["inherit"] = json!([]);
    let rig =
        Rig::from_servers(json!({"usual": entry, "own": own, "bare": bare}), dir, |settings| {
            settings.base_env.retain(|name, _| name == "PATH");
            let more = [
                "SSL_CERT_FILE",
                "https_proxy",
                "LC_TIME",
                "XDG_RUNTIME_DIR",
                "MY_SETTING",
                "LD_PRELOAD",
            ];
            settings.base_env.extend(more.map(|name| (name.to_owned(), String::new())));
        });
    let cases = [
        ("usual", "LC_TIME PATH SSL_CERT_FILE XDG_RUNTIME_DIR https_proxy"),
        ("own", "LC_TIME MY_SETTING PATH SSL_CERT_FILE XDG_RUNTIME_DIR https_proxy"),
        ("bare", "PATH"),
    ];
    for (server, expected) in cases {
        let env = text(rig.call(server, "env", json!({})).await);
        let mut names: Vec<&str> = env.lines().filter_map(|line| line.split('=').next()).collect();
        names.sort_unstable();
        assert_eq!(names.join(" "), expected, "{server}");
    }
}

#[tokio::test]
async fn a_server_runs_in_a_folder_of_its_own_and_its_paths_are_beside_mcp_json() {
    let dir = TempDir::new().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let says = |out: &str| format!("#!/bin/sh\necho \"{out} in $(pwd)\" >&2; exit 1\n");
    for (name, out) in [("here", "beside"), ("sub/here", "below")] {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        claw_test_kit::write_program(&path, &says(out));
    }
    let servers = json!({
        "My Server": {"command": "sh", "args": ["-c", "pwd >&2; exit 1"]},
        "relative": {"command": "./here"},
        "cwd": {"command": "sub/here", "cwd": "sub"},
        "word": {"command": "sh", "args": ["here"]},
    });
    let rig = Rig::from_servers(servers, dir, |settings| settings.working_dir = home.clone());
    let home = home.display();
    let cases = [
        ("My Server", format!("it said: {home}/servers/My_Server")),
        ("relative", format!("it said: beside in {home}/servers/relative")),
        ("cwd", format!("it said: below in {home}/sub")),
        ("word", "`here` is a file beside mcp.json".to_owned()),
    ];
    for (server, expected) in cases {
        let error = rig.hub.tools(server).await.unwrap_err().to_string();
        assert!(error.contains(&expected), "{server}: {error}");
    }
}

#[test]
fn usually_twice_as_many_start_at_a_time_as_there_are_cores() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let settings = HubSettings::new(std::collections::BTreeMap::new(), std::path::PathBuf::new());
    assert_eq!(settings.starts.available_permits(), 2 * cores);
}

/// The page says which variables a stranger's server gets.
#[test]
fn what_is_inherited_is_what_the_page_about_servers_names() {
    let page = include_str!("../../../../docs/mcp.md");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, list) = page.split_once("and what a list names: ").unwrap();
    let (list, _) = list.split_once("Another list is").unwrap();
    assert!(list.contains("(small letters, too)"), "{list}");
    let mut named: Vec<String> = Vec::new();
    for name in list.split('`').skip(1).step_by(2) {
        named.push(name.to_owned());
        if name.ends_with("_PROXY") {
            named.push(name.to_lowercase());
        }
    }
    named.sort();
    let mut inherited = crate::INHERITED_VARIABLES.map(str::to_owned).to_vec();
    inherited.sort();
    assert_eq!(inherited, named);
}
