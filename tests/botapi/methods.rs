//! Which methods there are. Owns the table. Must not know what they do.

use serde_json::Value;

use super::params::Params;
use super::refusal::Refusal;
use super::world::World;
use super::{account, editing, files, sending, tapping};

/// All but `getUpdates`, which may wait. `method` is in lower case.
pub fn run(world: &mut World, method: &str, params: &Params) -> Result<Value, Refusal> {
    match method {
        "getme" => Ok(account::get_me(world)),
        "getchat" => account::get_chat(world, params),
        "setmycommands" => account::set_commands(world, params),
        "getmycommands" => account::get_commands(world, params),
        "deletemycommands" => account::delete_commands(world, params),
        "deletewebhook" => Ok(account::delete_webhook(world, params)),
        "getwebhookinfo" => Ok(account::webhook_info(world)),
        "sendmessage" => sending::message(world, params),
        "senddocument" => sending::document(world, params),
        "sendphoto" => sending::photo(world, params),
        "sendvoice" => sending::voice(world, params),
        "sendchataction" => sending::action(world, params),
        "editmessagetext" => editing::text(world, params),
        "editmessagecaption" => editing::caption(world, params),
        "editmessagereplymarkup" => editing::markup(world, params),
        "deletemessage" => editing::delete(world, params),
        "answercallbackquery" => tapping::answer(world, params),
        "getfile" => files::get_file(world, params),
        _ => Err(Refusal::new(404, "Not Found: method not found")),
    }
}
