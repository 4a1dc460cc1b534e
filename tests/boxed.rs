//! The box through the whole program: what an approved command can reach, tried from inside. Every
//! way is first walked outside of the box, where it has to work, so that none of them fails for a
//! reason of its own.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "a test walks the same ways outside of the box")]

use std::fs;
use std::process::Command;

use crate::program::{House, KEY, alive, eventually, outcomes, pid_in};

const ALLOW: &str =
    "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs commands\"\n";
const SECRET: &str = "what-nobody-may-read-here";

/// Ways to read `$F` (`$D/$N`), which lies outside. `$CLAW` is the process of claw itself, `$W` the
/// workspace.
const WAYS_TO_READ: &[&str] = &[
    "cat \"$F\"",
    "cd \"$D\" && cat \"$N\"",
    "cat \"$W/../../$N\" \"$W/../$N\"",
    "ln -sfn \"$F\" link; cat link",
    "ln -f \"$F\" hard; cat hard",
    "cp \"$F\" copy; cat copy",
    "cat \"/proc/self/root$F\"",
    "cat \"/proc/$PPID/root$F\"",
    "tar -cPf - \"$F\"",
    "env -S \"cat $F\"",
    "cat <<EOF\n$(< \"$F\")\nEOF",
    "mapfile -t l < \"$F\"; echo \"${l[@]}\"",
    "awk '{print}' \"$F\"",
    ". \"$F\"",
    "setsid -w cat \"$F\"",
    "dd if=\"$F\" status=none",
    "/lib*/ld-linux-*.so.* /bin/cat \"$F\"",
    "find \"$D\" -name \"$N\" -exec cat {} +",
    "grep -r . \"$D\"",
    "printf -v x '%s' \"$(cat \"$F\")\"; echo \"$x\"",
    "coproc cat \"$F\"; cat <&\"${COPROC[0]}\"",
];

/// Ways to leave a trace beside `$F`. Not among them: `chmod` and `touch`, which Landlock lets
/// through on what the user owns; they change no content, and the home above is closed again at
/// claw's next start.
const WAYS_TO_WRITE: &[&str] = &[
    "echo x > \"$D/new\"",
    "echo x >> \"$F\"",
    "ln -sfn \"$F\" out; echo x > out",
    "truncate -s 0 \"$F\"",
    "rm -f \"$F\"",
    "mv \"$F\" taken",
    "echo x > mine; mv mine \"$F\"",
    "touch mine2; ln mine2 \"$D/linked\"",
    "ln -s /etc/passwd \"$D/sym\"",
    "mkdir \"$D/dir\"",
    "mkfifo \"$D/pipe\"",
    "echo x > \"/proc/self/root$D/new2\"",
    "sed -i s/what/which/ \"$F\"",
    "unshare -rm sh -c 'mount --bind \"$D\" . && echo x > new4'",
];

/// Ways to the environment of claw or of its servers.
const WAYS_TO_THE_ENVIRONMENT: &[&str] = &[
    "env",
    "cat /proc/$PPID/environ",
    "cat /proc/*/environ",
    "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done",
    "p=$PPID; while [ \"$p\" -gt 1 ]; do cat /proc/$p/environ; p=$(awk '/^PPid/{print $2}' /proc/$p/status); done",
    "cat /proc/*/task/*/environ",
    "cat /proc/*/cmdline",
    "grep -a . /proc/$PPID/mem",
    "export -p; set",
];

fn house() -> House {
    let house = House::new().with("SOME_API_KEY", KEY);
    house.write("policy.toml", &format!("{ALLOW}# {SECRET}\n"));
    house.write("claw.toml", &format!("# {SECRET}\n"));
    fs::create_dir(house.user_home().join("private")).unwrap();
    fs::write(house.user_home().join("private/diary"), format!("{SECRET}\n")).unwrap();
    house.claw(&["ask", "hello"]).expect(0);
    house
}

/// Sets the variables of the ways, for this file.
fn about(house: &House, file: &str) -> String {
    let path = house.user_home().join(file);
    let (dir, name) =
        (path.parent().unwrap().display(), path.file_name().unwrap().to_str().unwrap());
    format!(
        "export F='{}' D='{dir}' N='{name}' W='{}'\n",
        path.display(),
        house.workspace().display()
    )
}

/// Runs a script through the whole program. The script goes through a file, so that its words are
/// the bash's alone.
fn inside(house: &House, script: &str) -> String {
    house.write("workspace/way.sh", script);
    house.claw(&["ask", "run `bash way.sh 2>&1`"]).expect(0);
    let outcome = outcomes(&house.events("main")).pop().unwrap();
    assert_eq!(outcome["kind"], "ended", "the command did not even run: {outcome}");
    outcome["output"]["text"].as_str().unwrap().to_owned()
}

/// A trial of the box costs two processes, and a person waits for them.
#[test]
fn nothing_tries_the_box_where_a_server_tells_what_it_holds() {
    let house = house().with("CLAW_LOG", "claw=debug");
    if !house.is_boxed() {
        return;
    }
    let trials = |words: &[&str]| {
        let ran = house.claw(words);
        assert!(ran.err.contains("the gate is done with it"), "no call is seen: {ran:?}");
        ran.err.matches("the box is tried by a process").count()
    };
    house.write("policy.toml", "");
    house.write("workspace/a.txt", "hi\n");
    assert_eq!(trials(&["ask", "show a.txt"]), 0, "a file tool is no command");
    assert_eq!(trials(&["ask", "run `cat a.txt` to look"]), 0, "its server has told");
    assert_eq!(outcomes(&house.events("main")).pop().unwrap()["kind"], "ended");
    assert_eq!(trials(&["ask", "run `touch b`"]), 0, "also where it asks");
    let id = house.waiting();
    let answered = trials(&["approve", &id, "--for", "always"]);
    assert_eq!(answered, 1, "no server runs where open calls are settled");
}

#[test]
fn nothing_outside_can_be_read() {
    let house = house();
    if !house.is_boxed() {
        return;
    }
    assert!(inside(&house, "echo it works").contains("it works"));
    for file in ["private/diary", ".claw/claw.toml", ".claw/policy.toml"] {
        let whole: String =
            WAYS_TO_READ.iter().map(|way| format!("( {way}\n) < /dev/null\n")).collect();
        let said = inside(&house, &format!("{}{whole}", about(&house, file)));
        assert!(!said.contains(SECRET), "{file}: {said}");
        // The output may have been cut: nothing may have come into the workspace, either.
        for entry in fs::read_dir(house.workspace()).unwrap() {
            let path = entry.unwrap().path();
            // A link is followed by this test, not by what is inside of the box.
            let is_file = path.symlink_metadata().unwrap().is_file();
            let copied =
                is_file && String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(SECRET);
            assert!(!copied, "{} has come inside as {}", file, path.display());
        }
    }
    house.write("persona/MEMORY.md", "REMEMBERED");
    for (file, mark) in [
        (".claw/claw.db", "SQLite format"),
        (".claw/mcp.json", "mcpServers"),
        (".claw/SOUL.md", "You are"),
        (".claw/persona/MEMORY.md", "REMEMBERED"),
    ] {
        let said =
            inside(&house, &format!("{}cat \"$F\" | strings\nls \"$D\"", about(&house, file)));
        assert!(!said.contains(mark) && !said.contains("locks"), "{file}: {said}");
    }
}

#[test]
fn the_ways_to_read_work_outside_of_the_box() {
    let house = house();
    let outside = house.user_home().join("outside");
    fs::create_dir(&outside).unwrap();
    for way in WAYS_TO_READ {
        let script = format!("{}{way}", about(&house, "private/diary"));
        let mut bash = Command::new("/bin/bash");
        let ran = bash.args(["-c", &script]).current_dir(&outside).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned()
            + &String::from_utf8_lossy(&ran.stderr);
        let relative = way.contains("$W/..");
        assert!(said.contains(SECRET) || relative, "{way}: {said}");
    }
}

#[test]
fn nothing_outside_can_be_written() {
    let house = house();
    if !house.is_boxed() {
        return;
    }
    for file in ["private/diary", ".claw/claw.toml"] {
        let path = house.user_home().join(file);
        let dir = path.parent().unwrap().to_owned();
        let state = || {
            let mut names: Vec<_> =
                fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            (names, fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap())
        };
        inside(&house, "true");
        let before = state();
        let whole: String = WAYS_TO_WRITE.iter().map(|way| format!("( {way}\n)\n")).collect();
        inside(&house, &format!("{}{whole}", about(&house, file)));
        assert_eq!(state(), before, "{file}");
    }
    house.is_whole();
}

#[test]
fn rules_that_are_not_there_yet_cannot_be_made() {
    let house = House::new();
    let id = house.ask_parks(
        "run `echo allow > ../policy.toml; echo x > ../claw.toml; mkdir -p ../x; echo ran`",
    );
    let told = house.claw(&["approve", &id]).expect(0).out;
    // By Landlock, or by the mounts of a namespace.
    let refused = told.contains("Permission denied") || told.contains("Read-only file system");
    assert!(refused || !house.is_boxed(), "{told}");
    if house.is_boxed() {
        for name in ["policy.toml", "claw.toml", "x"] {
            assert!(!house.home().join(name).exists(), "{name}");
        }
    }
}

#[test]
fn the_environment_holds_no_secret_by_any_way() {
    let house = house();
    if !house.is_boxed() {
        return;
    }
    for way in WAYS_TO_THE_ENVIRONMENT {
        // The output is redacted on its way out; encoded in a way that no redactor knows, it is
        // not. The patterns do not match themselves: the command line of `grep` is among what is
        // looked through.
        let looked_for = "-e '[s]tand-in-4711' -e 'SOME_API_KEY[=]'";
        let said = inside(&house, &format!("( {way}\n) 2>&1 | grep -a -c {looked_for}"));
        assert!(said.lines().any(|line| line.trim() == "0"), "{way}: {said}");
    }
}

#[test]
fn processes_outside_cannot_be_touched() {
    let house = house();
    if !house.is_boxed() {
        return;
    }
    let mut outer = Command::new("sleep").arg("300").spawn().unwrap();
    let chat = house.start(&["chat"]);
    eventually("a chat is up", || chat.out().contains("/help"));
    let limits = || {
        [outer.id(), chat.id()]
            .map(|pid| fs::read_to_string(format!("/proc/{pid}/limits")).unwrap())
    };
    let before = limits();
    let script = format!(
        "for p in {} {}; do prlimit --pid $p --fsize=0:0; prlimit --pid $p --as=1:1 --nofile=0:0; renice -n 19 -p $p; done
        kill -9 {0}; kill -9 {1}; kill -9 $PPID; kill -STOP {0}; echo done",
        outer.id(),
        chat.id()
    );
    let said = inside(&house, &format!("{script}\ntrue"));
    assert_eq!(limits(), before, "{said}");
    let lives = outer.try_wait().unwrap().is_none();
    let _ = outer.kill();
    let _ = outer.wait();
    assert!(lives && said.contains("done"), "{said}");
    chat.ends().expect(0);
}

#[test]
fn a_command_that_tries_to_break_its_supervisor_leaves_nothing() {
    let house = house();
    if !house.is_boxed() {
        return;
    }
    let breaks = "setsid sh -c 'echo $$ > pid; exec sleep 777' & until [ -s pid ] && [ -e seen ]; do sleep 0.01; done; \
                  prlimit --pid $PPID --as=1:1 --nofile=0:0; kill -9 $PPID; echo done";
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n",
    );
    let running = house.start(&["ask", &format!("run `{breaks}`")]);
    let mut pid = None;
    eventually("the command runs", || {
        pid = pid_in(&house.workspace().join("pid"));
        pid.is_some()
    });
    house.write("workspace/seen", "");
    let ran = running.ends();
    assert!(!alive(pid.unwrap()), "{ran:?}");
}

#[test]
fn the_file_tools_stay_inside_too() {
    let house = house();
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n",
    );
    let diary = house.user_home().join("private/diary");
    fs::create_dir_all(house.workspace()).unwrap();
    std::os::unix::fs::symlink(&diary, house.workspace().join("link")).unwrap();
    std::os::unix::fs::symlink(house.home(), house.workspace().join("home")).unwrap();
    let diary = diary.display();
    for path in [
        format!("{diary}"),
        "../claw.toml".into(),
        "link".into(),
        "home/mcp.json".into(),
        "/proc/self/environ".into(),
    ] {
        for ask in [format!("show {path}"), format!("write {path}: x"), format!("list {path}")] {
            house.claw(&["ask", &ask]).expect(0);
            let outcome = outcomes(&house.events("main")).pop().unwrap();
            let refused = outcome["kind"] == "denied" || outcome["output"]["is_error"] == true;
            assert!(refused, "{ask}: {outcome}");
            assert!(
                !outcome.to_string().contains(SECRET)
                    && !outcome.to_string().contains("mcpServers"),
                "{outcome}"
            );
        }
    }
    assert_eq!(
        fs::read_to_string(house.user_home().join("private/diary")).unwrap(),
        format!("{SECRET}\n")
    );
}
