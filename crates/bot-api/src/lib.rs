//! One bot: its settings, and its requests (Bot API 9) through one shared HTTP client. Must not
//! know what is said or by whom.

pub mod access_request;
pub mod attached;
mod bare;
pub mod callback;
mod client;
mod door_fault;
pub mod fault;
pub mod files;
pub mod incoming;
mod local_file;
pub mod pace;
mod part;
pub mod place;
pub mod settings;
pub mod unusable;
pub mod upload;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::multipart::Part as FilePart;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Map, Value, json};
use teloxide_core::payloads::{
    AnswerCallbackQuery, AnswerCallbackQuerySetters as _, DeleteMessage, DeleteWebhook,
    EditMessageCaption, EditMessageCaptionSetters as _, EditMessageReplyMarkup,
    EditMessageReplyMarkupSetters as _, EditMessageText, EditMessageTextSetters as _, GetMe,
    GetWebhookInfo, SendChatAction, SendMessage, SendMessageSetters as _, SetMyCommands,
};
use teloxide_core::requests::Payload;
use teloxide_core::types::{
    BotCommand, CallbackQueryId, ChatAction, ChatId, InlineKeyboardButton, InlineKeyboardMarkup,
    LinkPreviewOptions, MessageId, ReplyMarkup, ThreadId,
};

use claw_domain as domain;

use callback::Button;
use client::Bot;
use fault::{ApiFault, NoAnswer};
use place::Place;

/// For a preview Telegram's machines open the link, which may be a login, or hold what a model was
/// talked into writing there.
const NO_PREVIEW: LinkPreviewOptions = LinkPreviewOptions {
    is_disabled: true,
    url: None,
    prefer_small_media: false,
    prefer_large_media: false,
    show_above_text: false,
};
pub use part::{Part, utf16_len};
pub use wire::Sent;

/// How long a poll waits for an update, in seconds.
const POLL_S: u64 = 25;
/// How much longer than that an answer may take.
const POLL_SLACK: Duration = Duration::from_secs(15);
/// The most updates of one poll (Bot API, `getUpdates`, `limit`).
pub const UPDATES_MAX: u32 = 100;
/// What claw wants to hear of; everything else stays with Telegram.
const ALLOWED_UPDATES: &[&str] =
    &["message", "edited_message", "callback_query", "message_reaction", "my_chat_member"];

// Whose an error is: a row for each type that can leave this crate.
crate::domain::asked!(fault::ApiFault, files::FetchError);

/// A bot. Cheap to clone.
#[derive(Clone)]
pub struct Api {
    bot: Bot,
    /// Chats that have another number now. Everybody but Telegram calls them by the old one.
    moved: Arc<RwLock<HashMap<i64, i64>>>,
}

/// Who the bot is (Bot API, `getMe`).
#[derive(Clone, Debug)]
pub struct Me {
    pub id: i64,
    /// Without the `@`.
    pub username: String,
}

/// The body of a poll (Bot API, `getUpdates`).
fn poll(offset: i64, wait_s: u64, updates_max: u32) -> Value {
    json!({
        "offset": offset,
        "timeout": wait_s,
        "limit": updates_max,
        "allowed_updates": ALLOWED_UPDATES,
    })
}

// Each request is boxed, so that it is compiled here, and not once more in the door that makes it.
impl Api {
    /// # Errors
    /// An address that is none. Nothing is asked yet.
    pub fn new(token: &SecretString, base: &str) -> Result<Self, ApiFault> {
        Ok(Self { bot: Bot::new(token, base)?, moved: Arc::default() })
    }

    pub fn me(&self) -> BoxFuture<'_, Result<Me, ApiFault>> {
        Box::pin(async move {
            let me = self.call(&GetMe::new()).await?;
            let id = me.get("id").and_then(Value::as_i64);
            let id = id.ok_or_else(|| {
                ApiFault::Unreachable(NoAnswer::undone("its answer does not say who the bot is"))
            })?;
            Ok(Me {
                id,
                username: me.get("username").and_then(Value::as_str).unwrap_or_default().to_owned(),
            })
        })
    }

    /// From now on requests to these chats go to the other number.
    pub fn chats_have_moved(&self, moved: Vec<(i64, i64)>) {
        self.moved.write().unwrap_or_else(PoisonError::into_inner).extend(moved);
    }

    /// The number that a chat has at Telegram.
    pub fn chat_now(&self, chat: i64) -> i64 {
        self.moved
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&chat)
            .copied()
            .unwrap_or(chat)
    }

    /// The number by which claw knows a chat.
    pub fn known_chat(&self, now: i64) -> i64 {
        let moved = self.moved.read().unwrap_or_else(PoisonError::into_inner);
        moved.iter().find(|(_, number)| **number == now).map_or(now, |(chat, _)| *chat)
    }

    fn chat(&self, place: &Place) -> ChatId {
        ChatId(self.chat_now(place.chat))
    }

    /// The fields that say where a file goes.
    fn to(&self, place: &Place) -> Map<String, Value> {
        let to =
            [("chat_id", json!(self.chat(place))), ("message_thread_id", json!(place.thread()))];
        to.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    async fn call<P: Payload + Serialize>(&self, request: &P) -> Result<Value, ApiFault> {
        wire::call(&self.bot, request).await
    }

    /// For a change that may have been made already.
    async fn change<P: Payload + Serialize>(&self, request: &P) -> Result<(), ApiFault> {
        match self.call(request).await {
            Ok(_) | Err(ApiFault::Unchanged) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// The next updates, as they came: what is not understood must not hold up what is. Everything
    /// below `offset` is forgotten by Telegram. With `wait` it answers when there is one, at the
    /// latest after 25 s. The body is ours because the typed answer fails as a whole when one
    /// update is odd.
    pub fn updates(&self, offset: i64, wait: bool) -> BoxFuture<'_, Result<Vec<Value>, ApiFault>> {
        Box::pin(async move {
            let wait_s = if wait { POLL_S } else { 0 };
            let body = poll(offset, wait_s, UPDATES_MAX);
            let limit = Duration::from_secs(wait_s) + POLL_SLACK;
            match wire::post(&self.bot, "GetUpdates", &body, Some(limit)).await? {
                Value::Array(updates) => Ok(updates),
                _ => {
                    let why = NoAnswer::undone("its answer holds no list of updates");
                    Err(ApiFault::Unreachable(why))
                }
            }
        })
    }

    /// Lets Telegram forget everything below `offset`, and takes nothing.
    pub fn confirm(&self, offset: i64) -> BoxFuture<'_, Result<(), ApiFault>> {
        Box::pin(async move {
            let body = poll(offset, 0, 1);
            wire::post(&self.bot, "GetUpdates", &body, None).await.map(drop)
        })
    }

    /// The host that gets the bot's updates instead of whoever polls (Bot API, `getWebhookInfo`);
    /// `None` if there is none.
    pub fn webhook(&self) -> BoxFuture<'_, Result<Option<String>, ApiFault>> {
        Box::pin(async move {
            let info = self.call(&GetWebhookInfo::new()).await?;
            let url = info.get("url").and_then(Value::as_str).filter(|url| !url.is_empty());
            // The path may hold a secret.
            let host = |url: &str| {
                url.split("://")
                    .nth(1)
                    .and_then(|rest| rest.split('/').next())
                    .unwrap_or_default()
                    .to_owned()
            };
            Ok(url.map(host))
        })
    }

    /// What waits is kept (Bot API, `deleteWebhook`).
    pub fn remove_webhook(&self) -> BoxFuture<'_, Result<(), ApiFault>> {
        Box::pin(async move { self.call(&DeleteWebhook::new()).await.map(drop) })
    }

    /// Sends one message. Its text is within Telegram's limit.
    pub fn send<'a>(
        &'a self,
        to: &'a Place,
        part: &'a Part,
        keyboard: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<Sent, ApiFault>> {
        Box::pin(async move {
            let mut request = SendMessage::new(self.chat(to), &part.text)
                .entities(part.entities.clone())
                .link_preview_options(NO_PREVIEW);
            request.message_thread_id = to.thread();
            if !keyboard.is_empty() || !part.buttons.is_empty() {
                request = request.reply_markup(ReplyMarkup::InlineKeyboard(below(part, keyboard)));
            }
            wire::sent(&self.call(&request).await?)
        })
    }

    /// Sends a question that the person answers with a message of his own (Bot API, "ForceReply").
    pub fn ask_for_reply<'a>(
        &'a self,
        to: &'a Place,
        text: &'a str,
    ) -> BoxFuture<'a, Result<Sent, ApiFault>> {
        Box::pin(async move {
            let mut request = SendMessage::new(self.chat(to), text);
            request.message_thread_id = to.thread();
            let request = request.reply_markup(ReplyMarkup::ForceReply(
                teloxide_core::types::ForceReply::new().selective(),
            ));
            wire::sent(&self.call(&request).await?)
        })
    }

    /// Sends a text as a file, with a caption of at most 1024 units and buttons.
    pub fn send_file<'a>(
        &'a self,
        to: &'a Place,
        (name, text): (&'a str, String),
        caption: &'a Part,
        keyboard: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<Sent, ApiFault>> {
        Box::pin(async move {
            let file = FilePart::bytes(text.into_bytes()).file_name(name.to_owned());
            let mut fields = self.to(to);
            fields.insert("caption".to_owned(), json!(caption.text));
            fields.insert("caption_entities".to_owned(), json!(caption.entities));
            fields.insert("reply_markup".to_owned(), json!(markup(keyboard)));
            wire::sent(&wire::upload(&self.bot, "SendDocument", fields, "document", file).await?)
        })
    }

    /// Changes the caption of a file, and takes its buttons away or gives it others.
    pub fn edit_caption<'a>(
        &'a self,
        to: &'a Place,
        message: i64,
        part: &'a Part,
        keyboard: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<(), ApiFault>> {
        Box::pin(async move {
            let request = EditMessageCaption::new(self.chat(to), MessageId(message as i32))
                .caption(&part.text)
                .caption_entities(part.entities.clone())
                .reply_markup(markup(keyboard));
            self.change(&request).await
        })
    }

    /// Changes a message. One that is already so is no fault.
    pub fn edit<'a>(
        &'a self,
        to: &'a Place,
        message: i64,
        part: &'a Part,
        keyboard: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<(), ApiFault>> {
        Box::pin(async move {
            let request =
                EditMessageText::new(self.chat(to), MessageId(message as i32), &part.text)
                    .entities(part.entities.clone())
                    .link_preview_options(NO_PREVIEW)
                    .reply_markup(below(part, keyboard));
            self.change(&request).await
        })
    }

    /// Takes a message away (Bot API, `deleteMessage`: within 48 hours). One that is gone is no
    /// fault.
    pub fn delete<'a>(
        &'a self,
        from: &'a Place,
        message: i64,
    ) -> BoxFuture<'a, Result<(), ApiFault>> {
        Box::pin(async move {
            let request = DeleteMessage::new(self.chat(from), MessageId(message as i32));
            match self.call(&request).await {
                Ok(_) | Err(ApiFault::Refused(_)) => Ok(()),
                Err(fault) => Err(fault),
            }
        })
    }

    /// Changes the buttons of a message.
    pub fn edit_keyboard<'a>(
        &'a self,
        to: &'a Place,
        message: i64,
        keyboard: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<(), ApiFault>> {
        Box::pin(async move {
            let request = EditMessageReplyMarkup::new(self.chat(to), MessageId(message as i32));
            self.change(&request.reply_markup(markup(keyboard))).await
        })
    }

    /// Tells whoever tapped, in at most 200 characters, what came of it.
    pub fn answer_tap<'a>(
        &'a self,
        query: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), ApiFault>> {
        Box::pin(async move {
            let text: String = text.chars().take(200).collect();
            let request = AnswerCallbackQuery::new(CallbackQueryId(query.to_owned())).text(text);
            self.call(&request).await.map(drop)
        })
    }

    /// Shows "typing…" for about five seconds.
    pub fn typing<'a>(&'a self, to: &'a Place) -> BoxFuture<'a, Result<(), ApiFault>> {
        Box::pin(async move {
            let mut request = SendChatAction::new(self.chat(to), ChatAction::Typing);
            request.message_thread_id = to.thread();
            self.call(&request).await.map(drop)
        })
    }

    /// Registers the commands that Telegram offers when a person types a slash.
    pub fn register<'a>(
        &'a self,
        commands: &'a [(String, String)],
    ) -> BoxFuture<'a, Result<(), ApiFault>> {
        Box::pin(async move {
            let commands =
                commands.iter().map(|(name, help)| BotCommand::new(name.clone(), help.clone()));
            self.call(&SetMyCommands::new(commands)).await.map(drop)
        })
    }
}

impl Place {
    fn thread(&self) -> Option<ThreadId> {
        self.thread.map(|thread| ThreadId(MessageId(thread as i32)))
    }
}

/// The buttons of a message, and its own behind them.
fn below(part: &Part, keyboard: &[Vec<Button>]) -> InlineKeyboardMarkup {
    let own = part.buttons.iter().map(|button| vec![button.clone()]);
    markup(&keyboard.iter().cloned().chain(own).collect::<Vec<_>>())
}

fn markup(keyboard: &[Vec<Button>]) -> InlineKeyboardMarkup {
    let row = |row: &Vec<Button>| -> Vec<InlineKeyboardButton> {
        row.iter()
            .map(|button| InlineKeyboardButton::callback(button.label.clone(), button.data.clone()))
            .collect()
    };
    InlineKeyboardMarkup::new(keyboard.iter().map(row).collect::<Vec<_>>())
}
