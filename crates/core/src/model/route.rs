//! A chain of models: the first one that is healthy answers. Owns who counts as healthy, and what
//! is said when another one than before has to answer. Must not know wires or settings.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{Delta, DeltaSink, Model, ModelError, Reply, Replying, Request};
use crate::domain::{Block, Finish};

/// How long a model that has failed is passed over. Nothing asks it meanwhile; the next request
/// behind that time tries it.
const UNHEALTHY: Duration = Duration::from_secs(60);

/// What a model is told that may not call tools.
const NO_TOOLS: &str = "\n\nNo tools are available at the moment, so you cannot act, read or look \
    anything up. Answer from what is in the conversation; where something would have to be done, \
    say that it cannot be done now.";

/// One model of a chain.
#[derive(Clone)]
pub struct ChainLink {
    pub model: Arc<dyn Model>,
    /// Whether it may be offered tools. One that may not acts on nothing.
    pub calls_tools: bool,
}

impl ChainLink {
    fn name(&self) -> String {
        format!("{} ({})", self.model.model(), self.model.provider())
    }

    /// Whether the owner means this one.
    fn is_called(&self, name: &str) -> bool {
        self.model.model() == name || self.name() == name
    }
}

/// The models that answer, best first. Belongs to the chain that was picked, and goes when the
/// settings bring another one and no turn uses it any more.
pub struct Route {
    /// The same until then.
    links: Vec<ChainLink>,
    /// When and why each of them last failed, if it has not answered since.
    failed: Mutex<Vec<Option<(Instant, String)>>>,
    /// For each of them, who stands in for it as far as a person was told, so that a change is told
    /// once.
    told: Mutex<Vec<Option<usize>>>,
}

impl Route {
    /// Each is asked when all before it are down.
    pub fn new(links: impl IntoIterator<Item = ChainLink>) -> Self {
        let links: Vec<ChainLink> = links.into_iter().collect();
        let (failed, told) =
            (Mutex::new(vec![None; links.len()]), Mutex::new(vec![None; links.len()]));
        Self { links, failed, told }
    }

    /// Who is asked in turn: the one that the owner wants, then the others; the healthy ones of
    /// them, or if none is, all.
    fn order(&self, wanted: Option<usize>) -> Vec<usize> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_well = |index: &usize| {
            let fault = failed.get(*index).and_then(Option::as_ref);
            fault.is_none_or(|(at, _)| at.elapsed() >= UNHEALTHY)
        };
        let all = || {
            wanted
                .into_iter()
                .chain((0..self.links.len()).filter(move |index| Some(*index) != wanted))
        };
        let well: Vec<usize> = all().filter(is_well).collect();
        if well.is_empty() { all().collect() } else { well }
    }

    fn note(&self, index: usize, fault: Option<String>) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(health) = failed.get_mut(index) {
            *health = fault.map(|why| (Instant::now(), why));
        }
    }

    /// A sentence if somebody else than the last time has answered in the place of the one that was
    /// meant.
    fn change(&self, meant: usize, index: usize, acts: bool) -> Option<String> {
        let stands_in = (index != meant).then_some(index);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(told.get_mut(meant)?, stands_in) == stands_in {
            return None;
        }
        let name = self.links.get(index)?.name();
        if stands_in.is_none() {
            return Some(format!("{name} answers again."));
        }
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let down = |(link, fault): (&ChainLink, &Option<(Instant, String)>)| {
            fault
                .as_ref()
                .map(|(_, why)| format!("{} failed: {}", link.name(), why.trim_end_matches('.')))
        };
        let down: Vec<String> = self.links.iter().zip(failed.iter()).filter_map(down).collect();
        let tools = if acts {
            ""
        } else {
            " Tools are unavailable meanwhile: nothing is done until another model is back."
        };
        Some(format!("{name} answers now. {}.{tools}", down.join("; ")))
    }

    async fn run(
        &self,
        request: &Request,
        deltas: &mut DeltaSink<'_>,
    ) -> Result<Reply, ModelError> {
        let wanted = request
            .model
            .as_ref()
            .and_then(|name| self.links.iter().position(|link| link.is_called(name)));
        let order = self.order(wanted);
        let mut first_fault: Option<ModelError> = None;
        for (turn, index) in order.iter().enumerate() {
            let Some(link) = self.links.get(*index) else { continue };
            let acts = link.calls_tools || request.tools.is_empty();
            // A name that is none of the chain's is a model of the first one's provider.
            let named = if wanted.is_none() && *index == 0 { request.model.clone() } else { None };
            let asked = request_for(request, acts, named);
            match link.model.reply(&asked, deltas).await {
                Ok(mut reply) => {
                    self.note(*index, None);
                    if !acts {
                        act_on_nothing(&mut reply);
                    }
                    let change = self.change(wanted.unwrap_or_default(), *index, acts);
                    let notices: Vec<String> =
                        change.into_iter().chain(reply.notice.take()).collect();
                    reply.notice = (!notices.is_empty()).then(|| notices.join("\n"));
                    return Ok(reply);
                }
                // That is no illness: a shorter conversation may pass.
                Err(error @ ModelError::ContextTooLong { .. }) => return Err(error),
                Err(error) => {
                    tracing::warn!(model = link.name(), %error, "a model failed and is passed over for {} s", UNHEALTHY.as_secs());
                    self.note(*index, Some(error.to_string()));
                    if turn + 1 < order.len() {
                        deltas(Delta::Restarted { why: error.to_string() });
                    }
                    // The first one is the one that somebody chose, so its failure is the one to
                    // hear of.
                    first_fault.get_or_insert(error);
                }
            }
        }
        Err(first_fault.unwrap_or_else(|| ModelError::permanent("there is no model to ask")))
    }
}

/// What one model is asked. One without tools gets the same conversation with calls and results as
/// words, because a provider refuses uses of tools that are not offered.
fn request_for(request: &Request, acts: bool, model: Option<String>) -> Cow<'_, Request> {
    if acts && request.model == model {
        return Cow::Borrowed(request);
    }
    let mut asked = Request { model, ..request.clone() };
    if !acts {
        let in_words = |block: &Block| match block {
            Block::ToolUse(call) => {
                Block::Text { text: format!("[called {} with {}]", call.name, call.input) }
            }
            Block::ToolResult { name, content, .. } => {
                Block::Text { text: format!("[result of {name}: {content}]") }
            }
            other => other.clone(),
        };
        asked.tools = Arc::default();
        asked.system.push_str(NO_TOOLS);
        for message in &mut asked.messages {
            message.blocks = message.blocks.iter().map(in_words).collect();
        }
    }
    Cow::Owned(asked)
}

/// A model that was offered no tools and wants to call one all the same does not.
fn act_on_nothing(reply: &mut Reply) {
    reply.blocks.retain(|block| !matches!(block, Block::ToolUse(_)));
    if reply.finish == Finish::ToolUse {
        reply.finish = Finish::Complete;
    }
}

impl Model for Route {
    fn provider(&self) -> &str {
        self.links.first().map_or("none", |link| link.model.provider())
    }

    fn model(&self) -> &str {
        self.links.first().map_or("none", |link| link.model.model())
    }

    fn reply<'a>(&'a self, request: &'a Request, deltas: &'a mut DeltaSink<'_>) -> Replying<'a> {
        Box::pin(self.run(request, deltas))
    }
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
