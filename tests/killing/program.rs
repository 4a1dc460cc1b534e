//! What the program of a rig is: the rig itself, the server whose effects it counts, or the answer
//! to a runner of tests. Must not know what a rig does.

use std::path::Path;
use std::process::ExitCode;

use super::effects;

/// Runs the rig called `name`, unless something else was asked for.
pub fn main(name: &str, rig: impl Future<Output = anyhow::Result<ExitCode>>) -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "serve-effects", file, pids] => {
            let served = runtime.block_on(effects::serve(Path::new(file), Path::new(pids)));
            ExitCode::from(u8::from(served.is_err()))
        }
        // What runners of tests ask before they start one.
        [_, rest @ ..] if rest.contains(&"--list") => {
            if !rest.contains(&"--ignored") {
                println!("{name}: test");
            }
            ExitCode::SUCCESS
        }
        _ => runtime.block_on(rig).expect("the rig itself works"),
    }
}
