//! Whose turn it is to change the messages that show questions in a chat. Must not know what is
//! changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

use crate::domain::Address;

/// A menu that an owner opens and a question that is closed or asked again change the same message.
/// Whoever does it looks at what the message is on record as, changes it and notes that, in one go
/// for each chat, so that what is seen last is what is true.
#[derive(Default)]
pub(super) struct Hands(Mutex<HashMap<Address, Weak<tokio::sync::Mutex<()>>>>);

impl Hands {
    pub(super) async fn on(&self, address: &Address) -> OwnedMutexGuard<()> {
        let hand = {
            let mut hands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            hands.retain(|_, hand| hand.strong_count() > 0);
            hands.get(address).and_then(Weak::upgrade).unwrap_or_else(|| {
                let hand = Arc::default();
                hands.insert(address.clone(), Arc::downgrade(&hand));
                hand
            })
        };
        hand.lock_owned().await
    }
}
