//! The planner's inputs: snapshots of servers, numbers entered by hand, calibrations.

use selenite_plan::observe::{SnapshotText, Supplement, by_hand, mariadb, postgresql, sql_server};
use selenite_plan::{Calibration, Observation, PlanError};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let texts: Vec<SnapshotText<'_>> = text
        .split('\0')
        .map(|text| SnapshotText { name: "snapshot", text })
        .collect();
    let supplement = Supplement::default();
    match kind % 5 {
        0 => check(mariadb::observe(&texts, &supplement)),
        1 => check(postgresql::observe(&texts, &supplement)),
        2 => {
            let texts = sql_server::Texts {
                files: &texts,
                performance: None,
                connections: &[],
            };
            check(sql_server::observe(
                &texts,
                &sql_server::Selection::default(),
                &supplement,
            ));
        }
        3 => {
            let mut parts = text.split('\0').map(str::to_owned);
            check(by_hand::observe(&by_hand::ByHand {
                reads: parts.next(),
                writes: parts.next(),
                log: parts.next(),
                commits: parts.next(),
                backup: parts.next(),
                packets: parts.next(),
                cores: parts.next(),
                busy_cores: parts.next(),
                page_size: parts.next(),
                database_size: parts.next(),
                ..by_hand::ByHand::default()
            }));
        }
        _ => {
            if let Ok(calibration) = Calibration::parse(&text) {
                let printed = calibration.text().expect("what was read can be written");
                assert_eq!(Calibration::parse(&printed).as_ref(), Ok(&calibration));
            }
        }
    }
}

/// An accepted observation suffices for a prediction.
fn check(observed: Result<Observation, PlanError>) {
    if let Ok(observation) = observed {
        observation.check().expect("an observation is checked");
        let load = observation.load_per_second();
        assert!(
            load.0
                .values()
                .all(|amount| amount.count.is_finite() && amount.kib.is_finite())
        );
    }
}
