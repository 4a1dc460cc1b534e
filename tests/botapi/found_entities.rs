//! What Telegram finds in a user's text by itself: commands, mentions, links, hashtags. Owns the
//! finding. Must not know messages.

use super::entity::Entity;

/// The user's own entities with those that are found, in the order of the text.
pub fn found(text: &str, own: &[Entity]) -> Vec<Entity> {
    let mut all = own.to_vec();
    let mut at = 0;
    // Words, as far as blanks go; every word is looked at once.
    for word in text.split_inclusive([' ', '\n']) {
        let bare = word.trim_end_matches([' ', '\n']);
        if let Some((kind, skipped, length)) = kind(bare) {
            let entity = Entity::new(kind, at + skipped, length);
            let free = own
                .iter()
                .all(|other| other.end() <= entity.offset || entity.end() <= other.offset);
            if free {
                all.push(entity);
            }
        }
        at += word.chars().map(char::len_utf16).sum::<usize>();
    }
    all.sort_by_key(|entity| entity.offset);
    all
}

/// What a word is, how much of its beginning does not belong to it, and how long it is: all of it
/// is ASCII.
fn kind(word: &str) -> Option<(&'static str, usize, usize)> {
    let skipped = usize::from(word.starts_with('('));
    let word = &word[skipped..];
    let name =
        |text: &str| text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').count();
    if let Some(command) = word.strip_prefix('/') {
        let length = name(command);
        let mut whole = 1 + length;
        if let Some(bot) = command[length..].strip_prefix('@') {
            whole += 1 + name(bot);
        }
        return (1..=64).contains(&length).then_some(("bot_command", skipped, whole));
    }
    if let Some(mention) = word.strip_prefix('@') {
        let length = name(mention);
        return (3..=32).contains(&length).then_some(("mention", skipped, 1 + length));
    }
    if let Some(tag) = word.strip_prefix('#') {
        let length = name(tag);
        return (length > 0).then_some(("hashtag", skipped, 1 + length));
    }
    if word.starts_with("https://") || word.starts_with("http://") {
        let link = word.trim_end_matches(['.', ',', '!', '?', ')', ';', ':']);
        return Some(("url", skipped, link.chars().map(char::len_utf16).sum()));
    }
    None
}
