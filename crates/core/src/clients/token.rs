//! The tokens by which clients prove their names over HTTP: a file each, which nobody but the owner
//! can read. They are read anew whenever a file has changed, so a revoked one counts no more at
//! once. Must not know HTTP.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::domain::ClientName;
use crate::domain::canonical::sha256_hex;
use crate::durable;

const OWNER_ONLY: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
const RANDOM_BYTES: usize = 32;
/// So that whoever finds one knows what it is.
const PREFIX: &str = "claw_";
const EXTENSION: &str = "token";
/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 1024;

/// A token that was just made. It is shown once.
#[derive(Debug)]
pub struct NewToken {
    pub file: PathBuf,
    pub token: String,
}

/// The tokens of one agent's clients.
pub(super) struct Tokens {
    folder: PathBuf,
    /// As they were read last, by client.
    read: BTreeMap<ClientName, ReadToken>,
    /// What is wrong with others, a sentence each.
    faults: Vec<String>,
}

struct ReadToken {
    stamp: Stamp,
    token: String,
}

/// What of a file changes when its content does: device and file, size, time.
type Stamp = (u64, u64, u64, i64, i64);

impl Tokens {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, read: BTreeMap::new(), faults: Vec::new() }
    }

    fn path(&self, client: &ClientName) -> PathBuf {
        self.folder.join(format!("{client}.{EXTENSION}"))
    }

    /// Looks at the files. The names and values of those that are new.
    pub(super) fn look(&mut self) -> Vec<(String, String)> {
        let mut found = BTreeMap::new();
        let (mut new, mut faults) = (Vec::new(), Vec::new());
        for (client, path) in files(&self.folder) {
            let before = self.read.remove(&client);
            match read_if_changed(&path, before) {
                Ok((token, is_new)) => {
                    if is_new {
                        new.push((format!("token of client {client}"), token.token.clone()));
                    }
                    found.insert(client, token);
                }
                Err(error) => {
                    faults.push(format!("{} does not count: {error}", path.display()));
                }
            }
        }
        if self.faults != faults {
            faults.iter().for_each(|fault| tracing::warn!(fault, "a token of a client"));
        }
        (self.read, self.faults) = (found, faults);
        new
    }

    /// The client that has this token. All are compared, whichever it is.
    pub(super) fn owner_of(&self, token: &str) -> Option<ClientName> {
        // Digests: how far two of them are equal says nothing of the tokens.
        let given = sha256_hex(token.as_bytes());
        let mut owner = None;
        for (client, read) in &self.read {
            if sha256_hex(read.token.as_bytes()) == given {
                owner = Some(client.clone());
            }
        }
        owner
    }

    /// Those that have one.
    pub(super) fn clients(&self) -> impl Iterator<Item = ClientName> + '_ {
        self.read.keys().cloned()
    }

    /// What is wrong with those that do not count.
    pub(super) fn faults(&self) -> &[String] {
        &self.faults
    }

    pub(super) fn has(&self, client: &ClientName) -> bool {
        self.read.contains_key(client)
    }

    /// Makes a new token for a client, in place of the one that it had.
    pub(super) fn make(&self, client: &ClientName) -> io::Result<NewToken> {
        let mut random = [0_u8; RANDOM_BYTES];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random));
        durable::create_dirs(&self.folder, FOLDER_MODE)?;
        let file = self.path(client);
        durable::replace(&file, &format!("{token}\n"), OWNER_ONLY)?;
        Ok(NewToken { file, token })
    }

    /// Takes a client's token away. False: it had none.
    pub(super) fn remove(&self, client: &ClientName) -> io::Result<bool> {
        match fs::remove_file(self.path(client)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// All tokens in a folder, with names for the redactor.
pub fn secrets_in(folder: &Path) -> Vec<(String, String)> {
    Tokens::new(folder.to_owned()).look()
}

fn files(folder: &Path) -> Vec<(ClientName, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let is_token = path.extension().is_some_and(|end| end == EXTENSION);
            let name = path.file_stem().filter(|_| is_token)?.to_str()?;
            Some((ClientName::new(name).ok()?, path.clone()))
        })
        .collect();
    found.sort();
    found
}

/// The token of a file, and whether it was not known.
fn read_if_changed(path: &Path, before: Option<ReadToken>) -> io::Result<(ReadToken, bool)> {
    let mut open = fs::OpenOptions::new();
    open.read(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    let file = open.open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || meta.mode() & 0o077 != 0 {
        let text = "others can read it; make it yours alone with chmod 600, or make a new one";
        return Err(io::Error::other(text));
    }
    let stamp = (meta.dev(), meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec());
    if let Some(before) = before.filter(|before| before.stamp == stamp) {
        return Ok((before, false));
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    let token = text.trim().to_owned();
    if token.len() < RANDOM_BYTES {
        return Err(io::Error::other("it holds no token"));
    }
    Ok((ReadToken { stamp, token }, true))
}
