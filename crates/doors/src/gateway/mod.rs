//! What the doors of one gateway share, whatever they are: which of them is at work, the service
//! manager, the limit of open files. Must not know any door by its name.

pub mod bot;
pub mod fleet;
pub mod member;
pub mod open_files;
pub mod service;
