//! A terminal with the program in it: what is typed, and every byte that comes out. Owns the
//! pseudo-terminal and the deadline. Must not know what is tested.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

use std::fs::File;
use std::io::{ErrorKind, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use nix::fcntl::OFlag;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{FlowArg, LocalFlags, tcflow, tcgetattr};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::{Winsize, tcgetpgrp, tcsetwinsize};

use crate::program::{House, SOON, eventually};

/// The leader of the session. When a leader ends, Linux drops what its terminal has not handed on
/// yet (`tty_vhangup_session`), so a shell leads, and ends when all that came out has been read.
const LEADER: &str =
    r#"trap : INT QUIT; "$@"; code=$?; exec <&- >&- 2>&-; read _ <"$0"; exit $code"#;

#[derive(Default)]
struct Seen {
    text: Mutex<(Vec<u8>, bool)>,
    more: Condvar,
}

/// It is ended with the test.
pub struct Pty {
    child: Child,
    master: File,
    /// The terminal's path, as the program has it.
    name: PathBuf,
    seen: Arc<Seen>,
    /// Up to where was waited for.
    at: usize,
}

impl Pty {
    /// `claw ARGS` in a session whose terminal this is, so that Ctrl-C is a signal.
    pub fn start(house: &House, args: &[&str]) -> Self {
        Self::sized(house, args, 40, 120)
    }

    pub fn sized(house: &House, args: &[&str], rows: u16, columns: u16) -> Self {
        Self::of(&house.command(args), rows, columns)
    }

    /// A shell at a terminal, with job control: it stops what runs in it (`\x1a`) and continues it
    /// (`fg`), and has the terminal meanwhile.
    pub fn shell(house: &House) -> Self {
        let mut shell = Command::new("/bin/bash");
        shell.args(["--norc", "--noprofile", "--noediting", "-i"]).current_dir(house.user_home());
        let claw = house.command(&[]);
        shell.envs(claw.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // Without one bash takes `dumb`, which no line editor can drive.
        shell.env("TERM", "xterm").env("PS1", "$ ");
        Self::of(&shell, 40, 120)
    }

    fn of(wanted: &Command, rows: u16, columns: u16) -> Self {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let (master, slave, name) = terminal();
        tcsetwinsize(&slave, size).unwrap();
        // util-linux, setsid(1): only a process can make a terminal its own, before it becomes the
        // program.
        let mut command = Command::new("/usr/bin/setsid");
        let (told, all_read) = std::io::pipe().unwrap();
        fcntl_setfd(&told, FdFlags::empty()).unwrap();
        command
            .args(["--ctty", "/bin/sh", "-c", LEADER])
            .arg(format!("/dev/fd/{}", told.as_raw_fd()))
            .arg(wanted.get_program())
            .args(wanted.get_args())
            .env_clear()
            .current_dir(wanted.get_current_dir().unwrap());
        command.envs(wanted.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let end = || slave.try_clone().unwrap();
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        // Held by the child alone from here on, so that its end is the end of what comes out.
        drop(command);
        drop(slave);
        drop(told);
        let (mut reader, seen) = (master.try_clone().unwrap(), Arc::new(Seen::default()));
        let into = seen.clone();
        std::thread::spawn(move || read_all(&mut reader, &into, all_read));
        Self { child, master, name, seen, at: 0 }
    }

    /// Waits until this comes out, behind what was waited for before. A line may have been broken
    /// at any of its spaces: where depends on how long the paths of this machine are.
    #[track_caller]
    pub fn shows(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + SOON;
        let mut seen = self.seen.text.lock().unwrap();
        loop {
            let rest = &seen.0[self.at..];
            if let Some(end) = end_of(rest, text.as_bytes()) {
                self.at += end;
                break;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if seen.1 || left.is_zero() {
                let (ended, all) = (seen.1, String::from_utf8_lossy(&seen.0).into_owned());
                drop(seen);
                let status = self.child.try_wait();
                panic!("`{text}` is not shown (output ended: {ended}, {status:?}):\n{all}");
            }
            seen = self.seen.more.wait_timeout(seen, left).unwrap().0;
        }
        drop(seen);
        self
    }

    /// A line.
    pub fn types(&mut self, text: &str) -> &mut Self {
        self.keys(&format!("{text}\r"))
    }

    /// Single keys: `\x03` is Ctrl-C, `\x04` the end of input.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        self.master.write_all(keys.as_bytes()).unwrap();
        self
    }

    /// What the terminal makes of Ctrl-C and Ctrl-\ where it is no editor's. It would also throw
    /// away what is on its way (termios(3), NOFLSH), just behind the signal: on a busy machine the
    /// program has spoken by then.
    pub fn signals(&mut self, signal: Signal) -> &mut Self {
        kill_process_group(tcgetpgrp(&self.master).unwrap(), signal).unwrap();
        self
    }

    /// Everything that came out so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen.text.lock().unwrap().0).into_owned()
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.seen.text.lock().unwrap().0.clone()
    }

    /// From now on the program waits where it writes, as after Ctrl-S.
    pub fn stops_output(&self) {
        let terminal = File::options()
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits())
            .open(&self.name)
            .unwrap();
        tcflow(&terminal, FlowArg::TCOOFF).unwrap();
    }

    /// Whether what is typed is shown.
    pub fn echoes(&self) -> bool {
        tcgetattr(&self.master).unwrap().local_flags.contains(LocalFlags::ECHO)
    }

    /// Waits for the end, which must have this code. Everything that came out.
    #[track_caller]
    pub fn ends(&mut self, code: i32) -> String {
        let mut ended = None;
        eventually("the program ends", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        let seen = self.seen.text.lock().unwrap();
        let (seen, _) =
            self.seen.more.wait_timeout_while(seen, SOON, |(_, ended)| !*ended).unwrap();
        let text = String::from_utf8_lossy(&seen.0).into_owned();
        assert_eq!(ended.and_then(|status| status.code()), Some(code), "{text}");
        text
    }
}

/// Both ends and the path, inherited by nobody: whoever keeps one of them keeps the terminal open.
fn terminal() -> (File, File, PathBuf) {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let master: PtyMaster = posix_openpt(flags).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = PathBuf::from(ptsname_r(&master).unwrap());
    let slave = File::options()
        .read(true)
        .write(true)
        .custom_flags(OFlag::O_NOCTTY.bits())
        .open(&name)
        .unwrap();
    (File::from(OwnedFd::from(master)), slave, name)
}

/// Until nobody has the terminal any more, which is EIO. Then the leader may end.
fn read_all(reader: &mut File, into: &Seen, all_read: PipeWriter) {
    let mut piece = [0; 4096];
    loop {
        match reader.read(&mut piece) {
            Ok(size @ 1..) => {
                into.text.lock().unwrap().0.extend_from_slice(&piece[..size]);
                into.more.notify_all();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
        }
    }
    into.text.lock().unwrap().1 = true;
    into.more.notify_all();
    drop(all_read);
}

/// Behind the first place at which `text` stands in `seen`, whose lines may be broken
/// at its spaces.
fn end_of(seen: &[u8], text: &[u8]) -> Option<usize> {
    (0..seen.len()).find_map(|start| Some(start + length_of(&seen[start..], text)?))
}

fn length_of(seen: &[u8], text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for byte in text {
        let rest = seen.get(at..)?;
        let indent = rest.strip_prefix(b"\r\n").filter(|_| *byte == b' ');
        at += match indent {
            Some(next) => 2 + next.iter().take_while(|byte| **byte == b' ').count(),
            None if rest.first() == Some(byte) => 1,
            None => return None,
        };
    }
    Some(at)
}

impl Drop for Pty {
    fn drop(&mut self) {
        // With the leader of the session what it has started: the program, in the same group.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}
