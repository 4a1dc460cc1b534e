//! The text of a small file that a command may have made: no link is followed, nothing is waited
//! for, and no more is read than asked for. Must not know what the text says.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// `None` for what is no regular file, holds more than `bytes_max` or is not UTF-8.
pub fn read(path: &Path, bytes_max: u64) -> Option<String> {
    // To open a device can do something by itself.
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).ok()?);
    file.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= bytes_max)?;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= bytes_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_of_that_size_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("text"), "12345").unwrap();
        fs::write(at("bytes"), b"\xff").unwrap();
        std::os::unix::fs::symlink("text", at("link")).unwrap();
        assert_eq!(read(&at("text"), 5).as_deref(), Some("12345"));
        assert_eq!(read(&at("text"), 4), None);
        for name in ["bytes", "link", "", "nothing"] {
            assert_eq!(read(&at(name), 5), None, "{name}");
        }
    }
}
