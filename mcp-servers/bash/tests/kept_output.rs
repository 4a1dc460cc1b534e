//! Long outputs of commands, kept whole as files: where, how much, and what commands
//! may do to them.

#![expect(clippy::disallowed_methods, reason = "a test starts real processes")]

mod common;

use std::fs;
use std::path::Path;

use common::House;
use serde_json::json;

#[test]
fn a_long_output_is_cut_in_the_middle_and_kept_whole_as_a_file() {
    let house = House::new();
    let mut server = house.server();
    let facts = server.run("seq 1 200000");
    let output = facts["output"].as_str().unwrap();
    assert!(
        output.len() <= 16 * 1024
            && output.starts_with("1\n2\n")
            && output.ends_with("\n199999\n200000\n")
    );
    assert_eq!(facts["truncated"], true);
    let file = facts["output_file"].as_str().unwrap();
    let read = format!("sed -n '1,80p' {file} ...]");
    assert!(output.contains(&read), "{output}");
    assert!(
        Path::new(file).starts_with(house.tmp())
            && house.workspace().read_dir().unwrap().next().is_none()
    );
    let whole = fs::read_to_string(file).unwrap();
    assert_eq!(
        (whole.lines().count(), whole.len() as u64),
        (200_000, facts["output_bytes"].as_u64().unwrap())
    );
    // What the model is told to do works in the box, with and without namespaces.
    assert_eq!(server.output(&format!("sed -n '4711,4712p' {file}")), "4711\n4712\n");
}

/// The bytes of all kept outputs, and how many there are.
fn kept(dir: &Path) -> (u64, usize) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes: Vec<u64> = entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).collect();
    (sizes.iter().sum(), sizes.len())
}

#[test]
fn all_kept_output_together_is_bounded_and_the_oldest_goes_first() {
    for more in [None, Some("--without-namespaces")] {
        let house = House::new();
        let dir = house.claw_home().join("command-output");
        let place = dir.to_str().unwrap();
        let mut arguments =
            vec!["--command-output-kept-bytes-max", "200000", "--output-dir", place];
        arguments.extend(more);
        let mut server = house.server_with(&arguments);
        let files: Vec<String> = (0..5)
            .map(|_| {
                server.run("head -c 60000 /dev/zero | tr '\\0' x")["output_file"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert!(files.iter().all(|file| Path::new(file).starts_with(&dir)), "{files:?}");
        let (bytes, count) = kept(&dir);
        assert!(bytes <= 200_000 && count >= 2, "{bytes} in {count}");
        assert!(!Path::new(&files[0]).exists() && Path::new(&files[4]).exists());
        // The next server goes on with what the last one kept, and one output larger than all ends
        // at the bound.
        drop(server);
        let mut server = house.server_with(&arguments);
        assert_eq!(server.output(&format!("wc -c < {}", files[4])).trim(), "60000");
        let result = server.call(json!({"command": "stat -c '%900000n' ."}));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(
            "oldest kept outputs were removed: all kept output together may take 200000 bytes"
        ));
        assert!(
            text.contains("holds only the first 200000 bytes")
                && text.contains("command_output_kept_bytes_max")
        );
        assert_eq!(kept(&dir), (200_000, 1));
    }
}

#[test]
fn commands_read_what_is_kept_and_do_not_write_to_it() {
    if !common::box_or_skip(6) {
        return;
    }
    for more in [None, Some("--without-namespaces")] {
        let house = House::new();
        let dir = house.claw_home().join("command-output");
        let place = dir.to_str().unwrap();
        let mut arguments = vec!["--output-dir", place];
        arguments.extend(more);
        let mut server = house.server_with(&arguments);
        let file = server.run("seq 1 20000")["output_file"].as_str().unwrap().to_owned();
        let way = format!(
            "echo x > {place}/run-1.txt; mkdir {place}/d; echo x >> {file}; : > {file}; rm {file}; mv {file} ."
        );
        server.call(json!({"command": way}));
        assert_eq!(kept(&dir), (fs::metadata(&file).unwrap().len(), 1));
        assert_eq!(server.output(&format!("sed -n '9999p' {file}")), "9999\n");
        let moved = "mkdir a b && echo kept > a/f && mv a/f b/f && ln b/f a/g && cat a/g && echo x > $TMPDIR/t && mv $TMPDIR/t a";
        assert_eq!(
            server.output(moved),
            "kept\n",
            "the workspace and TMPDIR are as writable as ever"
        );
        let seen =
            server.output("ls ../claw.toml 2>/dev/null; cat ../claw.toml 2>&1 | grep -c denied");
        // In namespaces of its own a command does not even see what lies below /tmp.
        assert!(["../claw.toml\n1\n", "0\n"].contains(&&*seen), "{seen}");
    }
}

#[test]
fn a_folder_for_outputs_in_or_around_the_workspace_is_refused() {
    let house = House::new();
    for dir in [house.workspace().join("output"), house.claw_home(), house.home()] {
        let mut command = house.command(&["--output-dir", dir.to_str().unwrap()]);
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("must not hold each other"),
            "{output:?}"
        );
    }
}
