//! `selenite lab run`, `aa` and `resume`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selenite_lab::config::Config;
use selenite_lab::report::metric;
use selenite_lab::run::{LocalTestbed, NewStudy, RunContext, RunOutcome, StudyForecast, forecast};
use selenite_lab::store::Store;
use selenite_lab::summary::{Metric, StudyState};

use super::{engines, progress, study};
use crate::arguments::lab::{LabResume, LabRun};
use crate::cli_error::CliError;
use crate::interrupt;
use crate::lines::{Lines, bytes, count};
use crate::output::print;

pub fn new(arguments: &LabRun, arms: study::Arms) -> Result<(), CliError> {
    let config = study::config(arguments, arms)?;
    let store = study::store(arguments, &config);
    if arguments.dry_run {
        return dry_run(&config, &store);
    }
    let new = NewStudy {
        path: store.clone(),
        config,
        command: study::command_line(),
    };
    let mut world = LocalTestbed::new(engines()?);
    let mut observer = progress::observer(arguments.progress);
    let interrupted = interrupt::install();
    let around = RunContext {
        testbed: &mut world,
        observer: &mut *observer,
        interrupt: &interrupted,
        keep: arguments.keep,
        commit: env!("SELENITE_COMMIT").to_owned(),
    };
    let outcome = selenite_lab::run::run(new, around)?;
    drop(observer);
    end(outcome, &store)
}

pub fn resume(arguments: &LabResume) -> Result<(), CliError> {
    let mut world = LocalTestbed::new(engines()?);
    let mut observer = progress::observer(arguments.progress);
    let interrupted = interrupt::install();
    let around = RunContext {
        testbed: &mut world,
        observer: &mut *observer,
        interrupt: &interrupted,
        keep: arguments.keep,
        commit: env!("SELENITE_COMMIT").to_owned(),
    };
    let outcome = match arguments.more {
        Some(sessions) => selenite_lab::run::extend(&arguments.store, sessions, around)?,
        None => selenite_lab::run::resume(&arguments.store, None, around)?,
    };
    drop(observer);
    end(outcome, &arguments.store)
}

fn end(outcome: RunOutcome, store: &Path) -> Result<(), CliError> {
    let store = store.display();
    let why = match outcome {
        RunOutcome::Interrupted => {
            return Err(CliError::Lab {
                what: "interrupted".to_owned(),
                next: match store_is_there(&store.to_string()) {
                    true => format!("selenite lab resume {store}"),
                    false => String::new(),
                },
                status: 130,
            });
        }
        RunOutcome::Over(StudyState::Precise) => "precision goal reached",
        RunOutcome::Over(StudyState::Complete) => "all sessions done",
        RunOutcome::Over(StudyState::OutOfBudget) => "time budget used up",
        RunOutcome::Over(StudyState::Stopped | StudyState::Unfinished) => "stopped",
    };
    Ok(print(&format!("{store}: {why}; next: selenite lab report {store}"))?)
}

fn store_is_there(store: &str) -> bool {
    PathBuf::from(store).is_file()
}

fn dry_run(config: &Config, store: &Path) -> Result<(), CliError> {
    // An earlier study of the same name measured the noise of this machine.
    let earlier = match store.is_file() {
        true => Some(Store::read(store)?),
        false => None,
    };
    let forecast = forecast(config, earlier.as_ref())?;
    Ok(print(&lines(config, &forecast).text())?)
}

fn lines(config: &Config, forecast: &StudyForecast) -> Lines {
    let mut lines = Lines::default();
    lines.add("study", format!("{}: {}", config.study.name, config.study.title));
    lines.add("arms", forecast.arms.join(", "));
    lines.add("cells", forecast.cells.join(", "));
    lines.add(
        "plan",
        format!(
            "{} blocks: at most {} sessions of {} pairs of each cell",
            count(forecast.blocks),
            config.study.sessions,
            config.study.pairs
        ),
    );
    lines.add(
        "time",
        format!("about {}, {}", rough(forecast.duration), forecast.duration_from),
    );
    if forecast.over_budget {
        lines.add("", "more than its budget: fewer sessions will run");
    }
    lines.add("disk", format!("about {}", bytes(forecast.disk_bytes)));
    lines.add(
        "sees",
        format!(
            "an effect on {} of {:.1} % or more, in four of five studies like it",
            match forecast.judged == Metric::Cpu {
                true => "CPU time",
                false => metric(forecast.judged),
            },
            forecast.smallest_effect * 100.0
        ),
    );
    lines.add("noise", forecast.noise.from.clone());
    lines.add_all("notes", forecast.notes.iter().cloned());
    lines
}

/// Seconds, or minutes from two minutes on.
fn rough(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..120 => format!("{} s", seconds.max(1)),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
