//! Brings what was written to the disk: a few files one by one, many with their whole file system.
//! A sync of the whole waits for what others write, and each single one for the disk: 64 of them
//! took a second. Must not know what the files are.

use std::fs::File;
use std::io;

use claw_kit::durable;

const SINGLE_MAX: usize = 16;

/// The files of one step.
#[derive(Debug, Default)]
pub(crate) struct Sync {
    /// None when there are too many.
    single: Vec<File>,
    files: usize,
}

impl Sync {
    /// It is on the disk after [`Sync::finish`], with its name if the folder was given, too.
    pub(crate) fn add(&mut self, file: File) {
        self.files += 1;
        if self.files <= SINGLE_MAX {
            self.single.push(file);
        } else {
            self.single.clear();
        }
    }

    /// `any` is a file or folder of the same file system.
    pub(crate) fn finish(self, any: &File) -> io::Result<()> {
        #[cfg(test)]
        tests::heard(&self.single);
        if self.files > SINGLE_MAX {
            return durable::sync_file_system(any);
        }
        self.single.iter().try_for_each(File::sync_all)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;
    use std::fs::File;

    type Hearer = Box<dyn FnMut(&[File])>;

    thread_local! {
        /// Whoever wants to hear what this thread is about to bring to the disk.
        static HEARER: RefCell<Option<Hearer>> = const { RefCell::new(None) };
    }

    pub(crate) fn hear(hearer: impl FnMut(&[File]) + 'static) {
        HEARER.set(Some(Box::new(hearer)));
    }

    pub(super) fn heard(files: &[File]) {
        HEARER.with_borrow_mut(|hearer| hearer.iter_mut().for_each(|hear| hear(files)));
    }
}
