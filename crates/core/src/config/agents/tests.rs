//! From one `claw.toml` to the settings of each agent.

use secrecy::ExposeSecret as _;

use crate::config::doors::tests::{Chat, with_chat};
use crate::config::tests::Rig;
use crate::config::{Config, ConfigError, Overrides};

const TWO: &str = r#"
time_zone = "Europe/Berlin"
description = "the first"
workspace = "~/all"
[model]
agent = "openai-compatible"
base_url = "http://127.0.0.1:1/v1"
api_key = "main-key-1"
[limits]
model_steps_max = 7
tokens_day_max = 5000
[chat]
token = "1:main-token"
allowed_chats = [7]
owners = [8]
notify_chat = 9
stream = false
[agents.work]
description = "for work"
capabilities = ["mail", "code"]
token_from = ["WORK_BOT", "WORK_BOT_2"]
allowed_chats = [70]
servers = ["filesystem"]
[agents.work.limits]
tokens_day_max = 1000
[agents.work.model]
agent = "claude"
api_key = "work-key-2"
[agents.home.chat]
token = "$HOME_BOT"
owners = [80]
allowed_chats = [-5]
"#;

fn agent(rig: &Rig, name: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let agent = Some(name.to_owned());
    rig.load_with(variables, Overrides { doors: with_chat(), agent, ..Overrides::default() })
}

fn token(config: &Config) -> String {
    let token = config.bots.iter().find_map(|bot| bot.note.token.as_ref().ok());
    token.unwrap().expose_secret().to_owned()
}

#[test]
fn an_agent_is_the_file_with_its_own_section_laid_over_it() {
    let rig = Rig::new(TWO);
    let work = agent(&rig, "work", &[("WORK_BOT_2", "2:second"), ("HOME_BOT", "3:h")]).unwrap();
    let names: Vec<&str> = work.agents.iter().map(|card| card.name.as_str()).collect();
    assert_eq!(names, ["main", "home", "work"]);
    assert_eq!(work.agents[2], work.agent);
    assert_eq!((work.agent.name.as_str(), work.agent.description.as_str()), ("work", "for work"));
    assert_eq!(work.agent.capabilities, ["mail", "code"]);
    assert_eq!((work.limits.model_steps_max, work.limits.tokens_day_max), (7, 1000));
    assert_eq!(work.zone.iana_name(), Some("Europe/Berlin"));
    let chat = Chat::of(&work.doors);
    assert_eq!((token(&work).as_str(), chat.stream), ("2:second", Some(false)));
    assert_eq!(chat.allowed_chats, [70]);
    assert!(chat.owners.is_empty(), "owners are not inherited");
    assert_eq!(chat.notify_chat, None, "nor is where notices go");
    assert_eq!(work.servers.as_deref(), Some(&["filesystem".to_owned()][..]));
    assert_eq!(
        work.model.base_url, None,
        "a model is replaced as a whole, so that no key meets another provider"
    );
    assert_eq!(work.home.path(), rig.home().join("agents/work"));
    assert_eq!(
        work.workspace,
        rig.home().join("agents/work/workspace"),
        "a workspace is not inherited"
    );
    assert_eq!(work.home.claw_toml(), rig.home().join("claw.toml"));

    let main = agent(&rig, "main", &[]).unwrap();
    assert_eq!(
        (main.agent.description.as_str(), token(&main).as_str()),
        ("the first", "1:main-token")
    );
    assert_eq!((main.limits.tokens_day_max, main.servers.as_ref()), (5000, None));
    assert_eq!(Chat::of(&main.doors).notify_chat, Some(9));
}

#[test]
fn variables_for_the_main_agent_are_for_no_other() {
    let rig = Rig::new(TWO);
    let all = [
        ("CLAW_WORKSPACE", "/tmp"),
        ("WORK_BOT", "2:first"),
        ("WORK_BOT_2", "2:second"),
        ("CLAW_AGENT", "demo"),
        ("CLAW_MODEL", "any"),
    ];
    let work = agent(&rig, "work", &all).unwrap();
    assert_eq!(token(&work), "2:first", "the first that is set");
    assert_eq!(work.workspace, rig.home().join("agents/work/workspace"));
    assert_eq!(
        (work.env.get("CLAW_AGENT"), work.env.get("CLAW_MODEL")),
        (None, None),
        "it has a model of its own"
    );
    let home = agent(&rig, "home", &[("HOME_BOT", "3:h"), ("CLAW_AGENT", "demo")]).unwrap();
    assert_eq!(home.env.get("CLAW_AGENT"), Some("demo"));
}

#[test]
fn what_is_wrong_with_one_agent_does_not_touch_the_others() {
    let rig = Rig::new(TWO);
    let error = agent(&rig, "home", &[]).unwrap_err().to_string();
    assert!(error.contains("HOME_BOT, which is not set") && error.contains("line"), "{error}");
    let work = agent(&rig, "work", &[]).unwrap();
    assert!(!work.has_bot());
    assert_eq!(work.bots_missing().collect::<Vec<_>>(), ["none of WORK_BOT, WORK_BOT_2 is set"]);
    let rig =
        Rig::new("[agents.a]\nallowed_chatz = [1]\n[agents.b]\ntoken = \"2:b\"\n[agents.c]\n");
    let error = agent(&rig, "a", &[]).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("`allowed_chatz`"), "{error}");
    let error = agent(&rig, "b", &[]).unwrap_err().to_string();
    assert!(
        error.contains("agents.b.allowed_chats") && error.contains("nobody may talk"),
        "{error}"
    );
    assert!(agent(&rig, "c", &[]).is_ok() && agent(&rig, "main", &[]).is_ok());
    // The line is the agent's own, where the file says the same key for all.
    let rig = Rig::new("[limits]\nmodel_steps_max = 5\n[agents.a.limits]\nmodel_steps_max = 0\n");
    let error = agent(&rig, "a", &[]).unwrap_err().to_string();
    assert!(error.contains("line 4") && error.contains("from 1 to 1000"), "{error}");
}

#[test]
fn what_is_a_secret_of_one_agent_is_one_for_all() {
    let rig = Rig::new(TWO);
    let main = agent(&rig, "main", &[("HOME_BOT", "3:h0me-token")]).unwrap();
    let held = |value: &str| main.secrets.iter().any(|(_, secret)| secret.expose_secret() == value);
    assert!(
        held("work-key-2") && held("main-key-1") && held("3:h0me-token") && held("1:main-token")
    );
    // Also one whose variable has a plain name, and while another variable of that agent is not
    // set.
    for name in ["work", "main"] {
        let config = agent(&rig, name, &[("WORK_BOT", "2:from-a-plain-name")]).unwrap();
        let held =
            |value: &str| config.secrets.iter().any(|(_, secret)| secret.expose_secret() == value);
        assert!(held("main-key-1") && held("work-key-2") && held("2:from-a-plain-name"), "{name}");
    }
    let rig = Rig::new(
        "[agents.a]\ntoken = \"$NOT_SET\"\n[agents.a.model]\nagent = \"claude\"\napi_key = \"a-key-literally\"\n",
    );
    let main = agent(&rig, "main", &[]).unwrap();
    assert!(main.secrets.iter().any(|(_, secret)| secret.expose_secret() == "a-key-literally"));
}

#[test]
fn a_key_goes_to_no_address_that_another_section_names() {
    let rig = Rig::new(
        "[transcription]\nurl = \"http://127.0.0.1:1/a\"\nmodel = \"m\"\nkey = \"main-speech-key\"\n\
         [agents.own.transcription]\nurl = \"http://127.0.0.1:2/b\"\nmodel = \"m\"\n[agents.other]\nallowed_chats = [1]\n",
    );
    let own = agent(&rig, "own", &[]).unwrap();
    assert!(own.transcription.unwrap().key.is_none());
    let other = agent(&rig, "other", &[]).unwrap();
    assert!(other.transcription.as_ref().unwrap().key.is_some());
    assert!(
        other.bots_missing().any(|why| why.contains("no token")),
        "chats are allowed, and there is no bot"
    );
}

#[test]
fn names_that_cannot_be_folders_are_refused() {
    for (text, wanted) in [
        ("agents = 5", "`agents` is no table"),
        ("[agents]\nwork = 5", "`agents.work` is no table"),
        ("[agents.main]", "outside of `[agents]`"),
        ("[agents.Work]", "`Work` is no name"),
        ("[agents.\"../x\"]", "is no name"),
        ("[agents.a.agents.b]", "`agents` is not a key here"),
    ] {
        let said = agent(&Rig::new(text), "a", &[]).map(drop).unwrap_err().to_string();
        assert!(said.contains(wanted), "{text}: {said}");
    }
    let error = agent(&Rig::new(TWO), "wrok", &[]).unwrap_err().to_string();
    assert!(error.contains("no agent `wrok`") && error.contains("main, home, work"), "{error}");
}
