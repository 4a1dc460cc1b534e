//! `claw init`, then `claw service install`, at one terminal; the service manager is played by a
//! program that notes how it is called.

use std::fs;

use crate::living::rig::Rig;
use crate::pty::Pty;

#[test]
fn what_init_has_written_is_all_that_the_service_needs() {
    let rig = Rig::new(&["Hello from the service."]);
    let bin = rig.house.user_home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let script = "#!/bin/sh\necho \"$@\" >> \"$HOME/calls\"\n";
    claw_test_kit::write_program(&bin.join("systemctl"), script);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let rig = Rig { house: rig.house.with("PATH", &path), ..rig };
    let mut pty = rig.init();
    rig.gives_model(&mut pty);
    rig.gives_token(&mut pty);
    rig.is_known(&mut pty);
    let shown = pty.shows("Write this?").types("y").shows("claw service install").text();
    pty.ends(0);

    let mut pty = Pty::start(&rig.house, &["service", "install"]);
    pty.shows("Written: ").shows("claw.service").shows("service.env").shows("It runs");
    let shown = shown + &pty.ends(0);
    let calls = fs::read_to_string(rig.house.user_home().join("calls")).unwrap();
    assert_eq!(
        calls,
        "--user daemon-reload\n--user enable claw.service\n--user restart claw.service\n"
    );
    rig.secrets_are_only_in_claw_toml(&shown);

    // As the manager starts it: the unit's line, with nothing but what the unit gives.
    let unit = fs::read_to_string(rig.house.user_home().join(".config/systemd/user/claw.service"))
        .unwrap();
    assert!(unit.contains(" gateway\n") && unit.contains("EnvironmentFile=-"), "{unit}");
    let mut command = rig.house.command(&["gateway"]);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", rig.house.user_home())
        .env("CLAW_HOME", rig.house.home());
    command.env("CLAW_TELEGRAM_API", rig.telegram.url());
    let gateway = rig.house.begin(command);
    rig.anna.says(rig.anna.private(), "hello");
    rig.telegram.wait_for_text(rig.anna.id, "Hello from the service.");
    gateway.signal(rustix::process::Signal::TERM);
    gateway.ends().expect(0);
}
