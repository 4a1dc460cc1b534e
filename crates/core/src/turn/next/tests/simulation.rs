//! Whole turns with an outside that does anything that it may do: `next` never panics, and every
//! turn ends. Must not know single steps.

use proptest::prelude::*;

use super::*;

/// What the simulated world does at one step.
#[derive(Clone, Debug)]
struct Luck {
    model: u8,
    calls: Vec<u8>,
}

/// The events that a runner would add after `step`; `None` when the turn is let go permanently.
fn simulate(log: &Log, step: &Step, luck: &Luck) -> Option<Vec<EventBody>> {
    Some(match step {
        Step::Done => return None,
        Step::AskModel => vec![match luck.model % 8 {
            0..=3 => uses(&["1", "2"][..usize::from(luck.model % 2) + 1]),
            4 => failed(true),
            5 => failed(false),
            6 => EventBody::StopRequested { by: "p".into() },
            _ => text("done"),
        }],
        Step::Call(open) => open
            .iter()
            .zip(luck.calls.iter().cycle())
            .map(|((id, _), luck)| match luck % 4 {
                0 => parked(id.clone(), &format!("q{}", log.next_seq())),
                1 => EventBody::ToolResult {
                    call: id.clone(),
                    outcome: Box::new(Outcome::denied(crate::domain::DeniedBy::Request, "d")),
                },
                2 => EventBody::ToolResult {
                    call: id.clone(),
                    outcome: Box::new(Outcome::Unknown { reason: "u".into() }),
                },
                // Some are so long that they are cut.
                3 if *luck > 127 => result(id.clone(), &format!("{luck} ").repeat(2_000)),
                _ => result(id.clone(), &luck.to_string()),
            })
            .collect(),
        Step::Act(actions) => {
            actions.iter().take(1).map(|(id, _)| acted(id.clone(), "done")).collect()
        }
        Step::Park => {
            let turn = log.open_turn().unwrap();
            turn.waiting
                .into_iter()
                .take(1)
                .map(|(call, approval)| answered_with(call, &approval.0))
                .collect()
        }
        Step::Compact { through_seq } if luck.model.is_multiple_of(2) => {
            vec![summary(*through_seq)]
        }
        Step::Compact { .. } => {
            vec![EventBody::CompactionFailed { reason: "no".into(), asked_ms: vec![0] }]
        }
        Step::Drop { through_seq } => vec![dropped(*through_seq)],
        Step::CutResults { calls } => vec![cut(calls)],
        Step::Deliver | Step::Stop(_) => {
            let open = log.open_turn().unwrap().unanswered();
            let denied = |call| EventBody::ToolResult {
                call,
                outcome: Box::new(Outcome::denied(crate::domain::DeniedBy::Stop, "end")),
            };
            let end = if let Step::Stop(end) = step { end.clone() } else { TurnEnd::Answered };
            let ended = EventBody::TurnEnded { end };
            open.into_iter().map(|(call, _)| denied(call)).chain([ended]).collect()
        }
    })
}

/// Whether an event may follow a step. This is what makes a log replayable.
fn follows(step: &Step, body: &EventBody) -> bool {
    match step {
        Step::AskModel => matches!(
            body,
            EventBody::ModelReply { .. }
                | EventBody::ModelFailed { .. }
                | EventBody::StopRequested { .. }
        ),
        Step::Call(open) => match body {
            EventBody::ToolResult { call, .. } | EventBody::CallParked { call, .. } => {
                open.iter().any(|(id, _)| id == call)
            }
            _ => false,
        },
        Step::Act(actions) => match body {
            EventBody::ActionResult { call, .. } => {
                actions.first().is_some_and(|(id, _)| id == call)
            }
            _ => false,
        },
        Step::Park => matches!(body, EventBody::CallAnswered { .. }),
        Step::Compact { through_seq: wanted } => match body {
            EventBody::Summary { through_seq, .. } => through_seq == wanted,
            EventBody::CompactionFailed { .. } => true,
            _ => false,
        },
        Step::Drop { through_seq: wanted } => matches!(body,
            EventBody::WindowDropped { through_seq, .. } if through_seq == wanted),
        Step::CutResults { .. } => matches!(body, EventBody::ResultsCut { .. }),
        Step::Deliver => matches!(body, EventBody::TurnEnded { .. }),
        Step::Stop(_) => matches!(body, EventBody::ToolResult { .. } | EventBody::TurnEnded { .. }),
        Step::Done => matches!(body, EventBody::TurnStarted { .. }),
    }
}

fn any_luck() -> impl Strategy<Value = Luck> {
    (any::<u8>(), proptest::collection::vec(any::<u8>(), 1..4))
        .prop_map(|(model, calls)| Luck { model, calls })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_log_makes_it_panic(bodies in proptest::collection::vec(any_body(), 0..40), steps in 0_u32..3, window in 0_u64..60) {
        let bounds = Bounds {
            model_steps_max: steps,
            window_tokens: window,
            window_messages: (window % 7) as u32,
            model_tokens: window * 50,
            identical_calls_max: 1,
        };
        let log = log(bodies);
        let step = next(&log, &bounds);
        prop_assert_eq!(&step, &next(&log, &bounds));
        if let Step::Compact { through_seq } | Step::Drop { through_seq } = step {
            let open = log.open_turn().map_or(u64::MAX, |turn| turn.seq);
            prop_assert!(through_seq < open, "the open turn is never summarised away");
            prop_assert!(log.events().iter().any(|event| event.seq == through_seq), "something goes");
        }
    }

    #[test]
    fn a_turn_ends_with_every_use_answered_and_its_log_replays(
        lucks in proptest::collection::vec(any_luck(), 80),
        small in any::<bool>(),
    ) {
        let (window_tokens, window_messages) = if small { (60, 4) } else { (100_000, 0) };
        let bounds = Bounds { window_tokens, window_messages, ..BOUNDS };
        let mut log = log(vec![started(), said("a"), text("b"), ended(), started(), said("c")]);
        let mut all = log.events().to_vec();
        let (mut lucks, mut taps) = (lucks.iter(), 0);
        // Each batch of a runner is appended event by event; a kill may come between any two.
        'turn: loop {
            let luck = lucks.next().expect("80 steps are more than any turn may take");
            if luck.calls.len() == 3 && taps < 5 {
                taps += 1;
                all.push(log.push(0, confirmed_by_tap(id(3, taps))));
            }
            let step = next(&log, &bounds);
            let Some(bodies) = simulate(&log, &step, luck) else { break 'turn };
            prop_assert!(!bodies.is_empty(), "{:?} did nothing", step);
            for body in bodies {
                let now = next(&log, &bounds);
                prop_assert!(follows(&now, &body), "after {:?} came {:?}", now, body);
                all.push(log.push(0, body));
            }
        }
        let last: Vec<Event> = all.iter().skip_while(|event| event.seq < 5).cloned().collect();
        let has_ended = last.iter().any(|event| matches!(event.body, EventBody::TurnEnded { .. }));
        prop_assert!(has_ended);
        prop_assert!(Turn::of(&session(), &last).unanswered().is_empty());
        prop_assert!(log.confirmed().is_empty());
        let replayed = crate::turn::replay::replay(&session(), all.clone(), &bounds);
        prop_assert_eq!((replayed.difference, replayed.other_limits), (None, 0));
        // What is read back from the disk says the same as what was in memory.
        let read_back = Log::new(session(), all.clone(), all.last().unwrap().seq);
        prop_assert_eq!(read_back.events(), log.events());
    }
}
