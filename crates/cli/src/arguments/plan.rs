//! The arguments of the planner.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use selenite::Suite;

#[derive(Args)]
pub struct Plan {
    #[command(subcommand)]
    pub command: PlanCommand,
}

/// A command of the planner.
#[derive(Subcommand)]
pub enum PlanCommand {
    /// Measure what each operation costs on this machine, in clear and encrypted, in two minutes.
    #[command(
        after_help = "Example:\n  selenite plan calibrate --output calibration.json\n  selenite plan calibrate \
            --check calibration.json\n\n\
            Run it on the machine that will run the encrypted system, or on one like it, while nothing else \
            runs there. Nothing but its own temporary files is read or written.\n\n\
            Exit status of --check: 0 the calibration fits this machine, 5 it does not."
    )]
    Calibrate(PlanCalibrate),
}

#[derive(Args)]
pub struct PlanCalibrate {
    /// The calibration to write. Temporary files lie beside it.
    #[arg(long, short, value_name = "FILE", default_value = "calibration.json")]
    pub output: PathBuf,
    /// How long to measure, about: longer gives narrower intervals.
    #[arg(long, default_value = "120", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    /// Measure only this suite. May be repeated [default: all suites].
    #[arg(long, value_name = "SUITE", value_parser = super::parse_suite)]
    pub suite: Vec<Suite>,
    /// Measure nothing: say whether this calibration fits this machine and this program.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "seconds", "suite"])]
    pub check: Option<PathBuf>,
}

#[derive(Args)]
pub struct PlanSession {
    /// What to measure, as JSON.
    pub spec: String,
}
