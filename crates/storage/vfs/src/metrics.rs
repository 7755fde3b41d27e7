//! The counts and forecasts of a database in Prometheus' text exposition format, version 0.0.4
//! (prometheus.io/docs/instrumenting/exposition_formats): `selenite_metrics()`.
//!
//! - samples-together: all samples of a metric are adjacent, after its HELP and TYPE lines.

use crate::error::VfsError;
use crate::file_counts::FileCounts;
use crate::forecast::{Forecast, Metered, Rates};
use crate::main_file::MainFile;

/// The text for one database of a connection; empty if the database has no page yet.
///
/// # Errors
/// Those of the VFS below.
pub fn text(main: &mut MainFile, schema: &str) -> Result<String, VfsError> {
    let Some(metered) = Metered::read(main)? else {
        return Ok(String::new());
    };
    let mut out = Exposition {
        text: String::new(),
        schema,
    };
    let counts = metered.counts();
    for (name, help, value) in COUNTERS {
        out.metric(name, "counter", help);
        for (role, files, _) in &counts {
            out.sample(name, &[("role", role.name())], &value(files));
        }
    }
    let commits = metered.report.counts.commits;
    let name = "selenite_commits_total";
    out.metric(name, "counter", "Commits to the write-ahead log.");
    out.sample(name, &[], &commits.commits().to_string());
    let name = "selenite_commit_frames_total";
    out.metric(name, "counter", "Frames of commits to the write-ahead log.");
    out.sample(name, &[], &commits.frames.to_string());
    let periods = metered.rates();
    for (name, help, value) in RATES {
        out.metric(name, "gauge", help);
        for (period, rates) in &periods {
            out.sample(name, &[("period", period)], &value(rates).to_string());
        }
    }
    let forecasts = metered.forecasts()?;
    for (name, help, value) in FORECASTS {
        out.metric(name, "gauge", help);
        for one in &forecasts {
            let labels = [("suite", one.suite.name()), ("period", one.period)];
            out.sample(name, &labels, &value(one).to_string());
        }
    }
    for (name, help, value) in QUANTILES {
        out.metric(name, "gauge", help);
        for one in &forecasts {
            let (median, high) = value(one);
            for (quantile, value) in [("0.5", median), ("0.99", high)] {
                let labels = [
                    ("suite", one.suite.name()),
                    ("period", one.period),
                    ("quantile", quantile),
                ];
                out.sample(name, &labels, &value.to_string());
            }
        }
    }
    Ok(out.text)
}

struct Exposition<'a> {
    text: String,
    schema: &'a str,
}

impl Exposition<'_> {
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        self.text
            .push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        self.text
            .push_str(&format!("{name}{{schema=\"{}\"", escaped(self.schema)));
        for (label, text) in labels {
            self.text.push_str(&format!(",{label}=\"{}\"", escaped(text)));
        }
        self.text.push_str(&format!("}} {value}\n"));
    }
}

/// Escapes the value of a label: backslash, quote and line feed.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A metric's name, its help, and its value.
type Metric<T, V> = (&'static str, &'static str, fn(&T) -> V);

const COUNTERS: [Metric<FileCounts, String>; 8] = [
    ("selenite_file_reads_total", "Reads of the VFS below.", |one| {
        one.reads.to_string()
    }),
    ("selenite_file_read_bytes_total", "Bytes read.", |one| {
        one.bytes_read.to_string()
    }),
    ("selenite_file_read_seconds_total", "Time in reads.", |one| {
        seconds(one.read_ns)
    }),
    ("selenite_file_writes_total", "Writes of the VFS below.", |one| {
        one.writes.to_string()
    }),
    ("selenite_file_written_bytes_total", "Bytes written.", |one| {
        one.bytes_written.to_string()
    }),
    ("selenite_file_write_seconds_total", "Time in writes.", |one| {
        seconds(one.write_ns)
    }),
    ("selenite_file_syncs_total", "Syncs.", |one| one.syncs.to_string()),
    ("selenite_file_sync_seconds_total", "Time in syncs.", |one| {
        seconds(one.sync_ns)
    }),
];

const RATES: [Metric<Rates, f64>; 4] = [
    ("selenite_forecast_period_seconds", "Length of the period.", |one| {
        one.seconds
    }),
    (
        "selenite_forecast_pages_read_per_second",
        "Pages that encryption decrypts.",
        |one| one.pages_read,
    ),
    (
        "selenite_forecast_pages_written_per_second",
        "Pages that encryption encrypts.",
        |one| one.pages_written,
    ),
    (
        "selenite_forecast_commits_per_second",
        "Commits to the write-ahead log.",
        |one| one.commits,
    ),
];

const FORECASTS: [Metric<Forecast, f64>; 3] = [
    (
        "selenite_forecast_cpu_ratio",
        "CPU seconds of encryption in a second.",
        |one| one.cpu,
    ),
    (
        "selenite_forecast_cpu_ratio_low",
        "Lower end of the 90 % interval.",
        |one| one.cpu_interval.0,
    ),
    (
        "selenite_forecast_cpu_ratio_high",
        "Upper end of the 90 % interval.",
        |one| one.cpu_interval.1,
    ),
];

const QUANTILES: [Metric<Forecast, (f64, f64)>; 2] = [
    (
        "selenite_forecast_page_read_seconds",
        "Time that decryption adds to the read of a page.",
        |one| one.page_read,
    ),
    (
        "selenite_forecast_commit_seconds",
        "Time that encryption adds to a commit.",
        |one| one.commit,
    ),
];
