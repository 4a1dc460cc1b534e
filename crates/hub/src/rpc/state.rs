//! What a connection and its [`super::bridge::Bridge`] know of the server together: requests
//! without an answer, and what its notifications said. Must not know transports.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::model::RequestId;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::asked::CallAsker;

/// Ids below are counted from zero by `rmcp`; those of the handshake are behind all of these.
const LATER_FROM: i64 = 1_000_000_000;
/// A connection has one of so many places, by the millisecond in which it began.
const LATER_PARTS: u128 = 990_000;
const LATER_EACH: i64 = 1_000;

/// Between the answer that makes a task of a call and the first look at it its id goes to the disk.
const TASK_TIMEOUT: Duration = Duration::from_secs(10);

/// Questions of one server that have no answer yet. Its owner is asked one thing at a time.
const QUESTIONS_MAX: usize = 9;
/// Tasks of one server that it has begun and that nobody follows yet.
const BEGUN_TASKS_MAX: usize = 16;

/// Takes the text of a progress notification.
pub(crate) type ProgressSink = Arc<dyn Fn(String) + Send + Sync>;

/// Lives as long as the connection.
pub(crate) struct RpcState {
    /// Where the ids of calls begin that go on with answers. A process that was started
    /// since counts from zero again, and revision 2026-07-28 wants another id than the
    /// first one of the call.
    later: i64,
    /// Requests without an answer, by our id.
    pending: Mutex<HashMap<RequestId, Pending>>,
    /// Goes up with every `notifications/tools/list_changed`.
    list_changes: AtomicU64,
    /// Goes up with every `notifications/prompts/list_changed`.
    prompt_changes: AtomicU64,
    /// Somebody has seen a list since the last change was reported: a server that repeats itself is
    /// not news, and neither is one that is still setting itself up.
    change_is_news: AtomicBool,
    /// Jobs that the server runs in the background, by its last notification.
    background_jobs: AtomicU32,
    /// What the server asks and has no answer to, by its own id as JSON.
    questions: Mutex<HashMap<String, CancellationToken>>,
    /// Who answers for the tasks that are followed, by their ids.
    tasks: watch::Sender<BTreeMap<String, CallAsker>>,
    /// Who takes the progress of tasks, the oldest first.
    task_progress: Mutex<VecDeque<TaskProgress>>,
    /// The tasks that were begun last, until they are followed.
    begun_tasks: Mutex<VecDeque<String>>,
    /// The tasks that are followed, each for one call.
    followed_tasks: Mutex<BTreeSet<String>>,
    /// Tasks of an earlier connection are followed over this one soon after it began.
    began: Instant,
}

/// A task belongs to one call as long as this lives.
pub(crate) struct FollowedTask {
    state: Arc<RpcState>,
    task: String,
}

impl Drop for FollowedTask {
    fn drop(&mut self) {
        self.state.followed_tasks().remove(&self.task);
    }
}

/// Where the progress of a task goes. The token of the call that has made it counts as long as the
/// task lives (2025-11-25, "Task Progress").
struct TaskProgress {
    task: String,
    token: Value,
    sink: ProgressSink,
}

/// Tasks of one connection whose progress is taken. Of more the oldest show none: a server may make
/// tasks that nobody follows.
const TASKS_WITH_PROGRESS_MAX: usize = 64;

/// The progress of a task is taken as long as this lives.
pub(crate) struct TakesProgress {
    state: Arc<RpcState>,
    task: String,
}

impl Drop for TakesProgress {
    fn drop(&mut self) {
        self.state.task_progress().retain(|it| it.task != self.task);
    }
}

/// Somebody answers for a task as long as this lives.
pub(crate) struct TaskAnswers {
    state: Arc<RpcState>,
    task: String,
}

impl Drop for TaskAnswers {
    fn drop(&mut self) {
        self.state.tasks.send_modify(|tasks| {
            tasks.remove(&self.task);
        });
    }
}

pub(super) struct Pending {
    /// The result is wanted as it came.
    pub(super) raw: bool,
    /// The progress token and who takes the texts.
    pub(super) progress: Option<(Value, ProgressSink)>,
    /// Of a `tools/call`: who answers what the server asks meanwhile.
    pub(super) asked: Option<CallAsker>,
    /// It was sent under [`RpcState::later_id`].
    pub(super) goes_on: bool,
}

impl Default for RpcState {
    fn default() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let part = i64::try_from(now.as_millis() % LATER_PARTS).unwrap_or_default();
        Self {
            later: LATER_FROM + part * LATER_EACH,
            pending: Mutex::default(),
            list_changes: AtomicU64::default(),
            prompt_changes: AtomicU64::default(),
            change_is_news: AtomicBool::default(),
            background_jobs: AtomicU32::default(),
            questions: Mutex::default(),
            tasks: watch::Sender::default(),
            task_progress: Mutex::default(),
            begun_tasks: Mutex::default(),
            followed_tasks: Mutex::default(),
            began: Instant::now(),
        }
    }
}

impl RpcState {
    /// Under which id a call goes on. It fits into 32 bits, because some servers want that.
    pub(super) fn later_id(&self, id: &RequestId) -> Value {
        match id {
            RequestId::Number(id) => Value::from(self.later + id),
            RequestId::String(_) => serde_json::to_value(id).unwrap_or_default(),
        }
    }

    /// The request that a server's answer names.
    pub(super) fn own_id(&self, id: i64) -> i64 {
        if id >= self.later { id - self.later } else { id }
    }

    pub(crate) fn list_changes(&self) -> u64 {
        self.list_changes.load(Ordering::SeqCst)
    }

    /// The tools were listed, so the next change is news.
    pub(crate) fn note_listed(&self) {
        self.change_is_news.store(true, Ordering::SeqCst);
    }

    /// Whether this change is news.
    pub(super) fn note_list_change(&self) -> bool {
        self.list_changes.fetch_add(1, Ordering::SeqCst);
        self.change_is_news.swap(false, Ordering::SeqCst)
    }

    /// How often its prompts have changed, as it says.
    pub(crate) fn prompt_changes(&self) -> u64 {
        self.prompt_changes.load(Ordering::SeqCst)
    }

    /// Counted alone: whoever wants the prompts next asks for them, however often this came.
    pub(super) fn note_prompt_change(&self) {
        self.prompt_changes.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn background_jobs(&self) -> u32 {
        self.background_jobs.load(Ordering::Relaxed)
    }

    pub(super) fn note_background_jobs(&self, running: u32) {
        self.background_jobs.store(running, Ordering::Relaxed);
    }

    /// Whether a call or a list is still unanswered, and wanted.
    pub(crate) fn has_calls(&self) -> bool {
        self.pending().values().any(|pending| pending.raw)
    }

    /// Who answers for the calls without an answer, oldest first, and then for the tasks.
    pub(crate) fn askers(&self) -> Vec<CallAsker> {
        let number = |id: &RequestId| match id {
            RequestId::Number(number) => *number,
            RequestId::String(_) => i64::MAX,
        };
        let mut calls: Vec<(i64, CallAsker)> = self
            .pending()
            .iter()
            .filter_map(|(id, pending)| Some((number(id), pending.asked.clone()?)))
            .collect();
        calls.sort_by_key(|(number, _)| *number);
        let of_tasks: Vec<CallAsker> = self.tasks.borrow().values().cloned().collect();
        calls.into_iter().map(|(_, asked)| asked).chain(of_tasks).collect()
    }

    /// The answer to a call says that it is a task now.
    pub(super) fn note_begun_task(&self, task: &str) {
        let mut begun = self.begun_tasks();
        let over = (begun.len() + 1).saturating_sub(BEGUN_TASKS_MAX);
        begun.drain(..over);
        begun.push_back(task.to_owned());
    }

    /// From now on this task is followed for one call, until what is given back is dropped. `None`:
    /// it is another call's already.
    pub(crate) fn follow_task(self: &Arc<Self>, task: &str) -> Option<FollowedTask> {
        let is_new = self.followed_tasks().insert(task.to_owned());
        is_new.then(|| FollowedTask { state: self.clone(), task: task.to_owned() })
    }

    /// Whether a task with this id is followed, or may be soon.
    fn may_be_task(&self, task: &str) -> bool {
        self.tasks.borrow().contains_key(task)
            || self.followed_tasks().contains(task)
            || self.begun_tasks().iter().any(|begun| begun == task)
            || self.pending().values().any(|pending| pending.asked.is_some())
            || self.began.elapsed() < TASK_TIMEOUT
    }

    /// Who answers for this task. It may be on its way to the disk, before it is followed. Where no
    /// call is on its way to one, nobody does.
    pub(super) async fn asker_of_task(&self, task: &str) -> Option<CallAsker> {
        if !self.may_be_task(task) {
            return None;
        }
        let mut tasks = self.tasks.subscribe();
        let found = timeout(TASK_TIMEOUT, tasks.wait_for(|tasks| tasks.contains_key(task))).await;
        found.ok()?.ok()?.get(task).cloned()
    }

    /// From now on somebody answers for this task, until what is given back is dropped.
    pub(crate) fn answer_for_task(self: &Arc<Self>, task: &str, asked: CallAsker) -> TaskAnswers {
        self.begun_tasks().retain(|begun| begun != task);
        self.tasks.send_modify(|tasks| {
            tasks.insert(task.to_owned(), asked);
        });
        TaskAnswers { state: self.clone(), task: task.to_owned() }
    }

    /// A call has become this task: what comes under its token is the task's from here on.
    pub(super) fn goes_on_as_task(&self, task: &str, progress: Option<(Value, ProgressSink)>) {
        let Some((token, sink)) = progress else { return };
        let mut all = self.task_progress();
        if all.len() >= TASKS_WITH_PROGRESS_MAX {
            all.pop_front();
        }
        all.push_back(TaskProgress { task: task.to_owned(), token, sink });
    }

    /// The progress of this task is taken until what is given back is dropped.
    pub(crate) fn progress_until_end(self: &Arc<Self>, task: &str) -> TakesProgress {
        TakesProgress { state: self.clone(), task: task.to_owned() }
    }

    fn task_progress(&self) -> MutexGuard<'_, VecDeque<TaskProgress>> {
        self.task_progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A question of the server is open; the token says that it does not wait any more. `None`:
    /// too many are, or one with the same id is.
    pub(super) fn note_asked(&self, id: &Value) -> Option<CancellationToken> {
        let (id, token) = (id.to_string(), CancellationToken::new());
        let mut questions = self.questions();
        if questions.len() >= QUESTIONS_MAX || questions.contains_key(&id) {
            return None;
        }
        questions.insert(id, token.clone());
        Some(token)
    }

    pub(super) fn forget_asked(&self, id: &Value) {
        self.questions().remove(&id.to_string());
    }

    pub(super) fn take_back_asked(&self, id: &Value) {
        if let Some(token) = self.questions().remove(&id.to_string()) {
            token.cancel();
        }
    }

    fn begun_tasks(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.begun_tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn followed_tasks(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.followed_tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn questions(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, HashMap<RequestId, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the request that an answer belongs to. The text "7" is not the number 7 (JSON-RPC 2.0,
    /// section 5).
    pub(super) fn claim(&self, id: Option<&Value>) -> Option<(RequestId, Pending)> {
        let number = self.own_id(id?.as_i64()?);
        self.pending().remove_entry(&RequestId::Number(number))
    }

    /// Who takes the progress of the request with this token, or of the task that it has made.
    pub(super) fn progress_sink(&self, token: &Value) -> Option<ProgressSink> {
        let of_request = {
            let pending = self.pending();
            let mut sinks = pending.values().filter_map(|pending| pending.progress.as_ref());
            sinks.find(|(wanted, _)| wanted == token).map(|(_, sink)| sink.clone())
        };
        of_request.or_else(|| {
            let tasks = self.task_progress();
            tasks.iter().find(|it| it.token == *token).map(|it| it.sink.clone())
        })
    }
}
