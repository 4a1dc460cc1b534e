//! The stop switch and the doctor on a disk that takes nothing: one without room (a limit of file sizes stands in for it) and one
//! that can only be read (a mount of the test's own, where the system allows one).
#![expect(clippy::disallowed_methods, reason = "a shell limits or mounts what claw gets")]

mod program;

use std::process::Command;

use program::{House, Ran, eventually};

/// Runs claw behind a shell that has done `first`.
fn behind(house: &House, shell: &[&str], first: &str, args: &[&str]) -> Ran {
    let plain = house.command(args);
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(["sh", "-c", &format!("{first}; exec \"$@\"")]).arg("sh");
    command.arg(plain.get_program()).args(plain.get_args()).env_clear().current_dir(house.user_home());
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
    assert!(ran.out.contains("The stop switch is ON") && ran.err.contains("It is kept in"), "{ran:?}");
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
    let mount = format!("mount --bind '{0}' '{0}' && mount -o remount,ro,bind '{0}' || exit 77", home.display());
    let Some(shell) =
        [as_root, shell].into_iter().find(|shell| behind(&house, shell, &mount, &["--version"]).code == Some(0))
    else {
        eprintln!("not tried: this system lets nobody mount");
        return;
    };
    let ran = behind(&house, shell, &mount, &["panic", "on"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("The stop switch is ON") && ran.err.contains("It is kept in"), "{ran:?}");
    assert_eq!(house.claw(&["panic", "status", "--json"]).expect(0).json()["on"], true);
    house.claw(&["panic", "off"]).expect(0);
    let said = behind(&house, shell, &mount, &["doctor", "--json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let disk = said.rows().into_iter().find(|row| row["id"] == "disk").unwrap();
    assert!(disk["ok"] == false && disk["text"].as_str().unwrap().contains("can only be read"), "{disk}");
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
