//! `selenite lab run`, `aa` and `resume`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selenite_lab::config::Config;
use selenite_lab::report::metric;
use selenite_lab::run::{LocalTestbed, NewStudy, PrecisionPlan, RunContext, RunOutcome, StudyForecast, forecast};
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
        return dry_run(&config, &store, arguments.pilot.as_deref());
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

fn dry_run(config: &Config, store: &Path, pilot: Option<&Path>) -> Result<(), CliError> {
    // An earlier study of the same name measured the noise of this machine.
    let earlier = match pilot {
        Some(pilot) => Some(Store::read(pilot)?),
        None if store.is_file() => Some(Store::read(store)?),
        None => None,
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
        sees(
            forecast.smallest_effect,
            match forecast.judged == Metric::Cpu {
                true => "CPU time",
                false => metric(forecast.judged),
            },
        ),
    );
    lines.add("noise", forecast.noise.from.clone());
    let precisions = forecast.precisions.iter();
    lines.add_all(
        "precision",
        precisions.map(|(half_width, plan)| precision(*half_width, *plan)),
    );
    lines.add_all("notes", forecast.notes.iter().cloned());
    lines
}

/// The smallest effect that is detected, as far as it says anything.
fn sees(smallest: f64, what: &str) -> String {
    match smallest {
        _ if !smallest.is_finite() => "no effect: an interval needs two sessions".to_owned(),
        _ if smallest > 1.0 => {
            format!("only an effect that more than doubles {what}: more sessions or pairs are needed")
        }
        _ => format!(
            "an effect on {what} of {:.1} % or more, in four of five studies like it",
            smallest * 100.0
        ),
    }
}

/// What a precision costs.
fn precision(half_width: f64, plan: Option<PrecisionPlan>) -> String {
    let points = format!("{:.2}", half_width * 100.0);
    let points = format!("+-{} points", points.trim_end_matches('0').trim_end_matches('.'));
    match plan {
        Some(plan) => {
            let time = Duration::try_from_secs_f64(plan.seconds).unwrap_or(Duration::MAX);
            format!(
                "{points}: {} sessions of {} pairs, about {}",
                plan.sessions,
                plan.pairs,
                rough(time)
            )
        }
        None => format!("{points}: not within 1,000 sessions with this noise"),
    }
}

/// Seconds, or minutes from two minutes on.
fn rough(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..120 => format!("{} s", seconds.max(1)),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
