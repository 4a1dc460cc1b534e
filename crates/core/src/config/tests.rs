//! From files, variables and the command line to one `Config`, in temporary homes.

use std::fs;

use secrecy::ExposeSecret as _;

use super::*;

pub(super) struct Rig {
    temp: tempfile::TempDir,
}

impl Rig {
    pub(super) fn new(claw_toml: &str) -> Self {
        let rig = Self { temp: tempfile::tempdir().unwrap() };
        fs::create_dir(rig.home()).unwrap();
        fs::write(rig.home().join("claw.toml"), claw_toml).unwrap();
        rig
    }

    /// The real path: the temporary folder may lie behind a link.
    fn root(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    fn load(
        &self,
        variables: &[(&str, &str)],
        workspace: Option<&Path>,
    ) -> Result<Config, ConfigError> {
        self.load_with(
            variables,
            Overrides { workspace: workspace.map(Path::to_path_buf), ..Overrides::default() },
        )
    }

    pub(super) fn load_with(
        &self,
        variables: &[(&str, &str)],
        overrides: Overrides,
    ) -> Result<Config, ConfigError> {
        let mut all = vec![("CLAW_HOME".to_owned(), self.home().display().to_string())];
        all.push(("HOME".to_owned(), self.root().display().to_string()));
        all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Config::load_from(all.into_iter().collect(), overrides)
    }

    fn said(&self, variables: &[(&str, &str)]) -> String {
        self.load(variables, None).unwrap_err().to_string()
    }
}

#[test]
fn nothing_written_means_the_defaults() {
    let temp = tempfile::tempdir().unwrap();
    let env: Env = [("HOME", temp.path().display().to_string())].into_iter().collect();
    let config = Config::load_from(env, Overrides::default()).unwrap();
    let real = temp.path().canonicalize().unwrap();
    assert_eq!(config.home.path(), real.join(".claw"));
    assert_eq!(config.workspace, real.join(".claw/workspace"));
    assert!(config.workspace.is_dir());
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.limits.model_steps_max, 20);
    assert!(config.secrets.is_empty() && config.notices.is_empty());
}

#[test]
fn the_file_is_read_with_its_variables() {
    let rig = Rig::new(
        "workspace = \"~/${DIR}/$$x\"\n[limits]\nturn_time_s = 60\ntool_timeout_s = 30\n\
         [redact]\nextra = [\"$MY_THING\", \"a-literal-value\"]\n[model]\nagent = \"claude\"\napi_key = \"$WORK_CRED\"\n",
    );
    let variables =
        [("DIR", "w"), ("MY_THING", "value-of-thing"), ("WORK_CRED", "sk-1"), ("X_TOKEN", "t0ken")];
    let config = rig.load(&variables, None).unwrap();
    assert_eq!(config.workspace, rig.root().join("w/$x"));
    assert_eq!((config.limits.turn_time_s, config.limits.model_steps_max), (60, 20));
    let mut secrets: Vec<(&str, &str)> =
        config.secrets.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
    secrets.sort_unstable();
    assert_eq!(
        secrets,
        [
            ("MY_THING", "value-of-thing"),
            ("WORK_CRED", "sk-1"),
            ("X_TOKEN", "t0ken"),
            ("redact.extra[1]", "a-literal-value")
        ]
    );
    let shown = format!("{config:?}");
    assert!(
        !shown.contains("value-of-thing") && !shown.contains("sk-1") && !shown.contains("t0ken"),
        "{shown}"
    );
}

#[test]
fn the_workspace_is_named_by_command_line_then_variable_then_file() {
    let rig = Rig::new("workspace = \"~/by-file\"\n");
    let (by_flag, by_variable) = (rig.root().join("by-flag"), rig.root().join("by-variable"));
    let variables = [("CLAW_WORKSPACE", by_variable.to_str().unwrap())];
    assert_eq!(rig.load(&variables, Some(&by_flag)).unwrap().workspace, by_flag);
    assert_eq!(rig.load(&variables, None).unwrap().workspace, by_variable);
    assert_eq!(rig.load(&[], None).unwrap().workspace, rig.root().join("by-file"));
}

#[test]
fn a_workspace_that_reaches_claws_own_files_is_refused() {
    let rig = Rig::new("");
    let link = rig.root().join("link");
    std::os::unix::fs::symlink(rig.home(), &link).unwrap();
    for bad in [
        rig.home(),
        rig.root(),
        PathBuf::from("/"),
        rig.home().join("artifacts"),
        rig.home().join("new"),
        link.clone(),
        link.join("new"),
        rig.home().join("workspace/../logs"),
    ] {
        let error = rig.load(&[], Some(&bad)).unwrap_err();
        assert!(
            error.place == "--workspace" && error.next.contains("workspace"),
            "{}: {error}",
            bad.display()
        );
    }
    assert!(!rig.home().join("new").exists(), "it was made before it was refused");
    let inside = rig.home().join("workspace/project");
    assert_eq!(rig.load(&[], Some(&inside)).unwrap().workspace, inside);
    assert_eq!(
        rig.load(&[], Some(&rig.root().join("home2"))).unwrap().workspace,
        rig.root().join("home2")
    );
    // A default workspace that was replaced by a link to the home is no way in, either.
    fs::remove_dir_all(rig.home().join("workspace")).unwrap();
    std::os::unix::fs::symlink(rig.home(), rig.home().join("workspace")).unwrap();
    assert!(rig.load(&[], None).is_err());
}

#[test]
fn every_mistake_names_its_place_and_a_next_step() {
    for (text, place, part) in [
        ("[limit]\n", ", line 1", "did you mean `limits`?"),
        ("[limits]\nturn_time = 3\n", ", line 2", "did you mean `turn_time_s`?"),
        ("\n[limits]\nturn_time_s = \"long\"\n", ", line 3", "`turn_time_s` takes a whole number"),
        ("[limits]\nmodel_steps_max = 0\n", ", line 2", "must be from 1 to 1000"),
        ("[limits]\nmodel_steps_max = -1\n", ", line 2", "invalid value"),
        ("[limits]\ntool_timeout_s = 1000\n", ", line 2", "longer than a whole turn"),
        ("[limits]\nwindow_tokens = 1\n", ", line 2", "from 1000"),
        ("[redact]\nextra = \"x\"\n", ", line 2", "`extra` takes a list in brackets"),
        ("[model]\nagnt = \"claude\"\n", ", line 2", "did you mean `agent`?"),
        ("[model]\ntemperature = 9.0\n", ", line 2", "temperature"),
        (
            "[model]\nwindow_tokens = 4096\n[limits]\nwindow_tokens = 5\n",
            ", line 4",
            "`limits.window_tokens` is 5",
        ),
        ("[limits]\n\nturn_time_s = 60\n", ", line 3", "longer than a whole turn"),
        (
            "[model]\nagent = \"demo\"\n[[model.fallback]]\nmodel = \"m\"\n",
            ", line 3",
            "number 1` needs `agent`",
        ),
        (
            "[prices.a]\ninput_usd_per_million = 1\noutput_usd_per_million = 1\n\
             [prices.b]\ninput_usd_per_million = -1\noutput_usd_per_million = 1\n",
            ", line 4",
            "holds a price that is negative",
        ),
        (
            "[memory]\nrecall = true\n[memory.embeddings]\nmodel = \"m\"\n",
            ", line 3",
            "url` is missing",
        ),
        ("a = = 1\n", ", line 1", ""),
        (
            "workspace = \"$NOT_SET\"\n",
            ", line 1",
            "`workspace` refers to the variable NOT_SET, which is not set",
        ),
        (
            "[redact]\nextra = [\n \"${NOT_SET}\" ]\n",
            ", line 3",
            "`redact.extra[0]` refers to the variable NOT_SET",
        ),
        ("workspace = \"a$\"\n", ", line 1", "no variable's name follows"),
        ("workspace = \"${a\"\n", ", line 1", "no variable's name follows"),
        ("workspace = \"${a-b}\"\n", ", line 1", "no variable's name follows"),
        ("workspace = \"$1\"\n", ", line 1", "no variable's name follows"),
    ] {
        let rig = Rig::new(text);
        let error = rig.load(&[], None).unwrap_err();
        assert!(error.place.ends_with(&format!("home/claw.toml{place}")), "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
        assert!(!error.to_string().contains('\n') && error.next.len() > 10, "{text}: {error}");
    }
}

#[test]
fn the_value_of_a_variable_is_not_read_again() {
    let rig = Rig::new("workspace = \"~/$A\"\n");
    assert_eq!(
        rig.load(&[("A", "$B\"x"), ("B", "no")], None).unwrap().workspace,
        rig.root().join("$B\"x")
    );
    assert!(Rig::new("workspace = \"$A\"\n").said(&[("A", "")]).contains("not set"));
}

#[test]
fn a_file_that_cannot_be_read_is_no_missing_file() {
    let rig = Rig::new("");
    let path = rig.home().join("claw.toml");
    fs::write(&path, [0xFF, 0xFE]).unwrap();
    assert!(rig.said(&[]).contains("not UTF-8"));
    fs::write(&path, vec![b'#'; 2 * 1024 * 1024]).unwrap();
    assert!(rig.said(&[]).contains("larger than"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(rig.said(&[]).contains("cannot be read"));
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink("nowhere", &path).unwrap();
    assert!(rig.said(&[]).contains("cannot be opened"));
    fs::remove_file(&path).unwrap();
    assert!(rig.load(&[], None).is_ok());
}
