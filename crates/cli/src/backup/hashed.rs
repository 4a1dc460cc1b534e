//! What is read on its way into a backup or out of one, counted and hashed. Must not know what it
//! is.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use super::contents::Entry;
use crate::domain::canonical::hex;

pub struct Hashed<R> {
    from: R,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> Hashed<R> {
    pub fn new(from: R) -> Self {
        Self { from, hash: Sha256::new(), bytes: 0 }
    }

    /// What was read until now, as it stands in the list.
    pub fn into_entry(self, name: &str) -> Entry {
        Entry { name: name.to_owned(), bytes: self.bytes, sha256: hex(&self.hash.finalize()) }
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = self.from.read(into)?;
        self.hash.update(into.get(..size).unwrap_or_default());
        self.bytes += size as u64;
        Ok(size)
    }
}
