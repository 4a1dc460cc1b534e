//! `claw service` as a user types it, into a scratch home. The service manager is played by
//! programs that note how they are called; what is written for systemd is read by the real
//! `systemd-analyze`, where there is one. And the file that parks a gateway.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test calls systemd-analyze")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::botapi::BotApi;
use crate::program::House;

const TOKEN: &str = "1234567:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr";
const KEY: &str = "sk-ant-what-\"nobody\"-$may-see";

struct Rig {
    house: House,
}

impl Rig {
    /// `systemctl` notes its words and ends with `code`.
    fn new(code: i32) -> Self {
        let house = House::new();
        let bin = house.user_home().join("bin");
        fs::create_dir_all(&bin).unwrap();
        for name in ["systemctl", "journalctl"] {
            let script = format!(
                "#!/bin/sh\necho {name} \"$@\" >> \"$HOME/calls\"\necho said by {name}\nexit {code}\n"
            );
            claw_test_kit::write_program(&bin.join(name), &script);
        }
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let house = house
            .with_bot(TOKEN, "http://127.0.0.1:9", "42")
            .with("PATH", &path)
            .with("ANTHROPIC_API_KEY", KEY)
            .with("MY_SERVER", "used by mcp.json")
            .with("UNRELATED_SECRET", "not claw's business");
        Self { house }
    }

    fn unit(&self) -> PathBuf {
        self.house.user_home().join(".config/systemd/user/claw.service")
    }

    fn settings(&self) -> PathBuf {
        self.house.home().join("service.env")
    }

    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.house.user_home().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }
}

#[test]
fn where_clients_are_served_and_no_bot_is_set_up_the_refusal_names_what_serves_them() {
    let house = House::new();
    house.write("claw.toml", "[serve]\nhttp = \"127.0.0.1:8484\"\n");
    let serves = "`claw serve --http 127.0.0.1:8484` serves MCP clients";
    for words in [&["gateway"][..], &["service", "install", "--no-start"]] {
        house.claw(words).expect_mistake(&["no door is configured", serves]);
        house.write("claw.toml", "");
        let refused = house.claw(words).expect_mistake(&["no door is configured"]);
        assert!(!refused.err.contains("claw serve"), "{refused:?}");
        house.write("claw.toml", "[serve]\nhttp = \"127.0.0.1:8484\"\n");
    }
}

#[test]
fn it_is_installed_looked_at_and_removed() {
    let rig = Rig::new(0);
    rig.house.write(
        "mcp.json",
        r#"{"mcpServers": {"x": {"command": "true", "env": {"A": "${MY_SERVER}"}, "disabled": true}}}"#,
    );
    let said = rig.house.claw(&["service", "install"]).expect(0);
    for part in [
        "claw.service",
        "service.env",
        "ANTHROPIC_API_KEY",
        "TELEGRAM_BOT_TOKEN",
        "MY_SERVER",
        "enable-linger",
    ] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    assert!(
        !said.out.contains("UNRELATED") && !said.out.contains(KEY) && !said.out.contains(TOKEN),
        "{said:?}"
    );
    let wanted = ["daemon-reload", "enable claw.service", "restart claw.service"];
    assert_eq!(rig.calls(), wanted.map(|words| format!("systemctl --user {words}")));
    assert_eq!(fs::metadata(rig.settings()).unwrap().permissions().mode() & 0o777, 0o600);
    let settings = fs::read_to_string(rig.settings()).unwrap();
    assert!(
        !settings.contains("UNRELATED") && settings.contains("CLAW_ALLOWED_CHATS=\"42\"\n"),
        "{settings}"
    );
    // A shell reads the same value as the one that was set.
    let script = format!(". {}; printf %s \"$ANTHROPIC_API_KEY\"", rig.settings().display());
    let read = Command::new("/bin/sh").args(["-c", &script]).env_clear().output().unwrap();
    assert_eq!(String::from_utf8(read.stdout).unwrap(), KEY);
    let unit = fs::read_to_string(rig.unit()).unwrap();
    assert!(
        unit.contains("Type=notify") && unit.contains(" gateway\n") && !unit.contains(TOKEN),
        "{unit}"
    );

    assert!(rig.house.claw(&["service", "status"]).expect(0).out.contains("said by systemctl"));
    assert!(
        rig.house
            .claw(&["service", "logs", "--follow"])
            .expect(0)
            .out
            .contains("said by journalctl")
    );
    assert_eq!(
        rig.calls().last().unwrap(),
        "journalctl --user -u claw.service -n 100 --no-pager -f"
    );
    rig.house.claw(&["service", "uninstall"]).expect(0);
    assert!(!rig.unit().exists() && rig.settings().exists());
    assert!(rig.calls().contains(&"systemctl --user disable --now claw.service".to_owned()));
    let logs = rig.house.claw(&["service", "logs"]).expect(0);
    assert!(logs.err.contains("has installed no service here"), "{logs:?}");
    rig.house.claw(&["service", "uninstall"]).expect_mistake(&["there is no", "nothing was done"]);
}

#[test]
fn systemd_takes_the_unit() {
    let Ok(version) = Command::new("systemd-analyze").arg("--version").output() else { return };
    let rig = Rig::new(0);
    rig.house.claw(&["service", "install", "--no-start"]).expect(0);
    assert_eq!(rig.calls(), [""; 0], "nothing is started");
    let verified = Command::new("systemd-analyze")
        .args(["--user", "verify"])
        .arg(rig.unit())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    // It also reports what is wrong with other units of this machine.
    let about_ours: Vec<&str> = said.lines().filter(|line| line.contains("claw.service")).collect();
    assert!(about_ours.is_empty(), "{}: {said}", String::from_utf8_lossy(&version.stdout));
}

#[test]
fn a_setting_that_was_there_stays_and_a_new_value_counts() {
    let rig = Rig::new(0);
    rig.house.claw(&["service", "install", "--no-start"]).expect(0);
    let kept = fs::read_to_string(rig.settings()).unwrap();
    fs::write(rig.settings(), format!("{kept}EXTRA=\"mine\"\n")).unwrap();
    let changed = Rig { house: rig.house.with("CLAW_ALLOWED_CHATS", "42,43") };
    changed.house.claw(&["service", "install", "--no-start"]).expect(0);
    let settings = fs::read_to_string(changed.settings()).unwrap();
    assert!(
        settings.contains("EXTRA=\"mine\"\n")
            && settings.contains("CLAW_ALLOWED_CHATS=\"42,43\"\n"),
        "{settings}"
    );
    assert_eq!(settings.matches("CLAW_ALLOWED_CHATS").count(), 1);
}

#[test]
fn the_service_gets_what_claw_needs_of_this_machine_and_its_network_and_nothing_of_one_login() {
    let rig = Rig::new(0);
    let state = rig.house.user_home().join("state").display().to_string();
    let needed = [
        ("HTTPS_PROXY", "http://127.0.0.1:9"),
        ("LC_TIME", "de_AT.UTF-8"),
        ("MCP_TIMEOUT", "5000"),
        ("SSL_CERT_FILE", "/etc/own-ca.pem"),
        ("TZ", "Europe/Vienna"),
        ("XDG_STATE_HOME", state.as_str()),
        ("no_proxy", "localhost"),
    ];
    let of_a_login = [("SSH_AUTH_SOCK", "/tmp/ssh-1/agent.1"), ("XDG_RUNTIME_DIR", "/run/user/7")];
    let set = needed.iter().chain(&of_a_login);
    let rig = Rig { house: set.fold(rig.house, |house, (name, value)| house.with(name, value)) };
    let install = ["service", "install", "--no-start"];
    rig.house.claw(&install).expect(0);
    let settings = fs::read_to_string(rig.settings()).unwrap();
    for (name, value) in needed {
        assert!(settings.contains(&format!("{name}=\"{value}\"\n")), "{name}: {settings}");
    }
    for (name, _) in of_a_login {
        assert!(!settings.contains(name), "{settings}");
    }
    // Somebody whose agent stays where it is says so.
    rig.house.write("claw.toml", "inherit = [\"...\", \"SSH_AUTH_SOCK\"]\n");
    rig.house.claw(&install).expect(0);
    assert!(fs::read_to_string(rig.settings()).unwrap().contains("SSH_AUTH_SOCK="));
}

#[test]
fn a_setting_of_before_does_not_override_what_claw_toml_says_now() {
    let rig = Rig::new(0);
    let install = ["service", "install", "--no-start"];
    rig.house.claw(&install).expect(0);
    let kept = fs::read_to_string(rig.settings()).unwrap();
    fs::write(rig.settings(), format!("{kept}EXTRA=\"mine\"\nCLAW_MODEL=\"old\"\n")).unwrap();
    // As `claw init` asks for it: unset, and written.
    let newer = "7654321:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr";
    let names = || -> Vec<String> {
        let settings = fs::read_to_string(rig.settings()).unwrap();
        settings.lines().map(|line| line.split('=').next().unwrap().to_owned()).collect()
    };
    let without = |unset: &[&str]| {
        let mut command = rig.house.command(&install);
        unset.iter().for_each(|name| _ = command.env_remove(name));
        rig.house.begin(command).ends().expect(0)
    };
    rig.house.write("claw.toml", &format!("[telegram]\ntoken = \"{newer}\"\n"));
    let said = without(&["TELEGRAM_BOT_TOKEN", "CLAW_AGENT"]);
    assert!(said.out.contains("Taken out of it: TELEGRAM_BOT_TOKEN. "), "{said:?}");
    assert!(!said.out.contains(TOKEN) && !said.out.contains(newer), "{said:?}");
    for (name, is_there) in [
        ("TELEGRAM_BOT_TOKEN", false),
        ("CLAW_AGENT", true),
        ("CLAW_MODEL", true),
        ("CLAW_ALLOWED_CHATS", true),
        ("EXTRA", true),
    ] {
        assert_eq!(names().iter().any(|known| known == name), is_there, "{name}");
    }
    // Who answers is said as a whole.
    let model = "[model]\nagent = \"demo\"\n";
    rig.house.write("claw.toml", &format!("{model}[telegram]\ntoken = \"{newer}\"\n"));
    let said = without(&["TELEGRAM_BOT_TOKEN", "CLAW_AGENT"]);
    assert!(said.out.contains("Taken out of it: CLAW_AGENT, CLAW_MODEL. "), "{said:?}");
    // What is set here counts here, and there.
    let said = rig.house.claw(&install).expect(0);
    assert!(!said.out.contains("Taken out") && names().contains(&"CLAW_AGENT".into()), "{said:?}");
}

#[test]
fn a_workspace_that_is_named_beside_the_command_is_that_of_the_service() {
    let rig = Rig::new(0);
    let folder = rig.house.user_home().join("elsewhere");
    fs::create_dir(&folder).unwrap();
    let folder = folder.display().to_string();
    rig.house.claw(&["--workspace", &folder, "service", "install", "--no-start"]).expect(0);
    let settings = fs::read_to_string(rig.settings()).unwrap();
    assert!(settings.contains(&format!("CLAW_WORKSPACE=\"{folder}\"\n")), "{settings}");
}

#[test]
fn what_cannot_be_is_said_with_a_next_step() {
    House::new()
        .claw(&["service", "install"])
        .expect_mistake(&["TELEGRAM_BOT_TOKEN", "claw service install"]);
    let fails = Rig::new(1);
    let failed = fails.house.claw(&["service", "install"]).expect(2);
    assert!(
        failed.err.contains("systemctl --user daemon-reload")
            && failed.err.contains("said by systemctl"),
        "{failed:?}"
    );
    assert!(fails.unit().exists(), "what was written stays");
    let nowhere = Rig { house: Rig::new(0).house.with("PATH", "/nowhere") };
    nowhere.house.claw(&["service", "status"]).expect_mistake(&["systemctl", "claw gateway"]);
    let odd = Rig { house: Rig::new(0).house.with("OPENAI_API_KEY", "two\nlines") };
    odd.house
        .claw(&["service", "install", "--no-start"])
        .expect_mistake(&["OPENAI_API_KEY", "line break"]);
}

#[test]
fn a_parked_gateway_does_not_start_and_one_that_is_parked_ends() {
    let telegram = BotApi::start();
    let house = House::new().with_bot(&telegram.token(), telegram.url(), "42");
    house.write("gateway-disabled", "");
    let parked = house.claw(&["gateway"]).expect(0);
    assert!(
        parked.err.contains("is parked") && parked.err.contains("gateway-disabled"),
        "{parked:?}"
    );
    assert!(telegram.calls_of("getMe").is_empty());
    assert!(house.claw(&["doctor"]).expect(1).out.contains("it is parked by"));
    fs::remove_file(house.home().join("gateway-disabled")).unwrap();
    let gateway = house.start(&["gateway"]);
    telegram.wait_for_calls("getUpdates", 1);
    house.write("gateway-disabled", "");
    let ended = gateway.ends().expect(0);
    assert!(ended.err.contains("so the gateway ends"), "{ended:?}");
    house.is_whole();
}

#[test]
fn a_missing_session_of_the_user_is_explained() {
    let rig = Rig::new(1);
    let says = "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n";
    claw_test_kit::write_program(&rig.house.user_home().join("bin/systemctl"), says);
    for words in [&["service", "install"][..], &["service", "status"]] {
        let ran = rig.house.claw(words).expect(2);
        assert!(!(ran.err.clone() + &ran.out).contains("Failed to connect"), "{ran:?}");
        let err = ran.err.split_once("claw: ").unwrap().1.to_owned();
        for named in
            ["no session of this user", "loginctl enable-linger", "XDG_RUNTIME_DIR=/run/user/"]
        {
            assert!(err.contains(named), "{named}: {err}");
        }
    }
}
