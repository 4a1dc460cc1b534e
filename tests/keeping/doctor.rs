//! What the doctor finds and repairs.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::keeping::{age, finding, write_called};
use crate::program::{House, eventually};

fn change(house: &House, sql: &str) {
    assert_eq!(house.db().execute(sql, []).unwrap(), 1, "{sql}");
}

#[test]
fn the_doctor_tidies_up_what_belongs_to_nothing_and_nothing_else() {
    let house = House::new();
    house.write("claw.toml", "[limits]\ntool_result_bytes = 1024\n");
    house.write("workspace/large.txt", &"x".repeat(5000));
    house.claw(&["ask", "show large.txt"]).expect(0);
    let artifacts = house.home().join("artifacts");
    let kept = fs::read_dir(&artifacts).unwrap().next().unwrap().unwrap().path();
    // Named by the log alone, as images are; by nothing; by nothing yet.
    let (image, orphan, fresh) = (
        artifacts.join("a".repeat(64)),
        artifacts.join("b".repeat(64)),
        artifacts.join("c".repeat(64)),
    );
    let draft = artifacts.join(format!(".{}.1", "d".repeat(64)));
    for file in [&image, &orphan, &fresh, &draft] {
        fs::write(file, "x").unwrap();
    }
    let body = format!(r#"{{"type":"limit.reached","limit":"x","text":"{}"}}"#, "a".repeat(64));
    house
        .db()
        .execute("INSERT INTO events VALUES ('images', 1, 0, 'limit.reached', ?1)", [&body])
        .unwrap();
    [&kept, &image, &orphan, &draft].into_iter().for_each(|file| age(file));
    let running = house.start(&["chat", "--session", "lives"]);
    let locks = house.home().join("locks");
    let doors = || -> Vec<PathBuf> {
        let found = fs::read_dir(&locks).unwrap().map(|entry| entry.unwrap().path());
        found
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("door-"))
            .collect()
    };
    eventually("the chat is there", || doors().len() == 1);
    let (door, stale) = (doors().remove(0), locks.join("door-console-00.lock"));
    fs::write(&stale, "").unwrap();
    [&door, &stale].into_iter().for_each(|file| age(file));

    // Of a backup that was killed; no system gives a process this number.
    let copy = house.home().join("claw.db.snapshot-2147483646");
    fs::write(&copy, "").unwrap();
    age(&copy);
    // Of a restore that was killed, and of one that is at work.
    let restore = copy_of_a_restore(&house, "0123456789abcdef");
    let at_work = copy_of_a_restore(&house, "fedcba9876543210");
    let held = fs::File::open(&at_work).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();

    let said = house.claw(&["doctor", "--json"]);
    assert!(finding(&said, "drafts").is_some(), "{said:?}");
    assert!(
        finding(&said, "restores").unwrap()["text"].as_str().unwrap().starts_with("1 copy of"),
        "{said:?}"
    );
    assert_eq!(finding(&said, "locks").unwrap()["repair"], true, "{said:?}");
    assert!(
        finding(&said, "artifacts").unwrap()["text"].as_str().unwrap().starts_with("2 files"),
        "{said:?}"
    );
    // Nobody is there to be asked.
    let asked = house.claw(&["doctor", "--repair", "--json"]);
    assert!(asked.err.contains("--repair --yes") && stale.exists() && orphan.exists(), "{asked:?}");
    let repaired = house.claw(&["doctor", "--repair", "--yes", "--json"]);
    assert!(
        finding(&repaired, "locks").is_none() && finding(&repaired, "artifacts").is_none(),
        "{repaired:?}"
    );
    assert!(!stale.exists() && door.exists() && !copy.exists());
    assert!(!restore.exists() && at_work.exists());
    assert!(
        !orphan.exists() && !draft.exists() && kept.exists() && image.exists() && fresh.exists()
    );
    drop(running);
}

/// What a restore that began an hour ago leaves, with a secret in it.
fn copy_of_a_restore(house: &House, name: &str) -> PathBuf {
    let folder = house.user_home().join(format!("..claw.restore-{name}"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("claw.toml"), "[telegram]\ntoken = \"1:secret\"\n").unwrap();
    let began = SystemTime::now() - Duration::from_secs(3600);
    fs::File::open(&folder).unwrap().set_modified(began).unwrap();
    folder
}

#[test]
fn an_artifact_that_is_gone_is_told_until_it_is_noted() {
    let house = House::new();
    house.write("claw.toml", "[limits]\ntool_result_bytes = 1024\n");
    house.write("workspace/large.txt", &"x".repeat(5000));
    house.claw(&["ask", "show large.txt"]).expect(0);
    let file =
        fs::read_dir(house.home().join("artifacts")).unwrap().next().unwrap().unwrap().path();
    assert!(finding(&house.claw(&["doctor", "--json"]), "artifacts:lost").is_none());
    fs::remove_file(&file).unwrap();
    let said = house.claw(&["doctor", "--json"]).expect(1);
    let lost = finding(&said, "artifacts:lost").unwrap();
    assert!(
        lost["text"].as_str().unwrap().contains(file.file_name().unwrap().to_str().unwrap()),
        "{lost}"
    );
    let repaired = house.claw(&["doctor", "--repair", "--yes", "--json"]);
    assert!(finding(&repaired, "artifacts:lost").is_none(), "{repaired:?}");
    // The same result again is a file again.
    house.claw(&["ask", "show large.txt"]).expect(0);
    assert!(file.exists());
}

#[test]
fn a_torn_log_is_put_aside_row_by_row_and_goes_on() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    house.claw(&["ask", "list"]).expect(0);
    write_called(&house, "a.txt");
    let before = house.events("main");
    let (reply, last) = (4, before.len());
    change(&house, &format!("UPDATE events SET body = substr(body, 1, 40) WHERE seq = {reply}"));
    change(&house, "DELETE FROM events WHERE seq = 6");
    change(
        &house,
        &format!("UPDATE events SET body = '{{\"type\":\"call.asleep\"}}' WHERE seq = {last}"),
    );
    house.claw(&["sessions", "replay"]).expect(1);
    house.claw(&["ask", "list"]).expect(1);
    let said = house.claw(&["doctor", "--json"]).expect(1);
    for seq in [reply, 6, last] {
        assert!(finding(&said, &format!("log:main:{seq}")).is_some(), "{seq}: {said:?}");
    }
    let repaired = house.claw(&["doctor", "--repair", "--yes", "--json"]);
    assert!(
        !repaired.rows().iter().any(|row| row["id"].as_str().unwrap().starts_with("log:")),
        "{repaired:?}"
    );
    let aside: Vec<(i64, String)> = {
        let db = house.db();
        let mut query = db
            .prepare("SELECT json_extract(rest, '$.seq'), body FROM put_aside ORDER BY nr")
            .unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(aside.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [reply as i64, last as i64]);
    assert!(aside[0].1.len() == 40 && aside[1].1.contains("call.asleep"), "{aside:?}");
    // The turn that was open ends with the reason, and the session goes on. What waited did not
    // run.
    house.claw(&["ask", "list"]).expect(0);
    let events = house.events("main");
    let ended: Vec<_> =
        events.iter().skip(last - 1).filter(|event| event["type"] == "turn.ended").collect();
    assert_eq!(
        (&ended[0]["end"]["kind"], &ended[1]["end"]["kind"]),
        (&json!("limit"), &json!("answered")),
        "{events:#?}"
    );
    assert!(!house.workspace().join("a.txt").exists());
    house.claw(&["audit", "verify"]).expect(0);
}

#[test]
fn settings_that_cannot_be_read_are_moved_aside_and_rules_never() {
    let house = House::new();
    house.write("claw.toml", "[limits\n");
    house.write("mcp.json", "{ \"mcpServers\": ");
    let said = house.claw(&["doctor", "--json"]).expect(1);
    assert_eq!(finding(&said, "config").unwrap()["repair"], true);
    // The second fault comes to light when the first is repaired.
    house.claw(&["doctor", "--repair", "--yes", "--json"]).expect(1);
    house.claw(&["doctor", "--repair", "--yes", "--json"]);
    let aside = |name: &str| -> String {
        let names = fs::read_dir(house.home())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let found =
            names.filter(|found| found.starts_with(&format!("{name}.broken-"))).collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{found:?}");
        fs::read_to_string(house.home().join(&found[0])).unwrap()
    };
    assert_eq!(
        (aside("claw.toml"), aside("mcp.json")),
        ("[limits\n".to_owned(), "{ \"mcpServers\": ".to_owned())
    );
    assert!(!house.home().join("claw.toml").exists());
    house.claw(&["ask", "list"]).expect(0);
    house.write("policy.toml", "[[rule]");
    let said = house.claw(&["doctor", "--repair", "--yes", "--json"]).expect(1);
    assert_eq!(finding(&said, "start").unwrap()["repair"], false);
    assert!(house.home().join("policy.toml").exists());
}

/// A key may stand in `service.env` alone, and a claw that runs goes by what the file says.
#[test]
fn settings_of_which_one_is_wrong_stay_where_they_are() {
    let house = House::new();
    for (name, id, text, said) in [
        ("claw.toml", "config", "[redact]\nextra = [\"$NOT_SET\"]\n", "NOT_SET, which is not set"),
        ("claw.toml", "config", "[limits]\nmodel_steps_max = 0\n", "must be from 1 to 1000"),
        ("claw.toml", "config", "[limits]\nof_a_newer_claw = 1\n", "claw.toml, line 2"),
        ("mcp.json", "start", "{\"mcpServers\": {\"x\": {\"args\": []}}}", "server `x`"),
        ("mcp.json", "start", "{\"servres\": {}}", "`mcpServers`"),
    ] {
        house.write("claw.toml", "");
        house.write(name, text);
        let ran = house.claw(&["doctor", "--repair", "--yes", "--json"]).expect(1);
        let found = finding(&ran, id).unwrap();
        assert_eq!(found["repair"], false, "{ran:?}");
        assert!(found["text"].as_str().unwrap().contains(said), "{said}: {ran:?}");
        assert_eq!(fs::read_to_string(house.home().join(name)).unwrap(), text);
    }
}

/// What a power loss has left of `mcp.json` in earlier versions: an agent without tools, and nobody
/// said so.
#[test]
fn an_empty_mcp_json_is_found_and_the_default_comes_back() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    house.write("mcp.json", "");
    let said = house.claw(&["doctor", "--json"]).expect(1);
    assert!(
        finding(&said, "start").unwrap()["text"]
            .as_str()
            .unwrap()
            .contains("there would be no tools"),
        "{said:?}"
    );
    house.claw(&["doctor", "--repair", "--yes", "--json"]);
    assert_eq!(
        fs::read_to_string(house.home().join("mcp.json")).unwrap(),
        include_str!("../../mcp.json")
    );
    house.claw(&["ask", "list"]).expect(0);
}

#[test]
fn the_doctor_warns_about_root_and_nobody_else() {
    let house = House::new();
    let said = house.claw(&["doctor", "--json"]).expect(0).rows();
    let warned: Vec<_> = said.iter().filter(|row| row["id"] == "user").collect();
    if !rustix::process::geteuid().is_root() {
        assert!(warned.is_empty(), "{warned:?}");
        return;
    }
    let [warning] = warned[..] else { panic!("{said:?}") };
    assert_eq!((&warning["ok"], &warning["warning"]), (&json!(true), &json!(true)), "{warning}");
    assert!(warning.to_string().contains("run claw as an ordinary user"), "{warning}");
    let shown = house.claw(&["doctor"]).expect(0).out;
    assert!(
        shown.lines().any(|line| line.starts_with("!!") && line.contains("this is root")),
        "{shown}"
    );
}

#[test]
fn a_look_that_takes_long_is_told_before_it_begins() {
    let house = House::new();
    let told = |house: &House| house.claw(&["doctor"]).err.contains("this takes a while");
    assert!(!told(&house));
    // 64 MiB and a little more.
    let row = "INSERT INTO meta(key, value) VALUES('padding', hex(zeroblob(33 << 20)))";
    house.db().execute(row, []).unwrap();
    assert!(told(&house));
}
