//! Makes what the doors are given. Must not know what a door does with it.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{App, owner_principal, watch};
use crate::chat_commands::Agents;
use crate::door_context::{Context, DoorSettings, FileAccess, NearlySpent, Transcribe};
use crate::mail::MailError;
use crate::model::Transcriber;
use crate::session::ASK_PERCENT;

impl App {
    /// What a door is given at its start. `agents` are all of this home.
    ///
    /// # Errors
    /// No model is configured, or it cannot be used.
    // Boxed, so that it is compiled here, and not once more in each door that waits for it.
    pub fn door_context(
        self: &Arc<Self>,
        agents: Agents,
    ) -> BoxFuture<'_, anyhow::Result<Context>> {
        Box::pin(self.open_context(agents))
    }

    async fn open_context(self: &Arc<Self>, agents: Agents) -> anyhow::Result<Context> {
        Ok(Context {
            agent: self.config.agent.name.clone(),
            owner: owner_principal(),
            zone: self.config.zone.clone(),
            mail: self.mail.clone(),
            router: self.router.clone(),
            worker: self.worker().await?,
            worker_of: {
                let app = self.clone();
                Arc::new(move |session| {
                    let app = app.clone();
                    Box::pin(async move {
                        let found = app.worker_of(&session).await;
                        found.map_err(|error| format!("{error:#}"))
                    })
                })
            },
            place: {
                let app = self.clone();
                Arc::new(move |session, folder| {
                    let app = app.clone();
                    Box::pin(async move {
                        let placed = app.place_session(&session, folder).await;
                        placed.map_err(|error| format!("{error:#}"))
                    })
                })
            },
            chat_commands: self.chat_commands(agents).await?,
            jobs: self.jobs(),
            heartbeats: self.heartbeats(),
            clients: self.clients.clone(),
            settings: door_settings(self),
            files: door_files(self),
        })
    }

    /// What of today's budget is used, where each turn is asked about.
    fn nearly_spent(&self) -> Result<Option<NearlySpent>, MailError> {
        let budget = self.budget();
        let day = budget.today();
        let used = budget.used(self.mail.day_spent(&day)?);
        let nearly = used.percent >= ASK_PERCENT;
        Ok(nearly.then_some(NearlySpent { day, percent: used.percent, text: used.text }))
    }
}

fn door_settings(app: &Arc<App>) -> DoorSettings {
    let (changing, seeing, telling) = (app.clone(), app.clone(), app.clone());
    let (digesting, remembering, spending) = (app.clone(), app.clone(), app.clone());
    DoorSettings {
        changes: Arc::new(move || {
            let app = changing.clone();
            Box::pin(async move {
                tokio::time::sleep(watch::LOOK_EVERY).await;
                app.look().await
            })
        }),
        sees_images: Arc::new(move || seeing.sees_images()),
        tells_audit_head: Arc::new(move || telling.settings().audit.tell_head),
        digest_at: Arc::new(move || digesting.settings().audit.digest_at.map(|at| at.0)),
        proposals_at: Arc::new(move || remembering.settings().memory.proposals_at.0),
        nearly_spent: Arc::new(move || spending.nearly_spent()),
    }
}

fn door_files(app: &App) -> FileAccess {
    let artifacts = app.artifacts();
    let transcribe = app.config.transcription.clone().map(|settings| -> Transcribe {
        let transcriber = Arc::new(Transcriber::new(settings));
        Arc::new(move |name, mime, bytes| {
            let transcriber = transcriber.clone();
            Box::pin(async move {
                transcriber.text(&name, mime, bytes).await.map_err(|error| error.to_string())
            })
        })
    });
    let kept = app.artifacts();
    FileAccess {
        workspace: app.config.workspace.clone(),
        keep: Arc::new(move |bytes| artifacts.put(bytes)),
        kept: Arc::new(move |digest| std::fs::read(kept.path(digest))),
        transcribe,
    }
}
