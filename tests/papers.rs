//! What a release is made of, apart from code: its licences and papers, and the profile it is built
//! with, which was measured. Must not know what the program does.
#![expect(clippy::unwrap_used, reason = "a test's helpers may fail loudly")]

fn root(file: &str) -> String {
    std::fs::read_to_string(claw_test_kit::root().join(file)).unwrap()
}

#[test]
fn the_licences_that_the_manifest_names_and_the_other_papers_are_there() {
    let manifest: toml::Table = root("Cargo.toml").parse().unwrap();
    let licence = manifest["workspace"]["package"]["license"].as_str().unwrap();
    assert_eq!(licence, "MIT OR Apache-2.0");
    assert!(root("LICENSE-MIT").contains("Permission is hereby granted"));
    assert!(root("LICENSE-APACHE").contains("Apache License"));
    for paper in ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "README.md"] {
        assert!(root(paper).len() > 500, "{paper}");
    }
}

/// A program that runs as its owner can read the key and write everything anew, so no page may say
/// that nobody has changed it.
#[test]
fn what_the_pages_say_of_the_audit_is_what_it_proves() {
    for page in ["README.md", "docs/guide.md", "docs/commands.md"] {
        let text = root(page);
        for word in ["nobody changed", "nobody has changed", "can be proven", "tamper-proof"] {
            assert!(!text.contains(word), "{page} says `{word}`");
        }
        let lines = text.lines().filter(|line| line.contains("claw audit verify"));
        let told: Vec<bool> = lines.map(|line| line.contains("without its key")).collect();
        assert!(!told.is_empty() && !told.contains(&false), "{page}: against whom does it hold?");
    }
    let named = "operate.md#what-the-audit-proves";
    let row =
        root("README.md").lines().find(|line| line.starts_with("| audit |")).unwrap().to_owned();
    assert!(row.contains(named), "{row}");
    let page = root("docs/operate.md");
    let section = page.split("\n## What the audit proves\n").nth(1).unwrap();
    assert!(section.split("\n## ").next().unwrap().contains("\n### What is not proven\n"));
}

/// Measured: a quarter smaller, 10 % less CPU at a cold start. Without unwinding a bug in one turn
/// would end all the others.
#[test]
fn a_release_is_built_as_it_was_measured() {
    let manifest: toml::Table = root("Cargo.toml").parse().unwrap();
    let release = &manifest["profile"]["release"];
    assert_eq!(release["lto"].as_str(), Some("fat"));
    assert_eq!(release["codegen-units"].as_integer(), Some(1));
    assert!(release.get("panic").is_none(), "unwinding stays");
    assert!(root("build.rs").contains("-Wl,-z,pack-relative-relocs"));
    let members = manifest["workspace"]["default-members"].as_array().unwrap();
    assert_eq!(members, &[toml::Value::from(".")], "a plain build makes what a user needs");
}
