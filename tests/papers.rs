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
