//! The tasks that servers make of calls: the id of each is on the disk before it is asked about,
//! and a later process follows it by that. Must not know how a task is followed, or doors.

use serde_json::json;

use super::Calls;
use super::frozen::is_intact;
use super::record::entry;
use super::rounds::stopped;
use crate::domain::{CallId, CallState, ToolCall};
use crate::killpoint;
use crate::store::{CallRow, StoreError};

impl Calls {
    /// Writes down that a server works on a call as a task of this id. Gives back the frozen row,
    /// by which it is followed; `Err` is why it is not.
    pub async fn begin_task(
        &self,
        call: &ToolCall,
        task: &str,
    ) -> Result<Result<CallRow, String>, StoreError> {
        let (id, task) = (call.id.clone(), task.to_owned());
        let begun = entry("task", call, json!({"task": task}));
        killpoint::here("task.begun.before");
        let row = self
            .store
            .write(move |tx| {
                if !tx.move_call(&id, CallState::Started, CallState::Task)? {
                    return Ok(Err("the call had ended when its server made a task of it".into()));
                }
                tx.add_task(&id, &task)?;
                tx.audit(&begun)?;
                Ok(tx.call(&id)?.ok_or_else(|| "its row is gone".to_owned()))
            })
            .await?;
        killpoint::here("task.begun.after");
        Ok(row)
    }

    /// The task of a call that an earlier process has left, with the last looks that every start
    /// has. `Err` is why it is not followed.
    pub async fn resume_task(
        &self,
        call: &ToolCall,
    ) -> Result<Result<(CallRow, String), String>, StoreError> {
        let (id, approvers) = (call.id.clone(), self.surroundings.approvers.clone());
        let resumed = entry("task_resumed", call, json!({}));
        killpoint::here("task.resumed.before");
        let found = self
            .store
            .write(move |tx| {
                if let Some(why) = stopped(tx, &id)? {
                    return Ok(Err(why));
                }
                let row = tx.call(&id)?.filter(|row| row.state == CallState::Task);
                let Some(row) = row.filter(|row| is_intact(row, &approvers)) else {
                    return Ok(Err("the stored call is not what was started".to_owned()));
                };
                let Some(task) = tx.task_of(&id)? else {
                    return Ok(Err("its task is not known any more".to_owned()));
                };
                tx.audit(&resumed)?;
                Ok(Ok((row, task)))
            })
            .await?;
        killpoint::here("task.resumed.after");
        Ok(found.and_then(|(row, task)| match self.is_intact(&row) {
            true => Ok((row, task)),
            false => Err("its folder is not the one in which it was started".to_owned()),
        }))
    }

    /// The frozen row of a call that its server has, and that has no end yet. `None` where it is
    /// not what was started.
    pub fn row_of_task(&self, call: &CallId) -> Result<Option<CallRow>, StoreError> {
        let row = self.store.read(|tx| tx.call(call))?;
        let open =
            row.filter(|row| matches!(row.state, CallState::Task | CallState::InputRequired));
        Ok(open.filter(|row| self.is_intact(row)))
    }

    /// The id of the task that a server has made of a call.
    pub fn task_of(&self, call: &CallId) -> Result<Option<String>, StoreError> {
        self.store.read(|tx| tx.task_of(call))
    }
}
