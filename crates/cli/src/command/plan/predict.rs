//! `selenite plan predict`.

use std::path::{Path, PathBuf};

use selenite_lab::calibrate::fingerprint;
use selenite_lab::host::Source;
use selenite_lab::report;
use selenite_plan::calibration::{TLS_1_2, TLS_1_3};
use selenite_plan::predict::WhatIf;
use selenite_plan::{Calibration, Cipher, Observation, Question, predict};

use super::{DATA, USAGE, check_output, observe, read, usage};
use crate::arguments::plan::PlanPredict;
use crate::cli_error::CliError;
use crate::output::{print, write_file};
use crate::printable;

pub fn run(arguments: &PlanPredict) -> Result<(), CliError> {
    let inputs: Vec<&Path> = arguments
        .observation
        .iter()
        .map(PathBuf::as_path)
        .chain([arguments.calibration.as_path()])
        .collect();
    for output in arguments.html.iter().chain(&arguments.json) {
        check_output(output, &inputs)?;
    }
    if let (Some(html), Some(json)) = (&arguments.html, &arguments.json)
        && is_same_file(html, json)
    {
        return Err(usage("--html and --json are the same file".to_owned()));
    }
    let observation = match &arguments.observation {
        Some(path) => {
            arguments.numbers.check_none_beside_observation()?;
            observed(path)?
        }
        None => observe::by_numbers(&arguments.numbers)?,
    };
    let calibration = Calibration::parse(&read(&arguments.calibration)?)?;
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
    Ok(print(&printable::lines(&report::plan::text(&prediction)))?)
}

fn number_of_cores(text: &str) -> Result<f64, CliError> {
    text.trim().parse().map_err(|_| CliError::Lab {
        what: format!("invalid number of cores: {}", printable::line(text)),
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

/// Whether two paths name one file of one folder.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new(".")).canonicalize().ok()
    };
    one.file_name() == other.file_name() && folder(one) == folder(other)
}
