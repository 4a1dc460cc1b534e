//! The stand-in for the Telegram Bot API keeps Telegram's rules: each is tried through an
//! unmodified teloxide-core, or through a bare socket where teloxide would hide what comes. Owns
//! the bot of these tests. Must not know claw.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

#[path = "../botapi/mod.rs"]
mod botapi;
mod chats;
mod editing;
mod faults;
mod files;
mod load;
mod polling;
mod refusals;
mod screens;
mod taps;
mod update_kinds;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use botapi::{BotApi, SOON};
use teloxide_core::prelude::Requester as _;
use teloxide_core::types::{ChatId, InlineKeyboardButton, InlineKeyboardMarkup, Update};
use teloxide_core::{ApiError, Bot, RequestError};

/// The stand-in and a bot that asks it.
fn start() -> (BotApi, Bot) {
    let api = BotApi::start();
    let bot = bot(&api);
    (api, bot)
}

/// A bot, and a user who has opened a chat with it.
fn with_user() -> (BotApi, Bot, botapi::User) {
    let (api, bot) = start();
    let anna = api.user("Anna");
    anna.starts();
    (api, bot, anna)
}

/// The same, with somebody who has started the bot; her private chat.
fn with_anna() -> (BotApi, Bot, ChatId) {
    let (api, bot, anna) = with_user();
    (api, bot, ChatId(anna.id))
}

fn bot(api: &BotApi) -> Bot {
    // Proxies of the machine are no part of the test.
    let settings = teloxide_core::net::default_reqwest_settings().no_proxy();
    // A thousand connections at once take their time where many programs share two cores.
    let client = settings.timeout(std::time::Duration::from_secs(300)).build().unwrap();
    Bot::with_client(api.token(), client).set_api_url(api.url().parse().unwrap())
}

/// What waits in the queue, without confirming anything.
async fn updates(bot: &Bot) -> Vec<Update> {
    bot.get_updates().await.unwrap()
}

/// Telegram's words, from whichever variant teloxide made of them.
#[track_caller]
fn words<T: std::fmt::Debug>(result: Result<T, RequestError>) -> String {
    match result.unwrap_err() {
        RequestError::Api(ApiError::Unknown(text)) => text,
        RequestError::Api(known) => known.to_string(),
        other => panic!("no refusal of the Bot API: {other:?}"),
    }
}

/// A keyboard of one row; the data is `data:` and the label.
fn keyboard(labels: &[&str]) -> InlineKeyboardMarkup {
    let button =
        |label: &&str| InlineKeyboardButton::callback(label.to_string(), format!("data:{label}"));
    InlineKeyboardMarkup::new([labels.iter().map(button)])
}

/// Until something is on record, while the test's own tasks go on: the stand-in's own waiting would
/// hold them up.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "it did not come to this: {what}");
        tokio::task::yield_now().await;
    }
}

/// One call without teloxide: status line and headers, and the body.
fn raw(api: &BotApi, path: &str, body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(api.url().trim_start_matches("http://")).unwrap();
    let size = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n"
    );
    write!(stream, "{head}content-length: {size}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.to_owned(), body.to_owned())
}

/// A call of a method without teloxide.
fn raw_call(api: &BotApi, method: &str, body: &str) -> (String, String) {
    raw(api, &format!("/bot{}/{method}", api.token()), body)
}
