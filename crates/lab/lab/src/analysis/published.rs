//! A published measurement compared with the study that repeats it.

use std::collections::BTreeMap;

use selenite_stats::{SequentialMethod, SessionCourse, sequential_errors};

use super::Material;
use super::pair::{Pairs, value};
use super::pool::pooled;
use crate::config::{Published, PublishedFigure};
use crate::store::CellRow;
use crate::summary::{CellSummary, Effect, FigureComparison, Metric, OurFigure, PublishedMethodErrors, Rerun};

/// The published figures beside ours; none if the study repeats nothing.
pub fn rerun(material: &Material, cells: &[CellSummary]) -> Option<Rerun> {
    let published = material.config.published.as_ref()?;
    let figures = published.figures.iter();
    let figures = figures.map(|figure| compare(material, published, figure, cells));
    Some(Rerun {
        source: published.source.clone(),
        figures: figures.collect(),
    })
}

fn compare(
    material: &Material,
    published: &Published,
    figure: &PublishedFigure,
    cells: &[CellSummary],
) -> FigureComparison {
    let ours = ours(material, figure, cells);
    FigureComparison {
        what: figure.what.clone(),
        arm: figure.arm.clone(),
        cells: figure.cells.clone(),
        metric: figure.metric,
        as_published: figure.as_published.clone(),
        published: figure.change,
        remark: figure.remark.clone(),
        ours,
        errors: errors(material, published, figure, ours),
    }
}

/// None unless every cell has the figure.
fn ours(material: &Material, figure: &PublishedFigure, cells: &[CellSummary]) -> Option<OurFigure> {
    let of_cell = |name: &String| -> Option<&Effect> {
        let cell = cells.iter().find(|cell| cell.name == *name)?;
        let mut effects = cell.effects.iter();
        effects.find(|effect| effect.arm == figure.arm && effect.metric == figure.metric)
    };
    let effects: Vec<&Effect> = figure.cells.iter().map(of_cell).collect::<Option<_>>()?;
    let sessions = effects.iter().map(|effect| effect.sessions).min()?;
    if let [only] = effects.as_slice() {
        return Some(OurFigure {
            ratio: only.ratio,
            interval: only.interval,
            sessions,
        });
    }
    let pooled = pooled(&effects, material.interval())?;
    Some(OurFigure {
        ratio: pooled.ratio,
        interval: pooled.interval,
        sessions,
    })
}

fn errors(
    material: &Material,
    published: &Published,
    figure: &PublishedFigure,
    ours: Option<OurFigure>,
) -> Option<PublishedMethodErrors> {
    let of_cell = |name: &String| -> Option<Vec<SessionCourse>> {
        let row = material.cells.iter().find(|row| row.cell.name == *name)?;
        courses(material, row, &figure.arm, figure.metric)
    };
    let cells: Vec<Vec<SessionCourse>> = figure.cells.iter().map(of_cell).collect::<Option<_>>()?;
    let method = SequentialMethod {
        runs: published.source.runs,
        restarted: published.source.restarted,
    };
    let seed = material.study.seed;
    let found = sequential_errors(&cells, method, REPLICATES, seed)?;
    let size = figure.change.ln_1p();
    let pairs: usize = cells.iter().flatten().map(|course| course.first.len()).sum();
    let sessions = cells.iter().map(Vec::len).min()?;
    Some(PublishedMethodErrors {
        replicates: REPLICATES,
        seed,
        sessions: u32::try_from(sessions).ok()?,
        pairs: u32::try_from(pairs).ok()?,
        spread: (found.quantile(0.05)?.exp_m1(), found.quantile(0.95)?.exp_m1()),
        false_alarms: found.false_alarms(size),
        wrong_sign_ours: ours.and_then(|ours| found.wrong_signs(ours.ratio.ln_1p())),
        wrong_sign_published: found.wrong_signs(size),
    })
}

/// The logarithms of an arm and of its control by session, in order of time. None if a block has no
/// such figure: omitting it would be a selection.
fn courses(material: &Material, row: &CellRow, arm: &str, metric: Metric) -> Option<Vec<SessionCourse>> {
    let pairs = Pairs::of(material, row);
    let of = pairs.arms.iter().find(|of| of.arm == arm)?;
    let mut sessions: BTreeMap<u32, SessionCourse> = BTreeMap::new();
    for pair in &of.pairs {
        let course = sessions.entry(pair.session).or_insert_with(|| SessionCourse {
            first: Vec::new(),
            second: Vec::new(),
        });
        let log = |value: f64| (value > 0.0).then(|| value.ln());
        course.first.push(log(value(pair.control, metric)?)?);
        course.second.push(log(value(pair.arm, metric)?)?);
    }
    Some(sessions.into_values().collect())
}

/// Enough to know a share of one in a hundred to two thirds of a percentage point.
const REPLICATES: u32 = 4000;
