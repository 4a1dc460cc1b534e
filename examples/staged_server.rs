//! A small shop that proposes instead of acting: `add_to_cart` puts nothing into the cart, it asks
//! for a tap of the owner. `docs/servers.md` explains the pattern. In a host that does not know it,
//! the text of the result says what to do. Run it with `cargo build --example staged_server`, and
//! name it in `mcp.json`. It must not know that claw exists.

use std::sync::Mutex;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Line {
    /// What to add, 1 to 100 characters.
    item: String,
    /// How many, 1 to 99.
    count: u32,
}

#[derive(Default)]
struct Shop {
    cart: Mutex<Vec<String>>,
}

fn meta(value: Value) -> MetaObject {
    serde_json::from_value(value).unwrap_or_default()
}

fn said(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

#[tool_router]
impl Shop {
    /// Proposes to put something into the cart. The owner confirms it; nothing is added before.
    #[tool(annotations(read_only_hint = true))]
    async fn add_to_cart(
        &self,
        Parameters(Line { item, count }): Parameters<Line>,
    ) -> CallToolResult {
        if !(1..=100).contains(&item.chars().count()) || !(1..=99).contains(&count) {
            return CallToolResult::error(vec![ContentBlock::text(
                "`item` has 1 to 100 characters, `count` is 1 to 99",
            )]);
        }
        let actions = json!({"claw/actions": [{
            "tool": "confirm_add",
            "arguments": {"item": item, "count": count},
            "summary": format!("Add {count} × {item} to the cart"),
            "label": "Add",
            "cancel_label": "Leave it",
            "ttl_s": 3600,
            "group": "cart",
        }]});
        let text = format!("Not added yet: {count} × {item} waits for the owner to confirm it.");
        said(text).with_meta(Some(meta(actions)))
    }

    /// Puts something into the cart. For the tap alone: models are not offered it.
    #[tool(meta = meta(json!({"ui": {"visibility": ["app"]}})), annotations(destructive_hint = false))]
    async fn confirm_add(
        &self,
        Parameters(Line { item, count }): Parameters<Line>,
    ) -> Result<String, String> {
        let mut cart = self.cart.lock().map_err(|_| "the cart is damaged; restart the server")?;
        cart.push(format!("{count} × {item}"));
        Ok(format!("In the cart: {}", cart.join(", ")))
    }
}

#[tool_handler(
    name = "shop",
    version = "1.0.0",
    instructions = "A cart that is filled by the owner's taps."
)]
impl ServerHandler for Shop {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    Shop::default().serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
