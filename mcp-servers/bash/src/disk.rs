//! The free space of the file systems that a command writes to: watched while it runs, because no
//! limit of the kernel bounds many files together. Must not know how a command is ended.

use std::path::PathBuf;

/// A command may take so many bytes of a file system that is nearly full already: to look at it,
/// and to tidy it up.
const SLACK_BYTES: u64 = 16 * 1024 * 1024;

/// Owned by the supervisor of one command.
pub struct Disk {
    places: Vec<Place>,
    /// Less free space than this, in bytes, is too little. 0 is no limit.
    free_bytes_min: u64,
}

struct Place {
    path: PathBuf,
    /// The most free space that was seen while the command ran.
    free_bytes_most: u64,
}

impl Disk {
    pub fn new(paths: impl IntoIterator<Item = PathBuf>, free_bytes_min: u64) -> Self {
        let place = |path: PathBuf| Place { free_bytes_most: free_bytes(&path).unwrap_or(0), path };
        Self { places: paths.into_iter().map(place).collect(), free_bytes_min }
    }

    /// Whether one of the file systems has too little free space by now, and has lost more than the
    /// slack meanwhile. Who took it is not known: the command is what can be ended.
    pub fn is_too_full(&mut self) -> bool {
        let free_bytes_min = self.free_bytes_min;
        free_bytes_min > 0
            && self.places.iter_mut().any(|place| {
                free_bytes(&place.path).is_some_and(|free| place.sees(free, free_bytes_min))
            })
    }
}

impl Place {
    fn sees(&mut self, free_bytes: u64, free_bytes_min: u64) -> bool {
        self.free_bytes_most = self.free_bytes_most.max(free_bytes);
        free_bytes < free_bytes_min && self.free_bytes_most - free_bytes >= SLACK_BYTES
    }
}

/// What an ordinary user may still take, statvfs(3). `None` where the system does not say.
fn free_bytes(path: &std::path::Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    (found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_fills_is_seen_and_one_that_was_full_already_can_be_used() {
        const MIB: u64 = 1024 * 1024;
        let place = |free_bytes_most| Place { path: PathBuf::new(), free_bytes_most };
        let mut filling = place(1000 * MIB);
        assert!(!filling.sees(600 * MIB, 512 * MIB));
        assert!(filling.sees(500 * MIB, 512 * MIB));
        let mut full = place(100 * MIB);
        assert!(!full.sees(90 * MIB, 512 * MIB));
        assert!(!full.sees(300 * MIB, 512 * MIB), "somebody tidies up");
        assert!(full.sees(284 * MIB, 512 * MIB));
        assert!(free_bytes(std::path::Path::new("/")).is_some());
        assert!(!Disk::new([PathBuf::from("/")], 0).is_too_full());
    }
}
