//! A person with a home, a folder of work, and a model that does what the script says. Counts the
//! questions. Must not know which requests are bad.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::friction::owner;
use crate::program::{House, SERVER_WAIT, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

/// The width of a small phone, in columns, and what fits on it, in lines.
const COLUMNS: usize = 40;
const SCREEN_LINES: usize = 20;

/// What a person had to read and answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub requests: usize,
    pub calls: usize,
    /// What was asked, in one message each: a call, or a list of calls.
    pub questions: usize,
    /// Lines of all questions at 40 columns.
    pub lines: usize,
    /// Screens of 20 such lines.
    pub screens: usize,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.calls += other.calls;
        self.questions += other.questions;
        self.lines += other.lines;
        self.screens += other.screens;
    }
}

pub struct Person {
    pub house: House,
    provider: Threaded,
    calls: usize,
}

/// What the owner says to the questions of one request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Says {
    TheBroadestYes,
    No,
}

impl Person {
    pub fn new() -> Self {
        let provider = Threaded::start(Wire::OpenAi, []);
        let house = House::at("openai-compatible", &provider.base_url);
        house.write("claw.toml", SERVER_WAIT);
        Self { house, provider, calls: 0 }
    }

    /// Puts files into the workspace, and makes it a repository if this machine has git.
    pub fn has(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            self.house.write(&format!("workspace/{name}"), text);
        }
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args(words).current_dir(self.house.workspace()).env("HOME", self.house.user_home());
            git.env("GIT_CONFIG_NOSYSTEM", "1");
            let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"];
            let mails = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
            git.envs(names.map(|name| (name, "Anna"))).envs(mails.map(|mail| (mail, "a@b.c")));
            git.output().is_ok_and(|done| done.status.success())
        };
        if git(&["init", "-q", "-b", "main"]) {
            git(&["add", "-A"]);
            git(&["commit", "-q", "-m", "Begin"]);
        }
        let name = "[user]\n\tname = Anna\n\temail = anna@example.com\n";
        fs::write(self.house.user_home().join(".gitconfig"), name).unwrap();
    }

    /// Asks for something; the model makes these calls, reply by reply.
    pub fn asks(&mut self, says: &str, steps: &[Vec<(&str, Value)>], to: Says) -> Count {
        for step in steps {
            let calls: Vec<Call> =
                step.iter().map(|(tool, arguments)| self.call(tool, arguments)).collect();
            self.provider.push(Answer::Turn(Turn::calls(&calls)));
        }
        self.provider.push(Answer::text("Done."));
        let mut count =
            Count { requests: 1, calls: steps.iter().map(Vec::len).sum(), ..Count::default() };
        let mut ran = self.house.claw(&["ask", "--", says]);
        let mut shown = BTreeSet::new();
        while ran.code == Some(3) {
            let listed = self.house.claw(&["approvals"]).expect(0).out;
            let open = self.house.claw(&["approvals", "--json"]).expect(0).rows();
            let new: Vec<&Value> =
                open.iter().filter(|row| shown.insert(row["id"].to_string())).collect();
            if !new.is_empty() {
                count.questions += new.len();
                let lines = lines_at(&listed, COLUMNS);
                count.lines += lines;
                count.screens += lines.div_ceil(SCREEN_LINES);
            }
            let answer = match to {
                Says::TheBroadestYes => owner::broadest(&open[0]),
                Says::No => vec!["deny".to_owned(), open[0]["id"].as_str().unwrap().to_owned()],
            };
            let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
            ran = self.house.claw(&answer);
        }
        assert_eq!(ran.code, Some(0), "{says}: {ran:?}");
        count
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Call {
        self.calls += 1;
        Call::new(&format!("call-{}", self.calls), tool, &arguments.to_string())
    }

    /// The outcomes of the last calls, `count` of them.
    pub fn last_outcomes(&self, count: usize) -> Vec<Value> {
        let all = outcomes(&self.house.events("main"));
        all[all.len() - count..].to_vec()
    }

    pub fn provider_refused_nothing(&self) {
        assert_eq!(self.provider.faults(), [""; 0]);
    }
}

/// Lines that a text takes when it is wrapped at so many columns.
fn lines_at(text: &str, columns: usize) -> usize {
    text.lines().map(|line| line.chars().count().max(1).div_ceil(columns)).sum()
}
