//! Names of variables that a program gets from the environment of another one. Pure. Must not know
//! which are passed on, or to whom.

/// In a list, what would be passed on without one.
pub const THE_USUAL: &str = "...";

/// Whether this can stand in a list: the name of a variable, with one `*` at its end for any rest,
/// or [`THE_USUAL`].
pub fn is_inheritable(name: &str) -> bool {
    if name == THE_USUAL {
        return true;
    }
    let name = name.strip_suffix('*').unwrap_or(name);
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(fits) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The list as it is meant: [`THE_USUAL`] is replaced by what is usual.
pub fn resolve(written: &[String], usual: &[String]) -> Vec<String> {
    let parts = written
        .iter()
        .map(|name| if name == THE_USUAL { usual } else { std::slice::from_ref(name) });
    parts.flatten().cloned().collect()
}

/// Whether an entry of a list means this variable.
pub fn means(entry: &str, variable: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(beginning) => variable.starts_with(beginning),
        None => entry == variable,
    }
}

/// A list in words: `inherits the usual variables, GITHUB_TOKEN, A*`.
pub fn shown<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let name = |name| if name == THE_USUAL { "the usual variables" } else { name };
    let names: Vec<&str> = names.map(name).collect();
    format!(
        "inherits {}",
        if names.is_empty() { "no variable".to_owned() } else { names.join(", ") }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_the_beginning_of_some() {
        assert!(is_inheritable("LC_*") && is_inheritable("http_proxy"));
        assert!(
            !is_inheritable("*")
                && !is_inheritable("A=B")
                && !is_inheritable("1A")
                && !is_inheritable("")
        );
        let lists = (["...".to_owned(), "B".to_owned()], ["A".to_owned(), "C*".to_owned()]);
        assert_eq!(resolve(&lists.0, &lists.1), ["A", "C*", "B"]);
        assert!(
            means("LC_*", "LC_ALL")
                && !means("LC_*", "LANG")
                && means("TZ", "TZ")
                && !means("TZ", "TZDIR")
        );
    }
}
