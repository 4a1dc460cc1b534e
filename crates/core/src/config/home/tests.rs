//! The home on a real, temporary disk.

use std::os::unix::fs::symlink;

use super::*;

fn at(path: &Path) -> Home {
    let env: Env = [("CLAW_HOME", path.display().to_string())].into_iter().collect();
    Home::locate(&env, None).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn the_home_is_found_by_variable_then_by_user() {
    let user = Some(Path::new("/u"));
    let locate = |value: &str| {
        Home::locate(&[("CLAW_HOME", value)].into_iter().collect(), user).unwrap().path
    };
    assert_eq!(locate("/x"), Path::new("/x"));
    assert_eq!(locate("~/x"), Path::new("/u/x"));
    assert_eq!(locate(""), Path::new("/u/.claw"));
    let error = Home::locate(&Env::default(), None).unwrap_err();
    assert!(
        error.to_string().contains("CLAW_HOME") && error.to_string().contains("HOME is set"),
        "{error}"
    );
}

#[test]
fn a_first_run_makes_everything_owner_only() {
    let temp = tempfile::tempdir().unwrap();
    let mut home = at(&temp.path().join("a/b"));
    assert_eq!(home.ensure().unwrap(), Vec::<String>::new());
    for folder in [
        home.path().to_path_buf(),
        home.artifacts(),
        home.logs(),
        home.locks(),
        home.command_output(),
        home.command_homes(),
    ] {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    for (file, text) in [
        (home.mcp_json(), DEFAULT_MCP_JSON),
        (home.soul_md(), DEFAULT_SOUL_MD),
        (home.heartbeats_toml(), DEFAULT_HEARTBEATS_TOML),
    ] {
        assert_eq!(mode(&file), 0o600);
        assert_eq!(fs::read_to_string(file).unwrap(), text);
    }
    assert!(!home.claw_toml().exists() && !home.policy_toml().exists());
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let temp = tempfile::tempdir().unwrap();
    let mut home = at(temp.path());
    fs::write(temp.path().join("SOUL.md"), "mine").unwrap();
    let elsewhere = temp.path().join("elsewhere");
    symlink(&elsewhere, temp.path().join("mcp.json")).unwrap();
    home.ensure().unwrap();
    home.ensure().unwrap();
    assert_eq!(fs::read_to_string(home.soul_md()).unwrap(), "mine");
    assert!(!elsewhere.exists(), "a link was followed");
}

#[test]
fn an_open_home_is_closed_and_said_so() {
    let temp = tempfile::tempdir().unwrap();
    let mut home = at(temp.path());
    home.ensure().unwrap();
    fs::set_permissions(temp.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(home.logs(), Permissions::from_mode(0o770)).unwrap();
    let notices = home.ensure().unwrap();
    assert_eq!(notices.len(), 2);
    assert!(notices[0].contains("755") && notices[1].contains("770"), "{notices:?}");
    assert_eq!((mode(temp.path()), mode(&home.logs())), (0o700, 0o700));
}

#[test]
fn a_linked_folder_inside_is_refused_and_a_linked_home_is_made_real() {
    let temp = tempfile::tempdir().unwrap();
    let (real, other) = (temp.path().join("real"), temp.path().join("other"));
    fs::create_dir(&real).unwrap();
    fs::create_dir(&other).unwrap();
    symlink(&real, temp.path().join("link")).unwrap();
    let mut home = at(&temp.path().join("link"));
    home.ensure().unwrap();
    assert_eq!(home.path(), real.canonicalize().unwrap());
    fs::remove_dir(home.logs()).unwrap();
    symlink(&other, home.logs()).unwrap();
    let error = home.ensure().unwrap_err();
    assert!(error.message.contains("link") && error.place.contains("logs"), "{error}");
}

#[test]
fn a_file_in_the_way_is_named() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("home"), "").unwrap();
    let error = at(&temp.path().join("home")).ensure().unwrap_err();
    assert!(
        error.to_string().contains("home") && error.to_string().contains("cannot be made"),
        "{error}"
    );
}

#[test]
fn each_workspace_has_a_home_for_its_commands_with_a_name_that_says_which() {
    let home = at(Path::new("/home/me/.claw"));
    let name = |workspace: &str| {
        let path = home.command_home(Path::new(workspace));
        assert_eq!(path.parent(), Some(&*home.command_homes()));
        path.file_name().unwrap().to_str().unwrap().to_owned()
    };
    let (one, other) = (name("/home/me/project"), name("/srv/project"));
    assert!(one.starts_with("project-") && other.starts_with("project-") && one != other);
    assert_eq!(one, name("/home/me/project"));
    assert!(name("/home/me/a b \u{fc}").starts_with("ab-"));
    assert!(name(&format!("/{}", "x".repeat(300))).len() < 64);
}
