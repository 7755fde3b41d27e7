use super::*;
use crate::predict::tests::{calibration, cipher};

/// Why a calibration that was edited is refused.
fn refused(edit: impl FnOnce(&mut Calibration)) -> String {
    let mut edited = calibration(0.1);
    edit(&mut edited);
    let text = serde_json::to_string(&edited).unwrap();
    Calibration::parse(&text).unwrap_err().to_string()
}

fn all(calibration: &mut Calibration) -> impl Iterator<Item = &mut Measured> {
    let Calibration { plain, ciphers, .. } = calibration;
    let costs = std::iter::once(plain).chain(ciphers.values_mut());
    costs.flat_map(|costs| costs.values_mut()).flatten()
}

fn scale(measured: &mut Measured, factor: f64) {
    measured.sessions.iter_mut().for_each(|value| *value *= factor);
}

#[test]
fn a_calibration_as_it_is_made_is_read() {
    let whole = calibration(0.1);
    assert_eq!(Calibration::parse(&whole.text().unwrap()).unwrap(), whole);
}

#[test]
fn costs_that_no_machine_has_are_refused_with_their_place() {
    for factor in [0.0, 1e-6, 1e6] {
        let reason = refused(|edited| all(edited).for_each(|one| scale(one, factor)));
        assert!(
            reason.starts_with("calibration, plain, pages read in sequence: "),
            "{reason}"
        );
        assert!(reason.contains("nothing that a machine has"), "{reason}");
    }
    // Zeros of a single operation, in clear and under a cipher.
    let zeros = |costs: &mut Costs, operation| {
        let sizes = costs.get_mut(&operation).into_iter().flatten();
        sizes.for_each(|one| scale(one, 0.0));
    };
    let reason = refused(|edited| zeros(&mut edited.plain, Operation::Write));
    assert!(reason.starts_with("calibration, plain, pages written: "), "{reason}");
    let reason = refused(|edited| zeros(edited.ciphers.get_mut(&cipher()).unwrap(), Operation::ReadRandom));
    assert!(
        reason.starts_with("calibration, AES_256, pages read at random: "),
        "{reason}"
    );
    let of_cipher = |factor: f64| {
        refused(|edited| {
            let sizes = edited
                .ciphers
                .get_mut(&cipher())
                .unwrap()
                .get_mut(&Operation::LogRecord)
                .unwrap();
            sizes.iter_mut().for_each(|one| scale(one, factor));
        })
    };
    assert!(of_cipher(1e-6).starts_with("calibration, AES_256, log writes: "));
    for factor in [0.0, 1e-6, 1e6] {
        let reason = refused(|edited| {
            edited
                .conversion_ns_per_mib
                .values_mut()
                .for_each(|one| scale(one, factor))
        });
        assert!(reason.starts_with("calibration, conversion, AES_256: "), "{reason}");
    }
}

#[test]
fn sets_without_a_cost_are_refused_with_their_place() {
    assert!(refused(|edited| edited.plain.clear()).starts_with("calibration, plain: it has no costs"));
    assert!(refused(|edited| edited.ciphers.clear()).starts_with("calibration, ciphers: it has none"));
    let reason = refused(|edited| edited.ciphers.values_mut().for_each(BTreeMap::clear));
    assert!(reason.starts_with("calibration, AES_256: it has no costs"), "{reason}");
    let reason = refused(|edited| all(edited).for_each(|one| one.sessions.clear()));
    assert!(reason.contains("finite values"), "{reason}");
}

#[test]
fn what_operations_among_others_cost_more_is_a_share() {
    for (shares, is_sound) in [(vec![0.05, -0.02], true), (vec![0.05, 1.5], false), (Vec::new(), false)] {
        let mut edited = calibration(0.1);
        edited.among_others = Some(Measured {
            kib: 0.0,
            sessions: shares,
        });
        assert_eq!(edited.text().is_ok(), is_sound);
    }
}
