//! The files of settings while the gateway runs, through the whole program: valid rules are in force at once and told, broken ones
//! change nothing and are told, and a question that was frozen under other rules is judged again.

mod botapi;
mod program;
mod telegram_rig;

use telegram_rig::Rig;

const DENY: &str = "[[rule]]\ntool = \"write_file\"\ndecision = \"deny\"\nwhy = \"nothing is written today\"\n";
const ALLOW: &str = "[[rule]]\ntool = \"write_file\"\ndecision = \"allow\"\nwhy = \"this test writes\"\n";

#[test]
fn rules_that_change_are_in_force_from_now_on_and_broken_ones_change_nothing() {
    let rig = Rig::new();
    let gateway = rig.start();
    let says = |text: &str| rig.anna.says(rig.anna.private(), text);
    says("write a.txt: one");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");

    rig.house.write("policy.toml", DENY);
    rig.telegram.wait_for_text(rig.anna.id, "policy.toml was changed: 1 rule; in force from now on");
    // The question was frozen under other rules: a yes to it does not run what they deny.
    rig.anna.taps_on(rig.anna.private(), asked.id, "Allow once");
    rig.telegram.wait_for_text(rig.anna.id, "nothing is written today");
    assert_eq!(rig.house.in_workspace("a.txt"), "");

    rig.house.write("policy.toml", "[[rule]]\ntool = 7\n");
    rig.telegram
        .wait_for_text(rig.anna.id, "policy.toml was changed and is refused, so what was read before stays in force");
    says("write b.txt: two");
    program::eventually("the old rules deny", || rig.count(rig.anna.id, "nothing is written today") == 2);

    rig.house.write("policy.toml", ALLOW);
    program::eventually("the new rules are told", || rig.count(rig.anna.id, "in force from now on") == 2);
    says("write c.txt: three");
    program::eventually("it is written", || rig.house.in_workspace("c.txt") == "three");
    assert_eq!(rig.house.in_workspace("b.txt"), "");

    rig.house.write("claw.toml", "[limits]\nturn_time_s = 0\n");
    rig.telegram.wait_for_text(rig.anna.id, "claw.toml was changed and is refused");
    rig.house.write("claw.toml", "[limits]\nturn_time_s = 600\n");
    rig.telegram.wait_for_text(rig.anna.id, "claw.toml was changed: it is in order, and counts from the next start");
    rig.house.write("mcp.json", "{\"mcpServers\": {");
    rig.telegram.wait_for_text(rig.anna.id, "mcp.json was changed and is refused");
    rig.house.write("mcp.json", "{\"mcpServers\": {\"new\": {\"command\": \"/bin/true\"}}}");
    rig.telegram.wait_for_text(rig.anna.id, "mcp.json was changed: it is in order (new, ");
    rig.stop(gateway);
}
