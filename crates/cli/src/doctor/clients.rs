//! What the doctor says of MCP clients that call claw: how many there are, and which token does not
//! count. Must not know how a client calls.

use super::Report;
use crate::app::App;

pub(super) fn look(app: &App, report: &mut Report) {
    let known = match app.clients.known() {
        Ok(known) => known,
        Err(error) => return report.bad("clients", error.to_string()),
    };
    for fault in app.clients.token_faults() {
        report.warn("clients", fault);
    }
    if known.is_empty() {
        return;
    }
    let revoked = known.iter().filter(|client| client.revoked_ms.is_some()).count();
    let tokens = known.iter().filter(|client| client.has_token).count();
    report.good(
        "clients",
        format!("MCP clients: {}; with a token: {tokens}; revoked: {revoked}", known.len()),
    );
}
