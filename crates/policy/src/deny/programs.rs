//! The rules about single programs: wiping, disks, shutdown, passwords. Must not know how a text is
//! read or walked.

use super::disks::is_block_device;
use super::paths;
use super::pipes::is_interpreter;
use super::shell::{Simple, Word};
use super::walk::Walk;
use super::wrappers::Started;

pub(super) fn judge(walk: &mut Walk<'_>, started: &Started) {
    let (program, args) = (started.program(), started.args());
    match program {
        "rm" | "srm" | "grm" => remove(walk, args),
        "chmod" | "chown" | "chgrp" if has(args, "--no-preserve-root") => {
            deny_wipe(walk, "wipe-root")
        }
        "find" | "gfind" => find(walk, args),
        "mv" => move_away(walk, args),
        "dd" | "gdd" if args.iter().any(|arg| writes_device(arg, "of=")) => walk.deny_raw_disk(),
        "tee" | "shred" | "wipefs" | "blkdiscard" | "truncate"
            if args.iter().any(|arg| is_block_device(&arg.text)) && !has(args, "--no-act") =>
        {
            walk.deny_raw_disk();
        }
        "cp" | "install" | "rsync" if args.last().is_some_and(|arg| is_block_device(&arg.text)) => {
            walk.deny_raw_disk()
        }
        "shutdown" | "reboot" | "halt" | "poweroff" if !only_asks(args) && !has(args, "-c") => {
            deny_shutdown(walk)
        }
        "init" | "telinit"
            if args.first().is_some_and(|arg| matches!(arg.text.as_str(), "0" | "6")) =>
        {
            deny_shutdown(walk);
        }
        "systemctl" | "loginctl" | "launchctl" => service_manager(walk, args),
        "passwd" | "chpasswd" | "vipw" | "smbpasswd" => {
            let queries = ["-S", "--status"].iter().any(|query| has(args, query));
            if !only_asks(args) && !queries {
                deny_password(walk);
            }
        }
        "usermod" if args.iter().any(|arg| is_password_option(&arg.text)) => deny_password(walk),
        "dscl" if has(args, "-passwd") || has(args, "passwd") => deny_password(walk),
        "sysadminctl" if has(args, "-resetPasswordFor") || has(args, "-newPassword") => {
            deny_password(walk)
        }
        "diskutil" if args.first().is_some_and(|arg| is_erasing(&arg.text)) => deny_mkfs(walk),
        _ if is_mkfs(program) && !only_asks(args) => deny_mkfs(walk),
        _ if is_interpreter(program) => interpreter(walk, args),
        _ => {}
    }
}

fn has(args: &[Word], option: &str) -> bool {
    args.iter().any(|arg| arg.text == option)
}

fn only_asks(args: &[Word]) -> bool {
    args.iter().any(|arg| matches!(arg.text.as_str(), "--help" | "--version" | "-V" | "-h" | "-?"))
        && args.len() == 1
}

/// Options may stand anywhere, and long ones may be cut as long as they stay unique (GNU
/// getopt_long).
fn remove(walk: &mut Walk<'_>, args: &[Word]) {
    let mut recursive = false;
    let mut targets = Vec::new();
    let mut options = true;
    for arg in args {
        let text = arg.text.as_str();
        match text {
            "--" if options => options = false,
            _ if options && text.len() > 3 && "--no-preserve-root".starts_with(text) => {
                return deny_wipe(walk, "wipe-root");
            }
            _ if options && text.len() > 2 && text.starts_with("--") => {
                recursive |= "--recursive".starts_with(text);
            }
            _ if options && text.len() > 1 && text.starts_with('-') => {
                recursive |= text.contains(['r', 'R'])
            }
            _ => targets.push(text),
        }
    }
    for text in targets {
        let Some(target) = paths::resolve(text, walk.facts, walk.cwd.as_deref()) else { continue };
        if (recursive || target.everything_in) && paths::is_precious(&target.path, walk.facts) {
            return deny_wipe(walk, paths::rule(&target.path, walk.facts));
        }
    }
}

/// Tests of `find` that pick some files of many.
const PICKING: &[&str] = &[
    "name",
    "iname",
    "path",
    "ipath",
    "wholename",
    "regex",
    "iregex",
    "mtime",
    "mmin",
    "atime",
    "amin",
    "ctime",
    "cmin",
    "newer",
    "size",
    "empty",
    "user",
    "uid",
    "group",
    "gid",
    "nouser",
    "nogroup",
    "perm",
    "inum",
    "links",
    "lname",
    "samefile",
    "xtype",
    "maxdepth",
    "newermt",
    "prune",
];

/// `find / -delete`, and what `-exec` starts. With a test that picks files it is no wipe.
fn find(walk: &mut Walk<'_>, args: &[Word]) {
    let is_expression =
        |arg: &Word| arg.text.starts_with('-') || matches!(arg.text.as_str(), "(" | "!");
    let leading =
        args.iter().take_while(|arg| matches!(arg.text.as_str(), "-H" | "-L" | "-P")).count();
    let rest = args.get(leading..).unwrap_or_default();
    let starts: Vec<&Word> = rest.iter().take_while(|arg| !is_expression(arg)).collect();
    let expression = rest.get(starts.len()..).unwrap_or_default();
    let mut deletes = has(expression, "-delete");
    let mut at = 0;
    while let Some(arg) = expression.get(at) {
        at += 1;
        if !matches!(arg.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let tail = expression.get(at..).unwrap_or_default();
        let command: Vec<Word> =
            tail.iter().take_while(|w| !matches!(w.text.as_str(), ";" | "+")).cloned().collect();
        at += command.len();
        let program = super::wrappers::started(&command);
        deletes |= matches!(program.program(), "rm" | "shred" | "unlink" | "srm");
        walk.simple(&Simple { words: command, ..Simple::default() });
    }
    let picks = expression
        .iter()
        .filter_map(|arg| arg.text.strip_prefix('-'))
        .any(|test| PICKING.contains(&test));
    if !deletes || picks {
        return;
    }
    deny_if_precious(walk, starts);
}

fn move_away(walk: &mut Walk<'_>, args: &[Word]) {
    let Some((last, sources)) = args.split_last() else { return };
    if is_block_device(&last.text) {
        return walk.deny_raw_disk();
    }
    if last.text != "/dev/null" {
        return;
    }
    deny_if_precious(walk, sources);
}

/// All of each of these paths goes.
fn deny_if_precious<'a>(walk: &mut Walk<'_>, gone: impl IntoIterator<Item = &'a Word>) {
    for word in gone {
        let Some(target) = paths::resolve(&word.text, walk.facts, walk.cwd.as_deref()) else {
            continue;
        };
        if paths::is_precious(&target.path, walk.facts) {
            return deny_wipe(walk, paths::rule(&target.path, walk.facts));
        }
    }
}

fn writes_device(arg: &Word, prefix: &str) -> bool {
    arg.text.strip_prefix(prefix).is_some_and(is_block_device)
}

fn service_manager(walk: &mut Walk<'_>, args: &[Word]) {
    let mut words = args.iter().map(|arg| arg.text.as_str()).filter(|text| !text.starts_with('-'));
    let verb = words.next().unwrap_or_default();
    let ends = |name: &str| {
        matches!(name, "poweroff" | "reboot" | "halt" | "kexec" | "shutdown" | "soft-reboot")
    };
    let starts_target = matches!(verb, "start" | "isolate")
        && words.any(|unit| unit.strip_suffix(".target").is_some_and(ends));
    if ends(verb) || starts_target {
        deny_shutdown(walk);
    }
}

fn is_mkfs(program: &str) -> bool {
    program == "mkfs"
        || program.starts_with("mkfs.")
        || matches!(program, "mke2fs" | "mkswap" | "newfs")
        || program.starts_with("newfs_")
}

fn is_erasing(verb: &str) -> bool {
    let verb = verb.to_lowercase();
    verb.starts_with("erase")
        || verb.starts_with("partition")
        || verb == "zerodisk"
        || verb == "secureerase"
}

fn is_password_option(text: &str) -> bool {
    text == "--password"
        || text.starts_with("--password=")
        || (text.starts_with("-p") && !text.starts_with("--"))
}

/// The well-known one-liners; an interpreter's program text is not read otherwise.
fn interpreter(walk: &mut Walk<'_>, args: &[Word]) {
    let endless = |text: &str| {
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.contains("fork while") || (text.contains("os.fork()") && text.contains("while"))
    };
    if args.iter().any(|arg| endless(&arg.text)) {
        walk.deny_fork_bomb();
    }
}

fn deny_wipe(walk: &mut Walk<'_>, rule: &str) {
    let why = match rule {
        "wipe-home" => "this wipes a whole home",
        _ => "this wipes the root or a system folder",
    };
    walk.deny(rule, why, "name the files or folders inside the workspace that should go");
}

fn deny_mkfs(walk: &mut Walk<'_>) {
    walk.deny(
        "mkfs",
        "this makes a new file system over what is there",
        "ask the owner to run it by hand",
    );
}

pub(super) fn deny_shutdown(walk: &mut Walk<'_>) {
    walk.deny(
        "shutdown",
        "this shuts the machine down or restarts it",
        "ask the owner to do it by hand",
    );
}

fn deny_password(walk: &mut Walk<'_>) {
    walk.deny("password", "this changes a password", "ask the owner to change it by hand");
}
