//! The box, tried from inside: what a job must not reach, by every way around that we know. Each
//! way of reading is first walked outside of the box, where it has to work, so that none of them
//! fails for a reason of its own.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use claw_test_kit::skipped;
use common::{House, SECRET, Server, alive, box_or_skip, outside_of_the_box};
use serde_json::json;

/// Ways to read `$SECRET_FILE`. `$OUTER` is a process outside of the box, `$WORKSPACE` the
/// workspace.
const WAYS_TO_READ: &[(&str, &str)] = &[
    ("by its path", "cat \"$SECRET_FILE\""),
    ("relative", "cat ../claw.toml"),
    ("by cd", "cd .. && cat claw.toml"),
    (
        "by cd -P over a link",
        "ln -sfn \"$(dirname \"$SECRET_FILE\")\" up; cd -P up && cat claw.toml",
    ),
    ("by a symbolic link", "ln -sfn \"$SECRET_FILE\" link; cat link"),
    ("by a hard link", "ln -f \"$SECRET_FILE\" hard; cat hard"),
    ("by renaming it here", "cp -l \"$SECRET_FILE\" stolen; cat stolen"),
    ("by /proc/self/root", "cat \"/proc/self/root$SECRET_FILE\""),
    ("by the root of another process", "cat \"/proc/$OUTER/root$SECRET_FILE\""),
    ("by the directory of another process", "cat /proc/$OUTER/cwd/claw.toml"),
    ("by an open file of another process", "cat /proc/$OUTER/fd/9"),
    ("by any open file of any process", "for f in /proc/[0-9]*/fd/9; do [ -f $f ] && cat $f; done"),
    ("by a here-document", "cat <<EOF\n$(< \"$SECRET_FILE\")\nEOF"),
    (
        "by redirection",
        "while read -r line; do echo \"$line\"; done < \"$SECRET_FILE\"; read -r l < \"$SECRET_FILE\"; echo $l",
    ),
    ("by env -S", "env -S \"cat $SECRET_FILE\""),
    ("by another interpreter", "awk '{print}' \"$SECRET_FILE\"; perl -ne print \"$SECRET_FILE\""),
    ("by tar", "tar -cPf - \"$SECRET_FILE\""),
    ("by sourcing", ". \"$SECRET_FILE\""),
    ("by a new session", "setsid -w cat \"$SECRET_FILE\""),
    ("by the dynamic loader", "/lib*/ld-linux-*.so.* /bin/cat \"$SECRET_FILE\""),
    (
        "by a glob from the root",
        "cat /*/*/*/.claw/claw.toml /*/*/.claw/claw.toml \"$WORKSPACE\"/../claw.toml",
    ),
];

/// Ways to change what lies outside; `$HOME_OUTSIDE` is the user's home. None may leave a trace
/// there.
const WAYS_TO_WRITE: &[(&str, &str)] = &[
    ("create", "echo x > \"$HOME_OUTSIDE/new\""),
    ("append", "echo x >> \"$HOME_OUTSIDE/diary\""),
    ("overwrite over a link", "ln -sfn \"$HOME_OUTSIDE/diary\" out; echo x > out"),
    ("truncate", "truncate -s 0 \"$HOME_OUTSIDE/diary\""),
    ("remove", "rm -f \"$HOME_OUTSIDE/diary\""),
    ("remove claw's home", "rm -rf \"$HOME_OUTSIDE/.claw/claw.toml\""),
    ("make a directory", "mkdir \"$HOME_OUTSIDE/dir\""),
    ("rename away", "mv \"$HOME_OUTSIDE/diary\" taken"),
    ("rename over", "echo x > mine; mv mine \"$HOME_OUTSIDE/diary\""),
    (
        "hard link",
        "ln mine2 \"$HOME_OUTSIDE/linked\"; touch mine2; ln mine2 \"$HOME_OUTSIDE/linked\"",
    ),
    ("symbolic link", "ln -s /etc/passwd \"$HOME_OUTSIDE/sym\""),
    ("a pipe", "mkfifo \"$HOME_OUTSIDE/pipe\""),
    ("rename the workspace", "mv \"$PWD\" \"$HOME_OUTSIDE/.claw/moved\"; mv \"$PWD\" \"$PWD-2\""),
    ("remove the workspace", "rmdir \"$PWD\""),
    ("over /proc/self/root", "echo x > \"/proc/self/root$HOME_OUTSIDE/new2\""),
    (
        "other temporary files",
        "echo x > \"$HOME_OUTSIDE/../tmp/new3\"; rm -f \"$HOME_OUTSIDE/../tmp/foreign\"; echo x > /tmp/claw-box-test",
    ),
    (
        "system files",
        "echo x > /usr/local/claw-box-test; echo x > /etc/claw-box-test; echo x >> /etc/hosts",
    ),
    (
        "another mount",
        "unshare -rm sh -c 'mount --bind \"$HOME_OUTSIDE\" . && echo x > new4'; mount --bind \"$HOME_OUTSIDE\" .",
    ),
];

/// A process that has nothing to do with the server: it stands in claw's home and holds the secret
/// file open.
struct Outer(std::process::Child);

impl Outer {
    fn new(house: &House) -> Self {
        let mut command = Command::new("/bin/bash");
        command
            .args(["-c", "exec 9< claw.toml; exec sleep 300"])
            .current_dir(house.claw_home())
            .env("API_KEY", SECRET);
        let outer = Self(command.spawn().unwrap());
        let ready = || {
            fs::read_to_string(format!("/proc/{}/comm", outer.0.id()))
                .is_ok_and(|name| name.trim() == "sleep")
        };
        common::eventually("the outer process stands ready", ready);
        outer
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn prelude(house: &House, outer: &Outer) -> String {
    let (home, secret) = (house.home(), house.claw_home().join("claw.toml"));
    let (home, secret, workspace) = (home.display(), secret.display(), house.workspace());
    let outer = outer.0.id();
    format!(
        "export HOME_OUTSIDE='{home}' SECRET_FILE='{secret}' WORKSPACE='{}' OUTER={outer}\n",
        workspace.display()
    )
}

/// Every path below the house's root but outside of the workspace and the server's scratch, with
/// its content.
fn surroundings(house: &House) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut next = vec![house.home(), house.tmp()];
    while let Some(dir) = next.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let ours = path == house.workspace() || path.to_string_lossy().contains("claw-bash-");
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            if kind.is_dir() && !ours {
                next.push(path.clone());
            }
            let content = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.push((path, content));
        }
    }
    found.sort();
    found
}

#[test]
fn a_job_cannot_read_what_is_outside() {
    if !box_or_skip(3) {
        return;
    }
    let house = House::new();
    let outer = Outer::new(&house);
    let prelude = prelude(&house, &outer);
    let mut server = house.server();
    for (name, way) in WAYS_TO_READ {
        let command = format!("{prelude}{way}");
        // What a step leaves behind must be made inside the box, and not by the control.
        let inside = server.output(&command);
        assert!(!inside.contains(SECRET), "{name}: {inside}");
        let outside = outside_of_the_box(&house, &command);
        assert!(outside.contains(SECRET), "the way `{name}` does not even work outside: {outside}");
        fs::read_dir(house.workspace())
            .unwrap()
            .for_each(|e| drop(fs::remove_file(e.unwrap().path())));
    }
}

#[test]
fn a_job_cannot_change_what_is_outside() {
    if !box_or_skip(3) {
        return;
    }
    let house = House::new();
    let outer = Outer::new(&house);
    let prelude = prelude(&house, &outer);
    let mut server = house.server();
    let before = surroundings(&house);
    for (name, way) in WAYS_TO_WRITE {
        let output = server.output(&format!("{prelude}{way}"));
        assert_eq!(surroundings(&house), before, "{name}: {output}");
    }
    for trace in ["/tmp/claw-box-test", "/usr/local/claw-box-test", "/etc/claw-box-test"] {
        assert!(!fs::exists(trace).unwrap(), "{trace}");
    }
    // The box is no reason why the control of this test would fail: outside, the same words do
    // change something.
    outside_of_the_box(&house, &format!("{prelude}{}", WAYS_TO_WRITE[0].1));
    assert_ne!(surroundings(&house), before);
}

#[test]
fn inside_the_workspace_everything_works() {
    let house = House::new();
    let mut server = house.server();
    let work = "set -e; mkdir -p d/e; echo x > d/e/f; mv d/e/f d/g; ln -s g d/s; ln d/g d/h; cat d/s d/h; truncate -s 0 d/g
        printf '#!/bin/sh\\necho script\\n' > run.sh; chmod +x run.sh; ./run.sh; cat <(echo sub); rm -r d; echo end > /dev/null
        head -c 4 /dev/urandom | wc -c; echo word | tee /dev/stderr > /dev/null; cat <<< here; ls /usr > /dev/null
        cp run.sh $TMPDIR/r && $TMPDIR/r";
    assert_eq!(server.output(work), "x\nx\nscript\nsub\n4\nword\nhere\nscript\n");
}

#[test]
fn ordinary_tools_work() {
    let house = House::new();
    let mut server = house.server();
    let tools = [
        (
            "git",
            "git init -q r && cd r && git -c user.name=a -c user.email=b@c commit -q --allow-empty -m one && git log --format=%s",
            "one\n",
        ),
        (
            "python3",
            "python3 -c 'import subprocess,socket,tempfile; a,b=socket.socketpair(); a.send(b\"x\"); tempfile.TemporaryFile(); print(b.recv(1), subprocess.check_output([\"echo\",\"hi\"]))'",
            "b'x' b'hi\\n'\n",
        ),
        (
            "node",
            "echo 'process.send(7)' > c.js; node -e 'require(\"child_process\").fork(\"./c.js\").on(\"message\",m=>console.log(m))'",
            "7\n",
        ),
        (
            "curl",
            ": > port; python3 -m http.server -b 127.0.0.1 0 > port 2>&1 & echo body > page; until curl -sf http://127.0.0.1:$(grep -oP 'port \\K[0-9]+' port)/page 2>/dev/null; do :; done",
            "body\n",
        ),
        ("cc", "echo 'int main(){return 7;}' > a.c && cc a.c -o a && { ./a; echo $?; }", "7\n"),
    ];
    for (tool, command, expected) in tools {
        let there = server
            .run(&format!("command -v {tool} python3 > /dev/null && {tool} --version > /dev/null"))
            ["exit_code"]
            == 0;
        if !there {
            skipped(&format!("{tool} is not on this machine"));
            continue;
        }
        assert_eq!(
            server.output(&format!("PYTHONUNBUFFERED=1; export PYTHONUNBUFFERED; {command}")),
            expected,
            "{tool}"
        );
    }
}

#[test]
fn the_servers_own_environment_and_memory_are_out_of_reach() {
    if !box_or_skip(1) {
        return;
    }
    let house = House::new();
    let outer = Outer::new(&house);
    let mut server = house.server();
    let pid = server.child.id();
    let snoop = format!(
        "cat /proc/{pid}/environ /proc/{}/environ /proc/[0-9]*/environ 2>&1 | tr '\\0' '\\n'",
        outer.0.id()
    );
    assert!(
        outside_of_the_box(&house, &snoop).contains(SECRET),
        "the way does not even work outside"
    );
    let output = server.output(&snoop);
    assert!(!output.contains(SECRET) && output.contains("Permission denied"), "{output}");
    let parents = "p=$PPID; while [ $p -gt 1 ]; do cat /proc/$p/environ; ls /proc/$p/root/; cat /proc/$p/fd/0; head -c 1 /proc/$p/mem; \
                   p=$(awk '{print $4}' /proc/$p/stat); done 2>&1 | grep -vi 'permission denied'";
    assert_eq!(server.output(parents), "");
}

#[test]
fn a_file_that_the_host_left_open_is_not_handed_on() {
    let house = House::new();
    let server = house.command(&[]);
    let mut host = Command::new("/bin/bash");
    host.args(["-c", "exec 9< \"$0\"; exec \"$@\""]).arg(house.claw_home().join("claw.toml"));
    host.arg(server.get_program()).args(server.get_args());
    host.env_clear().envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut server = Server::start(host);
    server.open_legacy();
    let way = "cat <&9; cat /proc/self/fd/9 /dev/fd/9";
    let output = server.output(way);
    assert!(!output.contains(SECRET) && output.contains("9: Bad file descriptor"), "{output}");
    let control = format!("exec 9< ../claw.toml; {way}");
    assert!(
        outside_of_the_box(&house, &control).contains(SECRET),
        "the way does not even work outside"
    );
}

#[test]
fn a_job_cannot_signal_anybody_outside() {
    if !box_or_skip(6) {
        return;
    }
    let house = House::new();
    let outer = Outer::new(&house);
    let mut server = house.server();
    let (own, server_pid, outer_pid) = (std::process::id(), server.child.id(), outer.0.id());
    // First with signals that would do no harm, so that a broken box does not end the test itself.
    let output = server.output(&format!(
        "for p in {own} {server_pid} {outer_pid} $PPID; do kill -0 $p; kill -CONT $p; done"
    ));
    // With a namespace of its own it cannot even name them.
    let refused = output.matches("Operation not permitted").count()
        + output.matches("No such process").count();
    assert_eq!(refused, 8, "{output}");
    server.output(&format!("kill -KILL {outer_pid} {server_pid} $PPID"));
    assert!(alive(outer_pid.try_into().unwrap()));
    assert_eq!(
        server.output("sleep 300 & kill $! && wait $!; echo $?"),
        "143\n",
        "its own children it can"
    );
}

#[test]
fn without_a_workspace_the_root_a_home_and_claws_home_are_refused() {
    let house = House::new();
    let (claw, other) = (house.tmp().join("claw"), house.tmp().join("other"));
    fs::create_dir_all(claw.join("workspace")).unwrap();
    fs::create_dir(&other).unwrap();
    let start = |folder: &Path, claw_home: Option<&Path>, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-bash"));
        command.env_clear().env("HOME", house.home()).env("TMPDIR", house.tmp());
        command.envs(claw_home.map(|claw| ("CLAW_HOME", claw)));
        command.current_dir(folder).args(more).stdin(std::process::Stdio::null());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (home, tmp) = (house.home(), house.tmp());
    let cases: [(&Path, Option<&Path>, &[&str]); 7] = [
        (Path::new("/"), None, &[]),
        (&home, None, &[]),
        (home.parent().unwrap(), None, &[]),
        (&house.claw_home(), None, &[]),
        (&claw, Some(&claw), &[]),
        (&tmp, Some(&claw), &[]),
        (&other, Some(&claw), &["--workspace", "../claw"]),
    ];
    for (folder, claw_home, more) in cases {
        let (code, said) = start(folder, claw_home, more);
        let refused = said.contains("must not reach") && said.contains("--workspace");
        assert!(code == Some(2) && refused, "{folder:?}: {code:?} {said}");
    }
    for (folder, claw_home) in [
        (house.workspace(), None),
        (other.clone(), None),
        (claw.join("workspace"), Some(claw.as_path())),
    ] {
        let (code, said) = start(&folder, claw_home, &[]);
        assert!(!said.contains("must not reach"), "{folder:?}: {code:?} {said}");
    }
}

#[test]
fn a_workspace_that_holds_a_secret_is_refused_in_one_sentence() {
    let house = House::new();
    let refused = |workspace: PathBuf, protect: PathBuf| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claw-mcp-bash"));
        command.env_clear().env("HOME", house.home()).env("TMPDIR", house.tmp());
        command.arg("--workspace").arg(workspace).arg("--protect").arg(protect);
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), output.stdout)
    };
    let other = house.tmp().join("other");
    fs::create_dir(&other).unwrap();
    for (workspace, protect) in [
        ("/".into(), other.clone()),
        (house.home(), other.clone()),
        (house.home().parent().unwrap().to_owned(), other.clone()),
        (house.claw_home(), house.claw_home()),
        (house.tmp(), house.tmp().join("not/there/yet")),
    ] {
        let (code, stderr, stdout) = refused(workspace.clone(), protect);
        assert_eq!(
            (code, stderr.lines().count(), stdout.len()),
            (Some(2), 1, 0),
            "{}: {stderr}",
            workspace.display()
        );
        assert!(stderr.contains("must not reach") && stderr.contains("--workspace"), "{stderr}");
    }
    let (code, stderr, _) = refused(house.tmp().join("missing"), other.clone());
    assert!(
        code == Some(2) && stderr.contains("missing") && stderr.contains("CLAW_WORKSPACE"),
        "{stderr}"
    );
    assert_eq!(
        refused(other, house.claw_home()).0,
        Some(0),
        "the control: a fine workspace is served"
    );
}

#[test]
fn a_directory_given_for_reading_can_be_read_and_not_written() {
    let house = House::new();
    let tools = house.tmp().join("tools");
    fs::create_dir(&tools).unwrap();
    claw_test_kit::write_program(&tools.join("hello"), "#!/bin/sh\necho hello\n");
    let mut command = house.command(&["--read-only", tools.to_str().unwrap()]);
    command.env("PATH", format!("{}:/usr/bin:/bin", tools.display()));
    let mut server = Server::start(command);
    server.open_legacy();
    assert_eq!(server.output("hello"), "hello\n");
    if box_or_skip(3) {
        let result = server.call(json!({"command": format!("echo x > {}/new", tools.display())}));
        assert_eq!(result["structuredContent"]["exit_code"], 1);
        assert!(!tools.join("new").exists());
    }
}

#[test]
fn asking_what_there_is_confines_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let level = claw_mcp_bash::probe();
    fs::write(dir.path().join("after"), "still free").unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("after")).unwrap(), "still free");
    assert!(UnixListener::bind(dir.path().join("s")).is_ok());
    // The server, which really confines itself, is in the state that was foretold.
    let house = House::new();
    assert_eq!(house.server().run("true")["box"], level.label());
}
