//! The tools that one model is offered: fitted to its wire once, without what it has refused. Owns
//! what a person was told about that. Must not know how a request is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::target::Target;
use crate::domain::{ToolSpec, tool_for_person};
use crate::model::Request;
use crate::model::wire_schema::{self, Fitted, Refused};

/// Kept as long as the model itself.
#[derive(Default)]
pub(super) struct Tools {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the model's name: one provider's models take different things.
    refused: BTreeMap<String, BTreeSet<Refused>>,
    /// Sentences that nobody has heard yet.
    untold: Vec<String>,
    told: BTreeSet<String>,
    /// The last answer, and what it was for: definitions change rarely and are long.
    last: Option<(String, Arc<[ToolSpec]>, Arc<Fitted>)>,
}

impl Tools {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn fit(&self, request: &Request, target: &Target) -> Arc<Fitted> {
        let mut state = self.state();
        if let Some((model, specs, fitted)) = &state.last
            && *model == target.model
            && Arc::ptr_eq(specs, &request.tools)
        {
            return fitted.clone();
        }
        let none = BTreeSet::new();
        let refused = state.refused.get(&target.model).unwrap_or(&none);
        let fitted = Arc::new(wire_schema::fit(&request.tools, target.wire, refused));
        state.last = Some((target.model.clone(), request.tools.clone(), fitted.clone()));
        fitted
    }

    /// Leaves these tools out from here on. False if that changes nothing.
    pub(super) fn take_out(
        &self,
        target: &Target,
        request: &Request,
        tools: &[String],
        why: &str,
    ) -> bool {
        let mut state = self.state();
        let refused = state.refused.entry(target.model.clone()).or_default();
        let mut taken = Vec::new();
        for spec in request.tools.iter().filter(|spec| tools.contains(&spec.name)) {
            if refused.insert(Refused::of(spec)) {
                taken.push(format!("`{}`", tool_for_person(&spec.name)));
            }
        }
        if taken.is_empty() {
            return false;
        }
        let (tools, are) = (taken.join(", "), if taken.len() == 1 { "is" } else { "are" });
        tracing::warn!(model = target.model, tools, why, "refused by the provider, and left out");
        state.last = None;
        state.untold.push(format!(
            "{} ({}) does not take the definition of {tools}, which {are} not offered to it any \
             more: {why}",
            target.model, target.provider
        ));
        true
    }

    /// What a person has to hear and has not heard yet.
    pub(super) fn untold(&self, target: &Target, fitted: &Fitted) -> Option<String> {
        let mut state = self.state();
        let told = fitted.told(&target.model, &target.provider);
        let mut news: Vec<String> = std::mem::take(&mut state.untold);
        news.extend(told.filter(|text| state.told.insert(text.clone())));
        (!news.is_empty()).then(|| news.join("\n"))
    }
}
