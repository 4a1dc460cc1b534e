//! What a file has beside its text: owner, group, permission bits, and extended attributes (with
//! them its ACL). Owns how a file that takes another one's place gets them, and what could not be
//! kept. Must not know what is in a file, or who replaces it.

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::fchown;

use rustix::fs::{Mode, XattrFlags, fchmod, fgetxattr, flistxattr, fremovexattr, fsetxattr, fstat};
use rustix::io::Errno;

/// Linux holds no longer value and no longer list of names (xattr(7)).
const BYTES_MAX: usize = 64 * 1024;
/// Who else may read and write a file (acl(5)). A new file inherits one from its folder.
const ACL: &[u8] = b"system.posix_acl_access";
/// Which rules of SELinux hold for a file.
const LABEL: &[u8] = b"security.selinux";
/// What the system has to say of the very file: digests of its text, rights of a program, layers.
const OF_THE_SYSTEM: [&[u8]; 3] = [b"security.", b"trusted.", b"com.apple.provenance"];

/// Whose a file is, and who may do what with it.
#[derive(Clone, Copy, Debug)]
pub struct Rights {
    pub user: u32,
    pub group: u32,
    /// Permission bits alone.
    pub mode: u32,
}

/// What a file could not be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    pub owner: bool,
    pub group: bool,
    pub attributes: bool,
}

impl Lost {
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.owner, "owner"),
            (self.group, "group"),
            (self.attributes, "extended attributes"),
        ];
        all.into_iter().filter_map(|(is_lost, name)| is_lost.then_some(name)).collect()
    }

    /// A sentence with a space before it, or nothing.
    pub fn sentence(self) -> String {
        match self.names().as_slice() {
            [] => String::new(),
            names => format!(" Not kept: its {}.", names.join(", its ")),
        }
    }
}

/// Gives a new file what the old one has. The owner and a strange group need rights that few
/// processes have, and so do some attributes: what is refused is lost, and the file is good all the
/// same. A group that takes the place of another one may do no more than everybody may.
///
/// `source` is the old file, open for reading. Without it its attributes are lost.
///
/// # Errors
/// The permission bits cannot be set.
pub fn copy(old: Rights, source: Option<BorrowedFd<'_>>, new: BorrowedFd<'_>) -> io::Result<Lost> {
    let now = fstat(new)?;
    let group = now.st_gid != old.group && fchown(new, None, Some(old.group)).is_err();
    let attributes = !source.is_some_and(|source| copy_attributes(source, new));
    let mode = if group { old.mode & (0o707 | ((old.mode & 0o007) << 3)) } else { old.mode };
    // Behind the ACL, whose mask these bits are; before the file is somebody else's.
    fchmod(new, Mode::from_raw_mode(mode as _))?;
    let owner = now.st_uid != old.user && fchown(new, Some(old.user), None).is_err();
    Ok(Lost { owner, group, attributes })
}

/// Whether the new file has all of them now.
fn copy_attributes(old: BorrowedFd<'_>, new: BorrowedFd<'_>) -> bool {
    let names = match names(old) {
        Ok(names) => names,
        // There are none on this file system.
        Err(Errno::NOTSUP | Errno::NOSYS) => return true,
        Err(_) => return false,
    };
    if !names.iter().any(|name| name == ACL) {
        let _ = fremovexattr(new, ACL);
    }
    let lost = names.iter().filter(|name| is_kept(name)).filter(|name| {
        let copied = value(old, name).and_then(|value_of_old| {
            if value(new, name).is_ok_and(|value_of_new| value_of_new == value_of_old) {
                return Ok(());
            }
            fsetxattr(new, name.as_slice(), &value_of_old, XattrFlags::empty())
        });
        copied.is_err()
    });
    lost.count() == 0
}

fn is_kept(name: &[u8]) -> bool {
    name == LABEL || !OF_THE_SYSTEM.iter().any(|prefix| name.starts_with(prefix))
}

fn names(file: BorrowedFd<'_>) -> Result<Vec<Vec<u8>>, Errno> {
    let mut list = vec![0; BYTES_MAX];
    let length = flistxattr(file, &mut list)?;
    let names = list[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(<[u8]>::to_vec).collect())
}

fn value(file: BorrowedFd<'_>, name: &[u8]) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; BYTES_MAX];
    let length = fgetxattr(file, name, &mut value)?;
    value.truncate(length);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn what_is_lost_is_named() {
        assert_eq!(Lost::default().sentence(), "");
        let lost = Lost { owner: true, group: true, attributes: false };
        assert_eq!(lost.sentence(), " Not kept: its owner, its group.");
    }

    #[test]
    fn what_the_system_says_of_a_file_is_no_part_of_it() {
        for name in ["user.k", "system.posix_acl_access", "security.selinux", "btrfs.compression"] {
            assert!(is_kept(name.as_bytes()), "{name}");
        }
        for name in ["security.capability", "security.ima", "trusted.overlay.opaque"] {
            assert!(!is_kept(name.as_bytes()), "{name}");
        }
    }

    /// No group has this number, so that only root can give a file to it.
    #[test]
    fn another_group_may_do_no_more_than_everybody() {
        let temp = tempfile::tempdir().unwrap();
        let (old, new) = (temp.path().join("old"), temp.path().join("new"));
        let (old, new) = (File::create(old).unwrap(), File::create(new).unwrap());
        let now = new.metadata().unwrap();
        for (mode, cut) in [(0o640, 0o600), (0o664, 0o644), (0o604, 0o604), (0o751, 0o711)] {
            let rights = Rights { user: now.uid(), group: 4_000_000_001, mode };
            let lost = copy(rights, Some(old.as_fd()), new.as_fd()).unwrap();
            let now = new.metadata().unwrap();
            let expected = if lost.group { cut } else { mode };
            assert_eq!(now.mode() & 0o777, expected, "{lost:?}");
            assert_eq!(lost.group, now.gid() != rights.group);
            assert!(!lost.owner);
        }
    }
}
