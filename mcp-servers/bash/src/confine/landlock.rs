//! The two Landlock layers (<https://docs.kernel.org/userspace-api/landlock.html>), best effort up
//! to the newest ABI. Must not know which paths are given.

use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, LandlockStatus, PathBeneath, PathFd, PathFdError,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::{Boundary, Inner};

/// The newest ABI that was read and understood here; the crate takes away what an older kernel does
/// not know.
const NEWEST: ABI = ABI::V9;

#[derive(Debug, thiserror::Error)]
pub enum LandlockError {
    #[error("Landlock: {0}")]
    Ruleset(#[from] RulesetError),
    #[error("{path} cannot be opened: {source}")]
    Path { path: PathBuf, source: PathFdError },
}

/// Closes the outer layer around this thread and all that it starts. Gives the ABI in force, 0 for
/// none.
pub fn restrict(boundary: &Boundary) -> Result<u32, LandlockError> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    let device = AccessFs::from_file(NEWEST) & !AccessFs::Execute;
    let mut ruleset =
        Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?.create()?;
    for path in boundary.writable.iter().chain(&boundary.cgroup) {
        // These must be there; a box without a workspace would be a riddle to whoever sits in
        // it.
        let fd = PathFd::new(path)
            .map_err(|source| LandlockError::Path { path: path.clone(), source })?;
        let access = if path.is_file() { AccessFs::from_file(NEWEST) } else { all };
        ruleset = ruleset.add_rule(PathBeneath::new(fd, access))?;
    }
    let status = ruleset
        .add_rules(path_beneath_rules(&boundary.readable, read))?
        .add_rules(path_beneath_rules(
            &boundary.own_program,
            AccessFs::Execute | AccessFs::ReadFile,
        ))?
        .add_rules(path_beneath_rules(&boundary.devices, device))?
        .restrict_self()?;
    Ok(abi_in_force(&status))
}

/// Closes the inner layer around this thread and all that it starts. It takes away writing outside
/// of the writable places and the devices, and where `inner` says so all reading but what it names;
/// and it makes the processes outside of it untouchable (signals from ABI 6 on).
pub fn isolate(inner: &Inner) -> Result<(), LandlockError> {
    let write = AccessFs::from_write(NEWEST);
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let handled = if inner.reading.is_some() { AccessFs::from_all(NEWEST) } else { write };
    let device = AccessFs::from_file(NEWEST) & !AccessFs::Execute & handled;
    let mut ruleset = Ruleset::default()
        .handle_access(handled)?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(&inner.writable, write))?
        .add_rules(path_beneath_rules(super::paths::devices(), device))?;
    if let Some(reading) = &inner.reading {
        ruleset = ruleset
            .add_rules(path_beneath_rules(&reading.programs, look | AccessFs::Execute))?
            .add_rules(path_beneath_rules(&reading.data, look))?;
    }
    ruleset.restrict_self().map(|_| ()).map_err(LandlockError::from)
}

fn abi_in_force(status: &RestrictionStatus) -> u32 {
    match (&status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi as u32,
        _ => 0,
    }
}
