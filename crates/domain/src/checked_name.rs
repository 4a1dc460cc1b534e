//! What every name has that is checked when it is made: it is read from a text by its check, and
//! written as it is. Must not know which names there are.

/// For a type around a `String` with `new`, which gives `$invalid` for what is none.
macro_rules! checked_name {
    ($name:ident, $invalid:ident) => {
        impl TryFrom<String> for $name {
            type Error = $invalid;
            fn try_from(name: String) -> Result<Self, Self::Error> {
                Self::new(name)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $invalid;
            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::new(name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

pub(crate) use checked_name;
