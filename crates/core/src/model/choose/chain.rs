//! From the whole `[model]` section to the models that answer: the first one, those behind it, and
//! who writes summaries. Must not know how one of them is picked, or who is asked when.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Choosable, ChooseError, Chosen, ToolsOfModel, choose, choose_of};
use crate::config::model::ModelSection;
use crate::model::{ChainLink, LoadImage, Model, RetryPolicy, Route, VisionInput};

/// What the environment says is meant for the first model alone.
const FOR_THE_FIRST: [&str; 3] = ["CLAW_AGENT", "CLAW_MODEL", "CLAW_BASE_URL"];

/// All models of one configuration.
pub struct Chain {
    /// Answers: the first model that is healthy.
    pub model: Arc<dyn Model>,
    /// Writes summaries.
    pub compaction: Arc<dyn Model>,
    /// One sentence for each model, the first one first.
    pub whys: Vec<String>,
    /// Whether any of them sees images.
    pub sees_images: bool,
    /// The tokens that each of those takes at once that answer, as far as that is known of one.
    pub window_tokens: Option<u64>,
    /// What all of them take of tools at once.
    pub tools: ToolsOfModel,
    /// What a conversation may choose instead.
    pub choosable: Choosable,
}

/// Picks all of them. `load` reads images for those that can see. Asks the network for as little as
/// [`choose`] does.
pub async fn chain(
    section: &ModelSection,
    env: &BTreeMap<String, String>,
    load: &LoadImage,
) -> Result<Chain, ChooseError> {
    let mut bare = env.clone();
    FOR_THE_FIRST.iter().for_each(|name| {
        bare.remove(*name);
    });
    let policy =
        |is_last| if is_last { RetryPolicy::default() } else { RetryPolicy::with_another_behind() };
    let first = choose(section, env, policy(section.fallback.is_empty())).await?;
    let (mut links, mut whys) = (Vec::new(), vec![first.why.clone()]);
    let mut sees_images = first.sees_images;
    let mut window_tokens = first.window_tokens;
    let mut tools = tools_of(&first, section);
    let mut choosable = Choosable {
        target: first.target.clone(),
        configured: vec![first.model.model().to_owned()],
    };
    links.push(link(first, section, load));
    let mut compaction = None;
    let behind = section.fallback.len();
    for (index, (place, other)) in section.others().enumerate() {
        let is_last = index + 1 == behind;
        let (role, section) = if index < behind {
            ("Behind it", "[[model.fallback]]")
        } else {
            ("Summaries", "[model.compaction]")
        };
        let chosen = choose_of(section, other, &bare, policy(is_last)).await;
        let chosen = chosen.map_err(|fault| ChooseError::Inside {
            place: place.clone(),
            fault: Box::new(fault),
        })?;
        whys.push(format!("{role}: {}", chosen.why));
        if index < behind {
            sees_images |= chosen.sees_images;
            window_tokens = window_tokens.into_iter().chain(chosen.window_tokens).min();
            tools = tools.and(tools_of(&chosen, other));
            choosable.configured.push(chosen.model.model().to_owned());
            links.push(link(chosen, other, load));
        } else {
            compaction = Some(link(chosen, other, load));
        }
    }
    let compaction: Arc<dyn Model> = match compaction {
        // A summary is better written by a dear model than not at all.
        Some(own) => Arc::new(Route::new(std::iter::once(own).chain(links.iter().cloned()))),
        None => route(links.clone()),
    };
    let model = route(links);
    Ok(Chain { model, compaction, whys, sees_images, window_tokens, tools, choosable })
}

fn tools_of(chosen: &Chosen, section: &ModelSection) -> ToolsOfModel {
    ToolsOfModel::of(section, chosen.target.as_ref(), chosen.window_tokens)
}

fn link(chosen: Chosen, section: &ModelSection, load: &LoadImage) -> ChainLink {
    let model = Arc::new(VisionInput::new(chosen.model, chosen.sees_images, load.clone()));
    ChainLink { model, calls_tools: section.calls_tools.unwrap_or(true) }
}

fn route(mut links: Vec<ChainLink>) -> Arc<dyn Model> {
    match links.pop() {
        Some(only) if links.is_empty() && only.calls_tools => only.model,
        last => Arc::new(Route::new(links.into_iter().chain(last))),
    }
}
