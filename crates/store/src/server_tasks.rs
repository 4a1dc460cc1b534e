//! The tasks that servers have made of calls: by which id each is asked about. Must not know how.

use rusqlite::{OptionalExtension as _, params};

use super::{StoreError, Tx, now_ms};
use claw_domain::CallId;

impl Tx<'_> {
    /// A call has one task at most, which stays the same.
    pub fn add_task(&self, call: &CallId, task: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT INTO server_tasks(call, task, at_ms) VALUES (?1, ?2, ?3)")?
            .execute(params![call.to_string(), task, now_ms()])?;
        Ok(())
    }

    /// The id of the task that a server has made of a call, as the server has given it.
    pub fn task_of(&self, call: &CallId) -> Result<Option<String>, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT task FROM server_tasks WHERE call = ?1")?;
        Ok(query.query_row([call.to_string()], |row| row.get(0)).optional()?)
    }

    /// A call that has ended has no task.
    pub(super) fn forget_task(&self, call: &CallId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM server_tasks WHERE call = ?1")?
            .execute([call.to_string()])?;
        Ok(())
    }
}
