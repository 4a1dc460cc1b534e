//! One home for one run, and the starting and killing of claw in it. Must not know what is asked or
//! judged.

#![expect(
    clippy::disallowed_methods,
    reason = "the rig starts claw itself, as a person at a shell does"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Child;

use super::strike::{Strike, Struck};
use super::{effects, recalled, remembered};

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

[[rule]]
server = "bash"
tool = "run"
args.command = 'echo bash-[a-z0-9-]+ >> effects\.bash'
decision = "allow"
why = "these effects need no question"
match = [{ args = { command = "echo bash-a >> effects.bash" } }]

[[rule]]
server = "filesystem"
tool = "write_file"
args.path = 'effects/file-[a-z0-9-]+'
decision = "allow"
why = "these effects need no question"
match = [{ args = { path = "effects/file-a" } }]
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
    /// Who of its children was killed meanwhile.
    pub struck: Option<Struck>,
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
        let own = |name: &str| json!({"command": "claw", "args": ["server", name]});
        let servers = json!({"mcpServers": {
            "effects": {"command": server, "args": args},
            "bash": own("bash"),
            "filesystem": own("filesystem"),
            "memory": {"command": "claw", "args": remembered::args(&self.path("notes"))},
        }});
        recalled::notes(&self.path("notes"))?;
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

    /// How often each effect happened, over all servers.
    pub fn counted(&self) -> BTreeMap<String, usize> {
        let mut counted = effects::counted(&self.effects(), &self.path("work"));
        remembered::count(&self.path("notes"), &mut counted);
        counted
    }

    /// The calls that the server of effects has had in hand.
    pub fn in_hand(&self) -> BTreeSet<String> {
        let text = std::fs::read_to_string(self.path(effects::IN_HAND)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
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
        let typed = args.first().is_some_and(|verb| verb == "chat").then(|| {
            // What comes later comes through a pipe.
            let later = std::fs::File::open(self.path("typed-later"));
            later.or_else(|_| std::fs::File::open(self.path("typed")))
        });
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
        self.claw_struck(args, kill, trace, None).await
    }

    /// Runs claw to its end. One of its children is killed meanwhile, if there is one in time.
    pub async fn claw_struck(
        &self,
        args: &[String],
        kill: &Kill,
        trace: Option<&Path>,
        strike: Option<Strike>,
    ) -> anyhow::Result<Ended> {
        let began = Instant::now();
        let (child, pid) = self.start(args, kill, trace)?;
        let mut output = std::pin::pin!(child.wait_with_output());
        let mut striking = std::pin::pin!(async {
            match strike {
                Some(strike) => strike.hit(pid).await,
                None => std::future::pending().await,
            }
        });
        let mut struck = None;
        let ending = async {
            loop {
                tokio::select! {
                    biased;
                    output = &mut output => return output,
                    hit = &mut striking, if struck.is_none() => struck = Some(hit),
                }
            }
        };
        let ended = tokio::time::timeout(kill.limit(), ending).await;
        let (output, late) = match ended {
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
        let code = output.status.code();
        if let (None, false, Some(struck)) = (code, hung, &struck) {
            struck.end_what_claw_could_not(self);
        }
        Ok(Ended { code, out, err, hung, by_time, took, struck })
    }

    /// What was started for this home and is still there when every claw has ended.
    pub async fn leftovers(&self) -> Vec<i32> {
        let began = Instant::now();
        loop {
            let left: Vec<i32> =
                self.started().into_iter().filter(|pid| self.is_of_this_house(*pid)).collect();
            if left.is_empty() || began.elapsed() > LEFTOVER_TIME_MAX {
                return left;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Every process, or those that have given their numbers where there is no list of all.
    fn started(&self) -> Vec<i32> {
        if cfg!(target_os = "linux") {
            let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            return entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        }
        let pids = std::fs::read_to_string(self.path("pids")).unwrap_or_default();
        pids.lines().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Whatever claw starts has the home of this house in its environment.
    pub fn is_of_this_house(&self, pid: i32) -> bool {
        if !cfg!(target_os = "linux") {
            return Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
        }
        // One that has ended and was not waited for has neither.
        let name = self.dir.path().to_string_lossy().into_owned();
        ["environ", "cmdline"].iter().any(|list| {
            let text = std::fs::read(format!("/proc/{pid}/{list}")).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(&name)
        })
    }
}
