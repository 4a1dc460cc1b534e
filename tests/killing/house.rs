//! One home for one run, and the starting and killing of claw in it. Must not know what is asked or
//! judged.

#![expect(
    clippy::disallowed_methods,
    reason = "the rig starts claw itself, as a person at a shell does"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Child;

use super::effects;

/// The most time that one command may take. Reached only when something hangs.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(10);
/// The most time that a server may take to notice that its host is gone.
const LEFTOVER_TIME_MAX: Duration = Duration::from_secs(5);

const POLICY: &str = r#"
[classes]
"effects/look" = "safe"
"effects/propose" = "safe"
"effects/keep" = "safe"

[[rule]]
server = "effects"
tool = "append"
args.id = '(free|slow)-[a-z0-9-]+'
decision = "allow"
why = "these effects need no question"
match = [{ args = { id = "free-a" } }]
not_match = [{ args = { id = "ask-a" } }]

[[rule]]
server = "effects"
tool = "make"
decision = "allow"
why = "files to hand over need no question"
"#;

/// Who writes again and again instead of answering makes a turn long, and stages much in it. The
/// rig kills at the same step as often as it likes, and nobody there answers whether a turn may go
/// on after that.
const LIMITS: &str = "[limits]\nmodel_steps_max = 200\ndeaths_of_turn_max = 1000000\nstaged_actions_max = 50\n\
                      tool_calls_parallel_max = 4\n";

/// How a command is to end.
#[derive(Clone, Debug)]
pub enum Kill {
    Not,
    /// When this named point is passed for the n-th time.
    At(String, u32),
    /// At a moment that nobody chose.
    After(Duration),
    /// When this named point is passed for the n-th time, or at this moment, if it is not until
    /// then.
    AtOrAfter(String, u32, Duration),
}

impl Kill {
    /// The most time that the command has.
    fn limit(&self) -> Duration {
        match self {
            Self::Not | Self::At(..) => COMMAND_TIME_MAX,
            Self::After(moment) | Self::AtOrAfter(_, _, moment) => *moment,
        }
    }

    /// Reaching the limit is what was meant.
    fn by_time(&self) -> bool {
        matches!(self, Self::After(_) | Self::AtOrAfter(..))
    }
}

#[derive(Debug)]
pub struct Ended {
    /// `None` when it was ended by a signal.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub hung: bool,
    /// It was killed when its time was over, and not at a named point.
    pub by_time: bool,
    pub took: Duration,
}

pub struct House {
    dir: TempDir,
    /// What claw finds in its environment beside home, workspace and path.
    env: BTreeMap<String, String>,
}

impl House {
    pub fn new() -> anyhow::Result<Self> {
        let house = Self { dir: tempfile::tempdir()?, env: BTreeMap::new() };
        std::fs::create_dir_all(house.path("work"))?;
        Ok(house)
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    pub fn furnish(&self, base_url: &str) -> anyhow::Result<()> {
        let home = self.path("home");
        std::fs::create_dir_all(&home)?;
        let server = std::env::current_exe()?;
        let args = ["serve-effects".into(), self.effects(), self.path("pids")];
        let servers = json!({"mcpServers": {"effects": {"command": server, "args": args}}});
        std::fs::write(home.join("mcp.json"), servers.to_string())?;
        std::fs::write(home.join("policy.toml"), POLICY)?;
        let model = format!(
            "[model]\nagent = 'openai-compatible'\nmodel = 'stand-in'\nbase_url = '{base_url}'\napi_key = 'key-of-the-stand-in'\n{LIMITS}\n\
             [telegram]\npace = 'off'\n"
        );
        std::fs::write(home.join("claw.toml"), model)?;
        Ok(())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn db(&self) -> PathBuf {
        self.path("home/claw.db")
    }

    pub fn effects(&self) -> PathBuf {
        self.path("effects")
    }

    /// The slow calls that have begun.
    pub fn begun(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(effects::BEGUN)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Keeps the folder for a person to look at.
    pub fn keep(mut self) -> PathBuf {
        self.dir.disable_cleanup(true);
        self.dir.path().to_owned()
    }

    /// Starts claw. It ends with the handle, if not before.
    pub fn start(
        &self,
        args: &[String],
        kill: &Kill,
        trace: Option<&Path>,
    ) -> anyhow::Result<(Child, Pid)> {
        // Another build can be tried, such as one with a bug in it, to see what the oracle says.
        let program = std::env::var_os("CLAW_KILL_PROGRAM")
            .unwrap_or_else(|| env!("CARGO_BIN_EXE_claw").into());
        let mut command = tokio::process::Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.dir.path())
            .env("CLAW_HOME", self.path("home"));
        command
            .env("CLAW_WORKSPACE", self.path("work"))
            .env("PATH", "/usr/bin:/bin")
            .envs(&self.env);
        if let Kill::At(point, count) | Kill::AtOrAfter(point, count, _) = kill {
            command.env("CLAW_KILL_AT", format!("{point}:{count}"));
        }
        if let Some(trace) = trace {
            command.env("CLAW_KILL_TRACE", trace);
        }
        // What is typed is only there for the command that reads it.
        let typed = args
            .first()
            .is_some_and(|verb| verb == "chat")
            .then(|| std::fs::File::open(self.path("typed")));
        command
            .stdin(typed.transpose()?.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let child = command.spawn()?;
        let pid =
            child.id().and_then(|id| Pid::from_raw(id as i32)).context("a child has an id")?;
        Ok((child, pid))
    }

    /// Runs claw to its end, whatever that is.
    pub async fn claw(
        &self,
        args: &[String],
        kill: &Kill,
        trace: Option<&Path>,
    ) -> anyhow::Result<Ended> {
        let began = Instant::now();
        let (child, pid) = self.start(args, kill, trace)?;
        let mut output = std::pin::pin!(child.wait_with_output());
        let (output, late) = match tokio::time::timeout(kill.limit(), &mut output).await {
            Ok(output) => (output?, false),
            Err(_) => {
                // It has not been waited for yet, so the id is still its own.
                let _ended_meanwhile = kill_process(pid, Signal::KILL);
                (output.await?, true)
            }
        };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (hung, by_time) = (late && !kill.by_time(), late && kill.by_time());
        let (out, err, took) = (text(output.stdout), text(output.stderr), began.elapsed());
        Ok(Ended { code: output.status.code(), out, err, hung, by_time, took })
    }

    /// The servers of this home that are still there when every claw has ended.
    pub async fn leftovers(&self) -> Vec<i32> {
        let began = Instant::now();
        loop {
            let pids = std::fs::read_to_string(self.path("pids")).unwrap_or_default();
            let left: Vec<i32> = pids
                .lines()
                .filter_map(|pid| pid.parse().ok())
                .filter(|pid| self.is_server(*pid))
                .collect();
            if left.is_empty() || began.elapsed() > LEFTOVER_TIME_MAX {
                return left;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn is_server(&self, pid: i32) -> bool {
        let alive = Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
        if !alive || !cfg!(target_os = "linux") {
            return alive;
        }
        // The number may belong to somebody else by now. A zombie has no command line.
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&*self.dir.path().to_string_lossy())
    }
}
