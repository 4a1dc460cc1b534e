//! Takes the calls of clients through the gate, each by a task of one process that outlives the
//! request: a yes runs the frozen call at once, whoever waits for it. What a process leaves behind
//! that is gone, another one takes over, by compare-and-set. Must not know what a client is told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{ClientRefusal, Clients, Shared};
use crate::domain::{
    Address, CallId, CallState, ClientName, Live, LiveSink, Outcome, ToolCall, TurnId, unseen,
};
use crate::gate::CallContext;
use crate::killpoint;
use crate::mail::Instance;
use crate::store::{CallRow, StoreError};

/// How often it is looked whether a process is gone that has left calls.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The calls that this process drives.
#[derive(Default)]
pub(super) struct Driving {
    /// Each goes with its task.
    calls: Mutex<HashMap<CallId, Driven>>,
    tasks: TaskTracker,
}

/// One of them.
#[derive(Clone)]
pub(super) struct Driven {
    progress: Arc<watch::Sender<Progress>>,
    /// What the newest request wants to see of it.
    live: Arc<Mutex<LiveSink>>,
    /// Ends the pass that is under way, not the wait for an answer.
    cancel: Arc<Mutex<CancellationToken>>,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Progress {
    Running,
    /// For an answer.
    Waiting,
    /// What is on the disk overrides it.
    Ended(Box<Outcome>),
    /// This process ends; another one goes on with it.
    LeftBehind,
}

impl Driving {
    /// How far a call is, if this process drives it.
    pub(super) fn progress(&self, call: &CallId) -> Option<watch::Receiver<Progress>> {
        Some(self.calls().get(call)?.progress.subscribe())
    }

    /// Ends the pass of a call that is under way.
    pub(super) fn cancel(&self, call: &CallId) {
        if let Some(driven) = self.calls().get(call) {
            driven.cancel.lock().unwrap_or_else(PoisonError::into_inner).cancel();
        }
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<CallId, Driven>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call with this id as one that runs here. `None`: it was one already, and `live` sees it
    /// from now on.
    fn begin(&self, call: &CallId, live: LiveSink) -> Option<Driven> {
        let mut calls = self.calls();
        if let Some(driven) = calls.get(call) {
            *driven.live.lock().unwrap_or_else(PoisonError::into_inner) = live;
            return None;
        }
        let driven = Driven {
            progress: Arc::new(watch::Sender::new(Progress::Running)),
            live: Arc::new(Mutex::new(live)),
            cancel: Arc::default(),
        };
        calls.insert(call.clone(), driven.clone());
        Some(driven)
    }
}

impl Driven {
    fn sink(&self) -> LiveSink {
        let live = self.live.clone();
        Arc::new(move |seen: Live| {
            let sink = live.lock().unwrap_or_else(PoisonError::into_inner).clone();
            sink(seen);
        })
    }

    /// The token of a new pass.
    fn new_pass(&self, end: CancellationToken) -> CancellationToken {
        let mut cancel = self.cancel.lock().unwrap_or_else(PoisonError::into_inner);
        *cancel = end.child_token();
        cancel.clone()
    }
}

impl Shared {
    /// This process among those that serve the home.
    pub(super) fn instance(&self) -> Result<Arc<Instance>, ClientRefusal> {
        if let Some(instance) = self.instance.get() {
            return Ok(instance.clone());
        }
        let made = Instance::open(&self.locks, "clients").map_err(|error| {
            let locks = self.locks.display();
            ClientRefusal::Odd(format!("a lock file cannot be made in {locks}: {error}"))
        })?;
        Ok(self.instance.get_or_init(|| Arc::new(made)).clone())
    }

    pub(super) fn is_alive(&self, other: &Address) -> bool {
        Instance::alive(&self.locks, other)
    }

    /// Drives a call of which this process is the driver, unless it does so already or another one
    /// has it.
    pub(super) fn see_to(self: &Arc<Self>, client: &ClientName, call: ToolCall, live: LiveSink) {
        let CallId::Client { number, .. } = call.id else { return };
        let mine = self.store.read(|tx| tx.client_call(client, number));
        let me = self.instance.get().map(|instance| instance.address().clone());
        let is_mine = mine.ok().flatten().is_some_and(|row| Some(row.driver) == me);
        if !is_mine {
            return;
        }
        let Some(driven) = self.driving.begin(&call.id, live) else { return };
        let (shared, client) = (self.clone(), client.clone());
        self.driving.tasks.spawn(async move { shared.drive(client, call, driven).await });
    }

    async fn drive(self: Arc<Self>, client: ClientName, call: ToolCall, driven: Driven) {
        // What an earlier process has asked about is not judged again while it is answered: that
        // would ask once more.
        let mut waits = self.is_asked_about(&call.id);
        let end = loop {
            if !waits {
                driven.progress.send_replace(Progress::Running);
                match self.pass(&client, &call, &driven).await {
                    Outcome::Parked { .. } => {}
                    // Its task goes on at its server, and the next process with it.
                    Outcome::Left => break Progress::LeftBehind,
                    outcome => break Progress::Ended(Box::new(outcome)),
                }
            }
            waits = false;
            driven.progress.send_replace(Progress::Waiting);
            killpoint::here("client.waits");
            let decided = tokio::select! {
                decided = self.gate.calls().until_decided(&call.id) => decided,
                () = self.ending.begun() => break Progress::LeftBehind,
            };
            if let Err(error) = decided {
                tracing::error!(call = %call.id, %error, "the answer to a question cannot be read");
                break Progress::LeftBehind;
            }
        };
        if let Progress::Ended(outcome) = &end {
            self.note_changes(&client, &call.id).await;
            let staged = self.gate.calls().stage_of_client(&call.id, outcome);
            let (client, id) = (client.clone(), call.id.clone());
            // Behind the outcome, which is on its way to the disk. Until then whoever comes after a
            // kill goes on with the call, finds its outcome, and stages what it has proposed.
            self.store.write_soon(move |tx| match id {
                CallId::Client { number, .. } if tx.end_client_call(&client, number)? => {
                    staged.write(tx)
                }
                _ => Ok(()),
            });
            killpoint::here("client.ended");
        }
        driven.progress.send_replace(end);
        self.driving.calls().remove(&call.id);
    }

    fn is_asked_about(&self, call: &CallId) -> bool {
        let row = self.store.read(|tx| tx.call(call)).ok().flatten();
        row.is_some_and(|row| matches!(row.state, CallState::Waiting | CallState::InputRequired))
    }

    /// Once through the gate.
    async fn pass(&self, client: &ClientName, call: &ToolCall, driven: &Driven) -> Outcome {
        let cancel = driven.new_pass(self.ending.no_running_call());
        let context = CallContext {
            live: driven.sink(),
            cancel: cancel.clone(),
            leaves: self.ending.no_new_step(),
            deadline: Instant::now() + self.call_time,
            turn: turn_of(client, &call.id),
            heard_by_others: true,
            // The owner finds the question at their door, and the client hears that it waits.
            asks: Some(Arc::new(|_| {})),
        };
        let passing = self.gate.call(call.clone(), context);
        tokio::pin!(passing);
        tokio::select! {
            biased;
            outcome = &mut passing => return outcome,
            () = self.is_to_stop(client) => cancel.cancel(),
        }
        if let Err(error) = self.gate.obey_panic().await {
            tracing::warn!(%error, "the stop switch cannot be read");
        }
        passing.await
    }

    /// Waits for the stop switch, or until the client is revoked.
    async fn is_to_stop(&self, client: &ClientName) {
        let mut seen = None;
        let mut changes = self.store.changes();
        loop {
            let version = self.store.data_version().ok();
            if seen != version || version.is_none() {
                seen = version;
                let stops = self.store.read(|tx| {
                    let revoked = tx.client(client)?.is_some_and(|row| row.revoked_ms.is_some());
                    Ok(revoked || tx.panic()?.is_some())
                });
                if stops.unwrap_or(false) {
                    return;
                }
            }
            changes.wait().await;
        }
    }

    /// What the call has changed can be undone by the owner from now on.
    async fn note_changes(&self, client: &ClientName, call: &CallId) {
        if let Some(turn) = turn_of(client, call) {
            self.gate.snapshots().note(&turn).await;
        }
    }

    /// Takes over what processes have left behind that are gone.
    pub(super) async fn take_over(self: &Arc<Self>) -> Result<(), ClientRefusal> {
        let open = self.store.read(|tx| tx.open_client_calls())?;
        let mine = self.instance.get().map(|me| me.address().clone());
        let mut left = open;
        left.retain(|row| Some(&row.driver) != mine.as_ref() && !self.is_alive(&row.driver));
        for row in left {
            let me = self.instance()?;
            let (client, number) = (row.client.clone(), row.number);
            let (from, to) = (row.driver.clone(), me.address().clone());
            let id = CallId::Client { principal: client.principal(), number };
            killpoint::here("client.taken.before");
            let taken = self
                .store
                .write(move |tx| {
                    let Some(call) = tx.call(&id)? else {
                        // It was never received, so nothing can have come of it.
                        tx.forget_client_call(&client, number, &from)?;
                        return Ok(None);
                    };
                    let taken = tx.drive_client_call(&client, number, (&from, &to))?;
                    Ok(taken.then_some(call))
                })
                .await?;
            killpoint::here("client.taken.after");
            if let Some(call) = taken {
                self.see_to(&row.client, call_of(call)?, unseen());
            }
        }
        Ok(())
    }
}

impl Clients {
    /// Sees to calls that processes have left behind which are gone. Runs until it is dropped, once
    /// in each process that serves clients.
    // Boxed, so that it is compiled here, and not once more in each door that waits for it.
    pub fn keep(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.keep_on())
    }

    async fn keep_on(&self) {
        loop {
            if let Err(error) = self.shared.take_over().await {
                tracing::warn!(%error, "calls of clients that were left behind wait");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until no call of a client runs in this process. Those that wait for an answer are left
    /// to whoever serves next, when the end of the process has begun.
    pub async fn settled(&self) {
        self.shared.driving.tasks.close();
        self.shared.driving.tasks.wait().await;
        if self.shared.ending.has_begun()
            && let Err(error) = self.shared.all_received().await
        {
            tracing::warn!(%error, "what clients have received cannot be noted");
        }
    }
}

/// What stands for the call where changes of the workspace are remembered.
fn turn_of(client: &ClientName, call: &CallId) -> Option<TurnId> {
    let CallId::Client { number, .. } = call else { return None };
    Some(TurnId { session: client.calls_session()?, seq: *number })
}

/// The call as it was received.
fn call_of(row: CallRow) -> Result<ToolCall, StoreError> {
    Ok(ToolCall {
        id: row.id,
        server: row.server,
        tool: row.tool,
        arguments: serde_json::from_str(&row.arguments)?,
        origin: row.origin,
        principal: row.principal,
    })
}
