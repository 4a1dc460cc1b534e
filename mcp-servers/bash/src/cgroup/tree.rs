//! The files of the tree, by a descriptor of the delegated folder. Must not know what is in them
//! for whom.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, mkdirat, open as open_path, openat, unlinkat,
};

/// Processes that were killed are gone within milliseconds, unless the kernel itself hangs.
const END_PATIENCE: Duration = Duration::from_secs(1);
const END_ROUND: Duration = Duration::from_millis(2);

pub fn open(dir: &Path) -> io::Result<OwnedFd> {
    Ok(open_path(dir, folder(), Mode::empty())?)
}

pub fn open_below(dir: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    Ok(openat(dir, path, folder(), Mode::empty())?)
}

/// A descriptor of our own for one that this process has inherited under this number. It leads
/// through the same mount.
pub fn reopen(descriptor: RawFd) -> io::Result<OwnedFd> {
    open(Path::new(&path_of(descriptor)))
}

/// Under which name this process finds what it has open.
pub fn path_of(descriptor: RawFd) -> String {
    format!("/proc/self/fd/{descriptor}")
}

fn folder() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

pub fn read(dir: impl AsFd, path: &str) -> io::Result<String> {
    let file = openat(dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = String::new();
    File::from(file).read_to_string(&mut text)?;
    Ok(text)
}

/// One write, as the kernel wants it. A file that the kernel does not have cannot be made there.
pub fn write(dir: impl AsFd, path: &str, text: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let file = openat(dir, path, flags, Mode::RUSR | Mode::WUSR)?;
    File::from(file).write_all(text.as_bytes())
}

/// Makes a folder, unless it is there.
pub fn make(dir: impl AsFd, path: &str) -> io::Result<()> {
    match mkdirat(dir, path, Mode::RWXU) {
        Err(error) if error != rustix::io::Errno::EXIST => Err(error.into()),
        _ => Ok(()),
    }
}

/// Moves this process with all of its threads.
pub fn enter(dir: impl AsFd, path: &str) -> io::Result<()> {
    write(dir, &format!("{path}/cgroup.procs"), "0")
}

/// Lets the folders below this one count memory and processes.
pub fn hand_on(dir: impl AsFd, path: &str) -> io::Result<()> {
    let file = format!("{path}/cgroup.subtree_control");
    if super::lacking(&read(&dir, &file).unwrap_or_default()).is_empty() {
        return Ok(());
    }
    write(dir, &file, "+memory +pids")
}

/// Kills everything in a folder and below it, as long as there is something. Whether the kernel can
/// (Linux 5.14).
pub fn kill(dir: impl AsFd, path: &str) -> bool {
    !is_populated(&dir, path) || write(dir, &format!("{path}/cgroup.kill"), "1").is_ok()
}

fn is_populated(dir: impl AsFd, path: &str) -> bool {
    let events = read(dir, &format!("{path}/cgroup.events")).unwrap_or_default();
    number(&events, "populated").is_some_and(|processes| processes > 0)
}

/// The number in a row of the form `NAME NUMBER`.
pub fn number(rows: &str, name: &str) -> Option<u64> {
    rows.lines().find_map(|row| row.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Removes a folder that nothing is in, or will be in a moment. What it cannot remove is left to
/// the next start of a server.
pub fn remove(dir: impl AsFd, path: &str) {
    let until = Instant::now() + END_PATIENCE;
    while unlinkat(&dir, path, AtFlags::REMOVEDIR) == Err(rustix::io::Errno::BUSY)
        && Instant::now() < until
    {
        thread::sleep(END_ROUND);
    }
}

/// The names of the folders in a folder.
pub fn folders(dir: impl AsFd) -> Vec<String> {
    let entries = Dir::read_from(dir).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type() == FileType::Directory);
    let names = folders.filter_map(|entry| Some(entry.file_name().to_str().ok()?.to_owned()));
    names.filter(|name| !name.starts_with('.')).collect()
}
