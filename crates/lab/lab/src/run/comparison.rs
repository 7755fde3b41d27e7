//! Checks after a session: the copies of all arms still have the same rows, and encrypted ones are encrypted.

use selenite_worker::dataset::{SERVER_WIRE_MARKER, marker};
use selenite_worker::protocol::{Dataset, Loaded, PLAIN};

use super::Runner;
use super::error::RunError;
use super::preparation::worker;
use super::session::SessionResources;
use super::testbed::{Testbed, Workers};
use crate::config::Cell;
use crate::config::cell::writes;
use crate::proof::ProofError;

impl<B: Testbed> Runner<'_, B> {
    /// After a session, checks that the copies that were written have the same rows.
    pub(super) fn compare_copies(&mut self, stage: &mut SessionResources<B::WorkerGroup>) -> Result<(), RunError> {
        let request_timeout = self.request_timeout();
        for data in stage.written.clone() {
            let together = |cell: &Cell| cell.data == data && cell.processes > 1 && writes(&cell.work);
            // The order of several processes is random, so only the number of rows can be compared.
            let exact = !self.config.cells.iter().any(together);
            let mut first = None;
            for arm in 0..self.arms.len() {
                let of = self.arms[arm].clone();
                let path = self.copies.copy_path(stage.id, &of.name, &data);
                let spec = self.spec(&of, &of.cipher, &path, self.config.layout.cache_kib);
                let Some((_, group)) = stage.groups.iter_mut().find(|((index, _), _)| *index == arm) else {
                    continue;
                };
                group
                    .open(&spec, request_timeout)
                    .map_err(|source| worker(&of, "open", source))?;
                let digest = group
                    .digest(request_timeout)
                    .map_err(|source| worker(&of, "digest", source))?;
                group
                    .close(request_timeout)
                    .map_err(|source| worker(&of, "close", source))?;
                let seen = (digest.rows, exact.then_some(digest.digest));
                if *first.get_or_insert_with(|| seen.clone()) != seen {
                    return Err(self.differ(arm, 0, format!("data `{data}`, after session {}", stage.id)));
                }
            }
        }
        Ok(())
    }

    /// Proves the encryption of the copies that were measured, as that of the masters was proved before.
    pub(super) fn prove_copies(&mut self, stage: &mut SessionResources<B::WorkerGroup>) -> Result<(), RunError> {
        let request_timeout = self.request_timeout();
        for (data, dataset) in self.config.data.clone() {
            let loaded = Loaded {
                digest: String::new(),
                rows: 0,
                marker: match dataset == Dataset::Wire && self.config.has_servers() {
                    true => SERVER_WIRE_MARKER.to_owned(),
                    false => marker(&dataset).to_owned(),
                },
            };
            for arm in 0..self.arms.len() {
                let of = self.arms[arm].clone();
                let Some(control) = of.control.filter(|_| of.cipher != PLAIN) else {
                    continue;
                };
                let Some((_, group)) = stage.groups.iter_mut().find(|((index, _), _)| *index == arm) else {
                    continue;
                };
                let path = self.copies.copy_path(stage.id, &of.name, &data);
                let plain = self.copies.copy_path(stage.id, &self.arms[control].name, &data);
                let spec = self.spec(&of, &of.cipher, &path, self.config.layout.cache_kib);
                let opened = group
                    .open(&spec, request_timeout)
                    .map_err(|source| worker(&of, "open", source))?;
                group
                    .close(request_timeout)
                    .map_err(|source| worker(&of, "close", source))?;
                match self.around.testbed.prove(&of, &path, &plain, &loaded, &opened) {
                    // Updates may have removed the marker from both.
                    Err(ProofError::Void { .. }) if stage.written.contains(&data) => {}
                    Err(source) => return Err(RunError::Proof { arm: of.name, source }),
                    Ok(_) => {}
                }
            }
        }
        Ok(())
    }
}
