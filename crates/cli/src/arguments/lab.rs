//! The arguments of the lab.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args)]
pub struct Lab {
    /// Not shown: the lab has keys of its own.
    #[arg(long, short, global = true, hide = true)]
    pub identity: Option<String>,
    /// Not shown: a study says what it compares.
    #[arg(long, global = true, hide = true)]
    pub allow_deprecated: bool,
    #[command(subcommand)]
    pub command: LabCommand,
}

/// What to do in the lab.
#[derive(Subcommand)]
pub enum LabCommand {
    /// Look at this machine: what makes figures sure here, what does not, which engines there are.
    #[command(after_help = "Example:\n  selenite lab doctor")]
    Doctor(LabDoctor),
    /// Write a preset to a file, to be changed and run.
    #[command(after_help = "Example:\n  selenite lab init scan-like-eq --output mine.toml")]
    Init(LabInit),
    /// Run a study: a preset by its name, or a configuration file.
    #[command(
        after_help = "Example:\n  selenite lab run quick\n  selenite lab run mine.toml --dry-run\n\n\
        Every block is kept as it ends. After a kill or Ctrl-C: selenite lab resume STORE"
    )]
    Run(LabRun),
    /// Go on with a study that was cut off.
    #[command(after_help = "Example:\n  selenite lab resume quick.lab.db")]
    Resume(LabResume),
    /// Say how far a study is. Shows no effects: whoever watches them stops at a lucky moment.
    #[command(after_help = "Example:\n  selenite lab status quick.lab.db")]
    Status(LabStatus),
    /// Change a study that runs: stop it after this block, or have the hummer's mix replaced.
    #[command(after_help = "Example:\n  selenite lab control hummer.lab.db --mix 0/5/5")]
    Control(LabControl),
    /// Compare the plain arms of a study with each other only: what this machine can't tell apart.
    #[command(after_help = "Example:\n  selenite lab aa quick")]
    Aa(LabRun),
    /// Show what a study found.
    #[command(after_help = "Example:\n  selenite lab report quick.lab.db --html quick.html")]
    Report(LabReport),
    /// Compare two studies: another version, another machine.
    #[command(after_help = "Example:\n  selenite lab compare before.lab.db after.lab.db")]
    Compare(LabCompare),
    /// Write all blocks, effects, levels and latencies as CSV.
    #[command(after_help = "Example:\n  selenite lab export quick.lab.db figures/")]
    Export(LabExport),
    /// Pass or fail a build by what a study found.
    #[command(
        after_help = "Example:\n  selenite lab gate quick.lab.db --fail-above 3%\n  selenite lab gate now.lab.db --against before.json\n\n\
    Exit status: 0 within the limit or no worse, 10 above it or worse, 11 not resolved, 12 the study \
    can't tell."
    )]
    Gate(LabGate),
}

#[derive(Args)]
pub struct LabDoctor {
    /// Where studies would lie.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Put a worker of your own through the contract.
    #[arg(long, value_name = "PROGRAM")]
    pub worker: Option<PathBuf>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LabInit {
    /// Which preset; without one they are listed.
    pub preset: Option<String>,
    /// The file to write [default: PRESET.toml].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct LabRun {
    /// A preset's name, or a configuration file.
    pub study: String,
    /// The store to make [default: NAME.lab.db, here].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Put another value in the place of the configuration's, such as `data.size=64MiB`. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Only these arms, besides those they need. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub arm: Vec<String>,
    /// Only cells whose names match, such as 'like-*'. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub cell: Vec<String>,
    /// Say what would be done: arms, cells, time, disk, and the smallest effect that could be seen.
    #[arg(long)]
    pub dry_run: bool,
    /// Keep the databases afterwards.
    #[arg(long)]
    pub keep: bool,
    /// How progress is shown.
    #[arg(long, value_enum, default_value_t)]
    pub progress: ProgressStyle,
}

#[derive(Args)]
pub struct LabResume {
    /// The store.
    pub store: PathBuf,
    /// Keep the databases afterwards.
    #[arg(long)]
    pub keep: bool,
    /// How progress is shown.
    #[arg(long, value_enum, default_value_t)]
    pub progress: ProgressStyle,
}

#[derive(Args)]
pub struct LabStatus {
    /// The store.
    pub store: PathBuf,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("ask").required(true))]
pub struct LabControl {
    /// The store.
    pub store: PathBuf,
    /// End the study; a block of the hummer ends at once.
    #[arg(long, group = "ask")]
    pub stop: bool,
    /// Other shares of reads, updates and inserts for the block under way, which then does not count.
    #[arg(long, group = "ask", value_name = "R/U/I")]
    pub mix: Option<String>,
}

#[derive(Args)]
pub struct LabReport {
    /// The stores, or summaries that were written as JSON.
    #[arg(required = true)]
    pub stores: Vec<PathBuf>,
    /// Write one page that needs nothing else.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write Markdown, of all stores together.
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Write everything as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV files into this folder.
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,
    /// Use ASCII only.
    #[arg(long)]
    pub ascii: bool,
}

#[derive(Args)]
pub struct LabCompare {
    /// The first store, or its summary as JSON.
    pub first: PathBuf,
    /// The second one.
    pub second: PathBuf,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LabExport {
    /// The store.
    pub store: PathBuf,
    /// The folder to write; it is made.
    pub folder: PathBuf,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("bound").required(true))]
pub struct LabGate {
    /// The store, or its summary as JSON.
    pub store: PathBuf,
    /// The most that encryption may cost, such as 3%; below zero, what it has to save.
    #[arg(long, group = "bound", value_name = "PERCENT", allow_hyphen_values = true)]
    pub fail_above: Option<String>,
    /// A study of before: what is chosen may cost no more than it did there, by more than both are unsure.
    #[arg(long, group = "bound", value_name = "STORE")]
    pub against: Option<PathBuf>,
    /// What is looked at: cpu, elapsed, instructions, read-chars, write-chars, read-calls, write-calls, read-bytes,
    /// write-bytes; while pages are sealed anew: slowdown, tail-slowdown, aftermath [default: what arms are judged by].
    #[arg(long)]
    pub metric: Option<String>,
    /// Which cells [default: those that the configuration calls gating].
    #[arg(long, value_name = "PATTERN")]
    pub cells: Option<String>,
    /// Which arm [default: all that are encrypted].
    #[arg(long, value_name = "NAME")]
    pub arm: Option<String>,
}

/// How progress is shown.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressStyle {
    /// A bar on a terminal, lines elsewhere.
    #[default]
    Auto,
    /// Lines.
    Plain,
    /// A JSON object per line, on standard error.
    Json,
    /// Nothing.
    None,
}
