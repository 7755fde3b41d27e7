//! `selenite lab status`: the progress of a study, without its results.

use selenite::utc;
use selenite_lab::store::Store;
use selenite_lab::summary::StudyState;
use serde_json::json;

use crate::arguments::lab::LabStatus;
use crate::cli_error::CliError;
use crate::lines::{Lines, count};
use crate::output::print;

pub fn run(arguments: &LabStatus) -> Result<(), CliError> {
    let store = Store::read(&arguments.store)?;
    let study = store.study()?;
    let (arms, cells, plan, blocks) = (store.arms()?, store.cells()?, store.schedule()?, store.blocks()?);
    let sessions = store.sessions()?;
    let whole = sessions
        .iter()
        .filter(|session| session.ended_s.is_some() && session.void.is_none());
    let (done, void) = (
        plan.iter().filter(|row| row.block.is_some()).count(),
        blocks.iter().filter(|block| block.void.is_some()).count(),
    );
    let whole = whole.count();
    let extended: Vec<u32> = store.extensions()?.iter().map(|one| one.sessions).collect();
    let runs = Store::runs(&arguments.store);
    let state = match study.state {
        StudyState::Unfinished if runs => "running",
        StudyState::Unfinished => "interrupted; continue with selenite lab resume",
        StudyState::Precise => "over: as precise as asked",
        StudyState::Complete => "over: all sessions done",
        StudyState::OutOfBudget => "over: the time is used up",
        StudyState::Stopped => "stopped; continue with selenite lab resume",
    };
    if arguments.json {
        let value = json!({
            "study": study.name, "state": study.state, "running": runs, "seed": study.seed, "created_s": study.created_s,
            "arms": arms.iter().map(|arm| &arm.facts.name).collect::<Vec<_>>(),
            "cells": cells.iter().map(|cell| &cell.cell.name).collect::<Vec<_>>(),
            "sessions_whole": whole, "blocks_done": done, "blocks_planned": plan.len(), "blocks_void": void,
            "extended": extended,
        });
        return Ok(print(&value.to_string())?);
    }
    let mut lines = Lines::default();
    lines.add("study", format!("{}, begun {}", study.name, utc(study.created_s)));
    lines.add("state", state);
    lines.add("seed", study.seed.to_string());
    lines.add(
        "arms",
        arms.iter()
            .map(|arm| arm.facts.name.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    );
    lines.add(
        "cells",
        cells
            .iter()
            .map(|cell| cell.cell.name.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    );
    lines.add("sessions", format!("{} whole", count_of(whole)));
    lines.add_all(
        "extended",
        extended.iter().map(|sessions| format!("by {sessions} sessions")),
    );
    lines.add(
        "blocks",
        format!(
            "{} of {}, {} void",
            count_of(done),
            count_of(plan.len()),
            count_of(void)
        ),
    );
    lines.add_all("events", store.events()?.into_iter().map(|event| event.text));
    Ok(print(&lines.text())?)
}

fn count_of(number: usize) -> String {
    count(u64::try_from(number).unwrap_or(u64::MAX))
}
