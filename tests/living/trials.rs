//! What `claw init` asks of each provider before it writes a key down.

use std::collections::BTreeMap;

use claw_core::config::model::{Agent, ModelSection};
use claw_core::model::{ModelError, Trial};

use crate::program::KEY;
use crate::wires::{Answer, StandIn, Wire};

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
async fn where_there_is_no_list_a_few_tokens_are_asked_for() {
    let stand_in =
        StandIn::start(Wire::OpenAi, [Answer::text("Hi"), Answer::status(401, "{}")]).await;
    let trial = trial(Agent::OpenAiCompatible, &stand_in, KEY).await;
    assert_eq!(trial.names().await.unwrap(), None);
    assert!(!trial.a_list_proves_the_key());
    trial.ask("model-x").await.unwrap();
    let asked = stand_in.recorded().pop().unwrap().body;
    assert_eq!((&asked["model"], &asked["max_tokens"]), (&"model-x".into(), &16.into()), "{asked}");
    assert!(matches!(trial.ask("model-x").await.unwrap_err(), ModelError::KeyRefused { .. }));
    assert_eq!(stand_in.faults(), [""; 0]);
}
