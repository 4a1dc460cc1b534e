//! How far a question about changed tools is. Must not know how it is shown or stored.

/// `Accepted`, `Kept` and `Stale` are still to be shown where it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinState {
    /// No owner has seen it yet.
    New,
    Told,
    Accepted,
    /// The owner keeps the tool withheld.
    Kept,
    /// The tools have changed once more, or were accepted elsewhere.
    Stale,
    Closed,
}
