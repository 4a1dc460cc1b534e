//! What the chat commands are made of: the model that answers, the agents of this home and their
//! stores. Must not know what a command says.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{App, anchor_place, persona};
use crate::chat_commands::{
    AgentState, Agents, ChatCommands, ChatCommandsParts, ModelInUse, NotOffered, OtherStore,
};
use crate::config::{MAIN, is_agent_name};
use crate::model::Chain;

impl App {
    /// The agents as far as a process knows that runs no bots.
    pub fn agents(&self) -> Agents {
        let cards = self.config.agents.clone();
        Arc::new(move || cards.iter().map(|card| (card.clone(), AgentState::NoBot)).collect())
    }

    /// Where the other agents of this home keep their stores: those of `claw.toml`, whose homes are
    /// made here if they are not there yet, and those that were taken out of it and have left one.
    pub fn other_stores(&self) -> Vec<OtherStore> {
        let home = &self.config.home;
        let mut names: std::collections::BTreeSet<String> =
            self.config.agents.iter().map(|card| card.name.clone()).collect();
        let left = std::fs::read_dir(home.agents()).into_iter().flatten().filter_map(Result::ok);
        let left = left.filter_map(|entry| entry.file_name().into_string().ok());
        names.extend(
            left.filter(|name| is_agent_name(name) && home.of_agent(name).claw_db().is_file()),
        );
        names.remove(&self.config.agent.name);
        let anchor = anchor_place(&self.config.kept_apart);
        let store = |agent: String| {
            if agent == MAIN {
                return OtherStore {
                    path: home.root().join("claw.db"),
                    agent,
                    anchor: anchor.clone(),
                };
            }
            let mut of_agent = home.of_agent(&agent);
            if let Err(error) = of_agent.ensure() {
                tracing::warn!(agent, %error, "the home of an agent cannot be made");
            }
            OtherStore { path: of_agent.claw_db(), agent, anchor: anchor.clone() }
        };
        names.into_iter().map(store).collect()
    }

    /// Who answers chat commands, at any door. All doors of a process have the same, which follow
    /// the settings.
    pub async fn chat_commands(&self, agents: Agents) -> anyhow::Result<ChatCommands> {
        let made = self.chat_commands.get_or_try_init(|| async {
            let chain = self.model().await?;
            let parts = self.chat_commands_parts(&chain, agents, self.other_stores());
            anyhow::Ok(ChatCommands::new(parts))
        });
        Ok(made.await?.clone())
    }

    /// What the chat commands are made of now.
    pub(super) fn chat_commands_parts(
        &self,
        chain: &Chain,
        agents: Agents,
        others: Vec<OtherStore>,
    ) -> ChatCommandsParts {
        let (model, not_offered) = told_of(chain);
        let settings = self.settings();
        ChatCommandsParts {
            store: self.store.clone(),
            gate: self.gate.clone(),
            folder_gates: self.folder_gates.clone(),
            router: self.router.clone(),
            model,
            not_offered,
            allowed_source: self
                .config
                .allowed_source
                .clone()
                .unwrap_or_else(|| "claw.toml".to_owned()),
            roles: persona::roles(&settings),
            prices: settings.prices.clone(),
            workspace: self.config.workspace.clone(),
            heartbeats: self.heartbeats_for_chats(),
            folder_for_chat: {
                let folders = self.config.chat_folders();
                Arc::new(move |written: &str| folders.folder(written))
            },
            agents,
            agent: self.config.agent.name.clone(),
            others,
            window_tokens: self.window_tokens(chain),
            digest_lines_max: settings.limits.digest_lines_max as usize,
            zone: self.config.zone.clone(),
        }
    }
}

/// The model as the chat commands tell of it.
fn told_of(chain: &Chain) -> (ModelInUse, NotOffered) {
    let model = ModelInUse {
        name: chain.model.model().to_owned(),
        provider: chain.model.provider().to_owned(),
        whys: chain.whys.clone(),
        overridden_by: chain.choosable.target.as_ref().and_then(|target| target.overridden_by()),
    };
    let choosable = chain.choosable.clone();
    let not_offered = Arc::new(move |name: String| -> BoxFuture<'static, Option<Vec<String>>> {
        let choosable = choosable.clone();
        Box::pin(async move { choosable.not_offered(&name).await })
    });
    (model, not_offered)
}
