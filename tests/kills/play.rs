//! Plays one run: asks, is killed, answers questions, and goes on until the session is at rest. It
//! does what a person would do who sees what happened and tries again. Must not know what is judged
//! afterwards.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::job::{Killer, Script};
use crate::killing::house::{Ended, House, Kill};
use crate::killing::look::{Look, SESSION};
use crate::killing::remembered;
use crate::killing::strike::Struck;

/// How often a thing is tried again before the rig says that it never comes to rest.
pub const TRIES_MAX: usize = 15;

/// How long somebody reads before a line is typed.
const SHOWN_AFTER: Duration = Duration::from_millis(1_200);

/// What happened in a run, as somebody at the keyboard saw it.
#[derive(Default)]
pub struct Seen {
    /// Everything that was printed, one command after the other.
    pub printed: String,
    /// The tasks whose messages claw took in.
    pub tasks: Vec<String>,
    /// Somebody has typed `/mode edits`.
    pub gave_mode: bool,
    /// What claw was seen to be at a moment at which it may not be so.
    pub torn: Vec<String>,
    /// The questions to which somebody was about to say yes: by `claw approve`, by their number, or
    /// with all of their list while they waited.
    pub said_yes: BTreeSet<String>,
    /// The same for a no.
    pub said_no: BTreeSet<String>,
    /// For each question, which of `Allowed` and `Denied` claw said, in order.
    pub answers: BTreeMap<String, Vec<&'static str>>,
    /// The point of each kill that hit, `random` for a random moment.
    pub kills: Vec<String>,
    /// The servers and supervisors that were killed.
    pub struck: Vec<Struck>,
    pub wrong: Vec<String>,
    pub longest: Duration,
    /// Calls that waited behind slow ones when the stop switch came.
    pub held: BTreeSet<String>,
}

pub struct Play<'a> {
    pub house: &'a House,
    pub killer: Killer,
    pub seen: Seen,
    /// Where each command leaves the points that it passed: `trace-0`, `trace-1`, …
    pub traced: bool,
    pub script: Script,
    /// Something hung: there is no more to try.
    pub over: bool,
}

impl<'a> Play<'a> {
    pub fn new(house: &'a House, killer: Killer) -> Self {
        let script = killer.script();
        Self { house, killer, seen: Seen::default(), traced: false, script, over: false }
    }

    pub fn with_trace(house: &'a House, killer: Killer, script: Script) -> Self {
        Self { script, traced: true, ..Self::new(house, killer) }
    }

    pub async fn run(&mut self) -> anyhow::Result<()> {
        match self.script {
            Script::Standard => {
                self.ask("m1", "ask-1a,free-1b|look-1c,ask-1d").await?;
                self.settle().await?;
                self.ask("m2", "free-2a,keep-2b,ask-2c,stage-2d").await?;
                self.settle().await?;
                self.ask("m3", "shell-3a,free-3b,shell-3c").await?;
                self.settle().await?;
                self.ask("m4", "move-4a,move-4b,ask-4c|move-4d").await?;
                self.one_and_the_mode().await?;
                self.settle().await?;
                self.types("/mode ask").await?;
                self.ask("m5", "move-5a,note-5b").await?;
                self.types("/mode edits").await?;
                self.settle().await?;
                self.types("/remember keepsorder1").await?;
                self.ask("m6", "note-6a|note-6b").await?;
                self.skip_one().await?;
                self.settle().await?;
                self.types("/compact").await?;
                self.settle().await?;
            }
            Script::Expire => {
                self.ask("m1", "ask-1a,free-1b,ask-1c,shell-1d,shell-1e").await?;
                self.hours_go_by()?;
                self.ask("m2", "free-2a,batch-2b").await?;
                let late = self.look()?.waiting()?;
                self.says_yes(&late, 0).await?;
                self.hours_go_by()?;
                // A second yes to the first action, and one to the second that is too late.
                self.says_yes(&late, 0).await?;
                self.says_yes(&late, 1).await?;
                self.ask("m4", "note-4a").await?;
                self.hours_go_by()?;
                self.ask("m3", "stage-3a").await?;
                self.settle().await?;
            }
            Script::Random => self.random_script().await?,
        }
        self.come_to_rest().await
    }

    async fn random_script(&mut self) -> anyhow::Result<()> {
        let steps = [
            "ask-1",
            "free-1",
            "ask-1a,free-1b",
            "free-1a,free-1b|ask-1c",
            "look-1a,ask-1b|ask-1c,free-1d",
            "ask-1a,ask-1b",
            "stage-1",
            "keep-1a,make-1b",
            "ask-1a,keep-1b",
            "batch-1a|ask-1b",
            "bash-1a|bash-1b",
            "bash-1a,free-1b,file-1c|free-1d,bash-1e",
            "free-1a|free-1b|free-1c",
            "file-1a,ask-1b|file-1c",
            "shell-1a,shell-1b",
            "shell-1a,shell-1b,shell-1c|ask-1d",
            "shell-1a,move-1b|move-1c",
            "move-1a,move-1b,move-1c",
            "move-1a,free-1b,move-1c,ask-1d|move-1e,shell-1f",
            "note-1a",
            "note-1a,note-1b|ask-1c",
            "note-1a,stage-1b",
        ];
        let mut number = 1;
        for _ in 0..1 + self.killer.random.below(2) {
            let mut tasks = Vec::new();
            for _ in 0..1 + u64::from(self.killer.random.chance(35)) {
                let step = steps[self.killer.random.below(steps.len() as u64) as usize];
                tasks.push((format!("m{number}"), step.replace("-1", &format!("-{number}"))));
                number += 1;
            }
            match tasks.as_slice() {
                [(one, steps_of_one), (two, steps_of_two)] => {
                    let (args_one, args_two) =
                        (asking(one, steps_of_one), asking(two, steps_of_two));
                    self.both(&args_one, &args_two).await?;
                    self.ask(one, steps_of_one).await?;
                    self.ask(two, steps_of_two).await?;
                }
                [(one, steps)] => self.ask(one, steps).await?,
                _ => {}
            }
            // Without this the next message waits behind the questions.
            if self.killer.random.chance(80) {
                self.settle().await?;
            }
            if self.killer.random.chance(30) {
                self.types("/compact").await?;
            }
            if self.killer.random.chance(25) {
                let order = remembered::order(&number.to_string());
                self.types(&format!("/remember {order}")).await?;
            }
            if self.killer.random.chance(15) {
                let mode = if self.killer.random.chance(50) { "/mode edits" } else { "/mode ask" };
                self.types(mode).await?;
            }
            if self.killer.random.chance(30) {
                self.panic(number).await?;
                number += 1;
            }
        }
        Ok(())
    }

    /// Types a line in a chat.
    pub async fn types(&mut self, line: &str) -> anyhow::Result<()> {
        std::fs::write(self.house.path("typed"), format!("{line}\n"))?;
        self.seen.gave_mode |= line == "/mode edits";
        self.claw(&words(["chat"])).await.map(drop)
    }

    /// Types a line when the chat has had time to show its questions: a line that is there before
    /// is a message, and answers none.
    pub async fn types_at_the_question(&mut self, line: &str) -> anyhow::Result<()> {
        std::fs::write(self.house.path("typed"), format!("{line}\n"))?;
        let pipe = self.house.path("typed-later");
        let _none_before = std::fs::remove_file(&pipe);
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU)?;
        // For reading, too, so that nobody waits for the other end.
        let mut end = std::fs::OpenOptions::new().read(true).write(true).open(&pipe)?;
        let line = format!("{line}\n");
        let later = tokio::spawn(async move {
            tokio::time::sleep(SHOWN_AFTER).await;
            std::io::Write::write_all(&mut end, line.as_bytes())
        });
        let told = self.claw(&words(["chat"])).await.map(drop);
        later.abort();
        let _none_left = std::fs::remove_file(&pipe);
        told
    }

    /// The stop switch comes while calls are under way and another one waits its turn; a message
    /// while it is on; and off.
    async fn panic(&mut self, number: u64) -> anyhow::Result<()> {
        self.settle().await?;
        // Behind an open question the slow calls would come when the switch is off again.
        if !self.look()?.unrest()?.is_empty() {
            return Ok(());
        }
        let (task, held) = (format!("m{number}"), format!("free-{number}x"));
        let asked_for = asking(
            &task,
            &format!("slow-{number}a,slow-{number}b,slow-{number}c,slow-{number}d,{held}"),
        );
        let ((_, kill), house, over) = (self.killer.next(), self.house, Cell::new(false));
        let all_begun = || {
            house.begun().iter().filter(|id| id.starts_with(&format!("slow-{number}"))).count() == 4
        };
        let asked = async {
            let ended = house.claw(&asked_for, &kill, None).await;
            over.set(true);
            ended
        };
        let switched = async {
            while !over.get() && !all_begun() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            // All places are taken now by calls that do not end, so what has not run by now has to
            // wait.
            let waits = all_begun() && !house.counted().contains_key(&held);
            self.switch("on").await.map(|()| waits)
        };
        let (ended, switched) = tokio::join!(asked, switched);
        let ended = ended?;
        if switched? && ended.code.is_some() {
            self.seen.held.insert(held);
        }
        self.note(&asked_for, &kill, &ended);
        if self.taken(&task)? {
            self.seen.tasks.push(task);
        }
        // What is left of it, if it was killed, has its end while the switch is on.
        self.ask(&format!("on{number}"), &format!("free-{number}z,look-{number}z")).await?;
        let calm_task = format!("calm{number}");
        let calm = asking(&calm_task, "");
        let ended = self.house.claw(&calm, &Kill::Not, None).await?;
        self.note(&calm, &Kill::Not, &ended);
        self.seen.tasks.push(calm_task);
        self.switch("off").await
    }

    /// Until it is as it should be.
    async fn switch(&mut self, to: &str) -> anyhow::Result<()> {
        for _ in 0..TRIES_MAX {
            if self.over || self.claw(&words(["panic", to])).await?.code == Some(0) {
                return Ok(());
            }
        }
        self.wrong(format!("the stop switch never goes {to}"));
        Ok(())
    }

    /// Asks until the message is taken in. One that claw has taken is not asked again.
    async fn ask(&mut self, task: &str, steps: &str) -> anyhow::Result<()> {
        for _ in 0..TRIES_MAX {
            if self.taken(task)? {
                self.seen.tasks.push(task.to_owned());
                return Ok(());
            }
            if self.over {
                return Ok(());
            }
            let ended = self.claw(&asking(task, steps)).await?;
            if ended.code.is_some() && !self.taken(task)? {
                self.wrong(format!(
                    "lost: `claw ask` ended with {:?}, and the message {task} is not in the inbox",
                    ended.code
                ));
                return Ok(());
            }
        }
        self.wrong(format!("the message {task} was never taken in"));
        Ok(())
    }

    fn taken(&self, task: &str) -> anyhow::Result<bool> {
        Ok(self.house.db().exists() && self.look()?.has_message(task).unwrap_or(false))
    }

    /// One last message without calls, again and again until nothing is left to do.
    async fn come_to_rest(&mut self) -> anyhow::Result<()> {
        let mut unrest = Vec::new();
        for number in 0..TRIES_MAX {
            if self.over {
                return Ok(());
            }
            self.ask(&format!("end{number}"), "").await?;
            self.settle().await?;
            unrest = self.look()?.unrest()?;
            if unrest.is_empty() {
                return Ok(());
            }
        }
        self.wrong(format!("lost: the session never comes to rest: {}", unrest.join(", ")));
        Ok(())
    }

    /// The time of every open question is over.
    fn hours_go_by(&self) -> anyhow::Result<()> {
        let db = rusqlite::Connection::open(self.house.db())?;
        db.busy_timeout(Duration::from_secs(20))?;
        db.execute("UPDATE approvals SET expires_ms = 1 WHERE state = 'waiting'", [])?;
        Ok(())
    }

    pub fn look(&self) -> anyhow::Result<Look> {
        Ok(Look::open(&self.house.db())?)
    }

    pub async fn claw(&mut self, args: &[String]) -> anyhow::Result<Ended> {
        self.says(args)?;
        let (number, kill) = self.killer.next();
        let trace = self.traced.then(|| self.house.path(&format!("trace-{number}")));
        let strike = self.killer.strike(&kill);
        let ended = self.house.claw_struck(args, &kill, trace.as_deref(), strike).await?;
        self.note(args, &kill, &ended);
        self.looks_for_halves()?;
        Ok(ended)
    }

    pub fn note(&mut self, args: &[String], kill: &Kill, ended: &Ended) {
        let command = args.join(" ");
        if let Some(struck) = &ended.struck {
            self.seen.printed.push_str(&format!("killed in the next one: {struck:?}\n"));
            self.seen.struck.push(struck.clone());
            self.killer.has_struck();
        }
        self.seen.longest = self.seen.longest.max(ended.took);
        let end = if ended.hung {
            "hung".to_owned()
        } else {
            ended.code.map_or("killed".to_owned(), |code| code.to_string())
        };
        self.seen.printed.push_str(&format!(
            "$ claw {command}   [{kill:?}]\n{}{}-> {end}\n",
            ended.out, ended.err
        ));
        if ended.hung {
            // What hangs once hangs again; the series is not to wait for it fifteen times.
            self.over = true;
            self.wrong(format!("`claw {command}` hung"));
        }
        let mut verbs = [
            ("approve", "Allowed"),
            ("approve", "Confirmed"),
            ("deny", "Denied"),
            ("deny", "Cancelled"),
            ("approve", "Remembered"),
            ("deny", "Skipped"),
        ]
        .into_iter();
        let answered = verbs
            .find(|(verb, said)| args[0] == *verb && ended.err.starts_with(&format!("{said}:")));
        if let Some((_, said)) = answered {
            self.seen.answers.entry(args[1].clone()).or_default().push(said);
        }
        match (ended.code, kill) {
            _ if ended.hung => {}
            (None, Kill::At(point, _)) => self.hit(point.clone()),
            (None, Kill::After(_) | Kill::AtOrAfter(..)) => self.hit("random".to_owned()),
            // Somebody else has answered; whether that is so is for the oracle to say.
            (Some(0 | 3), _) => {}
            (Some(2), _)
                if args[0] != "ask"
                    && ["already answered", "question has expired"]
                        .iter()
                        .any(|said| ended.err.contains(said)) => {}
            (code, _) => {
                let first = ended.err.trim().lines().last().unwrap_or_default().to_owned();
                self.wrong(format!("`claw {command}` ended with {code:?}: {first}"));
            }
        }
    }

    fn hit(&mut self, point: String) {
        self.killer.hit();
        self.seen.kills.push(point);
    }

    pub fn wrong(&mut self, what: String) {
        self.seen.wrong.push(what);
    }
}

pub fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn asking(task: &str, steps: &str) -> Vec<String> {
    words(["ask", "--session", SESSION, &format!("TASK {task} [{steps}] END")])
}
