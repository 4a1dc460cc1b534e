//! The seal of the audit: what a process with the key says of the newest row, beside it in the
//! store. Owns when a row is sealed, and what seal and noted head prove. Must not know files.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::OptionalExtension as _;
use serde_json::json;

use super::anchor::{Anchor, AuditHead, Noted};
use super::audit::{AuditEntry, Broken};
use super::{StoreError, Tx, meta};
use claw_domain::UnixMillis;

/// `KEY:NUMBER:MAC` of the newest row that was written with the key.
const SEAL: &str = meta::AUDIT_SEAL;
/// An audit that was there before it was sealed. Its older rows are proven by the chain alone.
pub(super) const BEGUN: &str = "anchor.begun";
/// Rows of processes that had no key, sealed from now on.
pub(super) const ADOPTED: &str = "anchor.adopted";
/// The owner has taken the audit as it is.
pub(super) const ACCEPTED: &str = "anchor.accepted";

/// What to do when the audit is not what was noted of it.
const NEXT: &str = "If you have restored a copy or moved this home yourself, `claw audit anchor \
    --accept` takes the audit as it is, and a row of it says so. Otherwise keep the home as it \
    is, and ask who else can write to it";

/// What proves that nobody has written the audit anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchored {
    /// There is no row yet, or none since there is a key.
    NotYet,
    /// Rows up to `sealed` are sealed with the key. `noted` is the newest head outside, and when
    /// that was written.
    Yes { key: String, sealed: i64, noted: Option<(i64, UnixMillis)> },
    /// This process has no key.
    Unknown,
}

struct Seal {
    key: String,
    number: i64,
    mac: String,
}

/// How the seal stands to the newest row.
enum Standing {
    /// There is none, and there never was.
    New,
    Sealed,
    /// Processes without the key have added the rows from this one on.
    Behind(i64),
    /// The seal is of another key.
    Foreign,
    /// It does not fit: no further row is sealed, so that nothing covers what has happened.
    Wrong,
}

impl Tx<'_> {
    fn seal(&self) -> Result<Option<Seal>, StoreError> {
        let Some(text) = self.seal_text()? else { return Ok(None) };
        let mut parts = text.splitn(3, ':');
        let (key, number, mac) = (parts.next(), parts.next(), parts.next());
        let seal = || {
            let key = key.filter(|key| key.chars().all(|c| c.is_ascii_alphanumeric()))?.to_owned();
            Some(Seal { key, number: number?.parse().ok()?, mac: mac?.to_owned() })
        };
        // What cannot be read fits nothing.
        Ok(Some(seal().unwrap_or(Seal { key: String::new(), number: 0, mac: String::new() })))
    }

    /// The seal as it stands there, whether or not it is UTF-8.
    fn seal_text(&self) -> Result<Option<String>, StoreError> {
        let mut query = self.conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        let text = |row: &rusqlite::Row<'_>| {
            Ok(String::from_utf8_lossy(row.get_ref(0)?.as_bytes().unwrap_or_default()).into_owned())
        };
        Ok(query.query_row([SEAL], text).optional()?)
    }

    /// Whether there is a seal, and no seal of any key can look so.
    pub(super) fn has_unreadable_seal(&self) -> Result<bool, StoreError> {
        Ok(self.seal()?.is_some_and(|seal| seal.key.is_empty()))
    }

    /// Whether the newest row is the one that was sealed last, by the key that is here.
    pub(super) fn is_sealed_head(&self) -> Result<bool, StoreError> {
        let Some(anchor) = self.anchor else { return Ok(false) };
        Ok(matches!(self.standing(anchor, &self.newest_audit()?)?, Standing::Sealed))
    }

    /// Whether rows were sealed with a key, whichever.
    pub(super) fn has_seal(&self) -> Result<bool, StoreError> {
        Ok(self.seal_text()?.is_some())
    }

    fn set_seal(&self, anchor: &Anchor, head: &AuditHead) -> Result<(), StoreError> {
        self.set_meta(
            SEAL,
            &format!("{}:{}:{}", anchor.key_name(), head.number, anchor.seal(head)),
        )?;
        anchor.owe();
        Ok(())
    }

    fn standing(&self, anchor: &Anchor, head: &AuditHead) -> Result<Standing, StoreError> {
        let Some(seal) = self.seal()? else {
            return Ok(if anchor.noted() == Noted::Nothing {
                Standing::New
            } else {
                Standing::Wrong
            });
        };
        if seal.key != anchor.key_name() {
            return Ok(Standing::Foreign);
        }
        let sealed = if seal.number == head.number {
            Some(head.digest.clone())
        } else {
            self.audit_hash(seal.number)?
        };
        let fits = |digest| anchor.seal(&AuditHead { number: seal.number, digest }) == seal.mac;
        Ok(match sealed {
            Some(digest) if !fits(digest.clone()) => Standing::Wrong,
            Some(_) if seal.number == head.number => Standing::Sealed,
            Some(_) if seal.number < head.number => Standing::Behind(seal.number + 1),
            _ => Standing::Wrong,
        })
    }

    /// Appends a row, and seals it if all before it is as the key's holders have left it.
    pub(super) fn append_sealed(
        &self,
        anchor: &Anchor,
        entry: &AuditEntry,
    ) -> Result<(), StoreError> {
        let head = self.newest_audit()?;
        let (key, row) =
            (anchor.key_name(), |kind, body| AuditEntry { kind, call: String::new(), body });
        match self.standing(anchor, &head)? {
            Standing::Foreign | Standing::Wrong => return self.append_audit(entry).map(|_| ()),
            Standing::New if head.number > 0 => {
                self.append_audit(&row(BEGUN, json!({"through": head.number, "key": key})))?;
            }
            Standing::Behind(from) => {
                self.append_audit(&row(
                    ADOPTED,
                    json!({"from": from, "through": head.number, "key": key}),
                ))?;
            }
            Standing::New | Standing::Sealed => {}
        }
        let head = self.append_audit(entry)?;
        self.set_seal(anchor, &head)
    }

    /// Takes the audit as it is, whatever was noted of it, and says so in a row with what was
    /// noted. Gives back that row.
    ///
    /// # Errors
    /// Where there is no key.
    pub(super) fn accept_audit(&self, by: &str) -> Result<AuditHead, StoreError> {
        let anchor = self.anchor.ok_or_else(|| {
            StoreError::Decode("there is no key to seal the audit with".to_owned())
        })?;
        let head = self.newest_audit()?;
        let noted = match anchor.noted() {
            Noted::Nothing => None,
            Noted::Head { head, .. } => Some(format!("{}:{}", head.number, head.digest)),
            Noted::Unusable(why) => Some(why),
        };
        let sealed = self.seal()?.map(|seal| json!({"key": seal.key, "number": seal.number}));
        let head = format!("{}:{}", head.number, head.digest);
        let body = json!({"by": by, "key": anchor.key_name(), "head": head, "sealed": sealed, "noted": noted});
        let head = self.append_audit(&AuditEntry { kind: ACCEPTED, call: String::new(), body })?;
        self.set_seal(anchor, &head)?;
        Ok(head)
    }

    /// Notes the newest row outside, if what is noted there is a row of this audit and older.
    pub(super) fn note_audit_head(&self) -> Result<(), StoreError> {
        let Some(anchor) = self.anchor else { return Ok(()) };
        let noted = self.at_one_moment(|| {
            let head = self.newest_audit()?;
            if !matches!(self.standing(anchor, &head)?, Standing::Sealed) {
                return Ok(Ok(()));
            }
            Ok(anchor.note(&head, |noted| match noted {
                Noted::Nothing => true,
                Noted::Head { head: noted, .. } => {
                    let same = self.audit_hash(noted.number).ok().flatten();
                    noted.number < head.number && same.as_ref() == Some(&noted.digest)
                }
                Noted::Unusable(_) => false,
            }))
        })?;
        noted.map_err(|error| {
            StoreError::Commit(format!("{}: {error}", anchor.head_file().display()))
        })
    }
}

/// What has to be looked up in the chain to compare it with seal, noted head, and what the owner
/// has noted.
pub(super) struct AuditEvidence<'a> {
    anchor: Option<&'a Anchor>,
    seal: Option<Seal>,
    noted: Noted,
    told: Option<&'a AuditHead>,
    hashes: BTreeMap<i64, String>,
    wanted: BTreeSet<i64>,
}

impl<'a> AuditEvidence<'a> {
    /// `noted` was read before the moment at which the audit is looked at.
    pub(super) fn collect(
        tx: &Tx<'a>,
        noted: Noted,
        told: Option<&'a AuditHead>,
    ) -> Result<Self, StoreError> {
        let seal = tx.seal()?;
        #[cfg(test)]
        super::tests::audit::after_seal_was_read();
        let of_noted = if let Noted::Head { head, .. } = &noted { Some(head.number) } else { None };
        let wanted =
            [seal.as_ref().map(|seal| seal.number), of_noted, told.map(|told| told.number)];
        let wanted = wanted.into_iter().flatten().collect();
        Ok(Self { anchor: tx.anchor, seal, noted, told, hashes: BTreeMap::new(), wanted })
    }

    /// A row of the chain, which holds up to here.
    pub(super) fn see(&mut self, number: i64, hash: &str) {
        if self.wanted.contains(&number) {
            self.hashes.insert(number, hash.to_owned());
        }
    }

    /// Compares. `last` is the newest row of a chain that holds.
    pub(super) fn judge(&self, last: i64) -> Result<Anchored, Broken> {
        self.judge_told(last)?;
        let Some(anchor) = self.anchor else { return Ok(Anchored::Unknown) };
        let noted = match &self.noted {
            Noted::Nothing => None,
            Noted::Head { head, at_ms } => {
                self.judge_noted(head, *at_ms, last)?;
                Some((head.number, *at_ms))
            }
            Noted::Unusable(why) => {
                return Err(broken(
                    last,
                    format!("the head outside of the store proves nothing: {why}"),
                ));
            }
        };
        let Some(seal) = &self.seal else {
            return match noted {
                None => Ok(Anchored::NotYet),
                Some((number, _)) => {
                    Err(broken(number, "the seal of the audit is missing".to_owned()))
                }
            };
        };
        if seal.key.is_empty() {
            return Err(broken(last, "the seal of the audit cannot be read".to_owned()));
        }
        if seal.key != anchor.key_name() {
            let ours = anchor.key_name();
            let what = format!(
                "the audit is sealed with the key {}, and the key here is {ours}",
                seal.key
            );
            return Err(broken(last, what));
        }
        if seal.number > last {
            let what = format!(
                "the rows after {last} are missing: row {} was sealed with the key",
                seal.number
            );
            return Err(broken(last + 1, what));
        }
        let digest = self.hashes.get(&seal.number).cloned().unwrap_or_default();
        if anchor.seal(&AuditHead { number: seal.number, digest }) != seal.mac {
            let what = format!(
                "the rows up to {} were written anew by somebody who does not have the key",
                seal.number
            );
            return Err(broken(seal.number, what));
        }
        Ok(Anchored::Yes { key: seal.key.clone(), sealed: seal.number, noted })
    }

    fn judge_noted(&self, noted: &AuditHead, at_ms: UnixMillis, last: i64) -> Result<(), Broken> {
        let (number, at) = (noted.number, minute(at_ms));
        if number > last {
            let what = format!(
                "the rows after {last} are missing: row {number} was noted outside of the store \
                 at {at}"
            );
            return Err(broken(last + 1, what));
        }
        if self.hashes.get(&number) != Some(&noted.digest) {
            return Err(broken(
                number,
                format!("row {number} is not the one that was noted outside of the store at {at}"),
            ));
        }
        Ok(())
    }

    /// What the owner has noted may be only the beginning of a digest.
    fn judge_told(&self, last: i64) -> Result<(), Broken> {
        let Some(told) = self.told else { return Ok(()) };
        let number = told.number;
        if number > last {
            let what = format!("the rows after {last} are missing: you have noted row {number}");
            return Err(broken(last + 1, what));
        }
        match self.hashes.get(&number) {
            Some(hash) if hash.starts_with(&told.digest) => Ok(()),
            Some(_) => {
                Err(broken(number, format!("row {number} is not the one that you have noted")))
            }
            None => Err(broken(
                number,
                format!(
                    "row {number} went by [retention] and cannot be compared; note a newer head"
                ),
            )),
        }
    }

    /// The newest row that has a seal, 0 for none.
    pub(super) fn sealed(&self) -> i64 {
        self.seal.as_ref().map_or(0, |seal| seal.number)
    }
}

fn broken(row: i64, what: String) -> Broken {
    Broken { row, what, next: Some(NEXT) }
}

/// A moment as a person reads it.
fn minute(at_ms: UnixMillis) -> String {
    let at = jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default();
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
