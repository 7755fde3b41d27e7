//! The arguments of the lab.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args)]
pub struct Lab {
    #[command(subcommand)]
    pub command: LabCommand,
}

/// A command of the lab.
#[derive(Subcommand)]
pub enum LabCommand {
    /// Check this machine: what limits the precision of measurements, which engines are available.
    #[command(after_help = "Example:\n  selenite lab doctor")]
    Doctor(LabDoctor),
    /// Write a preset's configuration to a file for editing.
    #[command(after_help = "Example:\n  selenite lab init scan-like-eq --output mine.toml")]
    Init(LabInit),
    /// Run a study: a preset or a configuration file.
    #[command(
        after_help = "Example:\n  selenite lab run quick\n  selenite lab run mine.toml --dry-run\n\n\
            Every finished block is kept. After a kill or Ctrl-C: selenite lab resume STORE"
    )]
    Run(LabRun),
    /// Resume an interrupted study, or extend a finished one.
    #[command(after_help = "Example:\n  selenite lab resume quick.lab.db\n  selenite lab resume quick.lab.db --more 6")]
    Resume(LabResume),
    /// Show the progress of a study. Effects are hidden, so that a study is not stopped at a
    /// favourable moment.
    #[command(after_help = "Example:\n  selenite lab status quick.lab.db")]
    Status(LabStatus),
    /// Control a running study: stop it after this block, or change the mix.
    #[command(after_help = "Example:\n  selenite lab control hummer.lab.db --mix 0/5/5")]
    Control(LabControl),
    /// Run only the baseline arms of a study (A/A test): the resolution of this machine.
    #[command(after_help = "Example:\n  selenite lab aa quick")]
    Aa(LabRun),
    /// Show the results of a study.
    #[command(after_help = "Example:\n  selenite lab report quick.lab.db --html quick.html")]
    Report(LabReport),
    /// Compare two studies, such as two versions or machines.
    #[command(after_help = "Example:\n  selenite lab compare before.lab.db after.lab.db")]
    Compare(LabCompare),
    /// Export all blocks, effects, levels and latencies as CSV.
    #[command(after_help = "Example:\n  selenite lab export quick.lab.db figures/")]
    Export(LabExport),
    /// Pass or fail a build by the results of a study.
    #[command(
        after_help = "Example:\n  selenite lab gate quick.lab.db --fail-above 3%\n  selenite lab gate now.lab.db \
            --against before.json\n\n\
            Exit status: 0 within the limit or no worse, 10 above it or worse, 11 not resolved, 12 the \
            study cannot tell."
    )]
    Gate(LabGate),
    /// Compare versions of one engine in a study: whether they differ, and between which neighbours.
    #[command(
        after_help = "Example:\n  selenite lab bisect redo.lab.db --arms v10.11,v11.4,v11.8 --cell insert\n\n\
            Exit status: 0 no version is dearer than its neighbour, 10 one is, 11 not resolved, 12 the study cannot \
            tell."
    )]
    Bisect(LabBisect),
    /// One page over the summaries of a folder: engines by experiments.
    #[command(after_help = "Example:\n  selenite lab observatory docs/studies --output docs/OBSERVATORY.md")]
    Observatory(LabObservatory),
}

#[derive(Args)]
pub struct LabDoctor {
    /// The folder for studies.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Test a custom worker against the worker contract.
    #[arg(long, value_name = "PROGRAM")]
    pub worker: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LabInit {
    /// The preset. Without it, presets are listed.
    pub preset: Option<String>,
    /// The output file [default: PRESET.toml].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct LabRun {
    /// A preset or a configuration file.
    pub study: String,
    /// The store to create [default: ./NAME.lab.db].
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Override a value of the configuration, such as `data.size=64MiB`. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Run only these arms and their controls. May be repeated.
    #[arg(long, value_name = "NAME")]
    pub arm: Vec<String>,
    /// Run only cells whose names match, such as 'like-*'. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub cell: Vec<String>,
    /// Show what would run: arms, cells, time, disk space, the smallest detectable effect, and the
    /// sessions, pairs and time that a precision costs.
    #[arg(long)]
    pub dry_run: bool,
    /// Take the noise and the durations from this study [default: the store, if it exists].
    #[arg(long, value_name = "STORE", requires = "dry_run")]
    pub pilot: Option<PathBuf>,
    /// Keep the databases afterwards.
    #[arg(long)]
    pub keep: bool,
    /// How to show progress.
    #[arg(long, value_enum, default_value_t)]
    pub progress: ProgressStyle,
}

#[derive(Args)]
pub struct LabResume {
    /// The store.
    pub store: PathBuf,
    /// Extend a finished study by so many whole sessions, on the same machine with the same
    /// programs. The report says so, and its intervals become wider to allow for it.
    #[arg(long, value_name = "SESSIONS", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub more: Option<u32>,
    /// Keep the databases afterwards.
    #[arg(long)]
    pub keep: bool,
    /// How to show progress.
    #[arg(long, value_enum, default_value_t)]
    pub progress: ProgressStyle,
}

#[derive(Args)]
pub struct LabStatus {
    /// The store.
    pub store: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("ask").required(true))]
pub struct LabControl {
    /// The store.
    pub store: PathBuf,
    /// Stop the study. A `hummer` block stops at once.
    #[arg(long, group = "ask")]
    pub stop: bool,
    /// New shares of reads, updates and inserts for the current block, which becomes void.
    #[arg(long, group = "ask", value_name = "R/U/I")]
    pub mix: Option<String>,
}

#[derive(Args)]
pub struct LabReport {
    /// Stores, or summaries in JSON.
    #[arg(required = true)]
    pub stores: Vec<PathBuf>,
    /// Write a self-contained HTML page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write Markdown for all stores together.
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Write the summary as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV files to this folder.
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
    /// The second store or summary.
    pub second: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LabExport {
    /// The store.
    pub store: PathBuf,
    /// The output folder; created if missing.
    pub folder: PathBuf,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("bound").required(true))]
pub struct LabGate {
    /// The store, or its summary as JSON.
    pub store: PathBuf,
    /// The highest acceptable cost, such as 3%; a negative value requires a saving.
    #[arg(long, group = "bound", value_name = "PERCENT", allow_hyphen_values = true)]
    pub fail_above: Option<String>,
    /// An earlier study: fail if a cell costs more than it did there, beyond the uncertainty of
    /// both.
    #[arg(long, group = "bound", value_name = "STORE")]
    pub against: Option<PathBuf>,
    /// The metric: cpu, elapsed, instructions, read-chars, write-chars, read-calls, write-calls,
    /// read-bytes, write-bytes; of re-encryption under load: slowdown, tail-slowdown, aftermath
    /// [default: the metric of the study's verdict].
    #[arg(long)]
    pub metric: Option<String>,
    /// The cells [default: the configuration's gating cells].
    #[arg(long, value_name = "PATTERN")]
    pub cells: Option<String>,
    /// The arm [default: all encrypted arms].
    #[arg(long, value_name = "NAME")]
    pub arm: Option<String>,
}

#[derive(Args)]
pub struct LabBisect {
    /// The store.
    pub store: PathBuf,
    /// The arms, from the oldest version to the newest [default: all encrypted arms in the
    /// configuration's order].
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// The cell [default: the only gating one].
    #[arg(long, value_name = "NAME")]
    pub cell: Option<String>,
    /// The metric, as of `gate` [default: the metric of the study's verdict].
    #[arg(long)]
    pub metric: Option<String>,
    /// The smallest difference that matters, such as 3% [default: the study's limit].
    #[arg(long, value_name = "PERCENT")]
    pub limit: Option<String>,
    /// What is compared [default: the cost of encryption if each version has an unencrypted arm of
    /// its own, otherwise the encrypted arms].
    #[arg(long, value_enum)]
    pub of: Option<BisectOf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LabObservatory {
    /// The folder with summaries in JSON.
    pub studies: PathBuf,
    /// The output file, Markdown [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The folder of the studies' own pages, as the page links to it.
    #[arg(long, value_name = "PATH", default_value = "studies")]
    pub link: String,
}

/// What of two versions is compared.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BisectOf {
    /// The encrypted arms.
    Arm,
    /// The unencrypted arms.
    Plain,
    /// The encrypted arms, each relative to its unencrypted arm.
    Cost,
}

/// How to show progress.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressStyle {
    /// A progress bar on a terminal, lines elsewhere.
    #[default]
    Auto,
    /// Lines.
    Plain,
    /// A JSON object per line, on standard error.
    Json,
    /// Nothing.
    None,
}
