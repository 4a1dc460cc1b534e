//! What `/role` answers and changes.

use super::*;

#[tokio::test]
async fn roles_are_listed_for_everybody_and_chosen_by_the_owner_for_one_conversation() {
    let rig = Rig::new();
    assert!(rig.says(ChatCommand::Role, "").await.contains("`[roles.NAME]` in `claw.toml`"));
    assert!(rig.says(ChatCommand::Role, "select tutor").await.starts_with("There are no roles"));
    assert!(
        !rig.says(ChatCommand::Status, "").await.contains("role"),
        "nobody who has none needs to read of them"
    );
    let known = [("clerk", ""), ("tutor", "Explains.")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
    rig.commands.change(|parts| parts.roles = Roles { known: known.into(), default: None });
    let listed = rig.says(ChatCommand::Role, "list").await;
    let rows = "- `default` **(in force)**: no role\n- `clerk`\n- `tutor`: Explains.\n\n`/role select NAME`";
    assert!(listed.starts_with(rows), "{listed}");
    assert!(rig.says(ChatCommand::Status, "").await.contains("- role: none\n"));

    let chosen = |of: &str| rig.gate.store.read(|tx| tx.session_role(&session(of))).unwrap();
    let said = rig.says(ChatCommand::Role, " select  tutor ").await;
    assert_eq!(
        said,
        "From its next turn on this conversation has the role `tutor`; `/role select default` goes back."
    );
    assert_eq!((chosen("main").as_deref(), chosen("other")), (Some("tutor"), None));
    assert!(
        rig.says(ChatCommand::Role, "").await.contains("- `tutor` **(in force)**: Explains.\n")
    );
    assert!(rig.says(ChatCommand::Status, "").await.contains("- role: `tutor`\n- session"));
    let refused = rig.says(ChatCommand::Role, "select cook").await;
    assert_eq!(refused, "There is no role `cook`; there are: `clerk`, `tutor`.");
    for usage in ["tutor", "select", "select a b"] {
        assert!(
            rig.says(ChatCommand::Role, usage).await.contains("`/role select NAME` chooses"),
            "{usage}"
        );
    }
    assert_eq!(chosen("main").as_deref(), Some("tutor"));

    let member = Visitor { origin: Origin::Forwarded, ..rig.visitor.clone() };
    let by_member = async |words: &str| {
        let said = rig.commands.command(&member, &session("main"), ChatCommand::Role, words).await;
        said.unwrap().unwrap()
    };
    assert_eq!(by_member("select clerk").await, "Only the owner may choose the role.");
    assert!(
        by_member("list").await.contains("`clerk`") && chosen("main").as_deref() == Some("tutor")
    );
}

#[tokio::test]
async fn a_role_that_is_chosen_in_a_turn_is_the_next_ones_and_one_that_is_gone_is_named() {
    let rig = Rig::new();
    let role = |names: &[&str], default: Option<&str>| Roles {
        known: names.iter().map(|name| ((*name).to_owned(), String::new())).collect(),
        default: default.map(str::to_owned),
    };
    rig.commands.change(|parts| parts.roles = role(&["clerk", "tutor"], Some("clerk")));
    assert!(
        rig.says(ChatCommand::Role, "")
            .await
            .starts_with("- `clerk` (the default) **(in force)**\n- `tutor`\n")
    );
    let [_, message] = opened("go");
    let started = EventBody::TurnStarted {
        origin: Origin::Owner,
        principal: OWNER.into(),
        role: Some("clerk".into()),
    };
    rig.log([started, message]).await;
    assert!(!rig.says(ChatCommand::Status, "").await.contains("under way"));
    let said = rig.says(ChatCommand::Role, "select tutor").await;
    assert!(
        said.starts_with("The turn that is under way goes on as it began. From the next one on"),
        "{said}"
    );
    for command in [ChatCommand::Status, ChatCommand::Role] {
        let said = rig.says(command, "").await;
        assert!(said.contains("turn that is under way goes on as `clerk`"), "{said}");
    }
    rig.log([ended()]).await;
    assert!(!rig.says(ChatCommand::Role, "").await.contains("under way"));

    rig.commands.change(|parts| parts.roles = role(&["clerk"], Some("clerk")));
    let said = rig.says(ChatCommand::Role, "").await;
    assert!(
        said.contains("`clerk` (the default) **(in force)**")
            && said.contains("The role `tutor`, which was chosen")
    );
    let said = rig.says(ChatCommand::Role, "select default").await;
    assert_eq!(
        said,
        "From its next turn on this conversation has the role that all others have, `clerk`."
    );
    assert_eq!(rig.gate.store.read(|tx| tx.session_role(&session("main"))).unwrap(), None);
}
