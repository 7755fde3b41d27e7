//! Tests of the comparison of two studies.

use selenite_lab::compare::{CompareError, compare};
use selenite_lab::summary::Metric;

use super::fixture::Fixture;

#[test]
fn the_same_study_again_has_not_changed() {
    let first = Fixture::whole().summary();
    let same = compare(&first, &first, &[Metric::Cpu]).unwrap();
    assert!(same.warnings.is_empty() && same.alone.is_empty(), "{same:?}");
    assert_eq!(same.changes.len(), 18);
    assert!(
        same.changes
            .iter()
            .all(|change| change.change == 0.0 && !change.resolved)
    );
    let again = Fixture {
        seed: 5,
        ..Fixture::whole()
    }
    .summary();
    let again = compare(&first, &again, &[Metric::Cpu]).unwrap();
    let resolved = again.changes.iter().filter(|change| change.resolved).count();
    assert!(resolved <= 4, "{resolved} of 18 by chance");
    assert!(again.to_string().contains("not resolved"));
}

#[test]
fn a_change_is_found_and_has_the_right_size() {
    let first = Fixture::whole().summary();
    let mut second = Fixture {
        seed: 5,
        ..Fixture::whole()
    }
    .summary();
    for effect in second.cells.iter_mut().flat_map(|cell| &mut cell.effects) {
        effect.ratio = (1.0 + effect.ratio) * 1.10 - 1.0;
        effect
            .by_session
            .iter_mut()
            .for_each(|(_, ratio)| *ratio = (1.0 + *ratio) * 1.10 - 1.0);
    }
    let found = compare(&first, &second, &[Metric::Cpu]).unwrap();
    for change in &found.changes {
        let (low, high) = change.interval.unwrap();
        assert!(change.resolved && (change.change - 0.10).abs() < 0.02, "{change:?}");
        assert!(low < change.change && change.change < high);
    }
}

#[test]
fn other_differences_are_reported() {
    let first = Fixture::whole().summary();
    let mut second = first.clone();
    second.host.facts[0].1 = "another processor".into();
    second.study.commit = "0000000".into();
    second.study.config = format!("{}\n[layout]\npage_size = 8192\n", second.study.config);
    second.study.config_sha256 = "11".into();
    second.cells.remove(0);
    second.arms[2].library = "selenite 0.2.0".into();
    let found = compare(&first, &second, &[Metric::Cpu]).unwrap();
    let words = found.warnings.join("\n");
    for part in [
        "another processor",
        "0000000",
        "configurations differ",
        "layouts differ",
        "selenite 0.2.0",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert_eq!(found.alone, ["cell like-cold: only in the first study"]);
}

#[test]
fn studies_that_can_not_be_compared_are_refused() {
    let first = Fixture::whole().summary();
    let mut second = first.clone();
    second.schema += 1;
    assert_eq!(
        compare(&first, &second, &[Metric::Cpu]),
        Err(CompareError::OtherSchema(second.schema))
    );
    second.schema = first.schema;
    second.cells.clear();
    assert_eq!(
        compare(&first, &second, &[Metric::Cpu]),
        Err(CompareError::NothingInCommon)
    );
}
