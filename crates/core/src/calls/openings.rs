//! What is open to commands by name: permanently by `claw.toml`, or for a time, as a grant of a
//! shape of its own under a name that no server has. It is opened, found, and closed here. Must not
//! know how a command reaches it.

mod handed_out;

use std::path::{Path, PathBuf};

use serde_json::json;

pub use handed_out::HandedOut;

use super::Calls;
use crate::domain::{GrantEffect, Opening, Origin, ToolCall, UnixMillis, audit_kind};
use crate::policy::{openings, shape::Shape};
use crate::store::{AuditEntry, GrantRow, NewGrant, StoreError, Tx};

const SERVER: &str = "claw";
const TOOL: &str = "opening";

/// An opening that is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningInForce {
    pub opening: Opening,
    /// When it ends. `None`: `claw.toml` opens it.
    pub until_ms: Option<UnixMillis>,
    /// The grant that it is, if it is one.
    pub grant: Option<i64>,
}

/// A folder that is open to every command for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderInForce {
    /// The real folder.
    pub path: PathBuf,
    pub to_write: bool,
    pub until_ms: Option<UnixMillis>,
    pub grant: i64,
}

impl Calls {
    /// The folders that are open for a time. Those of `claw.toml` are the server's own.
    pub fn open_folders(&self) -> Result<Vec<FolderInForce>, StoreError> {
        self.store.read(timed_folders)
    }

    /// All that are in force, those of `claw.toml` first.
    pub fn openings(&self) -> Result<Vec<OpeningInForce>, StoreError> {
        let standing = self.standing_openings().into_iter();
        let standing =
            standing.map(|opening| OpeningInForce { opening, until_ms: None, grant: None });
        Ok(standing.chain(self.store.read(timed)?).collect())
    }

    /// What `claw.toml` opens.
    pub fn standing_openings(&self) -> Vec<Opening> {
        self.limits().openings
    }

    /// The openings that this call names, if all of them are in force; otherwise what the model is
    /// told.
    pub fn opened_for(&self, call: &ToolCall) -> Result<Result<Vec<Opening>, String>, StoreError> {
        let named = match openings::named(&self.facts(call, None)) {
            Ok(named) => named,
            Err(why) => return Ok(Err(why.to_owned())),
        };
        if named.is_empty() {
            return Ok(Ok(named));
        }
        let open = self.openings()?;
        let is_closed = |name: &&Opening| !open.iter().any(|one| one.opening == **name);
        Ok(match named.iter().find(is_closed) {
            None => Ok(named),
            Some(name) => Err(format!(
                "{name} is not open to commands; the owner opens it by `{} open {name} --for 1h`, \
                 or by open = [\"{name}\"] under [box] in claw.toml",
                self.claw()
            )),
        })
    }
}

/// Those that are open for a time.
pub fn timed(tx: &Tx<'_>) -> Result<Vec<OpeningInForce>, StoreError> {
    let of_row = |(shape, row): (Shape, GrantRow)| match shape {
        Shape::Opening { opening } => {
            Some(OpeningInForce { opening, until_ms: row.expires_ms, grant: Some(row.id) })
        }
        _ => None,
    };
    Ok(rows(tx)?.into_iter().filter_map(of_row).collect())
}

fn timed_folders(tx: &Tx<'_>) -> Result<Vec<FolderInForce>, StoreError> {
    let of_row = |(shape, row): (Shape, GrantRow)| match shape {
        Shape::Folder { path, write } => Some(FolderInForce {
            path: path.into(),
            to_write: write,
            until_ms: row.expires_ms,
            grant: row.id,
        }),
        _ => None,
    };
    Ok(rows(tx)?.into_iter().filter_map(of_row).collect())
}

fn rows(tx: &Tx<'_>) -> Result<Vec<(Shape, GrantRow)>, StoreError> {
    let of_row = |row: GrantRow| {
        let shape = serde_json::from_str(&row.shape).ok()?;
        (row.effect == GrantEffect::Allow).then_some((shape, row))
    };
    Ok(tx.grants_for(SERVER, TOOL)?.into_iter().filter_map(of_row).collect())
}

/// Opens it until then, in the name of `by`, a principal. Takes the place of what was said before.
pub fn open_in(
    tx: &Tx<'_>,
    opening: Opening,
    until_ms: UnixMillis,
    by: &str,
) -> Result<(), StoreError> {
    let shape = Shape::Opening { opening };
    revoke_in(tx, |one| *one == shape)?;
    let says = format!("{opening} is open to commands that ask for it: {}", opening.cost());
    let grant = add_in(tx, &shape, says, until_ms, by)?;
    let body = json!({"opening": opening, "by": by, "grant": grant, "until_ms": until_ms});
    tx.audit(&AuditEntry { kind: audit_kind::OPENED, call: String::new(), body })
}

/// Opens a folder until then, whose real path and cost the caller has found. Takes the place of
/// what was said of it before.
pub fn open_folder_in(
    tx: &Tx<'_>,
    folder: (&Path, bool),
    cost: &str,
    until_ms: UnixMillis,
    by: &str,
) -> Result<(), StoreError> {
    let (path, write) = (folder.0.display().to_string(), folder.1);
    revoke_in(tx, |one| matches!(one, Shape::Folder { path: had, .. } if *had == path))?;
    let says = format!("{path} is open to commands: {cost}");
    let grant = add_in(tx, &Shape::Folder { path: path.clone(), write }, says, until_ms, by)?;
    let body =
        json!({"folder": path, "write": write, "by": by, "grant": grant, "until_ms": until_ms});
    tx.audit(&AuditEntry { kind: audit_kind::OPENED, call: String::new(), body })
}

/// Closes a folder that was opened for a time. False when it was not.
pub fn close_folder_in(tx: &Tx<'_>, path: &Path, by: &str) -> Result<bool, StoreError> {
    let path = path.display().to_string();
    if revoke_in(tx, |one| matches!(one, Shape::Folder { path: had, .. } if *had == path))? == 0 {
        return Ok(false);
    }
    let body = json!({"folder": path, "by": by});
    tx.audit(&AuditEntry { kind: audit_kind::CLOSED, call: String::new(), body })?;
    Ok(true)
}

fn add_in(
    tx: &Tx<'_>,
    shape: &Shape,
    says: String,
    until_ms: UnixMillis,
    by: &str,
) -> Result<i64, StoreError> {
    tx.add_grant(&NewGrant {
        effect: GrantEffect::Allow,
        principal: by.to_owned(),
        session: None,
        server: SERVER.to_owned(),
        tool: TOOL.to_owned(),
        shape: serde_json::to_string(shape)?,
        origin: Origin::Owner,
        says,
        expires_ms: Some(until_ms),
        approval: String::new(),
    })
}

/// Closes what was opened for a time. False when it was not.
pub fn close_in(tx: &Tx<'_>, opening: Opening, by: &str) -> Result<bool, StoreError> {
    if revoke_in(tx, |one| *one == Shape::Opening { opening })? == 0 {
        return Ok(false);
    }
    let body = json!({"opening": opening, "by": by});
    tx.audit(&AuditEntry { kind: audit_kind::CLOSED, call: String::new(), body })?;
    Ok(true)
}

/// Closes all that is open for a time: the stop switch was used.
pub fn close_all_in(tx: &Tx<'_>) -> Result<usize, StoreError> {
    revoke_in(tx, |_| true)
}

fn revoke_in(tx: &Tx<'_>, which: impl Fn(&Shape) -> bool) -> Result<usize, StoreError> {
    let found = rows(tx)?.into_iter().filter(|(shape, _)| which(shape));
    let grants: Vec<i64> = found.map(|(_, row)| row.id).collect();
    grants.iter().try_fold(0, |closed, id| Ok(closed + usize::from(tx.revoke_grant(*id)?)))
}
