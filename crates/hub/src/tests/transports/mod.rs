//! JSON-RPC and both handshakes over every transport: each test of this list runs over the pair in
//! memory, over the stdio of a child process and over HTTP. A new transport is one more
//! [`link::Kind`].

mod exchanges;
mod handshakes;
pub(super) mod http_peer;
mod link;

macro_rules! over {
    ($kind:ident: $($room:ident::{$($test:ident),* $(,)?}),* $(,)?) => {
        $($(
            #[tokio::test]
            async fn $test() {
                super::$room::$test(super::link::Link::new(super::link::Kind::$kind)).await;
            }
        )*)*
    };
}

macro_rules! over_each_transport {
    ($($tests:tt)*) => {
        mod memory {
            over!(Memory: $($tests)*);
        }
        mod stdio {
            over!(Stdio: $($tests)*);
        }
        mod http {
            over!(Http: $($tests)*);
        }
    };
}

over_each_transport! {
    handshakes::{
        a_modern_server_is_known_by_its_answer_to_the_probe,
        a_modern_server_that_refuses_a_revision_is_asked_once_more,
        a_list_of_older_or_unknown_revisions_decides,
        a_refused_probe_is_followed_by_initialize,
        an_unanswered_probe_is_followed_by_initialize,
        a_server_that_ends_at_the_probe_gets_initialize_on_its_next_connection,
        a_server_of_another_revision_is_refused_in_words,
        an_answer_to_the_handshake_has_its_number_as_id,
        roots_are_declared_and_shown_only_where_the_entry_says_so,
    },
    exchanges::{
        ids_are_numbers_and_the_same_digits_as_text_are_no_answer,
        a_request_of_the_server_is_answered_under_its_own_id,
        an_answer_to_nobody_disturbs_nobody,
        a_batch_is_read_message_by_message,
        a_message_that_is_too_long_fails_its_call_at_once,
        what_a_full_queue_refuses_never_reaches_the_server,
        a_cancel_before_the_call_is_sent_keeps_it_from_the_server,
        a_cancel_of_a_sent_call_is_announced_and_its_late_answer_dropped,
        a_call_after_the_end_is_not_forwarded,
        an_end_in_the_middle_of_a_call_is_unknown_and_says_why,
        an_answer_just_before_the_end_counts,
        an_end_that_claw_asks_for_ends_the_server,
        notifications_are_heard,
        pages_are_listed_to_the_end_and_stay_raw,
        a_list_that_leads_back_to_a_page_ends_there_and_is_told_once,
        a_question_for_one_of_several_calls_goes_to_the_oldest_and_then_to_the_next,
    },
}
