//! The prompts of claw's servers as a client gets them: the same that the owner has as
//! commands, each request through the gate. Their words are their server's. Must not know
//! how a call is judged.

use std::collections::BTreeMap;

use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject,
    ListPromptsResult, Prompt, PromptMessage, Role,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::caller::Caller;
use super::gated::{self, Waited};
use super::icons::keep_harmless;
use crate::clients::{ClientCallState, ClientPrompt, ClientRefusal};
use crate::domain::{Outcome, ToolOutput, escape};

/// How long a client may keep the list, where servers may bring others meanwhile.
const LIST_TTL_MS: u64 = 60_000;

/// Whether this client is offered any: they are those of the servers whose tools it is offered.
pub fn are_offered(caller: &Caller) -> bool {
    caller.is_offered_tools()
}

/// All of them. No server is started for it.
pub async fn list(caller: &Caller) -> ListPromptsResult {
    let prompts = caller.clients().prompts().await;
    ListPromptsResult::with_all_items(prompts.into_iter().map(offered).collect())
        .with_ttl_ms(LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private)
}

fn offered(prompt: ClientPrompt) -> Prompt {
    let ClientPrompt { name, mut definition } = prompt;
    let Some(fields) = definition.as_object_mut() else { return plain(name) };
    match fields.get_mut("icons") {
        Some(Value::Array(icons)) => keep_harmless(icons),
        _ => drop(fields.remove("icons")),
    }
    fields.insert("name".to_owned(), Value::String(name.clone()));
    serde_json::from_value(definition.clone()).unwrap_or_else(|_| {
        // An icon may have an odd field, and no prompt hangs on one.
        definition.as_object_mut().map(|fields| fields.remove("icons"));
        serde_json::from_value(definition).unwrap_or_else(|_| plain(name))
    })
}

fn plain(name: String) -> Prompt {
    Prompt::new(name, None::<String>, None)
}

/// Asks its server for one and waits for the answer.
///
/// # Errors
/// There is no such prompt, an argument is wrong, it was not allowed, the owner has not answered
/// yet, or its server has failed. A request for a prompt has no other way to say so.
pub async fn get(
    caller: &Caller,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let arguments = texts(request.arguments.unwrap_or_default())?;
    let (sink, seen) = gated::glimpses();
    let mark = caller.mark_of(context, &format!("prompt {}\n{}", request.name, json!(arguments)));
    let begun = caller
        .clients()
        .begin_prompt(&caller.client, &request.name, &arguments, (sink, mark.as_deref()))
        .await;
    let call = begun.map_err(|why| match why {
        ClientRefusal::NoPrompt(_) | ClientRefusal::Arguments(_) => {
            ErrorData::invalid_params(why.to_string(), None)
        }
        why => ErrorData::invalid_request(why.to_string(), None),
    })?;
    let round = (request.request_state.as_deref(), request.input_responses.as_ref());
    match gated::follow(caller, &call, seen, round, context).await {
        Ok(Waited::Asks(round)) => Ok(round.into()),
        Ok(Waited::Is(ClientCallState::Ended { outcome: Outcome::Ended { output }, .. }))
            if !output.is_error =>
        {
            Ok(given(caller, output).await.into())
        }
        Ok(Waited::Is(state)) => Err(failed(state)),
        Err(why) => Err(ErrorData::internal_error(why, None)),
    }
}

/// MCP (2026-07-28, `GetPromptRequestParams`): each argument is a text.
fn texts(arguments: JsonObject) -> Result<BTreeMap<String, String>, ErrorData> {
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => {
            let why = format!("the argument `{}` must be a string", escape::visible(&name));
            Err(ErrorData::invalid_params(why, None))
        }
    };
    arguments.into_iter().map(text).collect()
}

/// The messages as their server has told them apart, with what cannot be seen spelled out; images
/// stand behind them.
async fn given(caller: &Caller, output: ToolOutput) -> GetPromptResult {
    let mut messages = messages(&output);
    for image in gated::images(caller, &output.images).await {
        messages.push(PromptMessage::new(Role::User, image));
    }
    GetPromptResult::new(messages)
}

/// One message where they are not told apart: a long prompt is cut as one text.
fn messages(output: &ToolOutput) -> Vec<PromptMessage> {
    let listed = output.structured.as_ref().and_then(|told| told.get("messages")?.as_array());
    let message = |message: &Value| {
        let role = match message.get("role")?.as_str()? {
            "assistant" => Role::Assistant,
            _ => Role::User,
        };
        let text = message.get("text")?.as_str()?;
        Some(PromptMessage::new_text(role, escape::visible_document(text)))
    };
    let told: Option<Vec<PromptMessage>> =
        listed.and_then(|listed| listed.iter().map(message).collect());
    told.unwrap_or_else(|| {
        vec![PromptMessage::new_text(Role::User, escape::visible_document(&output.text))]
    })
}

/// Why there is none, in the words of a call of a tool; for programs beside them.
fn failed(state: ClientCallState) -> ErrorData {
    let is_broken = matches!(
        state,
        ClientCallState::Ended { outcome: Outcome::Ended { .. } | Outcome::Unknown { .. }, .. }
    );
    let result = gated::result(state);
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let words = texts.map(|block| escape::visible_document(&block.text)).collect::<Vec<_>>();
    let data = result.meta.and_then(|meta| serde_json::to_value(meta).ok());
    match is_broken {
        true => ErrorData::internal_error(words.join("\n"), data),
        false => ErrorData::invalid_request(words.join("\n"), data),
    }
}
