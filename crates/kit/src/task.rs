//! How a task is started. A task's code is compiled for each type of future, in the crate that
//! starts it: about ninety functions each time. Behind a box the type is the same for all, so they
//! are compiled once. Must not know what a task does.

use std::future::Future;
use std::pin::Pin;

use tokio::task::{JoinHandle, JoinSet};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Like [`tokio::spawn`]. It panics where that does: outside of a runtime.
#[track_caller]
pub fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let task: BoxFuture<T> = Box::pin(task);
    tokio::spawn(task)
}

/// Like [`JoinSet::spawn`].
#[track_caller]
pub fn spawn_in<T: Send + 'static>(
    tasks: &mut JoinSet<T>,
    task: impl Future<Output = T> + Send + 'static,
) {
    let task: BoxFuture<T> = Box::pin(task);
    tasks.spawn(task);
}
