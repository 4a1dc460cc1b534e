//! Whose an error is. Every error type of a room answers for itself, variant by variant, so that a
//! new one cannot be forgotten where exit codes are made. Must not know exit codes.

/// Who can mend what went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The person: something was typed or configured that cannot be. The error's sentence says what
    /// to do.
    User,
    /// Nobody who reads the sentence has done it: a file, a service, a network, or a bug.
    Broken,
}

/// An error type of a room.
pub trait Blamed: std::error::Error + 'static {
    fn blame(&self) -> Blame;
}

/// Asks each of these error types whose an error is: `blame_of`, and for the test that none is
/// missing their names.
#[macro_export]
macro_rules! asked {
    ($($kind:ty),* $(,)?) => {
        #[doc(hidden)]
        pub const ASKED: &[&str] = &[$(stringify!($kind)),*];

        pub fn blame_of(cause: &(dyn std::error::Error + 'static)) -> Option<$crate::Blame> {
            $(if let Some(error) = cause.downcast_ref::<$kind>() {
                return Some($crate::Blamed::blame(error));
            })*
            None
        }
    };
}
