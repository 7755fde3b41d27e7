//! A published measurement that a study repeats: its source, its method, its figures.

use serde::Deserialize;

use super::arm::ArmConfig;
use super::cell::Cell;
use super::error::ConfigError;
use crate::pattern::matches;
use crate::summary::{Metric, PublishedSource};

/// The published measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The source.
    pub source: PublishedSource,
    /// Its figures, in the order of the text.
    pub figures: Vec<PublishedFigure>,
}

/// A published figure, and the cells of the study that repeat it.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedFigure {
    /// What it is of.
    pub what: String,
    /// The cells, by name. The figure is the mean over them.
    pub cells: Vec<String>,
    /// The arm.
    pub arm: String,
    /// The metric of the study that corresponds to it.
    pub metric: Metric,
    /// The figure as it was published.
    pub as_published: String,
    /// (encrypted - plain) / plain of the time; of a throughput its inverse.
    pub change: f64,
    /// A correction.
    pub remark: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedTable {
    author: String,
    year: u16,
    title: String,
    #[serde(rename = "in")]
    place: String,
    engine: String,
    scale: String,
    machine: String,
    method: MethodTable,
    #[serde(default)]
    differs: Vec<String>,
    figures: Vec<FigureTable>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodTable {
    words: String,
    runs: u32,
    restarted: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureTable {
    what: String,
    cells: String,
    arm: String,
    of: Quantity,
    change: Option<String>,
    plain: Option<f64>,
    encrypted: Option<f64>,
    #[serde(default)]
    unit: String,
    remark: Option<String>,
}

/// What a published figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Quantity {
    Cpu,
    Elapsed,
    /// Work for each unit of time: less is a cost.
    Throughput,
}

impl PublishedTable {
    pub(super) fn resolve(self, arms: &[ArmConfig], cells: &[Cell]) -> Result<Published, ConfigError> {
        if !(1..=RUNS_MAX).contains(&self.method.runs) {
            return Err(refused(format!("`method.runs` must be from 1 to {RUNS_MAX}")));
        }
        if !(YEAR_MIN..=YEAR_MAX).contains(&self.year) {
            return Err(refused(format!("`year` must be from {YEAR_MIN} to {YEAR_MAX}")));
        }
        if self.figures.is_empty() {
            return Err(refused("it has no figure".to_owned()).next("add a table `[[published.figures]]`"));
        }
        let figures = self.figures.into_iter().map(|figure| figure.resolve(arms, cells));
        let figures = figures.collect::<Result<Vec<_>, _>>()?;
        Ok(Published {
            source: PublishedSource {
                author: self.author,
                year: self.year,
                title: self.title,
                place: self.place,
                engine: self.engine,
                scale: self.scale,
                machine: self.machine,
                method: self.method.words,
                runs: self.method.runs,
                restarted: self.method.restarted,
                differs: self.differs,
            },
            figures,
        })
    }
}

impl FigureTable {
    fn resolve(self, arms: &[ArmConfig], cells: &[Cell]) -> Result<PublishedFigure, ConfigError> {
        let wrong = |what: String| refused(format!("figure `{}`: {what}", self.what));
        if arms.iter().all(|arm| arm.name != self.arm) {
            let known: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
            let unknown = ConfigError::unknown("arm", &self.arm, &known);
            return Err(wrong(unknown.what).next(unknown.next.unwrap_or_default()));
        }
        let found = cells.iter().filter(|cell| matches(&self.cells, &cell.name));
        let found: Vec<String> = found.map(|cell| cell.name.clone()).collect();
        if found.is_empty() {
            return Err(wrong(format!("no cell is called `{}`", self.cells)));
        }
        let (change, as_published) = match (&self.change, self.plain, self.encrypted) {
            (Some(text), None, None) => {
                let change =
                    percentage(text).ok_or_else(|| wrong(format!("`{text}` is not a change such as \"6.36%\"")))?;
                let change = match self.of {
                    Quantity::Cpu | Quantity::Elapsed => change,
                    Quantity::Throughput => -change / (1.0 + change),
                };
                (change, text.replace('%', " %"))
            }
            (None, Some(plain), Some(encrypted)) if plain > 0.0 && encrypted > 0.0 => {
                let change = match self.of {
                    Quantity::Cpu | Quantity::Elapsed => encrypted / plain - 1.0,
                    Quantity::Throughput => plain / encrypted - 1.0,
                };
                (
                    change,
                    format!("{plain} to {encrypted} {}", self.unit).trim_end().to_owned(),
                )
            }
            _ => {
                return Err(wrong(
                    "give `change`, or `plain` and `encrypted`, both above 0".to_owned(),
                ));
            }
        };
        if !change.is_finite() || change <= -1.0 {
            return Err(wrong("its change is no ratio".to_owned()));
        }
        let name = match self.of {
            Quantity::Cpu => "CPU time",
            Quantity::Elapsed => "elapsed time",
            Quantity::Throughput => "throughput",
        };
        Ok(PublishedFigure {
            as_published: format!("{name} {as_published}"),
            what: self.what,
            cells: found,
            arm: self.arm,
            metric: match self.of {
                Quantity::Cpu => Metric::Cpu,
                Quantity::Elapsed | Quantity::Throughput => Metric::Elapsed,
            },
            change,
            remark: self.remark,
        })
    }
}

/// A signed percentage as a ratio, above -100 %.
fn percentage(text: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    (number.is_finite() && number > -100.0).then_some(number / 100.0)
}

fn refused(what: String) -> ConfigError {
    ConfigError::new(format!("published: {what}"))
}

/// More runs are not a published method but a mistake.
const RUNS_MAX: u32 = 1000;
/// There were no databases before.
const YEAR_MIN: u16 = 1970;
/// A larger number is a mistake.
const YEAR_MAX: u16 = 2100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parse(figure: &str) -> Result<Config, ConfigError> {
        Config::parse(&format!(
            "[study]\nname = \"s\"\n[data]\nkind = \"scan\"\nsize = \"1MiB\"\n\
             [arms.AES_256]\nengine = \"selenite\"\ncipher = \"AES_256\"\n\
             [[cells]]\nname = \"like-cold\"\nwork = {{ kind = \"like\" }}\ncache = \"cold\"\n\
             [[cells]]\nname = \"like-os\"\nwork = {{ kind = \"like\" }}\ncache = \"os\"\n\
             [published]\nauthor = \"A\"\nyear = 2009\ntitle = \"T\"\nin = \"J\"\nengine = \"E 1\"\nscale = \"1 GB\"\nmachine = \"M\"\n\
             method = {{ words = \"once each\", runs = 1, restarted = true }}\n\
             [[published.figures]]\nwhat = \"LIKE\"\narm = \"AES_256\"\n{figure}"
        ))
    }

    fn figure(text: &str) -> PublishedFigure {
        let config = parse(text).unwrap_or_else(|error| panic!("{error}"));
        config.published.expect("there is a source").figures.remove(0)
    }

    #[test]
    fn a_change_is_taken_as_published() {
        let found = figure("cells = \"like-*\"\nof = \"elapsed\"\nchange = \"6.36%\"\n");
        assert!((found.change - 0.0636).abs() < 1e-12);
        assert_eq!(found.cells, ["like-cold", "like-os"]);
        assert_eq!(
            (found.metric, found.as_published.as_str()),
            (Metric::Elapsed, "elapsed time 6.36 %")
        );
    }

    #[test]
    fn two_absolutes_give_the_ratio_with_the_unencrypted_denominator() {
        let found = figure("cells = \"like-cold\"\nof = \"cpu\"\nplain = 49\nencrypted = 59\nunit = \"min\"\n");
        assert!((found.change - 10.0 / 49.0).abs() < 1e-12);
        assert_eq!(found.as_published, "CPU time 49 to 59 min");
    }

    #[test]
    fn a_loss_of_throughput_is_a_cost_of_time() {
        let found =
            figure("cells = \"like-cold\"\nof = \"throughput\"\nplain = 423.47\nencrypted = 389.11\nunit = \"tps\"\n");
        assert!((found.change - (423.47 / 389.11 - 1.0)).abs() < 1e-12);
        let found = figure("cells = \"like-cold\"\nof = \"throughput\"\nchange = \"-20%\"\n");
        assert!((found.change - 0.25).abs() < 1e-12);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let of = |text: &str| parse(text).unwrap_err().to_string();
        let whole = "cells = \"like-cold\"\nof = \"cpu\"\n";
        assert!(of(whole).contains("give `change`, or `plain` and `encrypted`"));
        for wrong in ["change = \"6\"", "change = \"-100%\"", "change = \"nan%\""] {
            assert!(of(&format!("{whole}{wrong}\n")).contains("is not a change"), "{wrong}");
        }
        assert!(of(&format!("{whole}plain = 0\nencrypted = 16\n")).contains("above 0"));
        assert!(of(&format!("{whole}change = \"1%\"\nplain = 1\nencrypted = 2\n")).contains("give `change`"));
        assert!(of("cells = \"equal\"\nof = \"cpu\"\nchange = \"1%\"\n").contains("no cell is called `equal`"));
        assert!(of("cells = \"like-cold\"\nof = \"memory\"\nchange = \"1%\"\n").contains("memory"));
    }

    #[test]
    fn an_unknown_arm_is_reported_with_the_nearest() {
        let text = parse("cells = \"like-cold\"\nof = \"cpu\"\nchange = \"1%\"\n")
            .unwrap()
            .text;
        let error = Config::parse(&text.replace("arm = \"AES_256\"", "arm = \"AES_25\"")).unwrap_err();
        assert!(error.to_string().contains("did you mean `AES_256`?"), "{error}");
        for (old, new) in [("year = 2009", "year = 209"), ("runs = 1", "runs = 0")] {
            assert!(Config::parse(&text.replace(old, new)).is_err(), "{new}");
        }
    }
}
