//! `selenite plan predict`.

use std::path::{Path, PathBuf};

use selenite::Access;
use selenite_lab::calibrate::fingerprint;
use selenite_lab::host::Source;
use selenite_lab::report;
use selenite_plan::calibration::{TLS_1_2, TLS_1_3};
use selenite_plan::predict::WhatIf;
use selenite_plan::{Cipher, Observation, Question, predict};

use super::{DATA, USAGE, calibration, observe, read};
use crate::arguments::plan::PlanPredict;
use crate::cli_error::CliError;
use crate::output_files::{OutputFiles, write_file};
use crate::printable;

pub fn run(arguments: &PlanPredict, access: &Access) -> Result<(), CliError> {
    let inputs: Vec<&Path> = arguments
        .observation
        .iter()
        .map(PathBuf::as_path)
        .chain([arguments.calibration.as_path()])
        .collect();
    let options = [("--html", arguments.html.as_ref()), ("--json", arguments.json.as_ref())];
    let outputs = OutputFiles::checked(options, &inputs, access)?;
    let observation = match &arguments.observation {
        Some(path) => {
            arguments.numbers.check_none_beside_observation()?;
            observed(path)?
        }
        None => observe::by_numbers(&arguments.numbers)?,
    };
    let calibration = calibration(&arguments.calibration)?;
    let aes = !arguments.without_aes_instructions;
    let tls = arguments.tls.as_deref().map(|version| match version {
        "1.2" => Cipher::tls(TLS_1_2, aes),
        _ => Cipher::tls(TLS_1_3, aes),
    });
    let cores = arguments.numbers.cores.as_deref().map(number_of_cores).transpose()?;
    let question = Question {
        tls,
        cores,
        what_if: WhatIf {
            reads: arguments.physical_reads,
            load: arguments.load,
            page_size: arguments.other_page_size,
        },
        decrypted_mb: arguments.decrypted_mb,
        ..Question::of(Cipher::of(arguments.cipher, aes))
    };
    let mut prediction = predict(&observation, &calibration, &question)?;
    let differences = fingerprint(&Source::default()).differences(&calibration.fingerprint);
    if !differences.is_empty() {
        prediction.warnings.insert(
            0,
            format!(
                "the calibration is of another machine or program than this one, and the prediction holds there: {}",
                differences.join("; ")
            ),
        );
    }
    // Notes come from files: each stays in its line.
    for warning in &mut prediction.warnings {
        *warning = printable::line(warning);
    }
    if let Some(path) = &arguments.html {
        write_file(path, &report::html::plan::page(&prediction))?;
    }
    if let Some(path) = &arguments.json {
        write_file(path, &prediction.text()?)?;
    }
    Ok(outputs.show(&printable::lines(&report::plan::text(&prediction)))?)
}

fn number_of_cores(text: &str) -> Result<f64, CliError> {
    text.trim().parse().map_err(|_| CliError::Lab {
        what: format!("--cores: {} is not a number", printable::line(text)),
        next: "--cores 8".to_owned(),
        status: USAGE,
    })
}

fn observed(path: &Path) -> Result<Observation, CliError> {
    Observation::parse(&read(path)?).map_err(|error| CliError::Lab {
        what: format!("{}: {error}", path.display()),
        next: "selenite plan observe".to_owned(),
        status: DATA,
    })
}
