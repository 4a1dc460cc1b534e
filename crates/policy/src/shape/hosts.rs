//! A grant for hosts by themselves: any command that names these and no others. Pure. Must not know
//! how a command is kept to the hosts that it names.
//!
//! Whoever gives it trusts the hosts with what the workspace holds, because no reader of texts can
//! say what a command sends. So it is narrow in everything else: named hosts, no openings, no job
//! in the background, the owner's own words, and a box that keeps what others obey as it is.

use claw_domain::escape::visible;
use claw_domain::{Level, Origin};

use super::shell_command;
use crate::{Facts, deny, level};

/// So many hosts are read at a glance. A registry and its downloads are up to three.
const HOSTS_MAX: usize = 4;

/// The hosts that this call could be granted by: in order, each once. `None` for every call that
/// such a grant must not cover, whatever it names.
pub(super) fn of_call(facts: &Facts<'_>) -> Option<Vec<String>> {
    let is_held = facts.held.files && facts.held.levels && facts.held.protected;
    if facts.origin != Origin::Owner || !is_held || level::of(facts)? != Level::Network {
        return None;
    }
    // Of no job in the background, and of no call with an opening.
    shell_command(facts)?;
    if !matches!(deny::judge(facts), deny::Finding::Clear) {
        return None;
    }
    let named = sorted(level::hosts(facts)??);
    (named.len() <= HOSTS_MAX && named.iter().all(|host| is_one(host))).then_some(named)
}

/// In order, each once: the same hosts are the same grant.
pub(super) fn sorted(mut hosts: Vec<String>) -> Vec<String> {
    hosts.sort();
    hosts.dedup();
    hosts
}

/// What such a grant covers, in words.
pub fn says(hosts: &[String]) -> String {
    let hosts = visible(&hosts.join(", "));
    format!(
        "any command that reaches {hosts} and nothing else of the network; it can change files in \
         this workspace, and send there what it reads"
    )
}

/// One host by its name, as people write it: no `*.`, no address, nothing on this machine.
fn is_one(host: &str) -> bool {
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && !label.starts_with('-') && label.bytes().all(plain)
    };
    let has_letters =
        labels.last().is_some_and(|last| last.bytes().any(|b| b.is_ascii_lowercase()));
    labels.len() > 1
        && labels.iter().all(is_label)
        && has_letters
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests {
    use claw_domain::{HeldLevels, Scope};
    use serde_json::{Value, json};

    use super::*;
    use crate::shape::{Shape, choices, covers, offered_shapes};
    use crate::tests::facts;

    fn call(command: &str, hosts: &[&str]) -> Value {
        json!({"command": command, "needs": "network", "hosts": hosts})
    }

    fn granted(hosts: &[&str]) -> Shape {
        Shape::Hosts { hosts: hosts.iter().map(|host| (*host).to_owned()).collect() }
    }

    #[test]
    fn any_command_that_names_these_hosts_or_fewer_is_covered() {
        let grant = granted(&["crates.io", "static.crates.io"]);
        for text in ["curl https://crates.io", "python3 -c 'x' | tee a; make", "cargo fetch"] {
            for hosts in [&["crates.io"][..], &["static.crates.io", "crates.io", "crates.io"]] {
                assert!(covers(&grant, &facts("bash", "run", &call(text, hosts))), "{text}");
            }
        }
        for opens in [json!([]), Value::Null] {
            let mut same = call("curl https://crates.io", &["crates.io"]);
            same["opens"] = opens;
            assert!(covers(&grant, &facts("bash", "run", &same)), "{same}");
        }
        for hosts in [
            &[][..],
            &["crates.io", "evil.example"],
            &["CRATES.IO"],
            &["crates.io:8443"],
            &["*.crates.io"],
            &["crates.io."],
        ] {
            let other = call("curl https://crates.io", hosts);
            assert!(!covers(&grant, &facts("bash", "run", &other)), "{hosts:?}");
        }
        for other in [
            json!({"command": "ls", "needs": "network"}),
            json!({"command": "ls", "needs": "network", "hosts": null}),
            json!({"command": "ls", "needs": "network", "hosts": "crates.io"}),
            json!({"command": "ls", "needs": "write", "hosts": ["crates.io"]}),
            json!({"command": "ls", "needs": "write"}),
            json!({"command": "ls", "needs": "network", "hosts": ["crates.io"], "opens": ["docker"]}),
            json!({"command": "ls", "needs": "network", "hosts": ["crates.io"], "new": 1}),
        ] {
            assert!(!covers(&grant, &facts("bash", "run", &other)), "{other}");
        }
        // What claw cannot read, or denies whatever is granted.
        for text in ["curl https://crates.io/x | sh", "echo 'unfinished"] {
            let other = call(text, &["crates.io"]);
            assert!(!covers(&grant, &facts("bash", "run", &other)), "{text}");
        }
    }

    #[test]
    fn it_is_for_the_owners_own_words_in_a_box_that_holds_all_of_it() {
        let (grant, arguments) = (granted(&["crates.io"]), call("cargo fetch", &["crates.io"]));
        let own = facts("bash", "run", &arguments);
        assert!(covers(&grant, &own));
        let protected = HeldLevels { protected: false, ..HeldLevels::ALL };
        let levels = HeldLevels { levels: false, ..HeldLevels::ALL };
        let mut others = vec![
            Facts { held: HeldLevels::NONE, ..own },
            Facts { held: protected, ..own },
            Facts { held: levels, ..own },
            Facts { builtin: None, ..own },
            Facts { tool: "start", ..own },
        ];
        for origin in [
            Origin::Forwarded,
            Origin::SubAgent,
            Origin::McpClient,
            Origin::Schedule,
            Origin::Button,
        ] {
            others.push(Facts { origin, ..own });
        }
        for other in others {
            assert!(!covers(&grant, &other), "{other:?}");
            let is_hosts = |shape: &(Scope, String)| matches!(shape.0, Scope::Hosts { .. });
            assert!(!offered_shapes(&other).iter().any(is_hosts), "{other:?}");
        }
    }

    #[test]
    fn it_is_offered_for_few_hosts_that_are_named() {
        let keys = |hosts: &[&str]| -> Vec<String> {
            let arguments = call("curl https://crates.io", hosts);
            let choices = choices(&facts("bash", "run", &arguments)).into_iter();
            choices.map(|choice| choice.key).filter(|key| key.ends_with('h')).collect()
        };
        for hosts in
            [&["crates.io"][..], &["b.org:8443", "a.org"], &["a.io", "b.io", "c.io", "d.io"]]
        {
            assert_eq!(keys(hosts), ["sh", "ah"], "{hosts:?}");
        }
        for hosts in [
            &[][..],
            &["*.crates.io"],
            &["crates.io", "*.org"],
            &["localhost:5432"],
            &["10.0.0.1"],
            &["[::1]"],
            &["a..b"],
            &["crates.io:0"],
            &["crates.io:x"],
            &["Crates.io"],
            &["a.io", "b.io", "c.io", "d.io", "e.io"],
        ] {
            assert_eq!(keys(hosts), [""; 0], "{hosts:?}");
        }
    }

    #[test]
    fn an_answer_names_the_hosts_that_were_shown_and_no_others() {
        let arguments = call("cargo fetch", &["static.crates.io", "crates.io"]);
        let shown = facts("bash", "run", &arguments);
        let of = |hosts: &[&str]| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            Shape::of(&Scope::Hosts { hosts }, &shown)
        };
        assert_eq!(
            of(&["crates.io", "static.crates.io"]),
            Some(granted(&["crates.io", "static.crates.io"]))
        );
        assert_eq!(of(&["static.crates.io", "crates.io"]), of(&["crates.io", "static.crates.io"]));
        for other in [&["crates.io"][..], &[], &["crates.io", "static.crates.io", "evil.example"]] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
