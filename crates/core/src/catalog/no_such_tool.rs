//! What a model is told that calls a tool which is not there. Must not know which tools there are.

/// The most tools that are all named.
const NAMED_MAX: usize = 100;
const NEAREST_MAX: usize = 8;

/// Why a call of a tool is not run that is not there. Of many tools those with the
/// nearest names are named.
pub(super) fn no_such_tool(name: &str, names: &[String]) -> String {
    if names.len() <= NAMED_MAX {
        return format!("there is no tool `{name}`; there are: {}", names.join(", "));
    }
    let mut nearest: Vec<&String> = names.iter().collect();
    nearest.sort_by_cached_key(|other| std::cmp::Reverse(likeness(name, other)));
    nearest.truncate(NEAREST_MAX);
    let nearest: Vec<String> = nearest.into_iter().map(|name| format!("`{name}`")).collect();
    format!(
        "there is no tool `{name}`; of the {} that there are, these have the nearest names: {}",
        names.len(),
        nearest.join(", ")
    )
}

/// In thousandths.
fn likeness(one: &str, other: &str) -> u32 {
    (strsim::jaro_winkler(one, other) * 1000.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_tools_the_nearest_names_are_said() {
        let names: Vec<String> = (0..300).map(|n| format!("shop__order_{n}")).collect();
        let reason = no_such_tool("shop_order_17", &names);
        assert!(reason.contains("`shop__order_17`") && reason.len() < 400, "{reason}");
        assert!(no_such_tool("x", &names[..2]).ends_with("shop__order_0, shop__order_1"));
    }
}
