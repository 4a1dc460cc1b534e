//! What `[limits]` says of commands reaches them, each limit as itself.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;

use rustix::process::Signal;

use crate::program::{House, eventually};

/// Each with a value that no other one has.
const LIMITS: [(&str, u64); 7] = [
    ("command_processes_max", 2_001),
    ("command_memory_bytes_max", 1_073_741_824),
    ("command_file_bytes_max", 4_096_000),
    ("command_output_kept_bytes_max", 65_537),
    ("command_home_bytes_max", 1_048_577),
    ("command_open_files_max", 203),
    ("command_disk_free_bytes_min", 1_025),
];

fn limited() -> House {
    let house = House::new();
    let lines = LIMITS.map(|(name, value)| format!("{name} = {value}\n"));
    house.write("claw.toml", &format!("[limits]\n{}", lines.concat()));
    house
}

/// How the bash server of this home was started.
fn options(house: &House) -> Option<Vec<String>> {
    let home = house.home().display().to_string();
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).split('\0').map(str::to_owned).collect()).find(
        |words: &Vec<String>| {
            words.iter().any(|word| word == "--command-processes-max")
                && words.iter().any(|word| word.starts_with(&home))
        },
    )
}

#[test]
fn each_limit_of_commands_reaches_the_bash_server_under_its_own_name() {
    let house = limited();
    let running = house.start(&["ask", "run `tail -f /dev/null` to look"]);
    eventually("the bash server runs", || options(&house).is_some());
    let words = options(&house).unwrap();
    running.signal(Signal::TERM);
    running.ends();
    for (name, value) in LIMITS {
        let option = format!("--{}", name.replace('_', "-"));
        let given = words.iter().position(|word| *word == option).map(|at| &words[at + 1]);
        assert_eq!(given, Some(&value.to_string()), "{name}: {words:?}");
    }
}

#[test]
fn a_command_has_the_limits_that_are_configured() {
    let house = limited();
    let said = house.claw(&["ask", "run `echo $(ulimit -n) $(ulimit -f) $(ulimit -d)` to look"]);
    // `-f` and `-d` count in KiB. In a cgroup its own limit stands for the memory.
    let has = |memory: &str| said.out.contains(&format!("203 4000 {memory}"));
    assert!(has("1048576") || has("unlimited"), "{said:?}");
}
