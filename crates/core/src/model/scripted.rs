//! A model that plays a script, for tests and examples. Owns the script and what it was asked.
//! Knows no network; never panics: a script that has run out is an error value.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::{Delta, DeltaSink, Model, ModelError, Reply, Replying, Request};
use crate::domain::{Block, Finish, ToolUse, Usage, text_of};

/// What the model does when it is asked once.
#[derive(Clone, Debug)]
pub enum Script {
    /// Streams the text of the reply, then gives it.
    Reply(Reply),
    Fail(ModelError),
    /// Shows some of a reply and then breaks.
    Break {
        deltas: Vec<Delta>,
        error: ModelError,
    },
    /// Shows some of a reply and then never comes back; for tests of cancelling.
    Hang {
        deltas: Vec<Delta>,
    },
}

impl Script {
    pub fn text(text: impl Into<String>) -> Self {
        Self::blocks(vec![Block::Text { text: text.into() }], Finish::Complete)
    }

    /// One call of the tool `name`, with the id `call_0`.
    pub fn tool_use(name: impl Into<String>, input: Value) -> Self {
        Self::tool_uses(vec![(name.into(), input)])
    }

    /// Several calls in one reply, with the ids `call_0`, `call_1`, …
    pub fn tool_uses(calls: Vec<(String, Value)>) -> Self {
        let uses = calls.into_iter().enumerate().map(|(index, (name, input))| {
            Block::ToolUse(Box::new(ToolUse {
                id: format!("call_{index}"),
                name,
                input,
                broken_input: None,
            }))
        });
        Self::blocks(uses.collect(), Finish::ToolUse)
    }

    pub fn blocks(blocks: Vec<Block>, finish: Finish) -> Self {
        let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
        let (provider, model) = ("scripted".into(), "scripted".into());
        Self::Reply(Reply { blocks, finish, usage, provider, model, notice: None })
    }

    pub fn fail(why: impl Into<String>) -> Self {
        Self::Fail(ModelError::permanent(why))
    }
}

/// Plays its script step by step and records every request.
#[derive(Debug, Default)]
pub struct Scripted {
    script: Mutex<VecDeque<Script>>,
    requests: Mutex<Vec<Request>>,
}

impl Scripted {
    pub fn new(script: impl IntoIterator<Item = Script>) -> Self {
        Self { script: Mutex::new(script.into_iter().collect()), requests: Mutex::default() }
    }

    /// Adds a step at the end.
    pub fn push(&self, step: Script) {
        lock(&self.script).push_back(step);
    }

    /// Everything that it was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.requests).clone()
    }

    /// How many steps have not been played.
    pub fn left(&self) -> usize {
        lock(&self.script).len()
    }

    async fn play(
        &self,
        request: &Request,
        deltas: &mut DeltaSink<'_>,
    ) -> Result<Reply, ModelError> {
        lock(&self.requests).push(request.clone());
        let step = lock(&self.script).pop_front();
        match step {
            Some(Script::Reply(reply)) => {
                let text = text_of(&reply.blocks);
                if !text.is_empty() {
                    deltas(Delta::Text(text));
                }
                Ok(reply)
            }
            Some(Script::Fail(error)) => Err(error),
            Some(Script::Break { deltas: shown, error }) => {
                shown.into_iter().for_each(deltas);
                Err(error)
            }
            Some(Script::Hang { deltas: shown }) => {
                shown.into_iter().for_each(deltas);
                futures::future::pending().await
            }
            None => Err(ModelError::permanent("the script of the scripted model has run out")),
        }
    }
}

/// A test that panicked while it held the lock must not hide what was recorded.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Model for Scripted {
    fn provider(&self) -> &str {
        "scripted"
    }

    fn model(&self) -> &str {
        "scripted"
    }

    fn reply<'a>(&'a self, request: &'a Request, deltas: &'a mut DeltaSink<'_>) -> Replying<'a> {
        Box::pin(self.play(request, deltas))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn it_plays_records_and_runs_out() {
        let model = Scripted::new([Script::tool_uses(vec![
            ("a".into(), json!({})),
            ("b".into(), json!({})),
        ])]);
        let request = Request { system: "s".into(), ..Request::default() };
        let reply = model.reply(&request, &mut |_| {}).await.unwrap();
        assert_eq!(reply.finish, Finish::ToolUse);
        assert!(
            matches!(&reply.blocks[1], Block::ToolUse(call) if call.id == "call_1" && call.name == "b")
        );
        assert!(
            model.reply(&request, &mut |_| {}).await.unwrap_err().to_string().contains("run out")
        );
        assert_eq!(model.requests(), [request.clone(), request]);
        assert_eq!(model.left(), 0);
    }
}
