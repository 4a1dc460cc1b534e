//! The page about the home, beside a home that was used: each file and folder that claw has made in
//! it is named there. Must not know what they are for.

use claw_test_kit::page;

use crate::program::House;

#[test]
fn every_file_of_a_used_home_is_named_on_its_page() {
    let house = House::new();
    house.claw(&["ask", "remember that Anna likes tea"]).expect(0);
    house.claw(&["ask", "what is scheduled"]).expect(0);
    house.claw(&["mcp", "add", "other", "--", "true"]).expect(0);
    let page = page("docs/home.md");
    let entries = std::fs::read_dir(house.home()).unwrap();
    let names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let named = [format!("`{name}`"), format!("`{name}/`")];
        assert!(named.iter().any(|it| page.contains(it.as_str())), "{name} is not on the page");
    }
}
