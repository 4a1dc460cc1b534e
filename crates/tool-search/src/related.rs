//! Which other words are looked for beside a word of a request: those that mean the same, and those
//! of the same family. Must not know tools, or how much a word weighs.

/// How much a word counts that means the same as one of the request.
pub const SAME_MEANING: f64 = 0.4;
/// How much a word counts that only begins like one of the request.
pub const SAME_FAMILY: f64 = 0.5;

/// The letters that two stems of a family share at least, and those that may follow in the one of
/// the request and in the other one.
const SHARED_MIN: usize = 5;
const OWN_ENDING_MAX: usize = 2;
const OTHER_ENDING_MAX: usize = 3;

/// Words of tools and of daily work that people use for each other. A word may stand in two groups.
pub const GROUPS: &[&[&str]] = &[
    &["add", "create", "insert", "make", "new"],
    &["delete", "erase", "remove"],
    &["alter", "change", "edit", "modify", "update"],
    &["find", "locate", "lookup", "search"],
    &["fetch", "get", "list", "read", "retrieve", "show", "view"],
    &["post", "send", "submit"],
    &["buy", "order", "purchase"],
    &["book", "reservation", "reserve"],
    &["begin", "execute", "launch", "run", "start"],
    &["abort", "cancel", "end", "stop"],
    &["calculate", "compute", "determine"],
    &["conversion", "convert"],
    &["translate", "translation"],
    &["add", "plus", "sum", "total"],
    &["difference", "minus", "subtract"],
    &["multiplication", "multiply", "product"],
    &["average", "mean"],
    &["arrange", "order", "sort"],
    &["image", "photo", "photograph", "picture"],
    &["email", "mail"],
    &["appointment", "event", "meeting"],
    &["reminder", "task", "todo"],
    &["memo", "note"],
    &["chat", "message"],
    &["directory", "folder"],
    &["document", "file"],
    &["repo", "repository"],
    &["bug", "issue", "ticket"],
    &["contact", "people", "person", "user"],
    &["address", "location", "place"],
    &["film", "movie"],
    &["music", "song", "track"],
    &["automobile", "car", "vehicle"],
    &["cab", "ride", "taxi"],
    &["journey", "travel", "trip"],
    &["flight", "fly", "plane"],
    &["cost", "fee", "price"],
    &["cash", "currency", "money"],
    &["business", "company", "firm"],
    &["shop", "store"],
    &["distance", "far"],
    &["fast", "speed", "velocity"],
    &["doctor", "physician"],
];

/// The beginning that all stems of a family share; `None` for a stem that is too short to have one.
pub fn family_of(stem: &str) -> Option<&str> {
    let end = stem.char_indices().nth(SHARED_MIN - 1)?;
    stem.get(..end.0 + end.1.len_utf8())
}

/// Whether two stems are of one family, as `multipl` (multiplication) and `multipli` (multiply):
/// they begin alike, and at most one of them goes on by more than a letter.
pub fn are_family(asked: &str, other: &str) -> bool {
    let shared = asked.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    let (own, others) = (asked.chars().count() - shared, other.chars().count() - shared);
    shared >= SHARED_MIN
        && own <= OWN_ENDING_MAX
        && others <= OTHER_ENDING_MAX
        && own.min(others) <= 1
        && own.max(others) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_that_begin_alike_are_a_family_and_others_are_none() {
        assert!(are_family("multipl", "multipli") && are_family("multipli", "multipl"));
        assert!(are_family("predict", "predictor"));
        for (one, other) in [
            ("mail", "mails"),
            ("contact", "contract"),
            ("weather", "weather"),
            ("inter", "international"),
        ] {
            assert!(!are_family(one, other), "{one} {other}");
        }
        assert_eq!(family_of("überall"), Some("übera"));
        assert_eq!(family_of("mail"), None);
    }

    #[test]
    fn a_group_holds_different_words_in_their_order() {
        for group in GROUPS {
            assert!(group.len() > 1 && group.is_sorted_by(|one, two| one < two), "{group:?}");
        }
    }
}
