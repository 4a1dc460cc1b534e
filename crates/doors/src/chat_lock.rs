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
pub struct ChatLocks(Mutex<HashMap<Address, Weak<tokio::sync::Mutex<()>>>>);

impl ChatLocks {
    pub async fn lock(&self, address: &Address) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| lock.strong_count() > 0);
            locks.get(address).and_then(Weak::upgrade).unwrap_or_else(|| {
                let lock = Arc::default();
                locks.insert(address.clone(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}
