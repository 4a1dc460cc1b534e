//! What a file has beside its text: owner, group, permission bits, extended attributes. Each way to
//! change a text keeps them, and says what it could not keep. Nothing here needs root; what only
//! root can try is tried where the tests run as root.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]
#![expect(clippy::disallowed_methods, reason = "a test starts real processes")]

mod support;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, fchown};
use std::process::Command;

use claw_test_kit::skipped;
use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use rustix::process::{getegid, geteuid, getgroups};
use serde_json::{Value, json};
use support::{Room, Server};

/// Somebody who is not root, where root can choose, and a group of theirs.
const SOMEBODY: u32 = 64_099;
const THEIR_GROUP: u32 = 64_098;

/// The text is `old\n` before each of them.
fn changes() -> [(&'static str, Value); 3] {
    let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n";
    [
        ("write_file", json!({"path": "f", "content": "new\n"})),
        ("edit_file", json!({"path": "f", "edits": [{"old_text": "old", "new_text": "new"}]})),
        ("apply_patch", json!({ "patch": patch })),
    ]
}

/// Changes a new file, and gives what the change says that it has not kept.
fn not_kept(
    room: &Room,
    server: &mut Server,
    prepare: impl Fn(&File),
    (tool, arguments): (&str, Value),
) -> (Value, String) {
    let path = room.root.join("f");
    let _ = fs::remove_file(&path);
    room.write("f", "old\n");
    let old = File::open(&path).unwrap();
    prepare(&old);
    let (output, text) = server.ok(tool, arguments);
    assert_eq!(room.read("f"), "new\n");
    assert_ne!(old.metadata().unwrap().ino(), fs::metadata(&path).unwrap().ino(), "{tool}");
    let output = if tool == "apply_patch" { &output["files"][0] } else { &output };
    (output["not_kept"].clone(), text)
}

/// Whose the file is, and who may do what with it.
fn rights(room: &Room) -> (u32, u32, u32) {
    let now = fs::metadata(room.root.join("f")).unwrap();
    (now.uid(), now.gid(), now.mode() & 0o777)
}

fn give(file: &File, user: u32, group: u32, mode: u32) {
    fchown(file, Some(user), Some(group)).unwrap();
    file.set_permissions(Permissions::from_mode(mode)).unwrap();
}

/// The server as a member of one more group: one that root gives, or that this user has anyway.
/// `None` without such a group.
fn as_member(room: &Room) -> Option<(Server, u32)> {
    if geteuid().is_root() {
        let group = THEIR_GROUP.to_string();
        return Some((as_somebody(room, &["--groups", &group])?, THEIR_GROUP));
    }
    let other = getgroups().unwrap().into_iter().find(|group| *group != getegid())?;
    Some((room.start(&[]), other.as_raw()))
}

/// The server as somebody else, whom root opens the way to the program and to the workspace.
fn as_somebody(room: &Room, groups: &[&str]) -> Option<Server> {
    let id = SOMEBODY.to_string();
    let other_user = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &id, "--regid", &id]).args(groups);
        command
    };
    if !other_user().arg("true").status().is_ok_and(|status| status.success()) {
        return None;
    }
    let program = room.temp.path().join("server");
    // By another process: a program that this one has written may be held open for writing by a
    // child that another test is starting this moment, and cannot be run then (execve(2), ETXTBSY).
    let copied =
        Command::new("cp").arg(env!("CARGO_BIN_EXE_claw-mcp-filesystem")).arg(&program).status();
    assert!(copied.unwrap().success());
    fs::set_permissions(room.temp.path(), Permissions::from_mode(0o755)).unwrap();
    chown(&room.root, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    let mut server = Server::start(other_user().arg(program).arg("--workspace").arg(&room.root));
    server.initialize("2025-11-25");
    Some(server)
}

/// An ACL by which one more user may read (linux/posix_acl_xattr.h: version, then tag, bits and id
/// of each entry).
fn acl() -> Vec<u8> {
    let entry = |tag: u16, bits: u16, id: u32| {
        [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let nobody = u32::MAX;
    let user = entry(0x02, 4, SOMEBODY);
    let (owner, group) = (entry(0x01, 6, nobody), entry(0x04, 0, nobody));
    let (mask, others) = (entry(0x10, 4, nobody), entry(0x20, 0, nobody));
    [2_u32.to_le_bytes().to_vec(), owner, user, group, mask, others].concat()
}

#[test]
fn extended_attributes_are_kept() {
    for (name, value) in [("user.k", b"kept".to_vec()), ("system.posix_acl_access", acl())] {
        let room = Room::new();
        room.write("f", "");
        let file = File::open(room.root.join("f")).unwrap();
        if let Err(error) = fsetxattr(&file, name, &value, XattrFlags::empty()) {
            skipped(&format!("{name} cannot be set here: {error}"));
            continue;
        }
        let mut server = room.start(&[]);
        for change in changes() {
            let tool = change.0;
            let set = |file: &File| fsetxattr(file, name, &value, XattrFlags::empty()).unwrap();
            let (lost, text) = not_kept(&room, &mut server, set, change);
            let mut found = vec![0; 1000];
            let new = File::open(room.root.join("f")).unwrap();
            let length = fgetxattr(&new, name, &mut found).unwrap_or_default();
            assert_eq!(&found[..length], value, "{tool}: {name}");
            assert!(lost.is_null() && !text.contains("Not kept"), "{text}");
        }
    }
}

#[test]
fn the_group_of_a_file_is_kept_by_a_member_of_it() {
    let room = Room::new();
    let Some((mut server, group)) = as_member(&room) else {
        return skipped("this user has one group, or root has no setpriv");
    };
    let user = if geteuid().is_root() { SOMEBODY } else { geteuid().as_raw() };
    for change in changes() {
        let tool = change.0;
        let prepare = |file: &File| give(file, user, group, 0o640);
        let (lost, text) = not_kept(&room, &mut server, prepare, change);
        assert_eq!(rights(&room), (user, group, 0o640), "{tool}: {text}");
        assert!(lost.is_null() && !text.contains("Not kept"), "{text}");
    }
}

#[test]
fn an_owner_and_a_group_that_cannot_be_kept_are_told() {
    let room = Room::new();
    if !geteuid().is_root() {
        return skipped("only root can make a file of somebody else");
    }
    let Some(mut server) = as_somebody(&room, &["--clear-groups"]) else {
        return skipped("setpriv of util-linux is not there");
    };
    for change in changes() {
        let tool = change.0;
        let prepare = |file: &File| give(file, 0, THEIR_GROUP, 0o664);
        let (lost, text) = not_kept(&room, &mut server, prepare, change);
        // The group of whoever has changed it may do what everybody may.
        assert_eq!(rights(&room), (SOMEBODY, SOMEBODY, 0o644), "{tool}: {text}");
        assert_eq!(lost, json!(["owner", "group"]), "{text}");
        assert!(text.contains("Not kept: its owner, its group."), "{text}");
    }
}

#[test]
fn root_leaves_a_file_to_its_owner() {
    if !geteuid().is_root() {
        return skipped("this is not root");
    }
    let room = Room::new();
    let mut server = room.start(&[]);
    for change in changes() {
        let tool = change.0;
        let prepare = |file: &File| give(file, SOMEBODY, THEIR_GROUP, 0o640);
        let (lost, text) = not_kept(&room, &mut server, prepare, change);
        assert_eq!(rights(&room), (SOMEBODY, THEIR_GROUP, 0o640), "{tool}: {text}");
        assert!(lost.is_null(), "{text}");
    }
}
