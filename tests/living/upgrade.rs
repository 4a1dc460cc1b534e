//! A home that an older claw has left, opened by this one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::program::{House, outcomes, said};

/// What the claw of schema 5 wrote into its store. The question in it ends at this moment, in
/// milliseconds since 1970.
const OLD: &str = include_str!("home-v5.sql");
const ENDS: &str = "1797892331093";
/// 2100-01-01.
const LATER: &str = "4102444800000";

fn old_home() -> House {
    let house = House::new();
    house.write("notes.txt", "");
    let me = format!("console:uid:{}", rustix::process::getuid().as_raw());
    house.db().execute_batch(&OLD.replace(ENDS, LATER)).unwrap();
    // It was made by another user.
    house.db().execute("UPDATE approvals SET approvers = ?1", [me]).unwrap();
    house
}

fn copies(house: &House) -> Vec<PathBuf> {
    let mut copies: Vec<_> =
        fs::read_dir(house.home()).unwrap().map(|entry| entry.unwrap().path()).collect();
    copies
        .retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("claw.db.before-v"));
    copies.sort();
    copies
}

#[test]
fn everything_is_there_afterwards_and_a_copy_of_what_was_before() {
    let house = old_home();
    let first = house.claw(&["sessions", "--json"]).expect(0);
    assert!(
        first.err.contains("from schema 5 to ") && first.err.contains("claw.db.before-v5-to-v"),
        "{first:?}"
    );
    let second = house.claw(&["sessions", "--json"]).expect(0);
    assert_eq!((second.err.as_str(), second.rows()), ("", first.rows()), "it is told once");
    let names: Vec<_> =
        first.rows().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert!(
        names.len() == 2
            && names.contains(&"main".to_owned())
            && names.contains(&"trip".to_owned()),
        "{names:?}"
    );
    house.is_whole();
    assert_eq!(said(&house.events("main"))[0], "list");
    let grants = house.claw(&["grants", "--json"]).expect(0);
    assert!(grants.out.contains("bread and milk"), "{grants:?}");

    // The question is still open, and can be answered; the turn goes on from it.
    let id = house.waiting();
    house.claw(&["deny", &id, "not", "Lisbon"]).expect(0);
    assert_eq!(outcomes(&house.events("trip"))[0]["kind"], "denied");
    let again = house.claw(&["ask", "write notes/today.md: bread and milk"]);
    assert_eq!(again.code, Some(0), "the grant still holds: {again:?}");
    assert_eq!(house.in_workspace("notes/today.md"), "bread and milk");
    house.is_whole();

    let copies = copies(&house);
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(copies[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let copy = rusqlite::Connection::open(&copies[0]).unwrap();
    let kept: (i64, i64) = copy
        .query_row(
            "SELECT (SELECT user_version FROM pragma_user_version), count(*) FROM events",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(kept, (5, 23));
    let doctor = house.claw(&["doctor", "--json"]);
    let finding = doctor.rows().into_iter().find(|row| row["id"] == "copies").unwrap();
    assert!(
        finding["text"].as_str().unwrap().starts_with("1 copy of the store")
            && finding["repair"] == false
    );
}

#[test]
fn the_way_back_that_the_guide_names_leads_to_what_was_there() {
    let house = old_home();
    house.claw(&["ask", "list"]).expect(0);
    let copy = copies(&house).remove(0).file_name().unwrap().to_str().unwrap().to_owned();
    let guide =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/keeping.md")).unwrap();
    let line = guide.lines().find(|line| line.starts_with("cd ~/.claw && ")).unwrap();
    let line = line.replace("claw.db.before-v5-to-v9", &copy);
    let mut shell = Command::new("/bin/sh");
    let done = shell
        .args(["-c", &line])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", house.user_home())
        .status();
    assert!(done.unwrap().success(), "{line}");
    let there: (i64, i64) = house
        .db()
        .query_row(
            "SELECT (SELECT user_version FROM pragma_user_version), count(*) FROM events",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(there, (5, 23));
    assert_eq!(
        house.home().join("claw.db").metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    // And forth again.
    let told = house.claw(&["sessions"]).expect(0);
    assert!(told.err.contains("from schema 5"), "{told:?}");
    // The audit notices the older store, and the guide says how to accept it.
    assert!(house.claw(&["audit", "verify"]).expect(1).out.contains("missing"));
    let next = "`claw audit anchor --accept`";
    assert!(guide.split("### The way back").nth(1).unwrap().contains(next));
    house.claw(&["audit", "anchor", "--accept"]).expect(0);
    house.is_whole();
}

/// As the older claw would have backed it up.
fn old_backup(file: &std::path::Path) {
    use sha2::{Digest as _, Sha256};
    let from = old_home();
    let db = fs::read(from.home().join("claw.db")).unwrap();
    let digest: String = Sha256::digest(&db).iter().map(|byte| format!("{byte:02x}")).collect();
    let list = serde_json::json!({"claw_backup": 1, "claw": "0.0.5", "at": "2026-11-21T17:10:14Z",
        "files": [{"name": "claw.db", "bytes": db.len(), "sha256": digest}]});
    let mut archive = tar::Builder::new(fs::File::create(file).unwrap());
    for (name, bytes) in [("claw-backup.json", list.to_string().into_bytes()), ("claw.db", db)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        archive.append_data(&mut header, name, bytes.as_slice()).unwrap();
    }
    archive.into_inner().unwrap();
}

#[test]
fn an_old_backup_becomes_a_home_of_today() {
    let house = House::new();
    let file = house.user_home().join("old-backup");
    old_backup(&file);
    let restored = house.claw(&["restore", file.to_str().unwrap()]).expect(0);
    assert!(restored.err.contains("had schema 5") && restored.out.contains("trip"), "{restored:?}");
    assert!(copies(&house).is_empty(), "the backup is the copy");
    assert_eq!(house.claw(&["sessions", "--json"]).expect(0).rows().len(), 2);
}

#[test]
fn two_processes_that_come_first_at_once_copy_once() {
    let house = old_home();
    let running: Vec<_> = (0..4).map(|_| house.start(&["sessions", "--json"])).collect();
    let told: usize = running
        .into_iter()
        .map(|one| one.ends().expect(0).err.matches("from schema 5").count())
        .sum();
    assert_eq!((told, copies(&house).len()), (1, 1));
}

#[test]
fn the_doctor_offers_to_remove_all_but_the_newest_three_and_nobody_else_removes_any() {
    let house = old_home();
    for number in 1..=4 {
        house.write(&format!("claw.db.before-v{number}-to-v5"), "old");
        let file = fs::File::options()
            .write(true)
            .open(house.home().join(format!("claw.db.before-v{number}-to-v5")))
            .unwrap();
        file.set_modified(
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number),
        )
        .unwrap();
    }
    house.claw(&["sessions"]).expect(0);
    assert_eq!(copies(&house).len(), 5);
    house.claw(&["doctor", "--repair", "--yes"]);
    let left: Vec<_> = copies(&house)
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(
        left[0].contains("v3-to") && left[1].contains("v4-to") && left[2].contains("v5-to"),
        "{left:?}"
    );
}
