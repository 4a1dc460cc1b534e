//! Buttons under a message. Owns reading and refusing them. Must not know what a tap does.

use serde_json::Value;

use super::message::Button;
use super::params::Params;
use super::refusal::Refusal;

const DATA_BYTES_MAX: usize = 64;
const BUTTONS_MAX: usize = 100;

pub type Keyboard = Vec<Vec<Button>>;

/// The inline keyboard of a call. Other kinds of markup are taken and have no effect: they are not
/// part of a message.
pub fn read(params: &Params) -> Result<Keyboard, Refusal> {
    let markup = params
        .structure("reply_markup")
        .map_err(|()| Refusal::bad("can't parse reply keyboard markup JSON object"))?;
    let Some(markup) = markup else { return Ok(Vec::new()) };
    let fields =
        markup.as_object().ok_or_else(|| Refusal::bad("object expected as reply markup"))?;
    let Some(rows) = fields.get("inline_keyboard") else { return Ok(Vec::new()) };
    let no_rows = || {
        Refusal::bad(
            "field \"inline_keyboard\" of the InlineKeyboardMarkup must be an Array of Arrays",
        )
    };
    let rows = rows.as_array().ok_or_else(no_rows)?;
    let mut keyboard = Vec::new();
    for row in rows {
        let row = row.as_array().ok_or_else(no_rows)?;
        let row = row.iter().map(button).collect::<Result<Vec<_>, Refusal>>()?;
        if !row.is_empty() {
            keyboard.push(row);
        }
    }
    Ok(keyboard)
}

fn button(value: &Value) -> Result<Button, Refusal> {
    let bad = |what: &str| Refusal::bad(&format!("can't parse inline keyboard button: {what}"));
    let fields = value.as_object().ok_or_else(|| bad("InlineKeyboardButton must be an Object"))?;
    let text = fields
        .get("text")
        .and_then(Value::as_str)
        .ok_or_else(|| bad("Can't find field \"text\""))?;
    let part =
        |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (data, url) = (part("callback_data"), part("url"));
    let other =
        ["callback_game", "pay", "switch_inline_query", "login_url", "web_app", "copy_text"];
    if data.is_none() && url.is_none() && !other.iter().any(|name| fields.contains_key(*name)) {
        return Err(bad("Text buttons are unallowed in the inline keyboard"));
    }
    Ok(Button { text: text.to_owned(), data: data.map(str::to_owned), raw: value.clone() })
}

/// What only the servers behind the Bot API look at: after chat and text were found good.
pub fn check(keyboard: &Keyboard) -> Result<(), Refusal> {
    let buttons = || keyboard.iter().flatten();
    if buttons().any(|button| button.text.trim().is_empty()) {
        return Err(Refusal::bad("inline keyboard button text must be non-empty"));
    }
    if buttons().any(|button| button.data.as_ref().is_some_and(|data| data.len() > DATA_BYTES_MAX))
    {
        return Err(Refusal::bad("BUTTON_DATA_INVALID"));
    }
    if buttons().count() > BUTTONS_MAX {
        return Err(Refusal::bad("reply markup is too long"));
    }
    Ok(())
}

pub fn json(keyboard: &Keyboard) -> Value {
    let rows = keyboard
        .iter()
        .map(|row| Value::Array(row.iter().map(|button| button.raw.clone()).collect()));
    serde_json::json!({"inline_keyboard": rows.collect::<Vec<_>>()})
}
