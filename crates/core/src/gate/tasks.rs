//! A server makes a task of a call. Its id is written down, and the call goes on by that from its
//! frozen row, in this process or in a later one; who does not go on tells the server. Must not
//! know how a task is followed.

use std::time::Duration;

use super::rounds::{Next, cut, lost, take_on};
use super::{Gate, Pass};
use crate::domain::{CallId, Outcome};
use crate::hub::TaskAt;
use crate::store::StoreError;

/// A task that an earlier process has left.
pub(super) async fn resume(gate: &Gate, pass: &Pass) -> Result<Outcome, StoreError> {
    let (row, task) = match gate.calls.resume_task(&pass.call).await? {
        Ok(found) => found,
        Err(why) => return Ok(Box::pin(give_up(gate, &pass.call.id, &why)).await),
    };
    let permit = gate.permit_to_go_on(row, None, Some(at_once(task)))?;
    Ok(Box::pin(take_on(gate, pass, permit)).await)
}

/// A server has answered a call with a task.
pub(super) async fn take_in(gate: &Gate, pass: &Pass, task: TaskAt) -> Result<Next, StoreError> {
    Ok(match gate.calls.begin_task(&pass.call, &task.id).await? {
        Ok(row) => Next::Send(Box::new(gate.permit_to_go_on(row, None, Some(task))?)),
        Err(why) => Next::Over(cut(&why)),
    })
}

/// Tells a server that nobody waits any more for the task that it has made of a call, before the
/// call has its end: a claw that is killed in between finds the task again. How that went, as the
/// end of a sentence; nothing where there is no task.
pub(super) async fn cancel(gate: &Gate, call: &CallId) -> Result<&'static str, StoreError> {
    let Some(row) = gate.calls.row_of_task(call)? else { return Ok("") };
    let Some(task) = gate.calls.task_of(call)? else { return Ok("") };
    // A process that is gone is not started again for it while the stop switch is on.
    let may_start = gate.calls.stopped_by()?.is_none();
    let permit = gate.permit_to_go_on(row, None, Some(at_once(task)))?;
    Ok(match gate.hub.cancel_task(permit, may_start).await {
        true => "; its server was told to cancel it",
        false if may_start => "; its server could not be told to cancel it",
        false => "; the stop switch is on, and its server could not be told to cancel it",
    })
}

/// A call that was started is not gone on with: nobody knows how far it got. If its server works on
/// it as a task, it is told first.
pub(super) async fn give_up(gate: &Gate, call: &CallId, why: &str) -> Outcome {
    match Box::pin(cancel(gate, call)).await {
        Ok(beside) => cut(&format!("{why}{beside}")),
        Err(error) => lost(error),
    }
}

/// The same where nobody could ask the server about it.
pub(super) async fn not_asked(gate: &Gate, call: &CallId, why: &str) -> Outcome {
    let beside = Box::pin(cancel(gate, call)).await.unwrap_or_default();
    let reason = format!("its server could not be asked about its task: {why}{beside}");
    Outcome::Unknown { reason }
}

/// A task that may have its end by now, with the whole time of its call.
pub(super) fn at_once(id: String) -> TaskAt {
    TaskAt { id, wait: Duration::ZERO, spent: Duration::ZERO }
}
