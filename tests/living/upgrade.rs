//! A home that the claw of schema 18, the first that is released, has left, opened by this one; and
//! one from before. What a migration does is proven beside it, in `crates/store`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::program::{House, outcomes, said};

/// What the claw of schema 18 wrote into its store. The question in it ends at `ENDS`, in
/// milliseconds since 1970.
const OLD: &str = include_str!("../../crates/store/src/tests/schema-18.sql");
const ENDS: &str = "1795374649771";
/// 2100-01-01.
const LATER: &str = "4102444800000";
const FIRST: i64 = 18;

fn old_home() -> House {
    let house = House::new();
    house.write("notes.txt", "");
    let me = format!("console:uid:{}", rustix::process::getuid().as_raw());
    let home = house.home().display().to_string();
    let old = OLD.replace(ENDS, LATER).replace("/home/anna/.claw", &home);
    house.db().execute_batch(&old).unwrap();
    // It was made by another user.
    house.db().execute("UPDATE approvals SET approvers = ?1", [me]).unwrap();
    house
}

/// A home as a claw from before the first release has left it, which wrote no id.
fn unreleased_home() -> House {
    let house = old_home();
    house.db().execute_batch("PRAGMA user_version = 5; PRAGMA application_id = 0").unwrap();
    house
}

/// The newest schema, and how many copies an update of an old home makes: none, as long as there is
/// no migration.
fn newest() -> (i64, usize) {
    let house = House::new();
    house.claw(&["sessions"]).expect(0);
    let version = version(&house);
    (version, usize::from(version > FIRST))
}

fn version(house: &House) -> i64 {
    house.db().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn events(house: &House) -> i64 {
    house.db().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap()
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
fn a_home_of_the_first_release_opens_with_everything_in_it() {
    let house = old_home();
    let (newest, copied) = newest();
    let first = house.claw(&["sessions", "--json"]).expect(0);
    assert_eq!(first.err.matches("from schema 18 to ").count(), copied, "{first:?}");
    let second = house.claw(&["sessions", "--json"]).expect(0);
    assert_eq!((second.err.as_str(), second.rows()), ("", first.rows()), "it is told once");
    assert_eq!((version(&house), copies(&house).len()), (newest, copied));
    let names: Vec<_> =
        first.rows().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    for name in ["main", "trip"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    house.is_whole();
    assert_eq!(said(&house.events("main"))[0], "list");
    let grants = house.claw(&["grants", "--json"]).expect(0);
    assert!(grants.out.contains("bread and milk"), "{grants:?}");
    let doctor = house.claw(&["doctor", "--json"]).rows();
    let damaged: Vec<_> =
        doctor.iter().filter(|row| row["repair"] == true || row["id"] == "damaged").collect();
    assert!(damaged.is_empty(), "{damaged:#?}");

    // The question is still open, and can be answered; the turn goes on from it.
    let id = house.waiting();
    house.claw(&["deny", &id, "not", "Lisbon"]).expect(0);
    assert_eq!(outcomes(&house.events("trip"))[0]["kind"], "denied");
    let again = house.claw(&["ask", "write notes/today.md: bread and milk"]);
    assert_eq!(again.code, Some(0), "the grant still holds: {again:?}");
    assert_eq!(house.in_workspace("notes/today.md"), "bread and milk");
    house.is_whole();
}

#[test]
fn a_home_from_before_the_first_release_is_refused_and_left_as_it_is() {
    let house = unreleased_home();
    let file = house.home().join("claw.db");
    let before = fs::read(&file).unwrap();
    for command in [&["sessions"][..], &["ask", "list"], &["backup", "kept.tar"]] {
        let refused = house.claw(command).expect(1);
        let told = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "before the first release (schema 5; this one reads 18 and later)",
            "use the claw that wrote it",
            "`claw restore`",
        ] {
            assert!(told.contains(words), "{refused:?}");
        }
        assert_eq!(refused.err.trim_end().lines().count(), 1, "{refused:?}");
    }
    let doctor = house.claw(&["doctor", "--repair", "--yes"]);
    assert!(doctor.out.contains("before the first release"), "{doctor:?}");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(copies(&house), Vec::<PathBuf>::new());
}

/// The older program in it is this one; what the newer one has made of the home is a store of a
/// higher version, with a copy from before beside it.
#[test]
fn the_way_back_that_the_guide_names_leads_to_what_was_there() {
    let house = old_home();
    house.claw(&["sessions"]).expect(0);
    let (older, kept) = (version(&house), events(&house));
    let copy = format!("claw.db.before-v{older}-to-v{}", older + 1);
    let vacuum = format!("VACUUM INTO '{}'", house.home().join(&copy).display());
    house.db().execute_batch(&vacuum).unwrap();
    house.claw(&["ask", "list"]).expect(0);
    house.db().pragma_update(None, "user_version", older + 1).unwrap();
    let refused = house.claw(&["sessions"]).expect(1);
    assert!(refused.err.contains("written by a newer claw"), "{refused:?}");
    let guide = fs::read_to_string(claw_test_kit::root().join("docs/operate.md")).unwrap();
    let line = guide.lines().find(|line| line.starts_with("cd ~/.claw && ")).unwrap();
    let line = line.replace("claw.db.before-v18-to-v19", &copy);
    let mut shell = Command::new("/bin/sh");
    let done = shell
        .args(["-c", &line])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", house.user_home())
        .status();
    assert!(done.unwrap().success(), "{line}");
    assert_eq!((version(&house), events(&house)), (older, kept));
    house.claw(&["sessions"]).expect(0);
    // The audit notices the older store, and the guide says how to accept it.
    assert!(house.claw(&["audit", "verify"]).expect(1).out.contains("missing"));
    let next = "`claw audit anchor --accept`";
    assert!(guide.split("### The way back").nth(1).unwrap().contains(next));
    house.claw(&["audit", "anchor", "--accept"]).expect(0);
    house.is_whole();
}

/// As the claw of that home would have backed it up.
fn old_backup(from: &House, file: &std::path::Path) {
    use sha2::{Digest as _, Sha256};
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
fn a_backup_of_the_first_release_becomes_a_home_of_today() {
    let house = House::new();
    let file = house.user_home().join("old-backup");
    old_backup(&old_home(), &file);
    let restored = house.claw(&["restore", file.to_str().unwrap()]).expect(0);
    let (newest, copied) = newest();
    assert_eq!(restored.err.matches("had schema 18").count(), copied, "{restored:?}");
    assert!(restored.out.contains("trip"), "{restored:?}");
    assert!(copies(&house).is_empty(), "the backup is the copy");
    assert_eq!(version(&house), newest);
    assert!(house.claw(&["sessions", "--json"]).expect(0).rows().len() > 1);
}

#[test]
fn a_backup_from_before_the_first_release_becomes_no_home() {
    let house = House::new();
    let file = house.user_home().join("old-backup");
    old_backup(&unreleased_home(), &file);
    let refused = house.claw(&["restore", file.to_str().unwrap()]).expect(1);
    assert!(refused.err.contains("before the first release"), "{refused:?}");
    assert!(!house.home().join("claw.db").exists());
}

#[test]
fn processes_that_come_first_at_once_copy_at_most_once() {
    let house = old_home();
    let running: Vec<_> = (0..4).map(|_| house.start(&["sessions", "--json"])).collect();
    let told: usize = running
        .into_iter()
        .map(|one| one.ends().expect(0).err.matches("from schema 18").count())
        .sum();
    let (newest, copied) = newest();
    assert_eq!((version(&house), told, copies(&house).len()), (newest, copied, copied));
}

#[test]
fn the_doctor_offers_to_remove_all_but_the_newest_three_and_nobody_else_removes_any() {
    let house = House::new();
    for number in 1..=5 {
        let copy = house.home().join(format!("claw.db.before-v{number}-to-v18"));
        house.write(copy.file_name().unwrap().to_str().unwrap(), "old");
        let file = fs::File::options().write(true).open(copy).unwrap();
        file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
        let modified = std::time::Duration::from_secs(number);
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + modified).unwrap();
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
