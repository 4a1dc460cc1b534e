//! What an editor has of tool servers: prompts that change while it is open, and the login to one.

use std::fs;

use super::AcpClient;
use crate::login_rig::Company;
use crate::mcp_login::answer_of;
use crate::mcp_login_chat::{code_in, link_in, nothing_is_kept, with_corp};
use crate::program::{House, eventually};
use crate::shelf_rig::Shelf;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

#[test]
fn every_conversation_is_told_of_prompts_that_changed() {
    for era in ["legacy", "modern"] {
        let call = Call::new("a", "shelf__rename", "{}");
        let answers = [Answer::Turn(Turn::calls(&[call])), Answer::text("Renamed.")];
        let shelf = Shelf::of(era, answers);
        shelf.house.write("policy.toml", "[classes]\n\"shelf/rename\" = \"safe\"\n");
        let folder = shelf.house.workspace();
        fs::create_dir_all(&folder).unwrap();
        let editor = AcpClient::start(&shelf.house);
        let both = [editor.new_session(&folder), editor.new_session(&folder)];
        let lists = |session: &str, name: &str| {
            editor.thread(session, |thread| thread.commands.contains(&name.to_owned()))
        };
        // The server is asked what it has.
        editor.prompts(&both[0], "/shelf:nothing");
        editor.ends(&both[0], 1);
        shelf.puts("prompt", "New-Name");
        editor.prompts(&both[0], "Rename it");
        editor.ends(&both[0], 2);
        for session in &both {
            eventually("the editor lists the new name", || lists(session, "shelf:New-Name"));
            for stays in ["shelf:Code-Review", "status"] {
                assert!(lists(session, stays), "{era}: {stays} stays");
            }
        }
        shelf.is_whole();
    }
}

#[test]
fn a_login_by_an_editor_keeps_nothing_of_the_address() {
    let company = Company::usual();
    let model = Threaded::start(Wire::OpenAi, []);
    let house = House::at("openai-compatible", &model.base_url);
    with_corp(&house, &company);
    fs::create_dir_all(house.workspace()).unwrap();
    let editor = AcpClient::start(&house);
    let session = editor.new_session(&house.workspace());
    let shows = |text: &str| {
        eventually(&format!("the editor shows `{text}`"), || editor.text(&session).contains(text));
    };
    editor.prompts(&session, "/login corp");
    shows("Only claw reads it, no model.");
    let right = answer_of(&link_in(&editor.text(&session)));
    editor.prompts(
        &session,
        &format!("it says\n{}", right.replacen("code=code-", "code=code-\n", 1)),
    );
    shows("Logged in to");
    assert_eq!(editor.leaves(), Some(0));
    assert_eq!(model.recorded().len(), 0, "no model was asked");
    nothing_is_kept(&house, &model, &company, &[code_in(&right)]);
}
