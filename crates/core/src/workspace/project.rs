//! The files that a workspace has for agents, read as data: bounded, and through no link that
//! leaves the workspace. Must not know who is told, or in which words.

use std::io::{self, Read as _};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::OpenOptions;

use super::Workspace;
use crate::domain::{ProjectSeen, ProjectText};

/// The names that programs like this one read, in the order in which they are told.
pub const PROJECT_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

impl Workspace {
    /// Reads up to `bytes_max` of each. Blocks for as long as the disk takes.
    pub fn project_files(&self, bytes_max: u64) -> ProjectSeen {
        let mut seen = ProjectSeen::default();
        for name in PROJECT_FILES {
            match self.project_file(name, bytes_max) {
                Ok(found) => {
                    seen.faults.push((name, None));
                    let told = |text: &ProjectText| seen.texts.iter().any(|t| t.text == text.text);
                    let new = found.filter(|text| !text.text.is_empty() && !told(text));
                    seen.texts.extend(new);
                }
                Err(fault) => seen.faults.push((name, Some(fault))),
            }
        }
        seen
    }

    fn project_file(
        &self,
        name: &'static str,
        bytes_max: u64,
    ) -> Result<Option<ProjectText>, String> {
        let unreadable = |error: io::Error| format!("cannot be read ({error})");
        let Ok(written) = self.dir.symlink_metadata(name) else { return Ok(None) };
        // A handle of the workspace refuses to follow a link out of it.
        let real = self.dir.canonicalize(name).map_err(|_| match written.is_symlink() {
            true => "is a link that leads nowhere, or out of the workspace".to_owned(),
            false => "cannot be read".to_owned(),
        })?;
        // If it is a pipe, opening it must not wait for a writer.
        let options = OpenOptions::new().read(true).nonblock(true).clone();
        let file = self.dir.open_with(&real, &options).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Err("is no regular file".to_owned());
        }
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        let (text, is_cut) = claw_kit::text::beginning(bytes, bytes_max)
            .ok_or_else(|| "is not UTF-8 text".to_owned())?;
        let text = text.trim().to_owned();
        Ok(Some(ProjectText { name, text, bytes: found.len(), is_cut }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn seen(root: &std::path::Path, bytes_max: u64) -> ProjectSeen {
        Workspace::open(root).unwrap().project_files(bytes_max)
    }

    #[test]
    fn each_text_is_read_once_and_no_further_than_it_may() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        assert_eq!(seen(root, 100).texts, []);
        fs::write(root.join("AGENTS.md"), "Use tabs.\n").unwrap();
        symlink("AGENTS.md", root.join("CLAUDE.md")).unwrap();
        let both = seen(root, 100);
        assert_eq!(both.texts.len(), 1, "{both:?}");
        assert_eq!((both.texts[0].text.as_str(), both.texts[0].bytes), ("Use tabs.", 10));
        fs::remove_file(root.join("CLAUDE.md")).unwrap();
        fs::write(root.join("CLAUDE.md"), "ä".repeat(100)).unwrap();
        let cut = &seen(root, 101).texts[1];
        assert_eq!((cut.text.len(), cut.bytes, cut.is_cut), (100, 200, true));
        assert!(!seen(root, 200).texts[1].is_cut);
    }

    #[test]
    fn what_cannot_be_a_text_of_the_workspace_is_named_and_left_out() {
        let (temp, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (root, secret) = (temp.path(), outside.path().join("secret"));
        fs::write(&secret, "SECRET").unwrap();
        let fault = |wanted: &str| {
            let seen = seen(root, 100);
            assert_eq!(seen.texts, [], "{wanted}");
            let fault = seen.faults[0].1.clone().unwrap();
            assert!(fault.contains(wanted), "{fault}");
            let _ = fs::remove_file(root.join("AGENTS.md"));
        };
        symlink(&secret, root.join("AGENTS.md")).unwrap();
        fault("out of the workspace");
        fs::write(root.join("AGENTS.md"), [0xff, 0xfe]).unwrap();
        fault("UTF-8");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("AGENTS.md"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        fault("no regular file");
        fs::create_dir(root.join("AGENTS.md")).unwrap();
        fault("no regular file");
    }
}
