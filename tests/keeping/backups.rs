//! `claw backup` and `claw restore`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::keeping::{beside, replayed, text, write_called};
use claw_test_kit::skipped;
use serde_json::json;

use crate::jobs_rig::{minutes_pass, schedule, schedule_of};
use crate::program::{House, Ran, eventually, outcomes};

/// Restores into a new home, which must be whole.
fn restored(file: &Path) -> (House, Ran) {
    let house = House::new();
    let ran = house.claw(&["restore", text(file)]).expect(0);
    house.is_whole();
    (house, ran)
}

#[test]
fn a_backup_is_whole_while_others_write_and_a_home_goes_on_from_it() {
    let house = House::new();
    house.write("SOUL.md", "You are brief.");
    house.write("persona/MEMORY.md", "Her cat is called Ada.");
    house.write("claw.toml", "[limits]\ntool_result_bytes = 1024\n");
    house.write("workspace/large.txt", &"x".repeat(5000));
    house.claw(&["ask", "show large.txt"]).expect(0);
    let artifact =
        fs::read_dir(house.home().join("artifacts")).unwrap().next().unwrap().unwrap().file_name();
    let mut chats: Vec<_> =
        (0..2).map(|chat| house.start(&["chat", "--session", &format!("c{chat}")])).collect();
    let mut seen = Vec::new();
    for number in 0..3 {
        chats.iter_mut().for_each(|chat| chat.types("list\n".repeat(80).as_bytes()));
        eventually("more is written", || {
            let count: i64 =
                house.db().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
            count > seen.last().copied().unwrap_or_default() + 20
        });
        let file = beside(&house, &format!("backup-{number}"));
        let before: i64 =
            house.db().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        house.claw(&["backup", text(&file)]).expect(0);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let (copy, _) = restored(&file);
        let events: i64 =
            copy.db().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        assert!(events >= before, "{events} of {before} events are in the backup");
        seen.push(events);
        assert_eq!(fs::read_to_string(copy.home().join("SOUL.md")).unwrap(), "You are brief.");
        assert_eq!(
            fs::read_to_string(copy.home().join("persona/MEMORY.md")).unwrap(),
            "Her cat is called Ada."
        );
        assert_eq!(fs::read(copy.home().join("artifacts").join(&artifact)).unwrap().len(), 5000);
        assert!(replayed(&copy).iter().all(|row| row["ok"] == true));
        copy.claw(&["ask", "--session", "c0", "list"]).expect(0);
        copy.is_whole();
        for name in [".", "claw.db", "claw.toml", "artifacts"] {
            let mode = copy.home().join(name).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{name} is open to others");
        }
    }
    chats.iter_mut().for_each(|chat| chat.types(b"/quit\n"));
    chats.into_iter().for_each(|chat| {
        chat.ends().expect(0);
    });
    let left: Vec<_> =
        fs::read_dir(house.home()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().contains("snapshot")), "{left:?}");
}

/// In a container each start has the same process ids.
#[test]
#[expect(clippy::disallowed_methods, reason = "it is started in a container")]
fn what_a_killed_backup_left_does_not_stand_in_the_way_of_the_next_one_with_its_number() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    for number in 1..10 {
        fs::write(house.home().join(format!("claw.db.snapshot-{number}")), "left").unwrap();
    }
    let file = beside(&house, "backup");
    let plain = house.command(&["backup", text(&file)]);
    let contained = |how: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(how).arg("--").arg(plain.get_program()).args(plain.get_args());
        command.env_clear().current_dir(house.user_home());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        house.begin(command).ends()
    };
    let ways: [&[&str]; 2] =
        [&["--pid", "--fork"], &["--user", "--map-current-user", "--pid", "--fork"]];
    let tried = ways.into_iter().map(contained);
    let Some(ran) = tried.into_iter().find(|ran| !ran.err.contains("unshare")) else {
        skipped("this system has no containers");
        return;
    };
    ran.expect(0);
    restored(&file);
}

#[test]
fn what_was_under_way_in_a_backup_is_stopped_and_not_done_twice() {
    let house = House::new();
    let id = write_called(&house, "a.txt");
    let file = beside(&house, "backup");
    house.claw(&["backup", text(&file)]).expect(0);
    house.claw(&["approve", &id]).expect(0);
    let (copy, ran) = restored(&file);
    assert!(ran.out.contains("are stopped") && ran.out.contains("main"), "{ran:?}");
    copy.claw(&["ask", "list"]).expect(0);
    assert_eq!(outcomes(&copy.events("main"))[0]["kind"], "denied");
    assert!(copy.claw(&["approvals", "--json"]).rows().is_empty());
    assert!(!copy.workspace().join("a.txt").exists());
    copy.is_whole();
}

#[test]
fn nothing_is_overwritten_and_no_broken_backup_becomes_a_home() {
    let house = House::new();
    let empty = house
        .claw(&["backup", text(&beside(&house, "none"))])
        .expect_mistake(&["nothing to back up", "CLAW_HOME"]);
    assert!(!house.home().join("claw.db").exists(), "{empty:?}");
    house.claw(&["ask", "list"]).expect(0);
    let file = beside(&house, "backup");
    house.claw(&["backup", text(&file)]).expect(0);
    house.claw(&["backup", text(&file)]).expect_mistake(&["backup", "overwritten"]);
    house.claw(&["restore", text(&file)]).expect_mistake(&["is not empty", "CLAW_HOME"]);
    let whole = fs::read(&file).unwrap();
    let other = House::new();
    let refused = |bytes: &[u8], named: &str| {
        let broken = beside(&other, "broken");
        fs::write(&broken, bytes).unwrap();
        other.claw(&["restore", text(&broken)]).expect_mistake(&["no whole backup", named]);
        assert!(!other.home().exists());
        let left: Vec<_> = fs::read_dir(other.user_home())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["broken"]);
    };
    refused(b"", "empty");
    refused(b"hello", "");
    refused(&whole[..whole.len() / 2], "");
    let at = whole.windows(15).rposition(|piece| piece == b"SQLite format 3").unwrap();
    let mut changed = whole.clone();
    changed[at + 3000] ^= 1;
    refused(&changed, "damaged");
    // A setting that is wrong keeps nobody from saving what there is.
    house.write("claw.toml", "this is not TOML");
    house.claw(&["backup", text(&beside(&house, "second"))]).expect(0);
}

#[test]
fn jobs_are_in_a_backup_and_what_may_have_acted_since_is_paused() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    schedule(&house, json!({"say": "Water the plants.", "in_minutes": 60, "session": "main"}));
    schedule(&house, json!({"text": "Pay the rent.", "cron": "0 * * * *", "session": "main"}));
    schedule(&house, json!({"text": "Look at the garden.", "in_minutes": 600, "session": "main"}));
    let file = beside(&house, "backup");
    house.claw(&["backup", text(&file)]).expect(0);
    let (copy, ran) = restored(&file);
    assert!(!ran.out.contains("paused"), "nothing has come since: {ran:?}");
    assert_eq!(paused(&copy), [false, false, false]);
    // Two hours later, in which the first home may have done its work.
    minutes_pass(&house, 120);
    let file = beside(&house, "later");
    house.claw(&["backup", text(&file)]).expect(0);
    let (copy, ran) = restored(&file);
    assert!(ran.out.contains("are paused") && ran.out.contains("job 2 (Pay the rent.)"), "{ran:?}");
    assert!(!ran.out.contains("plants") && !ran.out.contains("garden"), "{ran:?}");
    assert_eq!(paused(&copy), [false, true, false], "words are said late, and not never");
    copy.claw(&["schedule", "resume", "2"]).expect(0);
    // A firing that was due in the backup, of a job that has ended by it.
    minutes_pass(&house, 600);
    house.claw(&["schedule"]).expect(0);
    let file = beside(&house, "last");
    house.claw(&["backup", text(&file)]).expect(0);
    let (copy, ran) = restored(&file);
    assert!(ran.out.contains("job 3 (Look at the garden.)"), "{ran:?}");
    let due: Vec<String> = schedule_of(&copy)
        .prepare("SELECT json_extract(what, '$.say') FROM firings WHERE state = 'due'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(due, ["Water the plants."]);
}

fn paused(house: &House) -> Vec<bool> {
    let db = schedule_of(house);
    let mut rows = db.prepare("SELECT paused FROM jobs ORDER BY number").unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn jobs_that_cannot_be_read_keep_nobody_from_saving_the_rest() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    // Without its log, from which SQLite would read the jobs all the same.
    fs::remove_dir_all(house.home().join("schedule")).unwrap();
    fs::create_dir(house.home().join("schedule")).unwrap();
    fs::write(house.home().join("schedule/jobs.db"), "no database at all, and long enough")
        .unwrap();
    let file = beside(&house, "backup");
    let ran = house.claw(&["backup", text(&file)]).expect(0);
    assert!(ran.err.contains("schedule/jobs.db") && ran.err.contains("left out"), "{ran:?}");
    let (copy, _) = restored(&file);
    assert!(!copy.home().join("schedule/jobs.db").exists());
}

#[test]
fn every_note_that_the_memory_lists_is_in_a_backup() {
    let house = House::new();
    house.write("memory/gerda.markdown", "Gerda lives in Enns.\n");
    house.write("memory/D.MD", "Dora sails.\n");
    house.write("memory/a b/f\\g.md", "Fritz cooks.\n");
    let listed = |house: &House| -> Vec<String> {
        let rows = house.claw(&["memory", "list", "--json"]).expect(0).rows();
        let mut ids: Vec<_> = rows.iter().map(|row| row["id"].to_string()).collect();
        ids.sort();
        ids
    };
    let notes = listed(&house);
    assert_eq!(notes.len(), 3, "{notes:?}");
    let file = beside(&house, "backup");
    house.claw(&["backup", text(&file)]).expect(0);
    let (copy, _) = restored(&file);
    assert_eq!(listed(&copy), notes);
}
