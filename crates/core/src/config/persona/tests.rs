//! Files of a persona on a real, temporary disk.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

struct Rig {
    temp: tempfile::TempDir,
}

impl Rig {
    fn new() -> Self {
        let rig = Self { temp: tempfile::tempdir().unwrap() };
        for folder in ["home/persona", "home/workspace", "tutor"] {
            fs::create_dir_all(rig.path(folder)).unwrap();
        }
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn persona(&self) -> PersonaSources {
        let role = |folder: Option<&str>, instructions: &str| {
            PersonaRole::for_tests(folder.map(|folder| self.path(folder)), instructions)
        };
        PersonaSources {
            folder: self.path("home/persona"),
            home_soul: self.path("home/SOUL.md"),
            workspace: self.path("home/workspace"),
            roles: [("tutor", role(Some("tutor"), "Explain.\n")), ("clerk", role(None, "File."))]
                .map(|(name, role)| (name.to_owned(), role))
                .into(),
            default_role: None,
        }
    }

    fn texts(&self, role: Option<&str>) -> Vec<(&'static str, String)> {
        self.persona().read(role).files.into_iter().map(|file| (file.name, file.text)).collect()
    }

    fn fault(&self) -> Option<String> {
        let read = self.persona().read(None);
        assert_eq!(read.files.len(), 1, "{read:?}");
        read.files.into_iter().next().unwrap().fault
    }
}

#[test]
fn files_come_in_their_order_and_missing_ones_are_skipped() {
    let rig = Rig::new();
    assert_eq!(rig.texts(None), []);
    for name in ["MEMORY.md", "AGENTS.md", "USER.md", "IDENTITY.md", "SOUL.md", "OTHER.md"] {
        rig.write(&format!("home/persona/{name}"), format!("\n {name} \n"));
    }
    let names: Vec<_> =
        rig.texts(None).into_iter().map(|(name, text)| (name, name == text)).collect();
    assert_eq!(
        names,
        ["SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md", "MEMORY.md"].map(|name| (name, true))
    );
    fs::remove_file(rig.path("home/persona/USER.md")).unwrap();
    assert_eq!(rig.texts(None).len(), 4);
    assert_eq!(
        rig.persona().read(None),
        rig.persona().read(None),
        "the same files give the same texts"
    );
}

#[test]
fn the_soul_of_the_home_counts_where_the_folder_has_none() {
    let rig = Rig::new();
    rig.write("home/SOUL.md", "of the home");
    rig.write("home/USER.md", "no place for it");
    assert_eq!(rig.texts(None), [("SOUL.md", "of the home".to_owned())]);
    rig.write("home/persona/SOUL.md", "of the folder");
    assert_eq!(rig.texts(None), [("SOUL.md", "of the folder".to_owned())]);
}

#[test]
fn a_role_replaces_files_of_the_same_name_and_adds_its_instructions() {
    let rig = Rig::new();
    rig.write("home/persona/SOUL.md", "agent");
    rig.write("home/persona/USER.md", "owner");
    rig.write("tutor/SOUL.md", "tutor");
    rig.write("tutor/MEMORY.md", "lessons");
    let files = [("SOUL.md", "tutor"), ("USER.md", "owner"), ("MEMORY.md", "lessons")];
    assert_eq!(rig.texts(Some("tutor")), files.map(|(name, text)| (name, text.to_owned())));
    let tutor = rig.persona().read(Some("tutor"));
    assert_eq!((tutor.instructions.as_str(), tutor.role_is_gone), ("Explain.", false));
    let of_role: Vec<bool> = tutor.files.iter().map(|file| file.of_role.is_some()).collect();
    assert_eq!(of_role, [true, false, true]);
    let clerk = rig.persona().read(Some("clerk"));
    assert_eq!((clerk.instructions.as_str(), clerk.files.len()), ("File.", 2));
}

#[test]
fn a_role_that_is_gone_means_what_everybody_has() {
    let rig = Rig::new();
    rig.write("home/persona/SOUL.md", "agent");
    let mut persona = rig.persona();
    assert!(
        persona.read(Some("cook")).role_is_gone
            && persona.read(Some("cook")).instructions.is_empty()
    );
    persona.default_role = Some("clerk".into());
    assert_eq!(persona.read(Some("cook")).instructions, "File.");
    assert!(!persona.read(None).role_is_gone && persona.read(None).instructions.is_empty());
}

#[test]
fn a_file_of_more_than_64_kib_is_cut_between_two_characters_and_says_so() {
    let rig = Rig::new();
    let most = FILE_BYTES_MAX as usize;
    rig.write("home/persona/USER.md", "x".repeat(most));
    assert_eq!((rig.fault(), rig.texts(None)[0].1.len()), (None, most));
    rig.write("home/persona/USER.md", format!("{}é tail", "x".repeat(most - 1)));
    let fault = rig.fault().unwrap();
    assert!(fault.starts_with("`USER.md` of the persona is longer than 64 KiB"), "{fault}");
    assert_eq!(rig.texts(None)[0].1, format!("{}{CUT_MARK}", "x".repeat(most - 1)));
}

#[test]
fn what_is_no_text_is_named_and_left_out() {
    let rig = Rig::new();
    let file = rig.path("home/persona/USER.md");
    rig.write("home/persona/USER.md", b"a \xff b");
    assert!(
        rig.fault()
            .unwrap()
            .contains("`USER.md` of the persona is not UTF-8 text, so turns go on without it")
    );
    // One that is too long and broken before the cut is no better.
    rig.write("home/persona/USER.md", [b"\xff".as_slice(), &[b'x'; 70_000]].concat());
    assert!(rig.fault().unwrap().contains("is not UTF-8 text"));
    assert_eq!(rig.texts(None)[0].1, "");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(rig.fault().unwrap().contains("is no regular file"));
    fs::remove_dir(&file).unwrap();
    let soul = rig.path("home/persona/SOUL.md");
    symlink("nowhere", &soul).unwrap();
    assert!(rig.fault().unwrap().contains("cannot be read"));
    fs::remove_file(&soul).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &file,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(rig.fault().unwrap().contains("is no regular file"), "and nobody waited for a writer");
}

#[test]
fn a_link_may_lead_anywhere_but_into_the_workspace() {
    let rig = Rig::new();
    rig.write("tutor/SOUL.md", "elsewhere");
    symlink(rig.path("tutor/SOUL.md"), rig.path("home/persona/SOUL.md")).unwrap();
    assert_eq!(rig.texts(None), [("SOUL.md", "elsewhere".to_owned())]);
    fs::remove_file(rig.path("home/persona/SOUL.md")).unwrap();
    rig.write("home/workspace/SOUL.md", "mine");
    symlink("../workspace/SOUL.md", rig.path("home/persona/SOUL.md")).unwrap();
    assert!(rig.fault().unwrap().contains("leads into the workspace"));
    assert_eq!(rig.texts(None)[0].1, "");
}

#[test]
fn a_link_in_the_place_of_what_the_agent_may_change_is_not_followed() {
    let rig = Rig::new();
    rig.write("letter", "private");
    for name in ["USER.md", "MEMORY.md"] {
        for folder in ["home/persona", "tutor"] {
            let link = rig.path(&format!("{folder}/{name}"));
            for target in [rig.path("letter"), rig.path("nowhere")] {
                symlink(target, &link).unwrap();
                let read = rig.persona().read(Some("tutor")).files;
                let said = read[0].fault.clone().unwrap();
                assert!(
                    said.starts_with(&format!("`{name}` of the "))
                        && said.contains("is a symbolic link"),
                    "{said}"
                );
                assert_eq!((read.len(), read[0].text.as_str()), (1, ""));
                fs::remove_file(&link).unwrap();
            }
        }
    }
}
