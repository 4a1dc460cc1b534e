//! A benchmark's worth of chats and connections.

use futures::future::join_all;
use teloxide_core::prelude::*;

use super::start;

#[tokio::test]
async fn two_thousand_chats_and_a_thousand_calls_at_once() {
    let (api, bot) = start();
    api.keep_calls(false);
    let users: Vec<_> = (0..2_000).map(|number| api.user(&format!("User {number}"))).collect();
    let mut offset = 0;
    let mut heard = 0;
    for user in &users {
        user.says(user.private(), "hello");
    }
    while heard < users.len() {
        let updates = bot.get_updates().offset(offset).timeout(10).await.unwrap();
        heard += updates.len();
        offset = updates.last().unwrap().id.as_offset();
    }
    for half in users.chunks(1_000) {
        let sent = join_all(
            half.iter().map(|user| bot.send_message(ChatId(user.id), "hello").into_future()),
        )
        .await;
        assert!(sent.iter().all(Result::is_ok), "{:?}", sent.iter().find(|one| one.is_err()));
    }
    assert!(users.iter().all(|user| api.sent(user.id).len() == 1));
}
