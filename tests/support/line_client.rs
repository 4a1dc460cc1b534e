//! Somebody at the socket of the line door (`line_door.rs`), who keeps every line across restarts.
//! Must not know what is tested.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::program::{self, House, Running, eventually};

/// The door as a process over the home, when it listens.
pub fn start(house: &House) -> Running {
    let mut door = line_door(house, &["gateway"]);
    door.env("CLAW_LINES_SOCKET", house.home().join("lines.sock"));
    listening(house, door)
}

/// The same with a socket that `claw.toml` names.
pub fn start_as_set(house: &House) -> Running {
    listening(house, line_door(house, &["gateway"]))
}

/// A command of the program with that door.
pub fn line_door(house: &House, args: &[&str]) -> Command {
    let claw = house.command(&[]);
    let mut door = Command::new(program::example("line-door"));
    door.args(args).env_clear();
    door.envs(claw.get_envs().filter_map(|(name, value)| Some((name, value?))));
    door.current_dir(house.user_home());
    door
}

fn listening(house: &House, door: Command) -> Running {
    let running = house.begin(door);
    eventually("the door listens", || running.err().contains("listening"));
    running
}

pub struct Client {
    name: &'static str,
    writes: UnixStream,
    lines: Arc<Mutex<Vec<Value>>>,
    reader: JoinHandle<()>,
}

impl Client {
    pub fn connect(house: &House, name: &'static str) -> Self {
        let lines = Arc::default();
        let (writes, reader) = open(house, name, &lines);
        Self { name, writes, lines, reader }
    }

    /// Comes back, after the door or the connection was ended. Gives back how many lines had come
    /// by then.
    pub fn reconnect(&mut self, house: &House) -> usize {
        eventually("all is read that was sent before", || self.reader.is_finished());
        let before = self.lines().len();
        (self.writes, self.reader) = open(house, self.name, &self.lines);
        before
    }

    /// Ends the connection: a line that the door writes from now on fails.
    pub fn leaves(&self) {
        self.writes.shutdown(Shutdown::Both).unwrap();
    }

    pub fn line(&self, line: &Value) {
        (&self.writes).write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub fn says(&self, text: &str) {
        self.line(&json!({"say": text}));
    }

    /// Every line that came, oldest first.
    pub fn lines(&self) -> Vec<Value> {
        self.lines.lock().unwrap().clone()
    }
}

fn open(house: &House, name: &str, lines: &Arc<Mutex<Vec<Value>>>) -> (UnixStream, JoinHandle<()>) {
    let writes = UnixStream::connect(house.home().join("lines.sock")).unwrap();
    let (reads, into) = (BufReader::new(writes.try_clone().unwrap()), Arc::clone(lines));
    let reader = std::thread::spawn(move || {
        for line in reads.lines().map_while(Result::ok) {
            // A line that a kill has cut is none.
            if let Ok(line) = serde_json::from_str(&line) {
                into.lock().unwrap().push(line);
            }
        }
    });
    (&writes).write_all(format!("{}\n", json!({"hello": name})).as_bytes()).unwrap();
    (writes, reader)
}
