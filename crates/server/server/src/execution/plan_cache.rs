//! Bound statements and programs of procedures that a session keeps.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use selenite_compiler::program::{Program, StatementId};
use selenite_compiler::statement::Statement;
use selenite_runtime::machine::TableStatement;

use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::effective_permissions::Permissions;
use crate::database::database_connection::Version;
use crate::execution::name_scope::PlanVersion;

/// The caches of a session.
pub struct PlanCache {
    pub statements: StatementCache,
    pub procedures: ProcedureCache,
    /// How often bound statements were dropped by DBCC.
    dropped: u64,
}

impl PlanCache {
    /// Empty caches, with room for so many bytes of memory in total.
    pub fn new(size_max: u64) -> Self {
        Self {
            statements: StatementCache::new(size_max / 2),
            procedures: ProcedureCache::new(size_max / 2),
            dropped: 0,
        }
    }

    /// Drops bound statements, if that was asked for since the last time: `count` times by now. Returns whether it was.
    pub fn drop_if_asked(&mut self, count: u64) -> bool {
        let is_asked = std::mem::replace(&mut self.dropped, count) != count;
        if is_asked {
            self.statements.clear();
        }
        is_asked
    }

    /// How many bytes of memory they take.
    pub fn size(&self) -> u64 {
        self.statements.size().saturating_add(self.procedures.size())
    }
}

/// By program and number, for one state of the definitions.
pub struct StatementCache {
    kept: HashMap<(usize, StatementId), CachedPlan>,
    size: u64,
    size_max: u64,
    /// The cached programs, each of which counts once.
    programs: HashSet<usize>,
}

struct CachedPlan {
    /// Kept, so that no other program gets its address.
    program: Arc<Program>,
    of: PlanVersion,
    bound: Arc<Statement>,
    calls_functions: bool,
}

impl StatementCache {
    /// An empty cache, with room for so many bytes of memory.
    pub fn new(size_max: u64) -> Self {
        Self {
            kept: HashMap::new(),
            size: 0,
            size_max: size_max.min(SIZE_MAX),
            programs: HashSet::new(),
        }
    }

    /// Drops all of them.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.programs.clear();
        self.size = 0;
    }

    /// A cached bound statement, if it is still valid, and whether it calls functions of users.
    pub fn find(&self, statement: &TableStatement<'_>, of: PlanVersion) -> Option<(Arc<Statement>, bool)> {
        let kept = self.kept.get(&(address(statement.program), statement.id))?;
        (kept.of == of && Arc::ptr_eq(&kept.program, statement.program))
            .then(|| (kept.bound.clone(), kept.calls_functions))
    }

    /// How many bytes of memory it takes: bound statements and programs.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Caches a bound statement, which takes so many bytes, and whether it calls functions of users.
    pub fn keep(
        &mut self,
        statement: &TableStatement<'_>,
        of: PlanVersion,
        (bound, calls_functions): (Arc<Statement>, bool),
        size: u64,
    ) {
        let program = address(statement.program);
        let program_size = match self.programs.contains(&program) {
            true => 0,
            false => statement.program.memory_size(),
        };
        let more = size.saturating_add(program_size);
        if size > ONE_SIZE_MAX || program_size > PROGRAM_SIZE_MAX || more > self.size_max {
            return;
        }
        if self.kept.len() >= COUNT_MAX || self.size + more > self.size_max {
            self.clear();
        }
        // What it replaces counts until all are dropped.
        self.size += size;
        if self.programs.insert(program) {
            self.size += statement.program.memory_size();
        }
        let key = (program, statement.id);
        let kept = CachedPlan {
            program: statement.program.clone(),
            of,
            bound,
            calls_functions,
        };
        self.kept.insert(key, kept);
    }
}

/// The programs of procedures that a session has called.
pub struct ProcedureCache {
    kept: HashMap<(i32, i32), (Arc<CatalogRow>, Arc<Program>)>,
    size: u64,
    size_max: u64,
}

impl ProcedureCache {
    /// An empty cache, with room for so many bytes of memory.
    pub fn new(size_max: u64) -> Self {
        Self {
            kept: HashMap::new(),
            size: 0,
            size_max: size_max.min(SIZE_MAX),
        }
    }

    /// How many bytes of memory they take.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The program of a procedure, if it is still the same one.
    pub fn find(&self, database_id: i32, row: &Arc<CatalogRow>) -> Option<Arc<Program>> {
        let (known, program) = self.kept.get(&(database_id, row.object_id))?;
        let is_it = Arc::ptr_eq(known, row)
            || known.name == row.name && known.schema == row.schema && known.definition == row.definition;
        is_it.then(|| program.clone())
    }

    /// Caches a program.
    pub fn keep(&mut self, database_id: i32, row: &Arc<CatalogRow>, program: &Arc<Program>) {
        let size = program.memory_size();
        if size > self.size_max {
            return;
        }
        if self.kept.len() >= COUNT_MAX || self.size + size > self.size_max {
            self.kept.clear();
            self.size = 0;
        }
        // What it replaces counts until all are dropped.
        self.size += size;
        self.kept
            .insert((database_id, row.object_id), (row.clone(), program.clone()));
    }
}

/// The bound statements of functions, kept for one state of the definitions.
#[derive(Default)]
pub struct FunctionPlans {
    pub of: Option<(i32, Version, Permissions)>,
    pub kept: HashMap<PlanKey, Arc<Statement>>,
}

/// A statement of a function: the function, the statement's number, and the depth where it names table variables.
pub type PlanKey = (i32, StatementId, usize);

fn address(program: &Arc<Program>) -> usize {
    Arc::as_ptr(program).addr()
}

/// 16 MiB of bound statements in a session, and of procedures.
const SIZE_MAX: u64 = 16 << 20;
/// 1 MiB: a larger statement is generated, and seldom run twice.
const ONE_SIZE_MAX: u64 = 1 << 20;
/// 4 MiB: some 100 KiB of text. A larger one is generated, too.
const PROGRAM_SIZE_MAX: u64 = 4 << 20;
/// Of a session: a text seldom has more statements than ten, and an application seldom more texts than some dozens.
const COUNT_MAX: usize = 256;
