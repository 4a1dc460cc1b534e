//! A file that a Bot API server of one's own has put on the disk: in its local mode it names the
//! path there, and hands out nothing over HTTP (Bot API, "Using a Local Bot API Server"). Owns how
//! it is opened. Must not know which server that is.

use std::io;

use rustix::fs::OFlags;
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::files::FetchError;

/// No link where the file should be, and no waiting for whoever writes into a pipe.
const FLAGS: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits() as i32;
/// What is said of a link to open with `NOFOLLOW` (open(2), `ELOOP`).
const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();
const PIECE_BYTES: usize = 64 << 10;

/// Copies a regular file of at most `bytes_max` bytes into `sink`, and returns how many there were.
pub(super) async fn copy(
    path: &str,
    bytes_max: u64,
    sink: &mut (impl AsyncWrite + Unpin),
) -> Result<u64, CopyError> {
    let (file, bytes) = open(path).await?;
    if bytes > bytes_max {
        return Err(CopyError::TooLarge);
    }
    copied(file, bytes_max, sink).await
}

/// Why it was not copied.
#[derive(Debug)]
pub(super) enum CopyError {
    TooLarge,
    Unreadable(String),
    Store(String),
}

impl CopyError {
    /// `path` is as it may be shown.
    pub(super) fn of_file(self, path: String, bytes_max: u64) -> FetchError {
        match self {
            Self::TooLarge => FetchError::TooLarge(bytes_max),
            Self::Unreadable(why) => FetchError::Unreadable { path, why },
            Self::Store(why) => FetchError::Store(why),
        }
    }
}

fn unreadable(error: io::Error) -> CopyError {
    let is_link = error.raw_os_error() == Some(LOOP);
    CopyError::Unreadable(if is_link { "it is a link".to_owned() } else { error.to_string() })
}

/// With its size.
async fn open(path: &str) -> Result<(File, u64), CopyError> {
    let opened = OpenOptions::new().read(true).custom_flags(FLAGS).open(path).await;
    let file = opened.map_err(unreadable)?;
    let found = file.metadata().await.map_err(unreadable)?;
    if !found.is_file() {
        return Err(CopyError::Unreadable("it is no regular file".to_owned()));
    }
    Ok((file, found.len()))
}

async fn copied(
    mut from: impl AsyncRead + Unpin,
    bytes_max: u64,
    sink: &mut (impl AsyncWrite + Unpin),
) -> Result<u64, CopyError> {
    let (mut piece, mut bytes) = (vec![0; PIECE_BYTES], 0);
    loop {
        let read = from.read(&mut piece).await.map_err(unreadable)?;
        let Some(part) = piece.get(..read).filter(|part| !part.is_empty()) else {
            return Ok(bytes);
        };
        bytes += part.len() as u64;
        // It may have grown since.
        if bytes > bytes_max {
            return Err(CopyError::TooLarge);
        }
        sink.write_all(part).await.map_err(|error| CopyError::Store(error.to_string()))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_regular_file_within_the_limit_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("file"), "12345").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        let copied = async |name: &str, bytes_max: u64| {
            let mut sink = Vec::new();
            let copied = copy(&path(name), bytes_max, &mut sink).await;
            copied.map(|bytes| (bytes, sink))
        };
        assert_eq!(copied("file", 5).await.unwrap(), (5, b"12345".to_vec()));
        assert!(matches!(copied("file", 4).await, Err(CopyError::TooLarge)));
        for (name, needle) in
            [("link", "a link"), ("", "no regular file"), ("gone", "No such file")]
        {
            let why = copied(name, 5).await.unwrap_err();
            assert!(matches!(&why, CopyError::Unreadable(why) if why.contains(needle)), "{why:?}");
        }
        let mut sink = Vec::new();
        let grown = super::copied(&b"123456"[..], 5, &mut sink).await;
        assert!(matches!(grown, Err(CopyError::TooLarge)) && sink.is_empty());
    }
}
