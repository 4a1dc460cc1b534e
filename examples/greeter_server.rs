//! A small MCP server over stdio, to copy: two tools, honest annotations, an output schema, errors
//! that a model can act on.
//!
//! Build it with `cargo build --example greeter_server`, and add it to the `mcp.json` of claw or of
//! any other MCP host:
//!
//! ```json
//! {"mcpServers": {"greeter": {"command": "/path/to/target/debug/examples/greeter_server"}}}
//! ```
//!
//! Standard output belongs to the protocol: logs go to standard error. Must not know that claw
//! exists.

use std::sync::Mutex;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{Json, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest name that is greeted, in characters.
const NAME_CHARS_MAX: usize = 100;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet, 1 to 100 characters.
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Greeting {
    greeting: String,
}

#[derive(Serialize, JsonSchema)]
struct Guests {
    /// In the order in which they were greeted.
    names: Vec<String>,
}

#[derive(Default)]
struct Greeter {
    guests: Mutex<Vec<String>>,
}

#[tool_router]
impl Greeter {
    /// Greets somebody and remembers the name.
    #[tool(annotations(
        title = "Greet",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = false,
        open_world_hint = false
    ))]
    async fn greet(
        &self,
        Parameters(Greet { name }): Parameters<Greet>,
    ) -> Result<Json<Greeting>, String> {
        let chars = name.chars().count();
        if chars == 0 || chars > NAME_CHARS_MAX {
            // An `Err` becomes a result with `isError`: the model reads it and can try again.
            return Err(format!(
                "`name` must have 1 to {NAME_CHARS_MAX} characters, and this one has {chars}"
            ));
        }
        let greeting = format!("Hello, {name}!");
        let mut guests =
            self.guests.lock().map_err(|_| "the guest book is damaged; restart the server")?;
        guests.push(name);
        Ok(Json(Greeting { greeting }))
    }

    /// Lists everybody who was greeted since the server started.
    #[tool(annotations(title = "Guests", read_only_hint = true, open_world_hint = false))]
    async fn guests(&self) -> Result<Json<Guests>, String> {
        let guests =
            self.guests.lock().map_err(|_| "the guest book is damaged; restart the server")?;
        Ok(Json(Guests { names: guests.clone() }))
    }
}

#[tool_handler(
    name = "greeter",
    version = "1.0.0",
    instructions = "Greets people and remembers whom it greeted."
)]
impl ServerHandler for Greeter {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    // Returns when the host closes standard input.
    Greeter::default().serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
