//! Runs commands of claw under strace, and puts what they do to a folder into a [`Disk`]. Must not
//! know what the commands are.

#![expect(
    clippy::disallowed_methods,
    reason = "the rig starts claw itself, as a person at a shell does"
)]

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use tempfile::TempDir;

use crate::disk::{Disk, Files};
use crate::trace::{self, Syscall};

/// Everything that can change a file. A call that is not understood ends the rig, so that nothing
/// goes unseen.
const CALLS: &str = "trace=open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,\
    rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat,fsync,fdatasync,lseek,\
    sync_file_range,copy_file_range,sendfile,splice,io_uring_setup";

/// Another build can be tried, such as one with a bug in it, to see what the oracle says.
fn program() -> OsString {
    std::env::var_os("CLAW_POWER_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_claw").into())
}

/// A machine's user: `user` is on the disk that is recorded, `work` is not.
pub struct Seat {
    dir: TempDir,
}

impl Seat {
    pub fn new() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let seat = Self { dir };
        fs::create_dir(seat.user())?;
        fs::create_dir(seat.work())?;
        fs::write(
            seat.work().join("large.txt"),
            "a line that is kept as an artifact\n".repeat(1000),
        )?;
        Ok(seat)
    }

    pub fn user(&self) -> PathBuf {
        self.dir.path().join("user")
    }

    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn keep(mut self) -> PathBuf {
        self.dir.disable_cleanup(true);
        self.dir.path().to_owned()
    }

    fn environment(&self, command: &mut Command) {
        command.env_clear().env("HOME", self.user()).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command
            .env("CLAW_AGENT", "demo")
            .env("CLAW_WORKSPACE", self.work())
            .current_dir(self.dir.path());
        command.stdin(Stdio::null());
    }

    /// Runs claw to its end.
    pub fn claw(&self, args: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["--kill-after=5", "60"]).arg(program()).args(args);
        self.environment(&mut command);
        let ended = command.output()?;
        let text = [ended.stdout, ended.stderr].concat();
        Ok((ended.status.code(), String::from_utf8_lossy(&text).into_owned()))
    }

    /// Puts a state of the disk in the place of what is there.
    pub fn load(&self, files: &Files) -> anyhow::Result<()> {
        for (path, content) in files {
            let to = self.path(&format!("user{path}"));
            match content {
                None => fs::create_dir(&to)?,
                Some(bytes) => fs::write(&to, bytes)?,
            }
        }
        Ok(())
    }
}

/// What was done so far, and by which commands.
pub struct Recorder {
    pub seat: Seat,
    pub disk: Disk,
    commands: usize,
    /// Files without a name that a command has opened: their links under `/proc` and their paths.
    unnamed: HashMap<String, String>,
}

impl Recorder {
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self { seat: Seat::new()?, disk: Disk::new(), commands: 0, unnamed: HashMap::new() })
    }

    /// Runs a command and gives back what it said. Its beginning and all its words are seen, behind
    /// its number.
    pub fn claw(&mut self, args: &[&str], code: i32) -> anyhow::Result<String> {
        self.recorded(args, code, &[])
    }

    /// As [`Self::claw`], on a file system that has no files without a name: the call that makes
    /// them is refused. Where they are made by `openat` (not on x86), nothing is refused.
    pub fn claw_without_unnamed(&mut self, args: &[&str], code: i32) -> anyhow::Result<String> {
        self.recorded(args, code, &["-e", "inject=open:error=EOPNOTSUPP"])
    }

    fn recorded(&mut self, args: &[&str], code: i32, faults: &[&str]) -> anyhow::Result<String> {
        self.commands += 1;
        self.unnamed.clear();
        self.disk.seen(format!("{}: begins", self.commands));
        let (log, said) =
            (self.seat.path("trace"), self.seat.path(&format!("said-{}", self.commands)));
        let mut command = Command::new("strace");
        command
            .args(["-f", "-y", "-xx", "-s", "100000000", "-e", CALLS, "-o"])
            .arg(&log)
            .args(faults);
        command.arg(program()).args(args);
        self.seat.environment(&mut command);
        let out = File::options().create(true).append(true).open(&said)?;
        command.stdout(out.try_clone()?).stderr(out);
        let status = command.status().context("strace is needed (Debian package strace)")?;
        let text = fs::read_to_string(&said)?;
        anyhow::ensure!(
            status.code() == Some(code),
            "claw {args:?} ended with {status} and said {text}"
        );
        let calls = trace::read(&fs::read_to_string(&log)?)?;
        // How long the disk's list was when the n-th call had ended.
        let mut lengths = Vec::with_capacity(calls.len());
        for call in &calls {
            let began = if call.began == 0 { self.disk.len() } else { lengths[call.began - 1] };
            self.take(call, began, &said).with_context(|| format!("{call:.300?}"))?;
            lengths.push(self.disk.len());
        }
        Ok(text)
    }

    /// The path on the recorded disk.
    fn on_disk(&self, path: &str) -> Option<String> {
        path.strip_prefix(self.seat.user().to_str()?).map(str::to_owned)
    }

    fn take(&mut self, call: &Syscall, began: usize, said: &Path) -> anyhow::Result<()> {
        let arg = |at: usize| call.args.get(at).map(String::as_str).unwrap_or_default();
        let descriptor = trace::path_of(arg(0));
        let on = match &descriptor {
            Some(path) => self.on_disk(path),
            None => self.unnamed_on_disk(arg(0)),
        };
        let named = |at: usize| {
            let path = trace::path_at(Some(arg(at)), arg(at + 1))?;
            self.unnamed.get(&path).cloned().or_else(|| self.on_disk(&path))
        };
        let plain = |at: usize| trace::path_at(None, arg(at)).and_then(|path| self.on_disk(&path));
        match call.name.as_str() {
            "open" | "openat" | "openat2" => self.open(call)?,
            "write" | "writev" | "pwrite64" => {
                let bytes = if call.name == "writev" {
                    trace::gathered(arg(1))
                } else {
                    trace::bytes(arg(1))
                };
                let count: usize = call.result.parse()?;
                if descriptor.as_deref().map(Path::new) == Some(said) {
                    let text = String::from_utf8_lossy(&bytes.context("words were cut")?[..count])
                        .into_owned();
                    self.disk.seen(format!("{}: {text}", self.commands));
                } else if let Some(path) = on {
                    let mut bytes = bytes.context("a write was cut")?;
                    bytes.truncate(count);
                    let at = if call.name == "pwrite64" { Some(arg(3).parse()?) } else { None };
                    self.disk.write(&path, at, bytes)?;
                }
            }
            "lseek" => {
                if let Some(path) = on {
                    self.disk.seek(&path, call.result.parse()?);
                }
            }
            "ftruncate" => {
                if let Some(path) = on {
                    self.disk.truncate(&path, arg(1).parse()?);
                }
            }
            "fsync" | "fdatasync" => {
                if let Some(path) = on {
                    self.disk.sync(&path, began);
                }
            }
            "mkdir" => plain(0).map_or(Ok(()), |path| self.disk.create(&path, true))?,
            "mkdirat" => named(0).map_or(Ok(()), |path| self.disk.create(&path, true))?,
            "unlink" | "rmdir" => plain(0).map_or(Ok(()), |path| self.disk.remove(&path))?,
            "unlinkat" => named(0).map_or(Ok(()), |path| self.disk.remove(&path))?,
            "rename" => self.both(plain(0), plain(1), Disk::rename)?,
            "renameat" | "renameat2" => self.both(named(0), named(2), Disk::rename)?,
            "link" => self.both(plain(0), plain(1), Disk::link)?,
            "linkat" => self.both(named(0), named(2), Disk::link)?,
            // Only between pipes and files of others.
            other => {
                anyhow::ensure!(on.is_none() && plain(0).is_none(), "the rig does not know {other}")
            }
        }
        Ok(())
    }

    fn open(&mut self, call: &Syscall) -> anyhow::Result<()> {
        // Those of `openat2` stand in a structure.
        let flags = if call.name == "open" { call.args.get(1) } else { call.args.get(2) };
        let flags = flags.map(String::as_str).unwrap_or_default();
        if flags.contains("O_TMPFILE") {
            self.opened_unnamed(&call.result);
            return Ok(());
        }
        let Some(path) = trace::path_of(&call.result) else { return Ok(()) };
        self.saw_effect(&path, flags);
        self.on_disk(&path).map_or(Ok(()), |path| self.opened(&path, flags))
    }

    fn opened(&mut self, path: &str, flags: &str) -> anyhow::Result<()> {
        if flags.contains("O_CREAT") {
            self.disk.create(path, false)?;
        }
        if flags.contains("O_TRUNC") {
            self.disk.truncate(path, 0);
        }
        if flags.contains("O_APPEND") {
            self.disk.seek_end(path);
        } else if !flags.contains("O_RDONLY") {
            self.disk.seek(path, 0);
        }
        Ok(())
    }

    fn opened_unnamed(&mut self, descriptor: &str) {
        let number = descriptor.split_once('<').map_or(descriptor, |(number, _)| number);
        let link = format!("/proc/self/fd/{number}");
        match trace::unnamed_of(descriptor).and_then(|path| self.on_disk(&path)) {
            Some(path) => {
                self.disk.create_unnamed(&path);
                self.unnamed.insert(link, path);
            }
            None => drop(self.unnamed.remove(&link)),
        }
    }

    /// Only if it was opened so: other files that are in no folder any more are nobody's.
    fn unnamed_on_disk(&self, descriptor: &str) -> Option<String> {
        let path = trace::unnamed_of(descriptor).and_then(|path| self.on_disk(&path))?;
        self.unnamed.values().any(|unnamed| *unnamed == path).then_some(path)
    }

    /// A tool's work lies on no recorded disk; that it was done is seen.
    fn saw_effect(&mut self, path: &str, flags: &str) {
        let work = self.seat.work();
        if flags.contains("O_CREAT")
            && let Some(name) = Path::new(path).strip_prefix(work).ok().and_then(Path::to_str)
        {
            self.disk.seen(format!("effect {name}"));
        }
    }

    fn both(
        &mut self,
        from: Option<String>,
        to: Option<String>,
        change: impl FnOnce(&mut Disk, &str, &str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match (from, to) {
            (Some(from), Some(to)) => change(&mut self.disk, &from, &to),
            (None, None) => Ok(()),
            mixed => anyhow::bail!("something left the disk: {mixed:?}"),
        }
    }

    /// What the recording says must be what is there, or it has missed something. SQLite's shared
    /// memory is written past the system calls, and holds nothing that is kept.
    pub fn verify(&self, files: &Files) -> anyhow::Result<()> {
        let mut there = Files::new();
        read(&self.seat.user(), "", &mut there)?;
        for path in there.keys().chain(files.keys()).filter(|path| !path.ends_with("-shm")) {
            anyhow::ensure!(there.get(path) == files.get(path), "the recording differs at {path}");
        }
        Ok(())
    }
}

fn read(folder: &Path, prefix: &str, into: &mut Files) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            into.insert(path.clone(), None);
            read(&entry.path(), &path, into)?;
        } else {
            into.insert(path, Some(fs::read(entry.path())?));
        }
    }
    Ok(())
}
