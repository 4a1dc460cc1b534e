//! Which of the firings that have come become due. Owns that rule, and nothing else: it is pure.

use crate::job::{IfMissed, Overlap, Plan};

/// The firings of one job that have come since the last look, in seconds since 1970.
#[derive(Debug)]
pub struct Come {
    /// The newest, in order; never empty.
    pub newest: Vec<i64>,
    /// All of them, also those that are not among the newest.
    pub count: u64,
}

/// What the rule makes of them. The three together are all that have come.
#[derive(Debug, PartialEq, Eq)]
pub struct DueFirings {
    pub due: Vec<i64>,
    /// Missed by the rule of the job.
    pub missed: u64,
    /// Left out because an earlier firing of the job is still due.
    pub overlapped: u64,
}

/// A firing counts as missed when it is found more than `late_s_max` seconds late. Of several that
/// have come the newest stands for now; the others are missed in any case.
pub fn judge(
    plan: &Plan,
    come: &Come,
    now: i64,
    late_s_max: i64,
    is_due_already: bool,
) -> DueFirings {
    let in_time =
        |at: &i64| plan.not_later_than_s.is_none_or(|most| now - at <= most.max(late_s_max));
    let is_late = |at: &i64| now - at > late_s_max;
    let newest = come.newest.last().copied();
    let mut due: Vec<i64> = match plan.if_missed {
        IfMissed::Skip => newest.into_iter().filter(|at| !is_late(at)).collect(),
        IfMissed::Latest => newest.into_iter().filter(in_time).collect(),
        IfMissed::All => come.newest.iter().copied().filter(in_time).collect(),
    };
    let mut overlapped = 0;
    if is_due_already && plan.overlap == Overlap::Skip {
        overlapped = due.len() as u64;
        due.clear();
    }
    let missed = come.count - due.len() as u64 - overlapped;
    DueFirings { due, missed, overlapped }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::when::Rule;

    fn plan(if_missed: IfMissed, not_later_than_s: Option<i64>, overlap: Overlap) -> Plan {
        Plan {
            zone: "UTC".into(),
            rule: Rule::Every { seconds: 100, anchor: 0 },
            what: Default::default(),
            if_missed,
            not_later_than_s,
            overlap,
            jitter_s: 0,
            until: None,
        }
    }

    fn due(plan: &Plan, newest: &[i64], count: u64, is_due_already: bool) -> (Vec<i64>, u64, u64) {
        let come = Come { newest: newest.to_vec(), count };
        let judged = judge(plan, &come, 1_000, 50, is_due_already);
        (judged.due, judged.missed, judged.overlapped)
    }

    #[test]
    fn every_firing_is_due_missed_or_overlapped() {
        use IfMissed::{All, Latest, Skip};
        let queue = Overlap::Queue;
        for (rule, not_later, newest, count, wanted) in [
            (Skip, None, &[900, 950][..], 2, (vec![950], 1, 0)),
            (Skip, None, &[800, 900], 2, (vec![], 2, 0)),
            (Latest, None, &[800, 900], 7, (vec![900], 6, 0)),
            (Latest, Some(90), &[800, 900], 2, (vec![], 2, 0)),
            (Latest, Some(100), &[800, 900], 2, (vec![900], 1, 0)),
            // What is not late is not too late either, whatever a job says.
            (Latest, Some(0), &[950], 1, (vec![950], 0, 0)),
            (All, None, &[700, 800, 900], 9, (vec![700, 800, 900], 6, 0)),
            (All, Some(200), &[700, 800, 900], 3, (vec![800, 900], 1, 0)),
        ] {
            assert_eq!(due(&plan(rule, not_later, queue), newest, count, true), wanted, "{rule:?}");
        }
        let skip = plan(Latest, None, Overlap::Skip);
        assert_eq!(due(&skip, &[800, 900], 5, true), (vec![], 4, 1));
        assert_eq!(due(&skip, &[800, 900], 5, false), (vec![900], 4, 0));
    }
}
