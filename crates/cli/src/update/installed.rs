//! How this program came to be where it is, and so how it is replaced. Looks at paths and at
//! cargo's own record; must not know versions.

use std::path::Path;

/// A sentence without its full stop.
pub fn how_to_update(program: &Path) -> String {
    if let Some(source) = by_cargo(program) {
        return match source.split_once('+') {
            Some(("path", url)) => {
                let folder =
                    url.trim_start_matches("file://").split('#').next().unwrap_or_default();
                format!(
                    "in {folder}, fetch the new version (`git pull`) and run `cargo install \
                     --locked --path .`"
                )
            }
            Some(("git", url)) => {
                let (address, access) =
                    without_user(url.split(['?', '#']).next().unwrap_or_default());
                format!(
                    "run `cargo install --locked --force --git {address}{} claw`{access}",
                    branch(url)
                )
            }
            _ => "run `cargo install --locked claw`".to_owned(),
        };
    }
    if program.iter().any(|part| part == "target") {
        return "in the folder that it was built in, fetch the new version (`git pull`) and run \
            `cargo build --release`"
            .to_owned();
    }
    format!(
        "put the new program in the place of {}; what runs meanwhile goes on with the old one",
        program.display()
    )
}

/// The address without user name and password, and what to say if there were some.
fn without_user(address: &str) -> (String, &'static str) {
    let (scheme, rest) = address.split_once("://").unwrap_or(("https", address));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match host.rsplit_once('@') {
        Some((_, host)) => (
            format!("{scheme}://{host}{path}"),
            " (put the user name or token that you installed it with before the host; it is not \
             shown here)",
        ),
        None => (address.to_owned(), ""),
    }
}

/// What cargo has written behind the address (`?branch=x`), as it is given to it.
fn branch(url: &str) -> String {
    let query =
        url.split('#').next().and_then(|url| Some(url.split_once('?')?.1)).unwrap_or_default();
    let named = query.split('&').filter_map(|pair| pair.split_once('='));
    let plain = |value: &str| {
        !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_./+".contains(c))
    };
    // What a shell would take for something else stands in quotes.
    let quoted = |value: &str| {
        if plain(value) { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) }
    };
    let known = named.filter(|(name, _)| ["branch", "tag", "rev"].contains(name));
    known.map(|(name, value)| format!(" --{name} {}", quoted(value))).collect()
}

/// Where cargo has it from, if cargo has installed it: the record lies beside the folder of
/// programs (`cargo install`, `.crates.toml`).
fn by_cargo(program: &Path) -> Option<String> {
    let record = program.parent()?.parent()?.join(".crates.toml");
    let text = crate::config::read_if_there(&record).ok()??;
    let table: toml::Table = text.parse().ok()?;
    // `"claw 0.1.0 (path+file:///home/me/claw)" = ["claw"]`
    let entry =
        table.get("v1")?.as_table()?.keys().find(|entry| entry.starts_with("claw "))?.clone();
    let (_, source) = entry.split_once('(')?;
    Some(source.trim_end_matches(')').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_for_how_it_was_installed() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/claw");
        let how = |source: &str| {
            let record = format!(
                "[v1]\n\"other 1.0.0 (x)\" = [\"o\"]\n\"claw 0.1.0 ({source})\" = [\"claw\"]\n"
            );
            std::fs::write(root.path().join(".crates.toml"), record).unwrap();
            how_to_update(&program)
        };
        assert!(how("path+file:///home/me/claw").starts_with("in /home/me/claw, fetch"));
        assert!(
            how("git+https://example.org/claw#abc")
                .contains("--git https://example.org/claw claw`")
        );
        for (query, option) in
            [("branch=a/x", "--branch a/x"), ("tag=v1.2", "--tag v1.2"), ("rev=ab", "--rev ab")]
        {
            let said = how(&format!("git+https://example.org/claw?{query}#abc"));
            assert!(
                said.contains(&format!("--git https://example.org/claw {option} claw`")),
                "{said}"
            );
        }
        assert!(
            how("git+https://example.org/claw?branch=a;b#abc").contains("--branch 'a;b' claw`")
        );
        for user in ["me:ghp_secret@", "ghp_secret@", "me:p@ghp_secret@"] {
            let said = how(&format!("git+https://{user}example.org/claw?tag=v1#abc"));
            assert!(said.contains("--git https://example.org/claw --tag v1 claw` (put"), "{said}");
            assert!(!said.contains("secret") && !said.contains("me:"), "{said}");
        }
        assert!(
            how("registry+https://github.com/rust-lang/crates.io-index")
                .contains("`cargo install --locked claw`")
        );
        assert!(
            how_to_update(Path::new("/home/me/claw/target/release/claw"))
                .contains("cargo build --release")
        );
        assert!(
            how_to_update(Path::new("/usr/local/bin/claw"))
                .contains("in the place of /usr/local/bin/claw")
        );
    }
}
