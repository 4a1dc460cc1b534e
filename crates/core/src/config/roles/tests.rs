//! From `claw.toml` to a folder and roles, on a real, temporary disk.

use super::*;
use std::fs;

struct Rig {
    temp: tempfile::TempDir,
}

impl Rig {
    fn new() -> Self {
        let rig = Self { temp: tempfile::tempdir().unwrap() };
        for folder in ["home/workspace", "home/logs", "tutor"] {
            fs::create_dir_all(rig.path(folder)).unwrap();
        }
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(name)
    }

    fn load(&self, toml: &str) -> Result<crate::config::Config, ConfigError> {
        fs::write(self.path("home/claw.toml"), toml).unwrap();
        let variables = [("CLAW_HOME", self.path("home")), ("HOME", self.path(""))];
        let env =
            variables.into_iter().map(|(name, path)| (name, path.display().to_string())).collect();
        crate::config::Config::load_from(env, crate::config::Overrides::default())
    }

    #[track_caller]
    fn refused(&self, toml: &str, words: &[&str]) {
        let error = self.load(toml).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{toml}: {error}");
    }
}

#[test]
fn the_folder_is_made_where_it_is_and_opened_but_for_the_owners_files() {
    let rig = Rig::new();
    // Of the home itself, which was open to others.
    rig.load("").unwrap();
    let config = rig.load("").unwrap();
    let folder = rig.path("home/persona");
    assert!(
        config.persona.folder == folder && folder.is_dir() && config.notices.is_empty(),
        "{config:?}"
    );
    let file = |name: &str| folder.join(name).display().to_string();
    let expected = [
        "--root".to_owned(),
        folder.display().to_string(),
        "--read-only".to_owned(),
        file("SOUL.md"),
        "--read-only".to_owned(),
        file("IDENTITY.md"),
        "--read-only".to_owned(),
        file("AGENTS.md"),
    ];
    assert_eq!(config.persona.server_args(), expected);
    let named = rig.load("persona = \"~/jane\"").unwrap();
    assert_eq!(named.persona.folder, rig.path("jane"));
    assert!(named.notices[0].contains("was not there"), "{:?}", named.notices);
    assert!(rig.load("persona = \"~/jane\"").unwrap().notices.is_empty());
}

#[test]
fn no_folder_that_holds_more_than_a_persona_is_opened() {
    let rig = Rig::new();
    for folder in [".", "..", "/", "~", "persona/.."] {
        rig.refused(
            &format!("persona = \"{folder}\""),
            &["claw.toml, persona", "home of claw", "folder of its own"],
        );
    }
    for folder in ["logs", "artifacts/x", "locks", "agents/jane"] {
        rig.refused(&format!("persona = \"{folder}\""), &["among claw's own files"]);
    }
    for folder in ["workspace", "workspace/me"] {
        rig.refused(&format!("persona = \"{folder}\""), &["lie in one another"]);
    }
    rig.refused("workspace = \"~/w/deep\"\npersona = \"~/w\"", &["lie in one another"]);
    // By a link, too.
    std::os::unix::fs::symlink(rig.path("home"), rig.path("link")).unwrap();
    rig.refused("persona = \"~/link\"", &["home of claw"]);
    fs::create_dir(rig.path("other")).unwrap();
    fs::write(rig.path("other/claw.db"), "").unwrap();
    rig.refused("persona = \"~/other\"", &["home of claw"]);
    fs::write(rig.path("file"), "").unwrap();
    assert!(rig.load("persona = \"~/file\"").is_err());
}

#[test]
fn roles_are_read_and_their_folders_kept_from_the_tools() {
    let rig = Rig::new();
    fs::create_dir_all(rig.path("home/persona/clerk")).unwrap();
    let toml = "default_role = \"tutor\"\n[roles.tutor]\ndescription = \" Explains. \"\npersona = \"~/tutor\"\n\
                [roles.clerk]\npersona = \"persona/clerk\"\ninstructions = \"\"\"\nFile it.\n\"\"\"\n";
    let persona = rig.load(toml).unwrap().persona;
    assert_eq!(persona.default_role.as_deref(), Some("tutor"));
    let (tutor, clerk) = (&persona.roles["tutor"], &persona.roles["clerk"]);
    assert_eq!(
        (tutor.description.as_str(), tutor.folder.as_ref()),
        ("Explains.", Some(&rig.path("tutor")))
    );
    assert_eq!(clerk.instructions, "File it.\n");
    let args = persona.server_args();
    let fixed = rig.path("home/persona/clerk").display().to_string();
    assert!(
        args.contains(&fixed) && !args.contains(&rig.path("tutor").display().to_string()),
        "{args:?}"
    );
}

#[test]
fn a_role_that_cannot_be_one_is_refused() {
    let rig = Rig::new();
    rig.refused(
        "[roles.tutor]\ndescription = \"x\"",
        &["[roles.tutor]", "changes nothing", "instructions"],
    );
    rig.refused("[roles.tutor]\ninstructions = \"  \"", &["changes nothing"]);
    rig.refused("[roles.tutor]\ninstruction = \"x\"", &["did you mean `instructions`"]);
    rig.refused("[roles.\"a b\"]\ninstructions = \"x\"", &["`a b` cannot be the name of a role"]);
    rig.refused("[roles.default]\ninstructions = \"x\"", &["cannot be the name of a role"]);
    rig.refused(
        "[roles.tutor]\npersona = \"~/nowhere\"",
        &["[roles.tutor]", "nowhere", "cannot be opened"],
    );
    rig.refused("[roles.tutor]\npersona = \"workspace\"", &["lies in the workspace"]);
    rig.refused(
        &format!("[roles.tutor]\ninstructions = \"{}\"", "x".repeat(65_537)),
        &["longer than 64 KiB"],
    );
    rig.refused("default_role = \"cook\"", &["there is no role `cook`", "[roles.cook]"]);
    rig.refused(
        "default_role = \"cook\"\n[roles.tutor]\ninstructions = \"x\"",
        &["Choose one of `tutor`"],
    );
}

#[test]
fn agents_inherit_no_role_and_no_persona_lies_in_the_home_of_another() {
    let rig = Rig::new();
    let roles = "[roles.tutor]\npersona = \"teaching\"\n";
    fs::create_dir(rig.path("home/teaching")).unwrap();
    let load = |toml: &str| {
        fs::write(rig.path("home/claw.toml"), toml).unwrap();
        let variables = [("CLAW_HOME", rig.path("home")), ("HOME", rig.path(""))];
        let env =
            variables.into_iter().map(|(name, path)| (name, path.display().to_string())).collect();
        let overrides =
            crate::config::Overrides { agent: Some("jane".into()), ..Default::default() };
        crate::config::Config::load_from(env, overrides)
    };
    let jane = load(&format!("default_role = \"tutor\"\n{roles}[agents.jane]\n")).unwrap().persona;
    assert_eq!(jane.folder, rig.path("home/agents/jane/persona"));
    assert!(
        jane.roles.is_empty() && jane.default_role.is_none(),
        "what main knows of its owner is not jane's"
    );
    fs::create_dir(rig.path("home/agents/jane/lessons")).unwrap();
    let jane = load("[agents.jane.roles.tutor]\npersona = \"lessons\"\n").unwrap().persona;
    assert_eq!(jane.roles["tutor"].folder, Some(rig.path("home/agents/jane/lessons")));
    for folder in ["..", "../bob", "../../logs", "../../workspace", "logs"] {
        let error =
            load(&format!("[agents.jane]\npersona = \"{folder}\"\n")).unwrap_err().to_string();
        assert!(
            error.contains("persona") && error.contains("a folder of its own"),
            "{folder}: {error}"
        );
    }
}
