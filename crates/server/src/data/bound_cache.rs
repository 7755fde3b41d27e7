//! Bound statements that a session keeps.

use std::collections::HashMap;
use std::sync::Arc;

use selenite_plan::machine::TableStatement;
use selenite_plan::program::{Program, StatementId};
use selenite_plan::statement::Statement;

use super::catalog_rows::CatalogRow;
use super::database::Version;

/// By program and number, for one state of the definitions.
#[derive(Default)]
pub struct BoundCache {
    kept: HashMap<(usize, StatementId), Kept>,
    size: u64,
}

struct Kept {
    /// Kept, so that no other program comes to lie at its address.
    program: Arc<Program>,
    of: Of,
    bound: Arc<Statement>,
}

/// Of which definitions a statement was bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Of {
    /// The database.
    pub database_id: i32,
    /// Its definitions.
    pub version: Version,
    /// Those of the session's temporary tables.
    pub temporary: u64,
    /// Those of the frame's table variables.
    pub variables: usize,
    /// Whether names without a database mean none of it, since another one is in use.
    pub is_away: bool,
}

impl BoundCache {
    /// What was bound of a statement, if it still holds.
    pub fn find(&self, statement: &TableStatement<'_>, of: Of) -> Option<Arc<Statement>> {
        let kept = self.kept.get(&(address(statement.program), statement.id))?;
        (kept.of == of && Arc::ptr_eq(&kept.program, statement.program)).then(|| kept.bound.clone())
    }

    /// Keeps what was bound, which takes so many bytes.
    pub fn keep(&mut self, statement: &TableStatement<'_>, of: Of, bound: Arc<Statement>, size: u64) {
        if size > ONE_SIZE_MAX {
            return;
        }
        if self.kept.len() >= COUNT_MAX || self.size + size > SIZE_MAX {
            self.kept.clear();
            self.size = 0;
        }
        // What it replaces counts until all go.
        self.size += size;
        let key = (address(statement.program), statement.id);
        let kept = Kept {
            program: statement.program.clone(),
            of,
            bound,
        };
        self.kept.insert(key, kept);
    }
}

/// The programs of procedures that a session has called.
#[derive(Default)]
pub struct ProcedureCache(HashMap<(i32, i32), (Arc<CatalogRow>, Arc<Program>)>);

impl ProcedureCache {
    /// The program of a procedure, if it is still the same one.
    pub fn find(&self, database_id: i32, row: &Arc<CatalogRow>) -> Option<Arc<Program>> {
        let (known, program) = self.0.get(&(database_id, row.object_id))?;
        let is_it = Arc::ptr_eq(known, row) || known.name == row.name && known.definition == row.definition;
        is_it.then(|| program.clone())
    }

    /// Keeps a program.
    pub fn keep(&mut self, database_id: i32, row: &Arc<CatalogRow>, program: &Arc<Program>) {
        if self.0.len() >= COUNT_MAX {
            self.0.clear();
        }
        self.0
            .insert((database_id, row.object_id), (row.clone(), program.clone()));
    }
}

fn address(program: &Arc<Program>) -> usize {
    Arc::as_ptr(program).addr()
}

/// 16 MiB of bound statements in a session.
const SIZE_MAX: u64 = 16 << 20;
/// 1 MiB: what is larger is generated, and seldom comes twice.
const ONE_SIZE_MAX: u64 = 1 << 20;
/// Of a session: a text seldom has more statements than ten, and an application seldom more texts than some dozens.
const COUNT_MAX: usize = 256;
