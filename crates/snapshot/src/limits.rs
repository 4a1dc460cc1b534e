//! How much of a workspace is remembered. Must not know how.

/// Bounds of one workspace. What exceeds `files_max` or `bytes_max` is not remembered at all; a
/// file over `file_bytes_max` is left out and named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files, folders and links.
    pub files_max: usize,
    /// All files together.
    pub bytes_max: u64,
    /// One file.
    pub file_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files_max: 50_000, bytes_max: 512 << 20, file_bytes_max: 64 << 20 }
    }
}
