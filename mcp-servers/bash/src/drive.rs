//! A job that runs: its output as it comes, its time, its end by others, and what is closed to it
//! meanwhile. Must not know how a job is started, or what kills what.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf, pipe};
use tokio::process::Child;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::network::Proxy;
use crate::run::Sink;
use crate::services::Served;
use crate::wire::JobSpec;

const CHUNK_BYTES: usize = 64 * 1024;

pub struct Job {
    pub child: Child,
    pub report: BufReader<OwnedReadHalf>,
    /// The supervisor kills the job when this closes.
    pub lifeline: Option<OwnedWriteHalf>,
    pub output: pipe::Receiver,
}

/// Why a job was not left to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    TimeIsUp,
    Stopped,
}

impl Job {
    /// Says what to run, and reads until the output ends, the time is up or somebody stops it.
    pub async fn drive(
        &mut self,
        spec: &JobSpec,
        (proxy, served): (Option<&Arc<Proxy>>, &Served),
        deadline: Option<Instant>,
        stop: &CancellationToken,
        sink: &mut dyn Sink,
    ) -> Option<Cut> {
        let mut line = serde_json::to_vec(spec).unwrap_or_default();
        line.push(b'\n');
        let Self { child, lifeline, output, report } = self;
        let work = async {
            if let Some(lifeline) = lifeline {
                // A supervisor that does not listen has died; its end is seen below.
                let _ = lifeline.write_all(&line).await;
            }
            let serving = served.serve(report.get_ref().as_ref(), proxy);
            let serving = async {
                serving.await;
                std::future::pending::<()>().await
            };
            tokio::pin!(serving);
            let (mut chunk, mut told) = (vec![0; CHUNK_BYTES], Vec::new());
            loop {
                tokio::select! {
                    read = output.read(&mut chunk) => match read {
                        Ok(bytes @ 1..) => sink.take(&chunk[..bytes]),
                        _ => break,
                    },
                    () = &mut serving => {}
                    (service, sentence) = served.closed(&told) => {
                        told.push(service);
                        sink.note(sentence);
                    }
                }
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => Some(Cut::Stopped),
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => Some(Cut::TimeIsUp),
            () = work => None,
            // A supervisor ends last, unless somebody killed it; then its job still holds the
            // output open.
            _ = child.wait() => None,
        }
    }

    pub async fn read_output_until(&mut self, until: Instant, sink: &mut dyn Sink) {
        let _ = tokio::time::timeout_at(until, read_output(&mut self.output, sink)).await;
    }
}

/// Until every process that could write is gone, or the pipe breaks.
async fn read_output(output: &mut pipe::Receiver, sink: &mut dyn Sink) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(bytes @ 1..) = output.read(&mut chunk).await {
        sink.take(&chunk[..bytes]);
    }
}
