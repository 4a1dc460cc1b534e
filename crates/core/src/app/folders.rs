//! The folders beside the configured workspace in which a process works for its conversations: for
//! each an [`App`] of its own on the same store, with servers, box and snapshots of that folder.
//! Opened when a conversation needs one, bounded, ended when idle. Must not know doors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::App;
use crate::config::{Config, Overrides, Started};
use crate::domain::SessionId;
use crate::door_context::WorkerHere;
use crate::workspace::{is_there, what_became_of};

/// How often idle folders are looked for.
const LOOK: Duration = Duration::from_secs(10);

/// Those of one agent. They live as long as the agent's own app.
pub(super) struct Folders {
    /// That agent's own app, which holds this.
    main: Weak<App>,
    /// By real path. One goes when it is idle, when another needs its place, or with all.
    open: Mutex<BTreeMap<PathBuf, Folder>>,
}

struct Folder {
    /// Closed when the folder goes.
    app: Arc<App>,
    /// Whoever works there holds a clone.
    at_work: Arc<()>,
    /// When a worker of it was asked for last.
    last: Instant,
}

impl Folder {
    fn is_at_work(&self) -> bool {
        Arc::strong_count(&self.at_work) > 1
    }
}

impl App {
    /// The worker for a session: that of the folder it works in, as long as the value is held.
    ///
    /// # Errors
    /// A sentence for the person, with the next step: the folder is gone, or too many are at work.
    pub async fn worker_of(self: &Arc<Self>, session: &SessionId) -> anyhow::Result<WorkerHere> {
        let folder = self.store.read(|tx| tx.session_workspace(session))?.map(PathBuf::from);
        match folder.filter(|folder| *folder != self.config.workspace) {
            None => Ok(WorkerHere { worker: self.worker().await?, folder: None }),
            Some(folder) => self.folders().at(&folder).await,
        }
    }

    /// Gives a session the workspace that `-C FOLDER` means.
    ///
    /// # Errors
    /// A sentence for the person: the folder is not there, or cannot be a workspace.
    pub async fn place_session(
        &self,
        session: &SessionId,
        folder: PathBuf,
    ) -> anyhow::Result<PathBuf> {
        let started = Some(Started { folder, is_meant: true });
        let agent = Some(self.config.agent.name.clone());
        let doors = self.config.doors.sections().clone();
        let overrides = Overrides { doors, agent, started, ..Overrides::default() };
        let workspace = Config::load_from(self.config.env.clone(), overrides)?.workspace;
        let own =
            (workspace != self.config.usual_workspace).then(|| workspace.display().to_string());
        let session = session.clone();
        self.store.write(move |tx| tx.set_session_workspace(&session, own.as_deref())).await?;
        Ok(workspace)
    }

    fn folders(self: &Arc<Self>) -> &Folders {
        self.folders.get_or_init(|| {
            let main = Arc::downgrade(self);
            claw_kit::task::spawn(end_idle(main.clone()));
            Folders { main, open: Mutex::default() }
        })
    }
}

impl Folders {
    async fn at(&self, folder: &Path) -> anyhow::Result<WorkerHere> {
        let shown = crate::domain::escape::visible(&folder.display().to_string());
        let main = self.main.upgrade().ok_or_else(|| anyhow::anyhow!("claw is about to end"))?;
        let mut open = self.open.lock().await;
        if !is_there(folder) {
            // Its servers work in something that is not there any more.
            if let Some(gone) = open.remove(folder) {
                gone.app.close().await;
            }
            let why = what_became_of(folder);
            anyhow::bail!(
                "The folder {shown} of this conversation {why}. Make it again, name another one \
                 with `/here FOLDER`, or go back with `/here off`. What you wrote waits."
            );
        }
        if !open.contains_key(folder) {
            let most = main.settings().limits.folders_at_once_max as usize;
            if open.len() >= most {
                let idlest = open.iter().filter(|(_, one)| !one.is_at_work());
                let idlest = idlest.min_by_key(|(_, one)| one.last).map(|(path, _)| path.clone());
                let Some(ended) = idlest.and_then(|path| open.remove(&path)) else {
                    anyhow::bail!(
                        "As many folders as may be open at once are at work ({most}, limits.folders_at_once_max); what you wrote waits \
                         until one of them is done."
                    );
                };
                ended.app.close().await;
            }
            let app = Arc::new(main.at_folder(folder).await?);
            main.folder_gates.opened(folder, &app.gate);
            let opened = Folder { app, at_work: Arc::default(), last: Instant::now() };
            open.insert(folder.to_owned(), opened);
        }
        let Some(found) = open.get_mut(folder) else { anyhow::bail!("{shown} cannot be opened") };
        found.last = Instant::now();
        Ok(WorkerHere { worker: found.app.worker().await?, folder: Some(found.at_work.clone()) })
    }

    /// Reads what has changed of the settings. The agent's own app looks at the same files, and
    /// tells of them for all.
    pub(super) async fn read_changed(&self) {
        let open: Vec<_> = self.open.lock().await.values().map(|one| one.app.clone()).collect();
        for app in open {
            app.look_untold().await;
        }
    }

    /// Ends all of them.
    pub(super) async fn close(&self) {
        for (_, folder) in std::mem::take(&mut *self.open.lock().await) {
            folder.app.close().await;
        }
    }
}

impl App {
    /// The same agent in another folder: the same store, models and end.
    async fn at_folder(&self, folder: &Path) -> anyhow::Result<Self> {
        let (agent, workspace) = (Some(self.config.agent.name.clone()), Some(folder.to_owned()));
        let doors = self.config.doors.sections().clone();
        let overrides = Overrides { doors, agent, workspace, ..Overrides::default() };
        let config = Config::load_from(self.config.env.clone(), overrides)?;
        let app = Self::open_on(config, self.store.clone(), self.ending.clone())?;
        app.take_model(self.model().await?);
        Ok(app)
    }
}

/// Ends the folders in which nobody has worked for a while.
async fn end_idle(main: Weak<App>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(main) = main.upgrade() else { return };
        let Some(folders) = main.folders.get() else { continue };
        let idle = Duration::from_secs(main.settings().limits.folder_idle_time_s);
        let mut open = folders.open.lock().await;
        let is_idle = |one: &Folder| !one.is_at_work() && one.last.elapsed() >= idle;
        let ended: Vec<PathBuf> =
            open.iter().filter(|(_, one)| is_idle(one)).map(|(path, _)| path.clone()).collect();
        for path in ended {
            if let Some(folder) = open.remove(&path) {
                tracing::info!(folder = %path.display(), "nobody works there any more");
                folder.app.close().await;
            }
        }
    }
}
