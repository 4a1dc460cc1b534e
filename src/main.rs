//! The binary: arguments, tracing to stderr, call the command. No logic.

use std::process::ExitCode;

mod commands;
mod doors;

use claw_cli::fail;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // A server confines its whole process, so it starts before there is a thread or a runtime.
    if let Some(code) = claw_cli::server::run_if_asked(&arguments) {
        return code;
    }
    if let Some(code) = claw_cli::supervise::run_if_asked(&arguments) {
        return code;
    }
    let cli = match claw_cli::parse(arguments) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    // Nobody watches a gateway, so what needs a human is in its log without asking for it.
    let filter = claw_core::config::log_filter()
        .or_else(|| cli.command.runs_unwatched().then(|| "warn".to_owned()));
    let filter = if cli.command.hears_new_secrets() { Some("off".to_owned()) } else { filter };
    claw_core::logging::init(filter.as_deref());
    let leaves_its_input = cli.command.leaves_its_input();
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let done = runtime.block_on(claw_cli::run(cli, &commands::DOORS));
            let code = done.unwrap_or_else(|error| fail::report(&error, doors::ALL));
            if leaves_its_input {
                runtime.shutdown_background();
            }
            code
        }
        Err(error) => fail::report_own(&error.into()),
    }
}
