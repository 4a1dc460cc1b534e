//! One `claw gateway` as a process, and what the system says of it. Owns its home. Must not know
//! what is measured.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::bot::TOKEN;
use crate::stand_ins::StandIns;

/// What a login or a service gives a process, unless somebody has raised it: claw has to cope with
/// it by itself.
const FILES_SOFT: u32 = 1024;

/// What `/proc/PID/stat` counts in: `USER_HZ` is 100 wherever Linux runs.
const TICKS_PER_S: f64 = 100.0;

/// Where a home is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Disk,
    /// In memory: a sync costs nothing, so what is left is claw's own.
    Memory,
}

/// A home for one bot.
pub struct Home {
    dir: TempDir,
}

impl Home {
    pub fn new(on: On) -> Self {
        let dir = match on {
            On::Disk => TempDir::new_in(env!("CARGO_TARGET_TMPDIR")),
            On::Memory => TempDir::new_in("/dev/shm"),
        };
        let home = Self { dir: dir.unwrap() };
        std::fs::DirBuilder::new().mode(0o700).create(home.path()).unwrap();
        // The stand-in has no limits, and claw would otherwise keep those of Telegram.
        std::fs::write(home.path().join("claw.toml"), "[telegram]\npace = \"off\"\n").unwrap();
        home
    }

    /// Adds to `claw.toml`.
    pub fn configure(&self, toml: &str) {
        let path = self.path().join("claw.toml");
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, format!("{before}{toml}")).unwrap();
    }

    /// Claw's home.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("claw")
    }

    pub fn env(&self, stand_ins: &StandIns, chats: &[i64]) -> BTreeMap<&'static str, String> {
        let ids: Vec<String> = chats.iter().map(i64::to_string).collect();
        BTreeMap::from([
            ("HOME", self.dir.path().display().to_string()),
            ("CLAW_HOME", self.path().display().to_string()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("CLAW_AGENT", "openai-compatible".to_owned()),
            ("CLAW_MODEL", "stand-in".to_owned()),
            ("CLAW_BASE_URL", stand_ins.model_url.clone()),
            ("OPENAI_API_KEY", "key-of-the-benchmark".to_owned()),
            ("TELEGRAM_BOT_TOKEN", TOKEN.to_owned()),
            ("CLAW_TELEGRAM_API", stand_ins.bot_url.clone()),
            ("CLAW_ALLOWED_CHATS", ids.join(",")),
        ])
    }
}

/// A running gateway; it is killed when dropped.
pub struct Gateway {
    child: Child,
    began: Instant,
}

/// In MiB. Children are counted in, but claw has none before a tool is called.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// As `ps` and `top` show it: with the pages of the program's file.
    pub rss: f64,
    /// What nobody else holds and no file backs.
    pub anonymous: f64,
    /// The highest RSS so far.
    pub peak: f64,
}

impl Gateway {
    #[expect(clippy::disallowed_methods, reason = "the whole process is what is measured")]
    pub fn start(home: &Home, stand_ins: &StandIns, chats: &[i64]) -> Self {
        stand_ins.bot.forget_polls();
        let began = Instant::now();
        let child = Command::new("/bin/sh")
            .args(["-c", &format!("ulimit -S -n {FILES_SOFT}; exec \"$0\" gateway"), &program()])
            .env_clear()
            .envs(home.env(stand_ins, chats))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(log(home.dir.path())).unwrap())
            .spawn()
            .unwrap();
        Self { child, began }
    }

    /// How long ago it was started, until `at`.
    pub fn since_start(&self, at: Instant) -> Duration {
        at.duration_since(self.began)
    }

    pub fn memory(&self) -> Memory {
        let pids = std::iter::once(self.child.id()).chain(self.children());
        let of = |pid: u32, file: &str, name: &str| {
            let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.split_whitespace()
                .next()
                .and_then(|kib| kib.parse::<f64>().ok())
                .unwrap_or_default()
                / 1024.0
        };
        pids.fold(Memory::default(), |sum, pid| Memory {
            rss: sum.rss + of(pid, "status", "VmRSS:"),
            anonymous: sum.anonymous + of(pid, "smaps_rollup", "Anonymous:"),
            peak: sum.peak + of(pid, "status", "VmHWM:"),
        })
    }

    fn children(&self) -> Vec<u32> {
        let file = format!("/proc/{0}/task/{0}/children", self.child.id());
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Processor time so far, user and system, in milliseconds; the system counts it in steps of
    /// ten.
    pub fn cpu_ms(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The name of the program is in parentheses and may hold blanks.
        let fields: Vec<&str> =
            text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: f64 =
            [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<f64>().ok()).sum();
        ticks * 1000.0 / TICKS_PER_S
    }

    /// Asks it to end, and waits for it.
    pub fn ends(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let _status = self.child.wait();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // One that has ended cannot be killed any more.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// The program that is measured: this build, or another one for comparison, by its path in
/// `CLAW_BENCH_PROGRAM`.
fn program() -> String {
    std::env::var("CLAW_BENCH_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_claw").to_owned())
}

/// What claw has written to its log: an error there would make a figure worthless.
pub fn complaints(home: &Home) -> Option<String> {
    let text = std::fs::read_to_string(log(home.dir.path())).unwrap_or_default();
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
    lines.first().map(|first| format!("{} lines in the log, the first: {first}", lines.len()))
}

fn log(dir: &Path) -> PathBuf {
    dir.join("stderr")
}
