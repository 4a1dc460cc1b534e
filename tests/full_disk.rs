//! The stop switch and the doctor on a disk that takes nothing: one without room (a limit of file
//! sizes stands in for it) and one that can only be read (a mount of the test's own, where the
//! system allows one).
#![expect(clippy::disallowed_methods, reason = "a shell limits or mounts what claw gets")]

use std::process::Command;

use crate::program::{House, Ran, eventually};
use claw_test_kit::skipped;

/// Runs claw behind a shell that has done `first`.
fn behind(house: &House, shell: &[&str], first: &str, args: &[&str]) -> Ran {
    let plain = house.command(args);
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(["sh", "-c", &format!("{first}; exec \"$@\"")]).arg("sh");
    command
        .arg(plain.get_program())
        .args(plain.get_args())
        .env_clear()
        .current_dir(house.user_home());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    house.begin(command).ends()
}

/// No file may grow: every write fails, as on a disk without room.
const NO_ROOM: &str = "trap '' XFSZ; ulimit -f 0";

#[test]
fn panic_on_works_without_room_and_is_released_later() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let ran = behind(&house, &["env"], NO_ROOM, &["panic", "on"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.out.contains("The stop switch is ON") && ran.err.contains("It is kept in"),
        "{ran:?}"
    );
    // With room again every process sees it.
    let status = house.claw(&["panic", "status", "--json"]).expect(0);
    assert_eq!(status.json()["on"], true, "{status:?}");
    let refused = house.claw(&["ask", "list"]);
    assert!(format!("{}{}", refused.out, refused.err).contains("stop switch"), "{refused:?}");
    house.claw(&["panic", "off"]).expect(0);
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], false);
    assert!(house.claw(&["ask", "list"]).expect(0).out.contains("Listing"));
    house.is_whole();
}

/// Under such a limit the store does not even open.
#[test]
fn panic_off_removes_the_file_without_room_and_says_what_is_not_known() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    behind(&house, &["env"], NO_ROOM, &["panic", "on"]).expect(0);
    assert_eq!(
        behind(&house, &["env"], NO_ROOM, &["panic", "status", "--json"]).expect(0).json()["on"],
        true
    );
    let off = behind(&house, &["env"], NO_ROOM, &["panic", "off"]);
    let said = [
        "the file that held the stop switch on is removed",
        "no call starts until claw opens again",
        "claw.db",
    ];
    assert!(off.code == Some(1) && said.iter().all(|words| off.err.contains(words)), "{off:?}");
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], false);
    // What the store holds stays on, and nobody says that it is off.
    house.claw(&["panic", "on"]).expect(0);
    for what in ["off", "status"] {
        let said = behind(&house, &["env"], NO_ROOM, &["panic", what]);
        let unknown = "no file holds the stop switch on; whether the store does cannot be read";
        assert!(
            said.code == Some(1) && said.out.is_empty() && said.err.contains(unknown),
            "{said:?}"
        );
    }
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], true);
    house.claw(&["panic", "off"]).expect(0);
    house.is_whole();
}

#[test]
fn panic_works_where_the_store_cannot_be_opened_at_all() {
    let house = House::new();
    house.write("claw.db", "no database");
    let status = house.claw(&["panic", "status"]).expect(1);
    assert!(status.err.contains("cannot be read") && status.err.contains("claw.db"), "{status:?}");
    house.claw(&["panic", "on"]).expect(0);
    let status = house.claw(&["panic", "status"]).expect(0);
    assert!(
        status.out.contains("is ON") && status.err.contains("A file holds it on"),
        "{status:?}"
    );
    let off = house.claw(&["panic", "off"]).expect(1);
    assert!(
        off.err.contains("the file that held the stop switch on is removed")
            && off.err.contains("claw.db"),
        "{off:?}"
    );
    std::fs::remove_file(house.home().join("claw.db")).unwrap();
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], false);
}

/// A disk of the test's own, filled to its last block.
#[test]
fn panic_works_on_a_disk_that_is_really_full() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let home = house.home();
    let shell: &[&str] = &["unshare", "--user", "--map-root-user", "--mount"];
    let as_root: &[&str] = &["unshare", "--mount"];
    let full = format!(
        "mount -t tmpfs -o size=8m,mode=700 tmpfs '{0}' || exit 77; claw='{1}'; \
         \"$claw\" ask list >/dev/null 2>&1 || exit 78; dd if=/dev/zero of='{0}/filler' bs=4k >/dev/null 2>&1; \
         echo x >>'{0}/filler' && exit 79; for word in on status off status; do \"$claw\" panic $word --json || exit 80; done; \
         rm '{0}/filler'; exec \"$claw\" panic status --json; true",
        home.display(),
        claw_test_kit::claw_exe()
    );
    let tried =
        [as_root, shell].into_iter().map(|shell| behind(&house, shell, &full, &["--version"]));
    let Some(ran) =
        tried.into_iter().find(|ran| ran.code != Some(77) && !ran.err.contains("unshare"))
    else {
        skipped("this system lets nobody mount");
        return;
    };
    let states: Vec<_> = ran.rows().into_iter().map(|row| row["on"].clone()).collect();
    assert_eq!(
        (ran.code, states),
        (Some(0), [true, true, false, false, false].map(Into::into).to_vec()),
        "{}",
        ran.err
    );
}

#[test]
fn a_flag_ends_what_runs_in_another_process() {
    let house = House::new();
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ntool = \"run\"\ndecision = \"allow\"\nwhy = \"a test\"\nmatch = [{}]\n",
    );
    let asked = house.start(&["ask", "run sleep 600"]);
    eventually("the command runs", || asked.err().contains("running: bash"));
    let ran = behind(&house, &["env"], NO_ROOM, &["panic", "on"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // It ends long before its time.
    let ended = asked.ends();
    assert!(ended.err.contains("stopped while it ran"), "{ended:?}");
}

#[test]
fn panic_on_and_the_doctor_work_on_a_disk_that_can_only_be_read() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let home = house.home();
    let shell: &[&str] = &["unshare", "--user", "--map-current-user", "--mount"];
    let as_root: &[&str] = &["unshare", "--mount"];
    let mount = format!(
        "mount --bind '{0}' '{0}' && mount -o remount,ro,bind '{0}' || exit 77",
        home.display()
    );
    let Some(shell) = [as_root, shell]
        .into_iter()
        .find(|shell| behind(&house, shell, &mount, &["--version"]).code == Some(0))
    else {
        skipped("this system lets nobody mount");
        return;
    };
    let ran = behind(&house, shell, &mount, &["panic", "on"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.out.contains("The stop switch is ON")
            && ran.err.contains("It is kept in")
            && ran.err.contains("after a restart of the machine the switch is off"),
        "{ran:?}"
    );
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], true);
    house.claw(&["panic", "off"]).expect(0);
    // On by a file, it goes off there, too: what the store holds is read or said to be unknown.
    behind(&house, shell, &mount, &["panic", "on"]).expect(0);
    let status = behind(&house, shell, &mount, &["panic", "status"]);
    assert!(status.code == Some(0) && status.out.contains("is ON"), "{status:?}");
    let off = behind(&house, shell, &mount, &["panic", "off"]);
    assert!(off.out.contains("is off") || off.err.contains("cannot be read"), "{off:?}");
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], false);
    let said = behind(&house, shell, &mount, &["doctor", "--json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let disk = said.rows().into_iter().find(|row| row["id"] == "disk").unwrap();
    assert!(
        disk["ok"] == false && disk["text"].as_str().unwrap().contains("can only be read"),
        "{disk}"
    );
}

/// What was lost for want of room is told as that, and nothing is said of another process.
#[test]
fn a_message_without_room_is_refused_in_true_words() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let ran = behind(&house, &["env"], NO_ROOM, &["ask", "list"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.err.contains("another process"), "{ran:?}");
    house.claw(&["ask", "list"]).expect(0);
    house.is_whole();
}

#[test]
fn the_doctor_says_how_much_room_is_left_and_when_it_is_too_little() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let disk = |ran: Ran| ran.rows().into_iter().find(|row| row["id"] == "disk").unwrap();
    let here = disk(house.claw(&["doctor", "--json"]));
    assert!(here["text"].as_str().unwrap().contains("MiB are free on the disk of"), "{here}");
    let shell: &[&str] = &["unshare", "--user", "--map-root-user", "--mount"];
    let as_root: &[&str] = &["unshare", "--mount"];
    let small = format!(
        "mount -t tmpfs -o size=40m,mode=700 tmpfs '{}' || exit 77",
        house.home().display()
    );
    let tried = [as_root, shell]
        .into_iter()
        .map(|shell| behind(&house, shell, &small, &["doctor", "--json"]));
    let Some(ran) =
        tried.into_iter().find(|ran| ran.code != Some(77) && !ran.err.contains("unshare"))
    else {
        skipped("this system lets nobody mount");
        return;
    };
    let there = disk(ran);
    assert_eq!(there["ok"], false, "{there}");
    assert!(there["text"].as_str().unwrap().starts_with("only "), "{there}");
}
