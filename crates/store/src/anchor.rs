//! What proves the audit from outside of the store: a key, and the newest head in a file beside it.
//! Owns both files; must not know SQL.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::Sha256;

use super::now_ms;
use claw_domain::UnixMillis;
use claw_domain::canonical::{canonical_json, hex, sha256_hex};
use claw_kit::durable::{self, Part};

/// A key of fewer bytes could be guessed. What claw makes has 64 (32 random ones, as hexadecimal
/// digits).
const KEY_BYTES_MIN: usize = 32;
/// Digits of a digest that tell keys, and stores, from one another.
const SHORT_DIGITS: usize = 16;

/// Where the key and the heads are.
#[derive(Clone, Debug)]
pub struct AnchorPlace {
    /// An owner-only folder, made if it is not there.
    pub folder: PathBuf,
    /// A file with a key that somebody else provides, in place of the one in the folder.
    pub credential: Option<PathBuf>,
}

/// The newest row of the audit: its number, and its hash, which is a digest over all rows before
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditHead {
    pub number: i64,
    pub digest: String,
}

/// What the file outside says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Noted {
    Nothing,
    Head {
        head: AuditHead,
        at_ms: UnixMillis,
    },
    /// It is there and proves nothing, with the reason.
    Unusable(String),
}

/// The file's form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    number: i64,
    digest: String,
    at_ms: UnixMillis,
    store: String,
    key: String,
    mac: String,
}

/// Key and head file of one store, whose handle and writer share this until the last of them goes.
/// Nothing but `owed` changes.
#[derive(Debug)]
pub struct Anchor {
    /// Read, or made, when the store was opened.
    key: Key,
    /// The path of the store, links resolved.
    store: String,
    head_file: PathBuf,
    /// Held by a process while it writes the head file.
    lock_file: PathBuf,
    /// This process has added rows since it last noted the head.
    owed: AtomicBool,
}

struct Key {
    mac: Hmac<Sha256>,
    name: String,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Anchor {
    /// Reads the key, and makes one at the first start. `store` is the database, which has to be
    /// there.
    ///
    /// # Errors
    /// A sentence without its end: why there is no key, and which file it is about.
    pub fn open(place: &AnchorPlace, store: &Path) -> Result<Self, String> {
        let key = key_of(place)?;
        let store = store
            .canonicalize()
            .unwrap_or_else(|_| store.to_owned())
            .to_string_lossy()
            .into_owned();
        let id = short(&sha256_hex(&store));
        Ok(Self {
            key,
            store,
            head_file: place.folder.join(format!("audit-{id}.head")),
            lock_file: place.folder.join(format!("audit-{id}.lock")),
            owed: AtomicBool::new(false),
        })
    }

    /// Which key this is: the beginning of a digest of it.
    pub fn key_name(&self) -> &str {
        &self.key.name
    }

    /// Where the newest head is noted.
    pub fn head_file(&self) -> &Path {
        &self.head_file
    }

    /// The proof that somebody with the key has seen the chain end here.
    pub(super) fn seal(&self, head: &AuditHead) -> String {
        self.mac(&json!(["claw audit seal", head.number, head.digest]).to_string())
    }

    fn mac(&self, text: &str) -> String {
        let mut mac = self.key.mac.clone();
        mac.update(text.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    fn mac_of(&self, head: &AuditHead, at_ms: UnixMillis) -> String {
        self.mac(
            &json!(["claw audit head", head.number, head.digest, at_ms, self.store]).to_string(),
        )
    }

    pub(super) fn noted(&self) -> Noted {
        let file = self.head_file.display();
        let text = match fs::read_to_string(&self.head_file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Noted::Nothing,
            Err(error) => return Noted::Unusable(format!("{file} cannot be read: {error}")),
        };
        let Ok(written) = serde_json::from_str::<Written>(&text) else {
            return Noted::Unusable(format!("{file} is not as claw has written it"));
        };
        if written.key != self.key.name {
            let (theirs, ours) = (&written.key, &self.key.name);
            return Noted::Unusable(format!(
                "{file} was written with the key {theirs}, and this is {ours}"
            ));
        }
        let head = AuditHead { number: written.number, digest: written.digest };
        if self.mac_of(&head, written.at_ms) != written.mac {
            return Noted::Unusable(format!(
                "{file} was changed by somebody who does not have the key"
            ));
        }
        Noted::Head { head, at_ms: written.at_ms }
    }

    pub(super) fn owe(&self) {
        self.owed.store(true, Ordering::Relaxed);
    }

    pub(super) fn owes(&self) -> bool {
        self.owed.load(Ordering::Relaxed)
    }

    /// Notes a head, if `fits` takes what is noted already. One process at a time; a kill leaves
    /// the old one or the new one.
    pub(super) fn note(
        &self,
        head: &AuditHead,
        fits: impl FnOnce(&Noted) -> bool,
    ) -> io::Result<()> {
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&self.lock_file)?;
        flock(&lock, FlockOperation::LockExclusive)?;
        self.owed.store(false, Ordering::Relaxed);
        if !fits(&self.noted()) {
            return Ok(());
        }
        let at_ms = now_ms();
        let written = Written {
            number: head.number,
            digest: head.digest.clone(),
            at_ms,
            store: self.store.clone(),
            key: self.key.name.clone(),
            mac: self.mac_of(head, at_ms),
        };
        let text = canonical_json(&json!(written)) + "\n";
        let mut part = Part::beside(&self.head_file)?;
        part.file.write_all(text.as_bytes())?;
        part.replace(&self.head_file)
    }
}

fn key_of(place: &AnchorPlace) -> Result<Key, String> {
    let cannot = |path: &Path, what: &str, error: &io::Error| {
        format!("{} cannot be {what}: {error}", path.display())
    };
    // With the names of new folders on the disk: after a power loss a key without them is lost, and
    // what it has sealed is not.
    durable::create_dirs(&place.folder, 0o700)
        .map_err(|error| cannot(&place.folder, "made", &error))?;
    if let Some(file) = &place.credential {
        // systemd shows what its access list allows as the group's rights.
        return read_key(file, 0o007).map_err(|error| cannot(file, "read", &error))?;
    }
    let file = place.folder.join("audit.key");
    match read_key(&file, 0o077) {
        Ok(key) => return key,
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(cannot(&file, "read", &error));
        }
        Err(_) => {}
    }
    make_key(&file).map_err(|error| cannot(&file, "made", &error))?;
    read_key(&file, 0o077).map_err(|error| cannot(&file, "read", &error))?
}

/// `open_to_others` are the bits of the mode that no key has. The outer error is the system's, the
/// inner one says what is wrong with the key.
fn read_key(file: &Path, open_to_others: u32) -> io::Result<Result<Key, String>> {
    let bytes = fs::read(file)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & open_to_others != 0 {
        let file = file.display();
        return Ok(Err(format!(
            "{file} can be opened by others (mode {mode:o}); `chmod 600 {file}` and start again"
        )));
    }
    let bytes = bytes.trim_ascii();
    let usable = Some(bytes).filter(|bytes| bytes.len() >= KEY_BYTES_MIN);
    let mac = usable.and_then(|bytes| Hmac::<Sha256>::new_from_slice(bytes).ok());
    let Some(mac) = mac else {
        return Ok(Err(format!(
            "{} holds fewer than {KEY_BYTES_MIN} bytes, which is no key",
            file.display()
        )));
    };
    let name = short(&sha256_hex([b"claw audit key:".as_slice(), bytes].concat()));
    Ok(Ok(Key { mac, name }))
}

/// Of two processes that make one at the same moment, both get the one that was there first. It is
/// on the disk before anything is sealed with it: a key that is lost proves nothing.
fn make_key(file: &Path) -> io::Result<()> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let mut part = Part::beside(file)?;
    part.file.write_all((hex(&bytes) + "\n").as_bytes())?;
    match part.publish(file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        published => published,
    }
}

fn short(digest: &str) -> String {
    digest.chars().take(SHORT_DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(dir: &Path) -> AnchorPlace {
        AnchorPlace { folder: dir.join("state/claw"), credential: None }
    }

    fn head(number: i64) -> AuditHead {
        AuditHead { number, digest: sha256_hex(number.to_string()) }
    }

    #[test]
    fn the_key_is_made_once_and_is_the_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let made = Anchor::open(&place(dir.path()), dir.path()).unwrap();
        let again = Anchor::open(&place(dir.path()), dir.path()).unwrap();
        assert_eq!(made.seal(&head(1)), again.seal(&head(1)));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let folder = place(dir.path()).folder;
        assert_eq!((mode(&folder), mode(&folder.join("audit.key"))), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_key_that_others_can_read_or_that_is_too_short_is_refused_with_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("given");
        let given = AnchorPlace { credential: Some(file.clone()), ..place(dir.path()) };
        fs::write(&file, "short").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Anchor::open(&given, dir.path()).unwrap_err().contains("fewer than 32 bytes"));
        fs::write(&file, "k".repeat(40)).unwrap();
        assert!(Anchor::open(&given, dir.path()).is_ok());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Anchor::open(&given, dir.path()).unwrap_err().contains("mode 644"));
    }

    #[test]
    fn the_head_comes_back_and_nobody_else_can_write_one() {
        let dir = tempfile::tempdir().unwrap();
        let anchor = Anchor::open(&place(dir.path()), dir.path()).unwrap();
        assert_eq!(anchor.noted(), Noted::Nothing);
        anchor.note(&head(4), |noted| *noted == Noted::Nothing).unwrap();
        assert!(matches!(anchor.noted(), Noted::Head { head: noted, .. } if noted == head(4)));
        anchor.note(&head(5), |_| false).unwrap();
        assert!(
            matches!(anchor.noted(), Noted::Head { head: noted, .. } if noted == head(4)),
            "it did not fit"
        );
        let text = fs::read_to_string(anchor.head_file()).unwrap();
        fs::write(anchor.head_file(), text.replace("\"number\":4", "\"number\":3")).unwrap();
        assert!(
            matches!(anchor.noted(), Noted::Unusable(why) if why.contains("does not have the key"))
        );
        fs::write(anchor.head_file(), "").unwrap();
        assert!(matches!(anchor.noted(), Noted::Unusable(_)));
    }
}
