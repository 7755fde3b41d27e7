//! The subjects of cells, and the limits of a study.

use selenite_stats::median;
use selenite_worker::protocol::{Dataset, Workload};

use super::Material;
use crate::config::CacheState;
use crate::config::arm::SERVERS;
use crate::config::cell::writes;
use crate::summary::{CellSummary, Effect, Metric, as_f64};

/// The name of a kind of work, as in a configuration.
pub fn work(work: &Workload) -> &'static str {
    work.kind()
}

/// The unit of its operations.
pub fn unit(work: &Workload) -> &'static str {
    match work {
        // Each row is a transaction.
        Workload::Insert { .. } => "row",
        Workload::Readers { .. } => "reader",
        Workload::Open { .. } => "opening",
        Workload::Hummer { .. } => "loop",
        Workload::Messages { .. } => "iteration of the loop",
        Workload::Backup | Workload::Archive { .. } => "backup",
        Workload::Convert { .. } => "copy",
        Workload::Rekey => "change of key",
        Workload::IntegrityCheck | Workload::QuickCheck | Workload::PhysicalVerify => "check",
        Workload::Like { .. } | Workload::Equal { .. } | Workload::UpdateAll | Workload::SelectAll => "statement",
    }
}

/// Its mix, if it has one.
pub fn mix(work: &Workload) -> Option<[u8; 3]> {
    match work {
        Workload::Hummer { hummer } => Some(hummer.mix),
        Workload::Like { .. }
        | Workload::Equal { .. }
        | Workload::Insert { .. }
        | Workload::UpdateAll
        | Workload::SelectAll
        | Workload::Backup
        | Workload::Convert { .. }
        | Workload::Rekey
        | Workload::Archive { .. }
        | Workload::IntegrityCheck
        | Workload::QuickCheck
        | Workload::PhysicalVerify
        | Workload::Readers { .. }
        | Workload::Open { .. }
        | Workload::Messages { .. } => None,
    }
}

/// The limits of the figures, one sentence each.
pub fn limits(material: &Material, cells: &[CellSummary]) -> Vec<String> {
    if material
        .cells
        .iter()
        .any(|row| matches!(row.cell.work, Workload::Messages { .. }))
    {
        return of_transit().into_iter().chain(of_engines(material, cells)).collect();
    }
    let layout = &material.config.layout;
    let configured = || material.cells.iter().map(|row| &row.cell);
    let journal = match SERVERS.contains(&material.config.study.baseline.as_str()) {
        true => String::new(),
        false => format!(" journal_mode = {},", layout.journal_mode),
    };
    let mut limits = vec![format!(
        "Other machines, and other settings: pages of {} bytes, {} KiB of page cache,{journal} synchronous = {}.",
        layout.page_size, layout.cache_kib, layout.synchronous
    )];
    let mut add = |when: bool, text: &str| {
        if when {
            limits.push(text.to_owned());
        }
    };
    let scan = material
        .config
        .data
        .values()
        .all(|data| matches!(data, Dataset::Scan { .. }));
    add(
        !configured().any(|cell| cell.cache == CacheState::Cold),
        "Reads from storage: no cell starts cold.",
    );
    add(
        configured().all(|cell| cell.cache == CacheState::Cold),
        "Pages that are in memory: every cell starts cold.",
    );
    add(
        !configured().any(|cell| writes(&cell.work)),
        "Writes: no cell changes rows.",
    );
    add(
        configured().all(|cell| cell.processes == 1),
        "Several processes at once: every cell has one.",
    );
    add(
        configured().any(|cell| cell.online.is_some()),
        "A machine with busy processors or slow storage: re-encryption uses what is free of both.",
    );
    add(scan, "Access by an index: every cell reads one table from end to end.");
    let instructions = |effect: &Effect| effect.metric == Metric::Instructions;
    let counted = cells.iter().any(|cell| cell.effects.iter().any(instructions));
    let said = |warning: &String| warning.contains("instructions can't be counted");
    let said = material.study.host.warnings.iter().any(said);
    add(
        !counted && !said,
        "Instructions: this machine does not count them, and CPU time stands in for them.",
    );
    for cell in cells.iter().filter(|cell| cell.warm_up.unsteady > 0) {
        let (label, count) = (&cell.label, cell.warm_up.unsteady);
        limits.push(format!(
            "A steady state of {label}: in {count} sessions there was none, and all pairs count."
        ));
    }
    limits.extend(of_engines(material, cells));
    limits
}

/// What engines cannot do, and cells whose client had no time left to wait for its server.
fn of_engines(material: &Material, cells: &[CellSummary]) -> Vec<String> {
    let mut limits: Vec<String> = Vec::new();
    for limit in material.arms.iter().flat_map(|arm| &arm.facts.limits) {
        if !limits.contains(limit) {
            limits.push(limit.clone());
        }
    }
    for (row, cell) in material.cells.iter().zip(cells) {
        // By arm: the client of one may have more to do than those of the others.
        for arm in &material.arms {
            let blocks = material
                .blocks
                .iter()
                .filter(|block| block.cell == row.id && block.arm == arm.id && block.void.is_none());
            let shares = blocks.filter_map(|block| {
                let client = as_f64(block.sample.client_cpu_ns?);
                Some(client / as_f64(block.sample.elapsed_ns.max(1)))
            });
            let share = median(&shares.collect::<Vec<f64>>()).unwrap_or(0.0);
            if share > CLIENT_SHARE_MAX {
                limits.push(format!(
                    "The elapsed time of {}, {}: its client used a processor for {:.0} % of it, so that it is the \
                     client's and not the server's (generator-bound).",
                    cell.label,
                    arm.facts.name,
                    share * 100.0
                ));
            }
        }
    }
    limits
}

/// A client that uses more of a processor is the bottleneck for some of the time.
const CLIENT_SHARE_MAX: f64 = 0.7;

/// The limits of a study of a server's traffic.
fn of_transit() -> Vec<String> {
    [
        "A network: server and client are on one machine, and share its processors.",
        "The client's part: only the server's process is measured.",
        "Messages of other sizes and at other times: a loop sends nothing but full packets, as fast as they go.",
        "Handshakes: a connection is there before the clock starts.",
    ]
    .map(str::to_owned)
    .to_vec()
}
