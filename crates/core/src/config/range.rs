//! Whether the numbers of a section are in their ranges. Must not know what they are for.

/// A key, its value, and the least and the most that it can be.
pub(super) type Ranged = (&'static str, u64, u64, u64);

/// The first key outside of its range, and what is wrong with it.
pub(super) fn within(
    section: &str,
    numbers: impl IntoIterator<Item = Ranged>,
) -> Result<(), (&'static str, String)> {
    for (name, value, least, most) in numbers {
        if !(least..=most).contains(&value) {
            let message =
                format!("`{section}.{name}` is {value}, and must be from {least} to {most}");
            return Err((name, message));
        }
    }
    Ok(())
}
