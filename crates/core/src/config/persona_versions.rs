//! Earlier versions of the files of a persona, a file each, found by digest. Bounded in number and
//! bytes. Must not know who changes a persona, or who looks at it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::PromptSection;
use super::persona::{PersonaFile, PersonaSources};
use crate::domain::canonical::sha256_hex;
use crate::domain::{DIGEST_DIGITS, UnixMillis};
use crate::durable;

const OWNER_ONLY_FILE: u32 = 0o600;
const OWNER_ONLY_DIR: u32 = 0o700;

/// Where they are, and how many are kept.
#[derive(Clone, Debug)]
pub struct PersonaVersions {
    folder: PathBuf,
    /// Of each file.
    versions_max: u64,
    /// Of all files together.
    bytes_max: u64,
}

/// One version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaVersion {
    /// `SOUL.md`, or `ROLE@SOUL.md` for a role's own.
    pub name: String,
    /// The first digits of the SHA-256 of its text, as the account of a prompt has them.
    pub digest: String,
    /// When it was first seen since it counted last.
    pub at_ms: UnixMillis,
    pub bytes: u64,
    path: PathBuf,
}

impl PersonaVersion {
    /// # Errors
    /// The file cannot be read.
    pub fn text(&self) -> io::Result<String> {
        fs::read_to_string(&self.path)
    }
}

impl PersonaVersions {
    pub fn new(folder: PathBuf, limits: PromptSection) -> Self {
        let (versions_max, kib) = (limits.persona_versions_max, limits.persona_versions_kib_max);
        Self { folder, versions_max, bytes_max: kib * 1024 }
    }

    /// Keeps a file as it is now, unless that is the newest version already. One that is longer
    /// than what a model gets of it is not kept: nobody could put it back whole.
    ///
    /// # Errors
    /// Every failure to write; then nothing was kept.
    pub fn keep(&self, file: &PersonaFile, at_ms: UnixMillis) -> io::Result<()> {
        if file.text.is_empty() || file.is_cut {
            return Ok(());
        }
        let (name, digest) = (name_of(file), digest(&file.text));
        let folder = self.folder.join(&name);
        let known = versions_in(&folder, &name);
        if known.last().is_some_and(|newest| newest.digest == digest) {
            return Ok(());
        }
        durable::create_dirs(&folder, OWNER_ONLY_DIR)?;
        // A clock that went back must not make an older one the newest.
        let at_ms = at_ms.max(known.last().map_or(0, |newest| newest.at_ms + 1));
        let path = folder.join(format!("{at_ms:015}-{digest}"));
        durable::replace(&path, &file.text, OWNER_ONLY_FILE)?;
        let same = known.iter().filter(|known| known.digest == digest);
        same.for_each(|known| drop(fs::remove_file(&known.path)));
        self.prune();
        Ok(())
    }

    /// All versions, by file, the newest first.
    pub fn all(&self) -> Vec<PersonaVersion> {
        let found = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let names: BTreeSet<String> =
            found.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let of = |name: &String| {
            let mut versions = versions_in(&self.folder.join(name), name);
            versions.reverse();
            versions
        };
        names.iter().flat_map(of).collect()
    }

    /// The newest of each file always stays.
    fn prune(&self) {
        let (mut of_file, mut older, mut bytes) = (0, Vec::new(), 0);
        let all = self.all();
        for (at, version) in all.iter().enumerate() {
            let is_newest = at == 0 || all.get(at - 1).is_none_or(|it| it.name != version.name);
            of_file = if is_newest { 1 } else { of_file + 1 };
            if of_file > self.versions_max {
                drop(fs::remove_file(&version.path));
                continue;
            }
            bytes += version.bytes;
            if !is_newest {
                older.push(version);
            }
        }
        older.sort_by_key(|version| version.at_ms);
        for version in older {
            if bytes <= self.bytes_max {
                break;
            }
            bytes -= version.bytes;
            drop(fs::remove_file(&version.path));
        }
    }
}

impl PersonaSources {
    /// Every file of the persona and of all roles that there is, once.
    pub fn files(&self) -> Vec<PersonaFile> {
        let roles = std::iter::once(None).chain(self.roles.keys().map(|role| Some(role.as_str())));
        let mut files: Vec<PersonaFile> = Vec::new();
        for role in roles {
            let read = self.read(role).files;
            let new: Vec<_> =
                read.into_iter().filter(|file| files.iter().all(|f| f.path != file.path)).collect();
            files.extend(new);
        }
        files
    }

    /// Where a file with the name of a version belongs that is not there now. `None` for a role
    /// without a folder, or of another name than any.
    pub fn place_of(&self, name: &str) -> Option<PathBuf> {
        match name.split_once('@') {
            None => Some(self.folder.join(name)),
            Some((role, name)) => Some(self.roles.get(role)?.folder.as_ref()?.join(name)),
        }
    }
}

/// By what the versions of a file are called.
pub fn name_of(file: &PersonaFile) -> String {
    match &file.of_role {
        Some(role) => format!("{role}@{}", file.name),
        None => file.name.to_owned(),
    }
}

/// The digits by which a version is named.
pub fn digest(text: &str) -> String {
    sha256_hex(text).chars().take(DIGEST_DIGITS).collect()
}

/// Those of one file, the newest last.
fn versions_in(folder: &Path, name: &str) -> Vec<PersonaVersion> {
    let found = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let version = |entry: fs::DirEntry| {
        let file_name = entry.file_name().into_string().ok()?;
        let (at_ms, digest) = file_name.split_once('-')?;
        let is_digest = digest.len() == DIGEST_DIGITS
            && digest.chars().all(|c| c.is_ascii_digit() || matches!(c, 'a'..='f'));
        Some(PersonaVersion {
            name: name.to_owned(),
            digest: is_digest.then(|| digest.to_owned())?,
            at_ms: at_ms.parse().ok()?,
            bytes: entry.metadata().ok()?.len(),
            path: entry.path(),
        })
    };
    let mut versions: Vec<_> = found.filter_map(version).collect();
    versions.sort_by(|a, b| (a.at_ms, &a.digest).cmp(&(b.at_ms, &b.digest)));
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &'static str, text: &str) -> PersonaFile {
        PersonaFile {
            name,
            path: PathBuf::from("/p").join(name),
            of_role: None,
            text: text.to_owned(),
            is_cut: false,
            fault: None,
        }
    }

    fn versions(folder: &Path, versions_max: u64, kib: u64) -> PersonaVersions {
        let limits = PromptSection {
            persona_versions_max: versions_max,
            persona_versions_kib_max: kib,
            ..PromptSection::default()
        };
        PersonaVersions::new(folder.join("versions"), limits)
    }

    fn texts(versions: &PersonaVersions) -> Vec<String> {
        versions.all().iter().map(|version| version.text().unwrap()).collect()
    }

    #[test]
    fn each_version_is_kept_once_and_the_newest_is_first() {
        let temp = tempfile::tempdir().unwrap();
        let kept = versions(temp.path(), 10, 100);
        for (at, text) in ["one", "one", "two", "", "one"].into_iter().enumerate() {
            kept.keep(&file("SOUL.md", text), at as i64).unwrap();
        }
        kept.keep(&PersonaFile { is_cut: true, ..file("USER.md", "a part") }, 9).unwrap();
        assert_eq!(texts(&kept), ["one", "two"]);
        let newest = &kept.all()[0];
        assert_eq!((newest.digest.as_str(), newest.at_ms), (digest("one").as_str(), 4));
        // The clock went back.
        kept.keep(&file("SOUL.md", "three"), 1).unwrap();
        assert_eq!(texts(&kept)[0], "three");
        let role = PersonaFile { of_role: Some("tutor".into()), ..file("SOUL.md", "x") };
        kept.keep(&role, 5).unwrap();
        assert_eq!(kept.all().last().unwrap().name, "tutor@SOUL.md");
    }

    #[test]
    fn the_oldest_go_and_the_newest_of_each_file_stays() {
        let temp = tempfile::tempdir().unwrap();
        let few = versions(temp.path(), 3, 100);
        for at in 0..9 {
            few.keep(&file("SOUL.md", &format!("text {at}")), at).unwrap();
        }
        assert_eq!(texts(&few), ["text 8", "text 7", "text 6"]);
        let small = versions(temp.path(), 100, 1);
        let long = "x".repeat(1_000);
        small.keep(&file("USER.md", &long), 20).unwrap();
        small.keep(&file("MEMORY.md", &format!("{long}y")), 21).unwrap();
        let left: Vec<_> = small.all().into_iter().map(|version| version.name).collect();
        assert_eq!(left, ["MEMORY.md", "SOUL.md", "USER.md"], "over the limit, and the newest");
    }
}
