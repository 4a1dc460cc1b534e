//! The conformance suite for doors: what a person who talks to claw can rely on, whatever the door.
//! Each scene is written once (`scenes`) and runs for every rig below, through the whole program.
//!
//! A new door is one file here with a [`rig::DoorRig`], and one line `scenes_of!`. A door at which
//! no scene can be played stands in [`WITHOUT_A_RIG`], with the reason.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod acp;
mod console;
mod lines;
mod rig;
mod scenes;
mod scenes_of_grants;
mod scenes_of_lists;
mod scenes_of_text;
mod telegram;

/// Doors that have no rig, and why.
const WITHOUT_A_RIG: [(&str, &str); 1] = [(
    "mcp",
    "it shows nothing and takes no chat commands: a client reads the log by a handle when it asks, \
     and its questions come at the owner's doors, or as a request of MCP. Every scene looks at what \
     a chat shows. What a client can rely on is tried by `serve_*` and `client_calls`",
)];

/// Every scene for one rig, as tests in a module of its own.
macro_rules! scenes_of {
    ($door:ident, $rig:ty) => {
        scenes_of!($door, $rig, scenes: [
            a_question_is_answered_with_yes,
            a_question_is_answered_with_no,
            a_question_is_answered_with_no_and_a_word,
            a_reaction_answers_a_question,
            a_second_answer_does_not_count,
            a_question_that_expires_cannot_be_answered_any_more,
            an_open_question_survives_a_kill_and_counts_once,
            a_question_that_is_answered_elsewhere_is_closed_here,
            the_stop_switch_ends_what_runs_and_holds_until_it_is_off,
            background_jobs_are_ended_by_their_owners_word,
            one_chat_that_floods_holds_up_no_other,
            a_bug_in_one_message_ends_with_that_message,
            a_message_that_finds_the_queue_full_is_told_and_not_taken_in,
        ], scenes_of_grants: [
            what_ran_by_a_grant_is_told_and_the_grant_is_taken_back,
            a_mode_as_an_answer_lets_the_next_edit_run_and_ends_with_new,
        ], scenes_of_lists: [
            several_calls_are_one_question_of_which_single_ones_can_be_answered,
            one_no_denies_all_that_a_list_asks,
        ], scenes_of_text: [
            a_streamed_answer_ends_whole_and_once,
            a_streamed_answer_that_a_kill_cuts_off_comes_whole_and_once,
            what_was_not_shown_before_a_kill_is_shown_after_it,
            a_long_answer_is_complete_in_order_and_there_once,
            a_linked_file_is_handed_over,
            what_a_turn_has_changed_is_put_back,
            a_turn_that_has_changed_nothing_offers_no_undo,
        ]);
    };
    ($door:ident, $rig:ty, $($scenes:ident: [$($scene:ident,)*]),*) => {
        mod $door {
            #[test]
            fn what_it_cannot_do_is_said_with_the_reason() {
                crate::doors::rig::says_what_it_lacks::<$rig>(stringify!($door));
            }

            $($(
                #[test]
                fn $scene() {
                    crate::doors::$scenes::$scene::<$rig>();
                }
            )*)*
        }
    };
}

#[test]
fn every_door_has_a_rig_or_a_reason() {
    let mut missing = Vec::new();
    for entry in std::fs::read_dir(claw_test_kit::root().join("doors")).unwrap() {
        let door = entry.unwrap().file_name().into_string().unwrap();
        let rig = claw_test_kit::root().join("tests/doors").join(&door).with_extension("rs");
        let reason = WITHOUT_A_RIG.iter().find(|(without, _)| *without == door);
        if rig.exists() == reason.is_some() {
            missing.push(door);
        }
    }
    assert!(missing.is_empty(), "a rig or a reason, and not both: {missing:?}");
}

scenes_of!(in_an_editor, crate::doors::acp::Acp);
scenes_of!(at_the_console, crate::doors::console::Console);
scenes_of!(by_lines, crate::doors::lines::Lines);
scenes_of!(in_telegram, crate::doors::telegram::Telegram);
