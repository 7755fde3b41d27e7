use super::*;
use crate::preset::preset;

fn config(text: &str) -> Config {
    Config::parse(text).unwrap()
}

#[test]
fn the_presets_of_the_league_have_what_can_be_predicted() {
    let (mut workloads, mut cells) = (Vec::new(), 0);
    for name in ["league", "league-cache", "league-pages", "league-rollback"] {
        let config = config(preset(name).unwrap().text);
        for cell in &config.cells {
            check_kind(cell).unwrap();
            workloads.push(workload_name(&cell.work));
        }
        let arms = arm::arms(&config).unwrap();
        let without_pool = arms
            .iter()
            .filter(|arm| arm.role == ArmRole::Encrypted && arm.pool == Some(0));
        cells += config.cells.len() * without_pool.count();
    }
    assert!(cells >= 40, "{cells}");
    assert!(workloads.contains(&"hummer 4/3/3".to_owned()) && workloads.contains(&"like".to_owned()));
}

#[test]
fn work_that_the_counts_do_not_show_is_refused() {
    let text = "[study]\nname = \"s\"\n[data]\nkind = \"scan\"\nsize = \"1MiB\"\n[[cells]]\nname = \"b\"\n\
        work = { kind = \"backup\" }\ncache = \"os\"\n";
    let error = check_kind(&config(text).cells[0]).unwrap_err().to_string();
    assert!(error.contains("cell `b`"), "{error}");
}

#[test]
fn results_of_other_predictions_and_of_before_are_refused() {
    let (predictions, mut summary) = (predictions(), summary());
    let line = format!("{HASH_COMMENT}ab12\n");
    summary.study.config = format!("[study]\n{line}");
    summary.study.created_s = 1_767_225_600;
    check_order(&summary, &predictions, "ab12").unwrap();
    assert!(matches!(
        check_order(&summary, &predictions, "ab13"),
        Err(ValidateError::Refused(_))
    ));
    summary.study.created_s -= 1;
    assert!(matches!(
        check_order(&summary, &predictions, "ab12"),
        Err(ValidateError::Refused(_))
    ));
}

fn predictions() -> Predictions {
    Predictions {
        made: selenite::utc(1_767_225_600),
        studies: Vec::new(),
        calibration: Calibration::parse(include_str!("../../../../../testdata/plan/calibration.json")).unwrap(),
        workloads: Vec::new(),
        forecasts: Vec::new(),
    }
}

fn summary() -> Summary {
    crate::report::json::parse(include_str!("../../../../../docs/studies/quick.json")).unwrap()
}
