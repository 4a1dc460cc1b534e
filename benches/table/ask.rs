//! A whole `claw ask` as a process, against a stand-in for a model that answers at once: wall, CPU
//! and peak memory, with and without a tool, the children's included.

use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{Usage, UsageWho, getrusage};

use crate::home::Home;
use crate::wires::{Answer, Call, StandIn, Turn, Wire};
use crate::{Row, median};

const RUNS: usize = 30;

pub fn rows() -> Vec<Row> {
    // Memory comes as the largest of all children so far, so the smaller one goes first.
    let plain = measure("hello", |stand_in| stand_in.push(Answer::text("Hello.")));
    let calls = |arguments: &'static str| {
        move |stand_in: &StandIn| {
            stand_in.push(Answer::Turn(Turn::calls(&[Call::new("c1", "bash__run", arguments)])));
            stand_in.push(Answer::text("Done."));
        }
    };
    // What prints takes another way through server and hub than what does not, so both are
    // measured.
    let silent = measure("what is here?", calls(r#"{"command":"true"}"#));
    let printing = measure("what is here?", calls(r#"{"command":"echo one; echo two"}"#));
    let size = std::fs::metadata(env!("CARGO_BIN_EXE_claw")).map_or(0, |meta| meta.len());
    let mut rows = Vec::new();
    for (what, figures) in [
        ("`claw ask`, no tool", plain),
        ("`claw ask`, a shell call that prints nothing", silent),
        ("`claw ask`, a shell call that prints", printing),
    ] {
        rows.push(Row::new(format!("{what}: wall"), format!("{:.1} ms", figures.wall_ms), ""));
        rows.push(Row::new(
            format!("{what}: CPU"),
            format!("{:.1} ms", figures.cpu_ms),
            "user + system, servers included",
        ));
        rows.push(Row::new(
            format!("{what}: peak memory"),
            format!("{:.1} MiB", figures.peak_mib),
            "the largest process",
        ));
    }
    rows.push(Row::new("binary", format!("{:.1} MiB", size as f64 / 1_048_576.0), "stripped"));
    rows
}

pub struct Figures {
    wall_ms: f64,
    pub cpu_ms: f64,
    peak_mib: f64,
}

fn measure(text: &str, script: impl Fn(&StandIn)) -> Figures {
    measure_in(&Home::new(), text, script)
}

/// The same in a home with something in it.
#[expect(clippy::disallowed_methods, reason = "the whole process is what is measured")]
pub fn measure_in(home: &Home, text: &str, script: impl Fn(&StandIn)) -> Figures {
    home.write(
        "policy.toml",
        "[[rule]]\nserver = 'bash'\ntool = 'run'\nargs.command = 'true|echo one; echo two'\ndecision = 'allow'\nwhy = 'for the benchmark'\n",
    );
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let stand_in = runtime.block_on(StandIn::start(Wire::OpenAi, []));
    let base_url = stand_in.base_url.clone();
    let env = home.env(&[
        ("CLAW_AGENT", "openai-compatible"),
        ("CLAW_MODEL", "stand-in"),
        ("CLAW_BASE_URL", &base_url),
        ("OPENAI_API_KEY", "key-of-the-benchmark"),
    ]);
    let (mut walls, mut cpus) = (Vec::new(), Vec::new());
    for run in 0..RUNS + 2 {
        script(&stand_in);
        let before = usage();
        let began = Instant::now();
        let status = Command::new(env!("CARGO_BIN_EXE_claw"))
            .args(["ask", text])
            .env_clear()
            .envs(&env)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .status()
            .unwrap();
        let wall = began.elapsed();
        assert!(status.success(), "{status}");
        // The first runs make the home and pin the tools.
        if run >= 2 {
            walls.push(wall.as_secs_f64() * 1000.0);
            cpus.push(cpu_ms(&usage()) - cpu_ms(&before));
        }
    }
    Figures {
        wall_ms: median(walls),
        cpu_ms: median(cpus),
        peak_mib: usage().max_rss() as f64 / 1024.0,
    }
}

fn usage() -> Usage {
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap()
}

fn cpu_ms(usage: &Usage) -> f64 {
    let ms = |time: nix::sys::time::TimeVal| {
        time.tv_sec() as f64 * 1000.0 + time.tv_usec() as f64 / 1000.0
    };
    ms(usage.user_time()) + ms(usage.system_time())
}
