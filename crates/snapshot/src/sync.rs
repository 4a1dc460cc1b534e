//! Brings what was written to the disk: a few files one by one, many with their whole file system.
//! A sync of the whole waits for what others write, and thousands of single ones take minutes. Must
//! not know what the files are.

use std::fs::File;
use std::io;

use claw_kit::durable;

const SINGLE_MAX: usize = 64;

/// Counts the files of one step.
#[derive(Debug, Default)]
pub(crate) struct Sync {
    files: usize,
}

impl Sync {
    /// It is on the disk after [`Sync::finish`], with its name if the folder was given, too.
    pub(crate) fn add(&mut self, file: &File) -> io::Result<()> {
        self.files += 1;
        if self.files <= SINGLE_MAX { file.sync_all() } else { Ok(()) }
    }

    /// `any` is a file or folder of the same file system.
    pub(crate) fn finish(self, any: &File) -> io::Result<()> {
        if self.files > SINGLE_MAX { durable::sync_file_system(any) } else { Ok(()) }
    }
}
