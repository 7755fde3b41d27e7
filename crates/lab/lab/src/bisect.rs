//! Versions of one engine in one cell: whether they differ, and between which neighbours.
//!
//! - same-rounds: two versions are compared by blocks of the same round, like an arm and its control.
//! - holm-over-neighbours: a step is called dearer or cheaper only if it still is after Holm's
//!   correction over all steps.

use std::collections::BTreeMap;
use std::fmt;

use selenite_stats::{Estimate, Options, SESSIONS_MIN, holm};
use serde::Serialize;

use crate::analysis::pair::{Pairs, value};
use crate::analysis::session_interval::{CONFIDENCE, sessions_more};
use crate::analysis::{AnalysisError, Material, summarise};
use crate::disqualification::{Disqualification, disqualifications};
use crate::gate::GateDecision;
use crate::report::{estimate, metric, minutes};
use crate::store::{ArmRow, CellRow};
use crate::summary::{ArmRole, Metric, Summary};

/// What is asked of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct BisectQuestion {
    /// The arms, from the oldest version to the newest; empty for all encrypted ones.
    pub arms: Vec<String>,
    /// The cell; none for the only gating one.
    pub cell: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// The smallest difference that matters, as a ratio: 0.03 is 3 %.
    pub limit: f64,
    /// What is compared; none for the cost of encryption if versions have controls of their own,
    /// and otherwise for the arms.
    pub of: Option<Compared>,
}

/// What of two versions is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// The encrypted arms.
    Arm,
    /// Their unencrypted controls.
    Plain,
    /// The arms, each relative to its control: the cost of encryption.
    Cost,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bisection {
    /// The study.
    pub study: String,
    /// The display name of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// What was compared.
    pub of: Compared,
    /// The smallest difference that matters.
    pub limit: f64,
    /// The versions, from the oldest to the newest: arm and display name.
    pub versions: Vec<(String, String)>,
    /// The newest version against the oldest.
    pub whole: Option<Step>,
    /// Each version against the one before it.
    pub steps: Vec<Step>,
    /// What two unencrypted copies differ by: 95 % interval.
    pub floor: Option<(f64, f64)>,
    /// Why the study cannot answer.
    pub invalid: Vec<String>,
    /// What makes the answer doubtful.
    pub warnings: Vec<String>,
    /// The duration of a session, in seconds.
    #[serde(skip)]
    session_s: Option<f64>,
}

/// The difference between two versions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The older one.
    pub before: String,
    /// The newer one.
    pub after: String,
    /// (after - before) / before.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The probability of such a difference if there is none; of a step after Holm's correction.
    pub p: Option<f64>,
    /// Sessions with both.
    pub sessions: u32,
    /// Pairs with both.
    pub pairs: u32,
    /// The verdict.
    pub state: StepState,
    /// The sessions that it would take to decide; none if it is decided, or if that is unknown.
    pub sessions_more: Option<u32>,
}

/// The verdict on two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepState {
    /// The newer one is dearer by more than the limit.
    Dearer,
    /// It is cheaper by more than the limit.
    Cheaper,
    /// They differ by less than the limit.
    Same,
    /// Neither is sure.
    NotResolved,
}

/// Compares the versions of a study.
///
/// Errors: those of the analysis. What the study cannot answer is [`Bisection::invalid`].
pub fn bisect(material: &Material, question: &BisectQuestion) -> Result<Bisection, AnalysisError> {
    let summary = summarise(material)?;
    let mut invalid = Vec::new();
    let arms = chosen_arms(material, question, &mut invalid);
    let cell = chosen_cell(material, question, &mut invalid);
    if !(question.limit.is_finite() && question.limit > 0.0) {
        invalid.push("the limit is not a positive ratio".to_owned());
    }
    let relevant = disqualifications(&summary).into_iter().filter(|reason| match reason {
        Disqualification::NoProof(arm) => arms.iter().any(|chosen| chosen.facts.name == *arm),
        Disqualification::FewSessions(_) => false,
        Disqualification::Empty | Disqualification::Unfinished | Disqualification::NoSecondCopy => true,
    });
    invalid.extend(relevant.map(|reason| reason.to_string()));
    let of = question.of.unwrap_or_else(|| compared(&arms));
    if of == Compared::Plain && compared(&arms) == Compared::Arm && !arms.is_empty() {
        invalid.push("all versions have the same unencrypted control".to_owned());
    }
    let mut found = Bisection {
        study: material.study.name.clone(),
        cell: cell.map_or_else(String::new, |row| row.cell.label.clone()),
        metric: question.metric,
        of,
        limit: question.limit,
        versions: arms
            .iter()
            .map(|arm| (arm.facts.name.clone(), version(material, arm, of)))
            .collect(),
        whole: None,
        steps: Vec::new(),
        floor: cell.and_then(|row| floor(&summary, row, question.metric)),
        invalid,
        warnings: warnings(&summary, &arms),
        session_s: summary.study.session_s,
    };
    if let Some(row) = cell.filter(|_| found.invalid.is_empty()) {
        found.measure(material, row, &arms);
    }
    Ok(found)
}

impl Bisection {
    fn measure(&mut self, material: &Material, row: &CellRow, arms: &[&ArmRow]) {
        let pairs = Pairs::of(material, row);
        let levels: Vec<Levels> = arms
            .iter()
            .map(|arm| levels(&pairs, arm, self.metric, self.of))
            .collect();
        let contrast = |before: usize, after: usize| {
            let sessions = differences(&levels[before], &levels[after])?;
            Some((before, after, Contrast::new(material, sessions, self.limit)?))
        };
        let steps: Vec<_> = (1..arms.len()).map(|after| contrast(after - 1, after)).collect();
        let whole = contrast(0, arms.len() - 1);
        let (Some(steps), Some((_, _, whole))) = (steps.into_iter().collect::<Option<Vec<_>>>(), whole) else {
            self.invalid
                .push(format!("a version has no figure of {}", metric(self.metric)));
            return;
        };
        let p_of = |p: fn(&Contrast) -> Option<f64>| -> Vec<f64> {
            holm(
                &steps
                    .iter()
                    .map(|(_, _, step)| p(step).unwrap_or(1.0))
                    .collect::<Vec<_>>(),
            )
        };
        let (p_none, p_limit) = (p_of(|step| step.p_none), p_of(|step| step.p_limit));
        let name = |index: usize| arms[index].facts.name.clone();
        self.steps = steps
            .iter()
            .zip(p_none.into_iter().zip(p_limit))
            .map(|((before, after, found), (p_none, p_limit))| {
                found.step(material, (name(*before), name(*after)), (p_none, p_limit), self.limit)
            })
            .collect();
        let p = (whole.p_none.unwrap_or(1.0), whole.p_limit.unwrap_or(1.0));
        self.whole = Some(whole.step(material, (name(0), name(arms.len() - 1)), p, self.limit));
    }

    /// The answer as of a gate: above if a version is dearer than the one before it, or the newest
    /// than the oldest.
    #[must_use]
    pub fn outcome(&self) -> GateDecision {
        if !self.invalid.is_empty() {
            return GateDecision::Invalid(self.invalid.clone());
        }
        let mut all = self.steps.iter().chain(&self.whole);
        if all.any(|step| step.state == StepState::Dearer) {
            return GateDecision::Above;
        }
        let open: Vec<&Step> = self
            .steps
            .iter()
            .filter(|step| step.state == StepState::NotResolved)
            .collect();
        if open.is_empty() {
            return GateDecision::Within;
        }
        let more = open.iter().map(|step| step.sessions_more).collect::<Option<Vec<u32>>>();
        let more = more.and_then(|more| more.into_iter().max());
        GateDecision::NotResolved {
            minutes_more: more
                .zip(self.session_s)
                .map(|(more, seconds)| f64::from(more) * seconds / 60.0),
        }
    }
}

impl fmt::Display for Bisection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.of {
            Compared::Arm => "the encrypted arms",
            Compared::Plain => "the unencrypted arms",
            Compared::Cost => "the cost of encryption, each version against its own unencrypted arm",
        };
        writeln!(f, "{}, {}: {} of {what}", self.study, self.cell, metric(self.metric))?;
        for (arm, label) in &self.versions {
            writeln!(f, "  {arm}: {label}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        if !self.invalid.is_empty() {
            return write!(f, "this study cannot answer: {}", self.invalid.join("; "));
        }
        for step in &self.steps {
            writeln!(f, "{}", line(step, self.limit, "after Holm's correction"))?;
        }
        if let Some(whole) = self.whole.as_ref().filter(|_| self.steps.len() > 1) {
            writeln!(f, "{}", line(whole, self.limit, "all in all"))?;
        }
        if let Some(floor) = self.floor {
            let text = crate::report::interval(floor);
            writeln!(f, "two unencrypted copies differ by {text} % on this machine")?;
        }
        write!(f, "{}", self.answer())
    }
}

impl Bisection {
    /// Where the change lies, in one sentence.
    fn answer(&self) -> String {
        let changed = |step: &&Step| matches!(step.state, StepState::Dearer | StepState::Cheaper);
        let found: Vec<String> = self
            .steps
            .iter()
            .filter(changed)
            .map(|step| format!("between {} and {}", step.before, step.after))
            .collect();
        let limit = crate::report::share(self.limit);
        if !found.is_empty() {
            return format!("the change lies {}", found.join(", and "));
        }
        let whole = self.whole.as_ref().filter(|_| self.steps.len() > 1);
        if let Some(whole) = whole.filter(changed) {
            return format!(
                "{} and {} differ by more than {limit}, but no step between them is sure by itself",
                whole.before, whole.after
            );
        }
        match self.outcome() {
            GateDecision::NotResolved {
                minutes_more: Some(more),
            } => format!("not resolved: about {} more of measurement are needed", minutes(more)),
            GateDecision::NotResolved { minutes_more: None } => "not resolved".to_owned(),
            GateDecision::Within | GateDecision::Above | GateDecision::Invalid(_) => {
                format!("no version differs from its neighbour by {limit} or more")
            }
        }
    }
}

fn line(step: &Step, limit: f64, note: &str) -> String {
    let state = match step.state {
        StepState::Dearer => "dearer".to_owned(),
        StepState::Cheaper => "cheaper".to_owned(),
        StepState::Same => format!("the same within {}", crate::report::share(limit)),
        StepState::NotResolved => "not resolved".to_owned(),
    };
    let p = match step.p {
        Some(p) if p < 0.0001 => format!(", p < 0.0001 {note}"),
        Some(p) => format!(", p = {p:.4} {note}"),
        None => String::new(),
    };
    format!(
        "{} to {}: {}{p}: {state}",
        step.before,
        step.after,
        estimate(step.ratio, step.interval)
    )
}

/// The logarithm of a version by session and pair.
type Levels = BTreeMap<(u32, u32), f64>;

/// The values of all counted pairs; empty if one has no figure, because omitting it would be a selection.
fn levels(pairs: &Pairs<'_>, arm: &ArmRow, metric: Metric, of: Compared) -> Levels {
    let Some(found) = pairs.arms.iter().find(|found| found.arm == arm.facts.name) else {
        return Levels::new();
    };
    let values = found.pairs.iter().map(|pair| {
        let log = |block| value(block, metric).filter(|value| *value > 0.0).map(f64::ln);
        let level = match of {
            Compared::Arm => log(pair.arm)?,
            Compared::Plain => log(pair.control)?,
            Compared::Cost => log(pair.arm)? - log(pair.control)?,
        };
        Some(((pair.session, pair.pair), level))
    });
    values.collect::<Option<Levels>>().unwrap_or_default()
}

/// The differences of the pairs that both have, by session; none if there are none.
fn differences(before: &Levels, after: &Levels) -> Option<Vec<Vec<f64>>> {
    let mut sessions: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (place, later) in after {
        if let Some(earlier) = before.get(place) {
            sessions.entry(place.0).or_default().push(later - earlier);
        }
    }
    (!sessions.is_empty()).then(|| sessions.into_values().collect())
}

struct Contrast {
    found: Estimate,
    /// Of such a difference if there is none.
    p_none: Option<f64>,
    /// Of such a difference if the true one is at the limit, on its side.
    p_limit: Option<f64>,
    /// The limit on the side of the difference.
    bound: f64,
}

impl Contrast {
    fn new(material: &Material, sessions: Vec<Vec<f64>>, limit: f64) -> Option<Self> {
        let interval = material.interval();
        let options = Options {
            confidence: CONFIDENCE,
            replicates: 0,
            seed: 0,
        };
        let found = interval.estimate(&sessions, &options)?;
        let bound = if found.center < 0.0 {
            (-limit).ln_1p()
        } else {
            limit.ln_1p()
        };
        Some(Self {
            p_none: interval.p_value(&sessions, &found, 0.0),
            p_limit: interval.p_value(&sessions, &found, bound),
            found,
            bound,
        })
    }

    fn step(&self, material: &Material, names: (String, String), p: (f64, f64), limit: f64) -> Step {
        let found = &self.found;
        let interval = found.t.map(|ends| (ends.low.exp_m1(), ends.high.exp_m1()));
        let is_sure = p.1 <= 1.0 - CONFIDENCE;
        let state = match interval {
            _ if found.sessions < SESSIONS_MIN => StepState::NotResolved,
            Some((low, _)) if low > limit && is_sure => StepState::Dearer,
            Some((_, high)) if high < -limit && is_sure => StepState::Cheaper,
            Some((low, high)) if low > -limit && high < limit => StepState::Same,
            Some(_) | None => StepState::NotResolved,
        };
        let study = &material.config.study;
        let more = sessions_more(self.bound, found, study.pairs, study.sessions);
        Step {
            before: names.0,
            after: names.1,
            ratio: found.center.exp_m1(),
            interval,
            p: self.p_none.map(|_| p.0),
            sessions: found.sessions,
            pairs: found.pairs,
            state,
            sessions_more: more.filter(|_| state == StepState::NotResolved),
        }
    }
}

fn chosen_arms<'a>(material: &'a Material, question: &BisectQuestion, invalid: &mut Vec<String>) -> Vec<&'a ArmRow> {
    let encrypted = material.arms.iter().filter(|arm| arm.facts.role == ArmRole::Encrypted);
    let arms: Vec<&ArmRow> = match question.arms.is_empty() {
        true => encrypted.collect(),
        false => {
            let find = |name: &String| encrypted.clone().find(|arm| arm.facts.name == *name);
            for name in question.arms.iter().filter(|name| find(name).is_none()) {
                invalid.push(format!("it has no encrypted arm `{name}`"));
            }
            question.arms.iter().filter_map(find).collect()
        }
    };
    if arms.len() < 2 && invalid.is_empty() {
        invalid.push("a comparison needs two arms or more".to_owned());
    }
    let is_double = |index: usize| arms.iter().take(index).any(|arm| arm.id == arms[index].id);
    if (0..arms.len()).any(is_double) {
        invalid.push("an arm is named twice".to_owned());
    }
    arms
}

fn chosen_cell<'a>(
    material: &'a Material,
    question: &BisectQuestion,
    invalid: &mut Vec<String>,
) -> Option<&'a CellRow> {
    let names = || {
        let names = material.cells.iter().map(|row| row.cell.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    match &question.cell {
        Some(name) => {
            let found = material.cells.iter().find(|row| row.cell.name == *name);
            if found.is_none() {
                invalid.push(format!("it has no cell `{name}`; its cells are {}", names()));
            }
            found
        }
        None => {
            let gating: Vec<&CellRow> = material.cells.iter().filter(|row| row.cell.gating).collect();
            if let [only] = gating.as_slice() {
                return Some(*only);
            }
            invalid.push(format!("name one cell of {}", names()));
            None
        }
    }
}

/// The cost of encryption where each version has a control of its own.
fn compared(arms: &[&ArmRow]) -> Compared {
    let mut controls: Vec<&str> = arms.iter().filter_map(|arm| arm.facts.control.as_deref()).collect();
    controls.sort_unstable();
    controls.dedup();
    match controls.len() > 1 {
        true => Compared::Cost,
        false => Compared::Arm,
    }
}

fn version(material: &Material, arm: &ArmRow, of: Compared) -> String {
    let control = arm.facts.control.as_deref();
    let control = material
        .arms
        .iter()
        .find(|other| Some(other.facts.name.as_str()) == control);
    match (of, control) {
        (Compared::Plain, Some(control)) => control.facts.label.clone(),
        (Compared::Plain | Compared::Arm | Compared::Cost, _) => arm.facts.label.clone(),
    }
}

fn floor(summary: &Summary, row: &CellRow, metric: Metric) -> Option<(f64, f64)> {
    let floor = summary.arms.iter().find(|arm| arm.role == ArmRole::Floor)?;
    let cell = summary.cells.iter().find(|cell| cell.name == row.cell.name)?;
    let mut effects = cell.effects.iter();
    effects
        .find(|effect| effect.arm == floor.name && effect.metric == metric)?
        .interval
}

fn warnings(summary: &Summary, arms: &[&ArmRow]) -> Vec<String> {
    let mut warnings = Vec::new();
    for two in arms.windows(2) {
        let [before, after] = two else { continue };
        let names = format!("{} and {}", before.facts.name, after.facts.name);
        let program = |arm: &ArmRow| (arm.facts.program_sha256.clone(), arm.facts.label.clone());
        if before.facts.program_sha256.is_some() && program(before) == program(after) {
            warnings.push(format!("{names} are the same program with the same settings"));
        }
        if engine(&before.facts.library) != engine(&after.facts.library) {
            warnings.push(format!("{names} are different engines, not versions of one"));
        }
        if before.facts.cipher != after.facts.cipher {
            warnings.push(format!("{names} have different ciphers"));
        }
    }
    let load = crate::load::sessions(summary);
    if load
        .iter()
        .any(|session| session.state != crate::summary::LoadState::Quiet)
    {
        warnings.push(format!(
            "{}; selenite lab report shows what was at work",
            crate::load::words(&load)
        ));
    }
    warnings
}

/// The name of a library without its version.
fn engine(library: &str) -> &str {
    library
        .split(|letter: char| letter.is_ascii_digit())
        .next()
        .unwrap_or(library)
        .trim()
}
