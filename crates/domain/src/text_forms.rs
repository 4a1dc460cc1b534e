//! The text forms of closed sets: one table gives all members, each one's text, and the way back.
//! Must not know which sets there are.

/// Gives an enum `ALL`, `as_str`, `parse` and `Display` from one table of its variants. A variant
/// that is left out does not compile.
macro_rules! text_forms {
    ($kind:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $kind {
            /// In the order in which they are declared.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// As it stands in stores, logs and settings.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }

            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == text)
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use text_forms;
