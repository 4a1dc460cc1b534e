//! What a list says of a heartbeat.

use jiff::civil::time;

use super::super::shown;
use super::when::heartbeat;
use crate::config::HeartbeatTimes;
use crate::store::HeartbeatState;

#[test]
fn a_list_says_when_next_by_its_own_clock_and_what_is_left_of_its_day() {
    let now = "2026-11-23T23:00:00Z".parse().unwrap();
    let of = heartbeat(HeartbeatTimes::At(vec![time(7, 30, 0, 0)]), "Asia/Tokyo");
    let mut state = HeartbeatState::default();
    let seen = shown(&of, state.clone(), "2026-11-24", now);
    assert_eq!(seen.next_in_zone(), "Wednesday 2026-11-25 07:30 (Asia/Tokyo)");
    assert_eq!(seen.left(), "left today: 20 requests, 200000 tokens");
    (0..19).for_each(|_| state.add_request("2026-11-24", 10));
    let left = |state: &HeartbeatState, day| shown(&of, state.clone(), day, now).left();
    assert_eq!(left(&state, "2026-11-24"), "left today: 1 request, 199810 tokens");
    state.add_request("2026-11-24", 10);
    assert_eq!(left(&state, "2026-11-24"), "stopped for today, its budget is used up");
    assert_eq!(left(&state, "2026-11-25"), "left today: 20 requests, 200000 tokens", "a new day");
    state.turn_fault = Some("the model is down".into());
    assert_eq!(shown(&of, state, "", now).fault.as_deref(), Some("the model is down"));
}
