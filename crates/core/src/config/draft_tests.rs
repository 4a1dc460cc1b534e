//! Tests of what `claw init` writes.

use std::os::unix::fs::PermissionsExt as _;

use std::path::Path;

use super::*;
use crate::config::Env;
use crate::config::doors::tests::{Chat, with_chat};
use crate::config::model::Agent;

fn seen(dir: &Path, toml: Option<&str>) -> ExistingSettings {
    if let Some(toml) = toml {
        fs::write(dir.join("claw.toml"), toml).unwrap();
    }
    let env: Env = [("CLAW_HOME", dir.to_str().unwrap())].into_iter().collect();
    ExistingSettings::load_from(env, &with_chat()).unwrap()
}

fn keys<'a>(agent: Agent, model: Option<&'a str>, key: Option<&'a SecretString>) -> ModelKeys<'a> {
    ModelKeys { agent, base_url: None, model, key }
}

#[test]
fn what_is_not_asked_about_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let before = "# mine\ntime_zone = \"UTC\" # here\n\n[model]\nagent = \"gemini\" # as usual\nmodel = 'old'\nmax_tokens = 7\ntimeout_s = 9\n\n\
                  [limits]\nturn_time_s = 600\n# turn_time_s = 700\n";
    let seen_before = seen(dir.path(), Some(before));
    let mut draft = ConfigDraft::of(&seen_before).unwrap();
    assert!(!draft.is_changed());
    let key = SecretString::from("sk-$a\"b\\c".to_owned());
    let taken_out = draft.set_model(&keys(Agent::Claude, None, Some(&key))).unwrap();
    assert_eq!(taken_out, ["max_tokens"], "it was for the model of before");
    draft.set_secret("chat", "token", &SecretString::from("1:a".to_owned())).unwrap();
    draft.set_numbers("chat", "allowed_chats", &[42, -7]).unwrap();
    assert!(draft.is_changed());
    draft.write(seen_before).unwrap();
    let path = dir.path().join("claw.toml");
    let text = fs::read_to_string(&path).unwrap();
    for kept in [
        "# mine\ntime_zone = \"UTC\" # here\n",
        "agent = \"claude\" # as usual\n",
        "timeout_s = 9\n",
        "turn_time_s = 600\n# turn_time_s = 700\n\n[chat]\n",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("old") && !text.contains("max_tokens"), "{text}");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let after = seen(dir.path(), None);
    assert_eq!(after.model.api_key.unwrap().expose_secret(), "sk-$a\"b\\c");
    let chat = Chat::of(&after.doors);
    assert_eq!((chat.allowed_chats, chat.token.as_deref()), (vec![42, -7], Some("1:a")));
    let names: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_str().unwrap().contains("part")), "{names:?}");
}

#[test]
fn the_same_model_with_another_key_keeps_what_was_set_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let before =
        "[model]\nagent = \"gemini\"\nmodel = 'm'\ntemperature = 0.5\nsees_images = true\n";
    let seen_before = seen(dir.path(), Some(before));
    let mut draft = ConfigDraft::of(&seen_before).unwrap();
    let key = SecretString::from("k".to_owned());
    let same = keys(Agent::Gemini, Some("m"), Some(&key));
    assert_eq!(draft.set_model(&same).unwrap(), [""; 0]);
    let tried = seen_before.model.answered_by(&same);
    draft.write(seen_before).unwrap();
    let after = seen(dir.path(), None).model;
    assert_eq!((after.temperature, after.sees_images), (Some(0.5), Some(true)));
    assert_eq!((tried.temperature, tried.sees_images), (Some(0.5), Some(true)));
    let another = after.answered_by(&keys(Agent::Gemini, Some("n"), Some(&key)));
    assert_eq!((another.temperature, another.sees_images), (None, None));
}

#[test]
fn a_table_of_fallbacks_and_one_in_one_line_are_taken_too() {
    for before in ["[[model.fallback]]\nagent = \"demo\"\n", "model = { agent = \"gemini\" }\n"] {
        let dir = tempfile::tempdir().unwrap();
        let seen_before = seen(dir.path(), Some(before));
        let mut draft = ConfigDraft::of(&seen_before).unwrap();
        draft.set_model(&keys(Agent::Ollama, Some("m"), None)).unwrap();
        draft.write(seen_before).unwrap();
        let after = seen(dir.path(), None).model;
        assert_eq!(
            (after.agent, after.model.as_deref()),
            (Some(Agent::Ollama), Some("m")),
            "{before}"
        );
    }
}

#[test]
fn what_was_changed_meanwhile_or_means_nothing_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claw.toml");
    let seen_before = seen(dir.path(), Some("# one\n"));
    let mut draft = ConfigDraft::of(&seen_before).unwrap();
    draft.set_model(&keys(Agent::Demo, None, None)).unwrap();
    fs::write(&path, "# two\n").unwrap();
    let refused = draft.write(seen_before).unwrap_err().to_string();
    assert!(refused.contains("changed while you were asked"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "# two\n");
    // A bot that nobody may talk to.
    let seen_before = seen(dir.path(), None);
    let mut draft = ConfigDraft::of(&seen_before).unwrap();
    draft.set_secret("chat", "token", &SecretString::from("1:a".to_owned())).unwrap();
    assert!(draft.write(seen_before).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "# two\n");
}

#[test]
fn a_new_home_is_made_and_a_link_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("new");
    let env: Env = [("CLAW_HOME", home.to_str().unwrap())].into_iter().collect();
    let seen_before = ExistingSettings::load_from(env, &with_chat()).unwrap();
    assert!(!home.exists());
    let mut draft = ConfigDraft::of(&seen_before).unwrap();
    draft.set_model(&keys(Agent::Demo, None, None)).unwrap();
    draft.write(seen_before).unwrap();
    assert!(
        home.join("mcp.json").exists()
            && fs::read_to_string(home.join("claw.toml")).unwrap().starts_with("# Settings")
    );
    let (link, elsewhere) = (dir.path().join("claw.toml"), dir.path().join("elsewhere.toml"));
    fs::write(&elsewhere, "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    let seen_before = seen(dir.path(), None);
    let mut draft = ConfigDraft::of(&seen_before).unwrap();
    draft.set_model(&keys(Agent::Demo, None, None)).unwrap();
    draft.write(seen_before).unwrap();
    assert!(link.is_symlink() && fs::read_to_string(&elsewhere).unwrap().contains("demo"));
}
