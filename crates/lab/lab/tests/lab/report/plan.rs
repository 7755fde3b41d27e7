//! Predictions of the planner as text and as a page, from snapshots of a real server.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use selenite_lab::report::{html, plan};
use selenite_plan::calibration::TLS_1_3;
use selenite_plan::observe::{SnapshotText, Supplement, postgresql};
use selenite_plan::{Calibration, Cipher, Prediction, Question, predict};

fn read(name: &str) -> String {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/plan");
    std::fs::read_to_string(testdata.join(name)).unwrap()
}

/// A prediction with all that a page can have.
pub fn prediction() -> Prediction {
    PREDICTION.clone()
}

static PREDICTION: LazyLock<Prediction> = LazyLock::new(|| {
    let text = read("postgresql-17/snapshots.csv");
    let supplement = Supplement {
        cores: Some(4.0),
        busy_cores: Some(1.5),
        database_mib: None,
    };
    let snapshots = [SnapshotText { name: "s", text: &text }];
    let mut observation = postgresql::observe(&snapshots, &supplement).unwrap();
    observation.serialized_share = Some(0.2);
    let calibration = Calibration::parse(&read("calibration.json")).unwrap();
    let mut question = Question::of(Cipher::of(selenite::Suite::Aes256, true));
    question.tls = Some(Cipher::tls(TLS_1_3, true));
    question.what_if.load = 1.3;
    predict(&observation, &calibration, &question).unwrap()
});

/// The numbers of `0.21 [0.07, 0.37]` in the text behind `before`, as they are written.
fn interval_behind(text: &str, before: &str) -> [String; 3] {
    let rest = text.split_once(before).unwrap().1;
    let end = rest.find(']').unwrap();
    let numbers = rest[..end].replace(['[', ',', '%'], " ");
    let numbers: Vec<String> = numbers.split_whitespace().map(str::to_owned).collect();
    numbers.try_into().unwrap()
}

fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

#[test]
fn the_headline_has_no_more_digits_than_are_known() {
    let mut prediction = prediction();
    for (low, value, high, expected) in [
        (0.000_712_345, 0.002_153_45, 0.003_651_23, ["0.22", "0.07", "0.37"]),
        (0.112_34, 0.123_45, 0.301_23, ["12", "11", "30"]),
        (-0.001_234, 0.000_01, 0.001_234, ["0.00", "-0.12", "0.12"]),
        (0.12, 0.121_234, 0.122, ["12.12", "12.00", "12.20"]),
        (1.0, 9.876_54, 40.0, ["1000", "100", "4000"]),
    ] {
        prediction.added_share.low = low;
        prediction.added_share.value = value;
        prediction.added_share.high = high;
        let text = plan::text(&prediction);
        assert_eq!(interval_behind(&text, " take "), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn digits_are_those_of_the_width(low in -1.0..1.0_f64, exponent in -5_i32..2, share in 0.0..1.0_f64) {
        let mut prediction = prediction();
        let width = 3.21 * 10_f64.powi(exponent) / 100.0;
        let known = [low + share * width, low, low + width];
        let [value, low, high] = known;
        prediction.added_share = selenite_plan::predict::Estimate { value, low, high };
        let text = plan::text(&prediction);
        let shown = interval_behind(&text, " take ");
        let unit = 10_f64.powi(exponent - 1);
        for (shown, known) in shown.iter().zip(known) {
            // The unit of the second digit of 3.2.
            prop_assert!((shown.parse::<f64>().unwrap() - known * 100.0).abs() <= unit * 0.501, "{}: {}", shown, text);
            prop_assert_eq!(decimals(shown), usize::try_from(1 - exponent).unwrap_or(0), "{}", text);
            prop_assert!(!shown.starts_with("-0") || shown.contains(|digit| ('1'..='9').contains(&digit)));
        }
    }
}

#[test]
fn the_page_has_the_answer_and_needs_nothing_from_elsewhere() {
    let page = html::plan::page(&prediction());
    assert!(!page.contains("<script") && !page.contains("http") && !page.contains("@import"));
    for text in [
        "What makes up the cost",
        "AES_256 and TLS_1_3 take",
        "The load times 1.3",
    ] {
        assert!(page.to_lowercase().contains(&text.to_lowercase()), "{text}");
    }
}
