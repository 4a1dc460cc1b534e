//! Clients of others at `claw serve --tools`, while a gateway asks the owner on a stand-in for
//! Telegram. The client is a program that the environment names, and the owner answers by the words
//! of a call: `yes-` is allowed, `no-` is denied, `cancel-` and `restart-` are allowed when the
//! client has said that it has given up, and that the gateway may be killed.
//! `.ci/serve-clients.sh` runs it.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a client of others is a program")]

use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::botapi::Message;
use crate::program::{Running, SOON, example};
use crate::telegram_rig::Rig;

/// Words of a program and its first arguments, between blanks.
const CLIENT: &str = "CLAW_FOREIGN_CLIENT";

#[test]
#[ignore = "needs a client of others, which CLAW_FOREIGN_CLIENT names"]
fn a_client_of_others_asks_calls_cancels_is_denied_and_survives_a_restart() {
    let named = std::env::var(CLIENT).unwrap();
    let rig = Rig::new();
    let record = rig.house.user_home().join("effects");
    let legacy = json!({"command": example("hub-stranger"), "args": ["legacy", &record]});
    let fs = json!({"command": "claw", "args": ["server", "filesystem"]});
    let bash = json!({"command": "claw", "args": ["server", "bash"]});
    let shelf = rig.house.user_home().join("shelf");
    let shelf = json!({"command": example("shelf"), "args": ["legacy", shelf]});
    let servers = json!({"legacy": legacy, "filesystem": fs, "bash": bash, "shelf": shelf});
    let servers = json!({ "mcpServers": servers }).to_string();
    // The owner answers about calls.
    rig.house.write("policy.toml", "[classes]\n\"shelf/prompts/get\" = \"safe\"\n");
    rig.house.write("mcp.json", &servers);
    rig.house.write("workspace/hello.txt", "hello of the workspace");
    rig.house.claw(&["tools"]).expect(0);
    let gateway = rig.start();
    let told = rig.house.user_home().join("told");
    std::fs::create_dir(&told).unwrap();
    let mut owner = Owner { rig: &rig, gateway: Some(gateway), answered: HashSet::new() };
    let mut client = start(&named, &rig, &told);
    let deadline = Instant::now() + 3 * SOON;
    let status = loop {
        if let Some(status) = client.try_wait().unwrap() {
            break status;
        }
        owner.looks(&told);
        assert!(Instant::now() < deadline, "the client does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "the client has failed: {status}");
    let record = std::fs::read_to_string(&record).unwrap();
    let calls: Vec<&str> = record.lines().filter(|line| line.contains("tools/call")).collect();
    // Three of each era have a yes, and none ran twice.
    assert_eq!(calls.len(), 6, "{record}");
    let gateway = owner.gateway.take().unwrap();
    rig.stop(gateway);
}

fn start(named: &str, rig: &Rig, told: &Path) -> Child {
    let mut words = named.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).arg(told);
    let serve = rig.house.command(&["serve", "--client", "foreign", "--tools"]);
    command.arg(serve.get_program()).args(serve.get_args());
    command.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // The client's own interpreter is found by the path of whoever runs the test.
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.stdin(Stdio::null()).spawn().unwrap()
}

struct Owner<'r> {
    rig: &'r Rig,
    gateway: Option<Running>,
    /// The messages that were tapped, and the restarts that were made.
    answered: HashSet<String>,
}

impl Owner<'_> {
    /// Answers what may be answered now.
    fn looks(&mut self, told: &Path) {
        for mode in ["legacy", "auto"] {
            let restart = format!("restart-{mode}");
            let is_asked = self.questions().iter().any(|asked| asked.text.contains(&restart));
            if told.join(&restart).exists() && is_asked && self.answered.insert(restart) {
                self.rig.kill(self.gateway.take().unwrap());
                self.gateway = Some(self.rig.house.start(&["gateway"]));
            }
        }
        for question in self.questions() {
            let words = &question.text;
            let may = |what: &str, mode: &str| {
                words.contains(&format!("{what}-{mode}"))
                    && told.join(format!("{what}-{mode}")).exists()
            };
            let is_due = |mode: &str| {
                may("cancel", mode)
                    || (may("restart", mode) && self.answered.contains(&format!("restart-{mode}")))
            };
            let button = match words {
                words if words.contains("yes-") => "Allow once",
                words if words.contains("no-") => "Deny",
                _ if is_due("legacy") || is_due("auto") => "Allow once",
                _ => continue,
            };
            if self.answered.insert(format!("{button} {}", question.id)) {
                self.rig.anna.taps_on(self.rig.anna.private(), question.id, button);
            }
        }
    }

    /// Those whose buttons are there.
    fn questions(&self) -> Vec<Message> {
        let sent = self.rig.telegram.sent(self.rig.anna.private());
        sent.into_iter().filter(|message| message.button("Allow once").is_some()).collect()
    }
}
