//! Every kind of work is done in every cipher, and answered as in clear.

use std::fs;
use std::path::Path;

use selenite_worker::protocol::{Dataset, Digest, Hummer, PLAIN, Request, Work};

use crate::Fault;
use crate::folder::Folder;
use crate::talk::Talk;

/// The rows that are loaded, what each work answers, and the rows afterwards are those of the database in clear; nothing
/// is left beside the databases.
///
/// # Errors
/// What differs.
pub fn is_answered_alike(executable: &Path) -> Result<(), Fault> {
    let mut talk = Talk::start(executable)?;
    let ciphers = talk.ciphers()?;
    for (dataset, works) in workloads() {
        let folder = Folder::new()?;
        let mut in_clear: Option<Vec<String>> = None;
        for cipher in &ciphers {
            let database = folder.opening(&format!("{cipher}.db"), cipher);
            let loaded = talk.load(&database, &dataset)?;
            let mut said = vec![format!("{} rows, {}", loaded.rows, loaded.digest)];
            talk.open(&database)?;
            for work in works.iter().chain(&conversions(&ciphers)) {
                let sample = talk
                    .run(work)
                    .map_err(|fault| Fault::new(format!("{cipher}, {work:?}: {fault}")))?;
                Fault::unless(sample.cpu_ns > 0 && sample.operations > 0, || {
                    format!("{cipher}, {work:?}: {sample:?}")
                })?;
                said.push(format!("{work:?}: {}", sample.answer));
            }
            let digest: Digest = talk.ask(&Request::Digest)?;
            said.push(format!("{} rows, {}", digest.rows, digest.digest));
            match &in_clear {
                None => in_clear = Some(said),
                Some(in_clear) => Fault::unless(*in_clear == said, || {
                    format!("{cipher}: {said:#?}\n{PLAIN}: {in_clear:#?}")
                })?,
            }
        }
        let count = fs::read_dir(folder.path(""))?.count();
        // Two keys; the last database is open, with its log and its index.
        Fault::unless(count == 2 + ciphers.len() + 2, || format!("{count} files are left"))?;
    }
    Ok(())
}

fn workloads() -> [(Dataset, Vec<Work>); 3] {
    let hummer = Hummer {
        mix: [4, 3, 3],
        loops: 100,
        pause_every: 0,
        pause_ms: 0,
    };
    let cold = |rehearsals| [Work::Like { rehearsals }, Work::Equal { rehearsals }];
    let checks = [Work::IntegrityCheck, Work::QuickCheck, Work::PhysicalVerify];
    let scans = cold(0).into_iter().chain(cold(1)).chain([Work::Backup]).chain(checks);
    let statements = vec![Work::Insert { rows: 50 }, Work::UpdateAll, Work::SelectAll];
    [
        (Dataset::Scan { bytes: 1 << 20 }, scans.collect()),
        (Dataset::Statements { rows: 500 }, statements),
        (Dataset::Cards { rows: 500 }, vec![Work::Hummer { hummer }]),
    ]
}

fn conversions(ciphers: &[String]) -> Vec<Work> {
    let to = |cipher: &String| Work::Convert { to: cipher.clone() };
    ciphers.iter().map(to).collect()
}
