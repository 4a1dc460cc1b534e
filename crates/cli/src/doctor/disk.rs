//! Whether the home's disk takes anything: free space, free names, a disk that can only be read.
//! Looks, and changes nothing.

use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};

use super::Report;

/// Less is soon used up: one large turn with its artifacts and a checkpoint of the store.
const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;
const MIB: u64 = 1024 * 1024;

pub fn look(home: &Path, report: &mut Report) {
    let disk = match statvfs(home) {
        Ok(disk) => disk,
        Err(error) => {
            return report
                .bad("disk", format!("the disk of {} cannot be asked: {error}", home.display()));
        }
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("{} MiB are free on the disk of {}", free / MIB, home.display());
    if disk.f_flag.contains(StatVfsMountFlags::RDONLY) {
        report.bad(
            "disk",
            format!("the disk of {} can only be read, so that nothing can be kept", home.display()),
        );
    } else if free < FREE_BYTES_MIN {
        report
            .bad("disk", format!("only {text}; make room, or messages and results cannot be kept"));
    } else if disk.f_files > 0 && disk.f_favail == 0 {
        // Some file systems count no names and say 0 of 0.
        report.bad(
            "disk",
            format!("the disk of {} takes no more files; remove some", home.display()),
        );
    } else {
        report.good("disk", text);
    }
}
