//! The two Landlock layers (<https://docs.kernel.org/userspace-api/landlock.html>), best effort up
//! to the newest ABI. Must not know which paths are given.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, PathFdError,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

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
    #[error("{path} cannot be opened: {source}")]
    Writable { path: PathBuf, source: io::Error },
}

/// Closes the outer layer around this thread and all that it starts. Gives the ABI in force, 0 for
/// none.
pub fn restrict(boundary: &Boundary) -> Result<u32, LandlockError> {
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    let device = AccessFs::from_file(NEWEST) & !AccessFs::Execute;
    let mut ruleset =
        Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?.create()?;
    // These must be there; a box without a workspace would be a riddle to whoever sits in it.
    for path in &boundary.writable {
        let rule = beneath(path, all)
            .map_err(|source| LandlockError::Writable { path: path.clone(), source })?;
        ruleset = ruleset.add_rule(rule)?;
    }
    if let Some(path) = &boundary.cgroup {
        let fd = PathFd::new(path)
            .map_err(|source| LandlockError::Path { path: path.clone(), source })?;
        ruleset = ruleset.add_rule(PathBeneath::new(fd, all))?;
    }
    // A folder may lie in one that a command changes, such as an opened one.
    for rule in boundary.readable.iter().filter_map(|path| beneath(path, read).ok()) {
        ruleset = ruleset.add_rule(rule)?;
    }
    let status = ruleset
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
        .add_rules(path_beneath_rules(super::paths::devices(), device))?;
    // What has become something else since it was named stays closed.
    for rule in inner.writable.iter().filter_map(|path| beneath(path, write).ok()) {
        ruleset = ruleset.add_rule(rule)?;
    }
    if let Some(reading) = &inner.reading {
        let run = look | AccessFs::Execute;
        let programs = reading.programs.iter().filter_map(|path| beneath(path, run).ok());
        let data = reading.data.iter().filter_map(|path| beneath(path, look).ok());
        for rule in programs.chain(data) {
            ruleset = ruleset.add_rule(rule)?;
        }
    }
    ruleset.restrict_self().map(|_| ()).map_err(LandlockError::from)
}

/// A rule for what lies at a real path. Commands run meanwhile, and one of them may have put a link
/// into its place: no link is followed anywhere on the way.
fn beneath(path: &Path, access: BitFlags<AccessFs>) -> io::Result<PathBeneath<File>> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let file = File::from(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?);
    let is_folder = file.metadata()?.is_dir();
    let access = if is_folder { access } else { access & AccessFs::from_file(NEWEST) };
    Ok(PathBeneath::new(file, access))
}

fn abi_in_force(status: &RestrictionStatus) -> u32 {
    match (&status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi as u32,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_was_put_into_the_place_of_a_folder_opens_nothing() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("secrets/below")).unwrap();
        let place = base.join("place");
        symlink(base.join("secrets"), &place).unwrap();
        for path in [place.clone(), place.join("below")] {
            assert!(beneath(&path, AccessFs::from_all(NEWEST)).is_err(), "{}", path.display());
            let boundary = Boundary { writable: vec![path], ..Boundary::default() };
            let closed = std::thread::spawn(move || restrict(&boundary)).join().unwrap();
            assert!(matches!(closed, Err(LandlockError::Writable { .. })), "{closed:?}");
        }
        assert!(beneath(&base.join("secrets/below"), AccessFs::from_all(NEWEST)).is_ok());
    }
}
