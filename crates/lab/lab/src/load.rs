//! Whether the machine was quiet during a session.
//!
//! - rule-before-figures: the rule is fixed, and does not look at what a block took.
//! - unknown-is-not-quiet: a session that was not watched is never called quiet.
//!
//! The rule uses what excludes the study's own work: CPU time of other processes, and steal.
//! Pressure (PSI) includes waiting for one's own processes; it is shown, not judged.

use std::collections::BTreeMap;

use crate::summary::{HostSample, LoadState, SessionLoad, Summary};

/// The rule in words, for reports.
pub const RULE: &str = "A session is quiet if other processes used at most 5 % of all processors and the hypervisor took \
    at most 2 %, in the mean of its blocks, and if not more than one block in ten had more than 20 % of either. A \
    session of which less than half was watched is unknown.";

/// Judges a session by the samples of its blocks.
#[must_use]
pub fn judge(session: u32, samples: &[&HostSample]) -> SessionLoad {
    let known = |of: fn(&HostSample) -> Option<f64>| -> Vec<f64> {
        let values = samples.iter().filter_map(|sample| of(sample));
        values.filter(|value| value.is_finite()).collect()
    };
    let (others, steal) = (known(|sample| sample.others), known(|sample| sample.steal));
    let disturbed = samples.iter().filter(|sample| {
        let more = |value: Option<f64>| value.is_some_and(|value| value > BLOCK_MAX);
        more(sample.others) || more(sample.steal)
    });
    let (blocks, disturbed) = (samples.len(), disturbed.count());
    let is_busy = mean(&others).is_some_and(|mean| mean > OTHERS_MAX)
        || mean(&steal).is_some_and(|mean| mean > STEAL_MAX)
        || disturbed * ONE_IN > blocks;
    let is_watched = blocks > 0 && others.len().min(steal.len()) * 2 >= blocks;
    SessionLoad {
        session,
        state: match (is_busy, is_watched) {
            (true, _) => LoadState::Busy,
            (false, true) => LoadState::Quiet,
            (false, false) => LoadState::Unknown,
        },
        blocks: count(blocks),
        disturbed: count(disturbed),
        others: mean(&others),
        steal: mean(&steal),
        cpu_pressure: mean(&known(|sample| sample.cpu_pressure)),
        io_pressure: mean(&known(|sample| sample.io_pressure)),
    }
}

/// The load of each session of a study. Summaries of older versions have samples without sessions:
/// a sample belongs to the session between whose first and last pair it was taken.
#[must_use]
pub fn sessions(summary: &Summary) -> Vec<SessionLoad> {
    if !summary.evidence.sessions.is_empty() {
        return summary.evidence.sessions.clone();
    }
    let mut begins: BTreeMap<u32, f64> = BTreeMap::new();
    for pair in summary.cells.iter().flat_map(|cell| &cell.pairs) {
        let first = begins.entry(pair.session).or_insert(pair.at_s);
        *first = first.min(pair.at_s);
    }
    let mut samples: BTreeMap<u32, Vec<&HostSample>> = BTreeMap::new();
    for sample in &summary.evidence.samples {
        // The first block of a session begins before the later block of its first pair.
        let next = begins.iter().find(|(_, first)| **first > sample.at_s);
        let of = match next {
            Some((session, _)) if Some(session) == begins.keys().next() => Some(*session),
            Some((session, _)) => begins.range(..session).next_back().map(|(session, _)| *session),
            None => begins.keys().next_back().copied(),
        };
        if let Some(session) = of {
            samples.entry(session).or_default().push(sample);
        }
    }
    let judged = samples.iter().map(|(session, samples)| judge(*session, samples));
    judged.collect()
}

/// The sessions of a study by state, in words: `3 of 5 sessions quiet, 2 busy`.
#[must_use]
pub fn words(sessions: &[SessionLoad]) -> String {
    let of = |state: LoadState| sessions.iter().filter(|session| session.state == state).count();
    let (quiet, busy, unknown) = (of(LoadState::Quiet), of(LoadState::Busy), of(LoadState::Unknown));
    let mut text = format!("{quiet} of {} sessions quiet", sessions.len());
    for (count, name) in [(busy, "busy"), (unknown, "unknown")] {
        if count > 0 {
            text.push_str(&format!(", {count} {name}"));
        }
    }
    text
}

/// The name of a state.
#[must_use]
pub fn name(state: LoadState) -> &'static str {
    match state {
        LoadState::Quiet => "quiet",
        LoadState::Busy => "busy",
        LoadState::Unknown => "unknown",
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.iter().sum::<f64>() / f64::from(count))
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// CPU time of other processes, of all processors, in the mean of a session. The kernel's own work
/// for the study (writing back, interrupts) counts as that of others.
const OTHERS_MAX: f64 = 0.05;
/// CPU time that the hypervisor took, in the mean of a session.
const STEAL_MAX: f64 = 0.02;
/// Either, in one block. Processes are billed in ticks of 10 ms, which are much of a short block.
const BLOCK_MAX: f64 = 0.2;
/// One block of so many may have more.
const ONE_IN: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_s: f64, others: Option<f64>, steal: Option<f64>) -> HostSample {
        HostSample {
            at_s,
            others,
            steal,
            ..HostSample::default()
        }
    }

    fn state(samples: &[HostSample]) -> LoadState {
        judge(1, &samples.iter().collect::<Vec<_>>()).state
    }

    #[test]
    fn a_session_with_little_else_at_work_is_quiet() {
        let session = vec![sample(0.0, Some(0.05), Some(0.02)); 10];
        assert_eq!(state(&session), LoadState::Quiet);
        let mut spike = vec![sample(0.0, Some(0.01), Some(0.0)); 9];
        spike.push(sample(0.0, Some(0.4), Some(0.0)));
        assert_eq!(state(&spike), LoadState::Quiet);
    }

    #[test]
    fn steady_load_steal_and_repeated_spikes_are_busy() {
        assert_eq!(state(&vec![sample(0.0, Some(0.06), Some(0.0)); 10]), LoadState::Busy);
        assert_eq!(state(&vec![sample(0.0, Some(0.0), Some(0.03)); 10]), LoadState::Busy);
        let mut spikes = vec![sample(0.0, Some(0.0), Some(0.0)); 18];
        spikes.extend([
            sample(0.0, Some(0.25), None),
            sample(0.0, None, Some(0.3)),
            sample(0.0, Some(0.25), None),
        ]);
        assert_eq!(state(&spikes), LoadState::Busy);
        assert_eq!(judge(1, &spikes.iter().collect::<Vec<_>>()).disturbed, 3);
    }

    #[test]
    fn what_was_not_watched_is_not_called_quiet() {
        assert_eq!(state(&[]), LoadState::Unknown);
        assert_eq!(state(&vec![sample(0.0, None, Some(0.0)); 4]), LoadState::Unknown);
        assert_eq!(
            state(&vec![sample(0.0, Some(f64::NAN), Some(0.0)); 4]),
            LoadState::Unknown
        );
        // What was seen is enough to call it busy.
        assert_eq!(state(&vec![sample(0.0, None, Some(0.5)); 4]), LoadState::Busy);
    }

    #[test]
    fn sessions_are_counted_in_words() {
        let of = |state, session| SessionLoad {
            state,
            ..judge(session, &[])
        };
        let sessions = [
            of(LoadState::Quiet, 1),
            of(LoadState::Busy, 2),
            of(LoadState::Unknown, 3),
        ];
        assert_eq!(words(&sessions), "1 of 3 sessions quiet, 1 busy, 1 unknown");
        assert_eq!(words(&sessions[..1]), "1 of 1 sessions quiet");
    }
}
