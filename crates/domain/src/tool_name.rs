//! A tool's name as a person reads it. Must not know how names are offered to a model.

/// Between server and tool in the name that a model gets.
const BETWEEN: &str = "__";

/// `server/tool`, as everywhere else that a person reads of it or writes it, of the name that a
/// model was offered, where nobody knows the two any more. Exact for every name that was kept as it
/// is; what is no such name stays.
pub fn tool_for_person(offered: &str) -> String {
    match offered.split_once(BETWEEN) {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            format!("{server}/{tool}")
        }
        _ => offered.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling_for_persons() {
        for (offered, told) in [
            ("bash__run", "bash/run"),
            ("bash__run__twice", "bash/run__twice"),
            ("s__a__b", "s/a__b"),
            ("find_tools", "find_tools"),
            ("__x", "__x"),
            ("x__", "x__"),
        ] {
            assert_eq!(tool_for_person(offered), told);
        }
    }
}
