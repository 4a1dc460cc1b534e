//! What `claw init` asks of each provider before it writes a key down.

use std::collections::BTreeMap;

use claw_core::config::model::{Agent, ModelSection};
use claw_core::model::{ModelError, Trial};
use serde_json::{Value, json};

use crate::program::KEY;
use crate::wires::openai::chunk;
use crate::wires::{Answer, StandIn, Then, Wire};

fn section(agent: Agent, base_url: &str, key: &str) -> ModelSection {
    ModelSection {
        agent: Some(agent),
        base_url: Some(base_url.to_owned()),
        api_key: Some(key.to_owned().into()),
        ..ModelSection::default()
    }
}

async fn trial(agent: Agent, at: &StandIn, key: &str) -> Trial {
    Trial::of(&section(agent, &at.base_url, key), &BTreeMap::new()).await.unwrap().unwrap()
}

#[tokio::test]
async fn each_provider_lists_its_models_to_a_good_key_alone() {
    for (agent, wire) in [
        (Agent::Claude, Wire::Anthropic),
        (Agent::OpenAiCompatible, Wire::OpenAi),
        (Agent::Gemini, Wire::Gemini),
    ] {
        let stand_in = StandIn::start(wire, []).await;
        stand_in.lists(KEY, &["model-x", "model-y"]);
        let names = trial(agent, &stand_in, KEY).await.names().await.unwrap().unwrap();
        assert_eq!(names, ["model-x", "model-y"], "{wire:?}");
        let refused =
            trial(agent, &stand_in, "sk-of-somebody-else").await.names().await.unwrap_err();
        assert!(matches!(refused, ModelError::KeyRefused { .. }), "{wire:?}: {refused:?}");
        assert!(!refused.to_string().contains("somebody-else"), "{refused}");
    }
    let ollama = StandIn::start(Wire::Ollama, []).await;
    ollama.lists("", &["qwen3:8b"]);
    assert_eq!(
        trial(Agent::Ollama, &ollama, "").await.names().await.unwrap().unwrap(),
        ["qwen3:8b"]
    );
}

#[tokio::test]
async fn where_there_is_no_list_the_model_is_asked() {
    let stand_in =
        StandIn::start(Wire::OpenAi, [Answer::text("Hi"), Answer::status(401, "{}")]).await;
    let trial = trial(Agent::OpenAiCompatible, &stand_in, KEY).await;
    assert_eq!(trial.names().await.unwrap(), None);
    assert!(!trial.a_list_proves_the_key());
    trial.ask("model-x").await.unwrap();
    let asked = stand_in.recorded().pop().unwrap().body;
    assert_eq!(asked["model"], "model-x", "{asked}");
    assert!(matches!(trial.ask("model-x").await.unwrap_err(), ModelError::KeyRefused { .. }));
    assert_eq!(stand_in.faults(), [""; 0]);
}

/// A limit for the reply is what OpenAI refuses where the model thinks first, by one name or by
/// another. Without one, somebody who waits at a terminal must not wait for a long answer.
#[tokio::test]
async fn a_trial_limits_no_reply_and_ends_where_one_begins() {
    let begun = chunk(json!({"role": "assistant", "content": "Hello"}), Value::Null);
    let answers = [(); 2].map(|()| Answer::raw(&begun, Then::Silence));
    let stand_in = StandIn::start(Wire::OpenAi, answers).await;
    let trial = trial(Agent::OpenAiCompatible, &stand_in, KEY).await;
    for model in ["model-x", "gpt-5.4-mini"] {
        trial.ask(model).await.unwrap();
        let asked = stand_in.recorded().pop().unwrap().body;
        for limit in ["max_tokens", "max_completion_tokens"] {
            assert_eq!(asked[limit], Value::Null, "{asked}");
        }
    }
    assert_eq!(stand_in.faults(), [""; 0]);
}
