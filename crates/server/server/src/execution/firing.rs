//! Changes whose triggers fire: which triggers, the rows that they see, and what is undone.
//!
//! - `once-per-statement`: a trigger runs once for each statement, however many rows it changes, also if there are none.
//! - `no-direct-recursion`: an AFTER trigger is not fired by a statement of its own unless RECURSIVE_TRIGGERS is ON, nor
//!   ever an INSTEAD OF trigger.
//! - `rows-of-cascades-are-unknown`: SQLite changes rows by cascades itself: a change that cascades to a table with
//!   triggers is refused, and so is an update that cascades to one with a rowversion.

use std::sync::Arc;

use selenite_compiler::catalog::{ChangeVerb, ReferencedAction, Table, is_of};
use selenite_compiler::change::UpdateStrategy;
use selenite_compiler::program::Program;
use selenite_compiler::statement::Statement;
use selenite_compiler::{Ends, NameKey, SqlError, TriggerFacts, same_name};
use selenite_runtime::change::{ChangedRow, ChangedRows};
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::{StatementKind, TriggerTiming};

use crate::catalog::schema::{SchemaTrigger, parsed};
use crate::catalog::table_variables::{TableVariable, Variables};
use crate::database::transaction::Transaction;
use crate::database::transactions::StatementScope;
use crate::execution::fired_change::Firing;
use crate::execution::session_executor::SessionExecutor;
use crate::memory;

/// Triggers that are to fire, each with the change that fires it.
pub(crate) type FiringTriggers = Vec<(Arc<SchemaTrigger>, ChangeVerb)>;

impl SessionExecutor<'_> {
    /// The triggers that a statement fires.
    ///
    /// # Errors
    /// 40510 for `rows-of-cascades-are-unknown`, and for a change of a view by the trigger that makes such changes.
    pub(crate) fn triggers_of(&self, bound: &Statement) -> Result<FiringTriggers, SqlError> {
        let Some((table, verbs)) = changed_table(bound) else {
            return Ok(Vec::new());
        };
        let schema = &self.scope.objects.catalog.schema;
        if table.is_temporary() || !schema.has_triggers() && table.references.is_empty() {
            return Ok(Vec::new());
        }
        let mut firing = Vec::new();
        for verb in verbs {
            self.check_cascades(table, verb)?;
            if table.fires.on(verb) {
                let triggers = self.triggers_on(table, verb);
                let is_view = || schema.table(&table.schema, &table.name).is_none();
                if triggers.is_empty() && table.fires.is_instead_of(verb) && is_view() {
                    // It was bound as a change that a trigger makes.
                    return Err(SqlError::unsupported(
                        "A change of a view by its own INSTEAD OF trigger",
                    ));
                }
                firing.extend(triggers);
            }
        }
        Ok(firing)
    }

    /// The triggers that a change of a table fires, in their order.
    fn triggers_on(&self, table: &Table, verb: ChangeVerb) -> FiringTriggers {
        let running = self.frames.trigger();
        // With RECURSIVE_TRIGGERS a trigger may be fired by a statement of its own.
        let recurs = || {
            let objects = &self.scope.objects;
            objects
                .directory
                .options(objects.database_id)
                .is_on("RECURSIVE_TRIGGERS")
        };
        let may_fire = |trigger: &SchemaTrigger| {
            running != Some(trigger.row.object_id) || trigger.timing == TriggerTiming::After && recurs()
        };
        let triggers = self.scope.objects.catalog.schema.triggers_of(table.object_id);
        let mut triggers: Vec<Arc<SchemaTrigger>> = triggers
            .filter(|trigger| !trigger.state.is_disabled && is_of(trigger.events, verb))
            .filter(|trigger| may_fire(trigger))
            .cloned()
            .collect();
        triggers.sort_by_key(|trigger| trigger.rank(verb));
        let is_instead_of = |trigger: &Arc<SchemaTrigger>| trigger.timing == TriggerTiming::InsteadOf;
        if let Some(trigger) = triggers.iter().find(|trigger| is_instead_of(trigger)) {
            return vec![(trigger.clone(), verb)];
        }
        triggers.into_iter().map(|trigger| (trigger, verb)).collect()
    }

    /// `rows-of-cascades-are-unknown`.
    fn check_cascades(&self, table: &Table, verb: ChangeVerb) -> Result<(), SqlError> {
        let mut changed = vec![((table.schema.clone(), table.name.clone()), verb)];
        let mut at = 0;
        while let Some(((schema, name), verb)) = changed.get(at).cloned() {
            at += 1;
            for reference in table.references.iter() {
                let (referenced_schema, referenced) = &reference.key.referenced_table;
                let is_it = same_name(referenced_schema, &schema) && same_name(referenced, &name);
                let action = match verb {
                    ChangeVerb::Insert => ReferencedAction::NoAction,
                    ChangeVerb::Update => reference.key.on_update,
                    ChangeVerb::Delete => reference.key.on_delete,
                };
                let follows = match action {
                    ReferencedAction::NoAction => continue,
                    ReferencedAction::Cascade => verb,
                    ReferencedAction::SetNull | ReferencedAction::SetDefault => ChangeVerb::Update,
                };
                let next = (reference.table.clone(), follows);
                if !is_it || changed.contains(&next) {
                    continue;
                }
                let (schema, name) = &reference.table;
                let other = self.scope.objects.catalog.schema.table(schema, name);
                if other.is_some_and(|other| other.table.fires.on(follows)) {
                    return Err(SqlError::unsupported("A change that cascades to a table with triggers"));
                }
                let is_update = follows == ChangeVerb::Update;
                if is_update && other.is_some_and(|other| other.table.row_version().is_some()) {
                    return Err(SqlError::unsupported(
                        "An update that cascades to a table with a rowversion",
                    ));
                }
                changed.push(next);
            }
        }
        Ok(())
    }

    /// A change is about to run again, and then its triggers.
    pub fn begin_firing(&mut self) {
        self.is_firing = true;
    }

    /// A change was made whose triggers are to run.
    pub(crate) fn keep_firing(&mut self, (bound, triggers): (&Statement, FiringTriggers), scope: StatementScope) {
        let Some((table, _)) = changed_table(bound) else { return };
        let changed = self.changed.take().unwrap_or_default();
        self.firings.push(Firing {
            scope: Some(scope),
            savepoint_count: self.transactions.connected().map_or(0, Transaction::savepoint_count),
            table: table.clone(),
            rows: changed.rows,
            assigned: assigned(bound),
            left: triggers.into(),
            next: None,
        });
    }

    /// The next trigger of the innermost change.
    ///
    /// # Errors
    /// What is wrong with its text.
    pub fn next_trigger(&mut self) -> Result<Option<Arc<Program>>, Failure> {
        let Some(firing) = self.firings.last_mut() else {
            return Ok(None);
        };
        let Some((trigger, verb)) = firing.left.pop_front() else {
            return Ok(None);
        };
        firing.next = Some((trigger.clone(), verb));
        let database_id = self.transactions.current;
        if let Some(program) = self.plans.procedures.find(database_id, &trigger.row) {
            return Ok(Some(program));
        }
        let program = Arc::new(memory::measured_program(|| program_of(&trigger))?);
        self.plans.procedures.keep(database_id, &trigger.row, &program);
        Ok(Some(program))
    }

    /// Ends the innermost change; unless `is_done`, it is undone. What SQLite says is told by the next statement.
    pub fn end_firing(&mut self, is_done: bool) {
        self.is_firing = false;
        let Some(firing) = self.firings.pop() else { return };
        let Some(scope) = firing.scope else { return };
        let done = match is_done {
            true => Ok(()),
            false => Err(Failure::Error(SqlError::internal("a change that is undone"))),
        };
        let _ = self.transactions.end_statement(scope, done);
        if let Ok(used) = self.transactions.connected_mut() {
            used.forget_savepoints(firing.savepoint_count);
        }
    }

    /// The transaction has ended, and all savepoints with it.
    pub(crate) fn note_transaction_end(&mut self) {
        for firing in &mut self.firings {
            firing.scope = None;
        }
    }

    /// What the trigger whose frame is about to begin asks about its statement.
    pub fn trigger_facts(&self) -> Option<TriggerFacts> {
        let firing = self.firings.last()?;
        let (trigger, verb) = firing.next.as_ref()?;
        let is_assigned = |at: usize| match verb {
            ChangeVerb::Insert => true,
            ChangeVerb::Update => firing.assigned.contains(&at),
            ChangeVerb::Delete => false,
        };
        let columns = firing.table.columns.iter().enumerate();
        Some(TriggerFacts {
            object_id: trigger.row.object_id,
            is_instead_of: trigger.timing == TriggerTiming::InsteadOf,
            columns: columns
                .map(|(at, column)| (column.name.clone(), is_assigned(at)))
                .collect(),
        })
    }

    /// The number of the trigger whose frame begins, and its tables `inserted` and `deleted`, at this depth.
    ///
    /// # Errors
    /// SQLite's error.
    pub(crate) fn begin_trigger(&mut self, depth: usize) -> Result<(i32, Variables), SqlError> {
        let firing = self.firings.last_mut();
        let taken = firing.and_then(|firing| Some((firing.next.take()?, firing)));
        let Some(((trigger, verb), firing)) = taken else {
            return Err(SqlError::internal("a trigger that nothing fires"));
        };
        let connection = &self.transactions.connected()?.database.connection;
        let mut variables = Variables::new();
        for name in ["inserted", "deleted"] {
            let of_name = |row: &'_ ChangedRow| row.verb == verb;
            let rows = firing.rows.iter().filter(|row| of_name(row));
            let rows = rows.filter_map(|row| match name {
                "inserted" => row.new.as_deref(),
                _ => row.old.as_deref(),
            });
            let made = TableVariable::make_logical(connection, (name, &firing.table), depth, rows)?;
            variables.insert(NameKey::new(name), Arc::new(made));
        }
        Ok((trigger.row.object_id, variables))
    }
}

/// The changes in whose place the triggers are.
pub(crate) fn changed_rows(triggers: &FiringTriggers) -> ChangedRows {
    let instead_of = triggers
        .iter()
        .filter(|(trigger, _)| trigger.timing == TriggerTiming::InsteadOf);
    ChangedRows {
        rows: Vec::new(),
        instead_of: instead_of.map(|(_, verb)| *verb).collect(),
    }
}

/// The table that a statement changes rows of, and the changes; none of a bulk load without FIRE_TRIGGERS.
fn changed_table(bound: &Statement) -> Option<(&Arc<Table>, Vec<ChangeVerb>)> {
    match bound {
        Statement::Insert(insert) if insert.bulk().is_some_and(|bulk| !bulk.fires) => None,
        Statement::Insert(insert) => Some((insert.table(), vec![ChangeVerb::Insert])),
        Statement::Update(update) => Some((update.table(), vec![ChangeVerb::Update])),
        Statement::Delete(delete) => Some((delete.table(), vec![ChangeVerb::Delete])),
        Statement::Merge(merge) => Some((&merge.table, merge.verbs())),
        Statement::Rows(_) | Statement::Assign(_) | Statement::Into(_) | Statement::Truncate(_) => None,
    }
}

/// The columns that an UPDATE assigns.
fn assigned(bound: &Statement) -> Vec<usize> {
    match bound {
        Statement::Update(update) => match &update.strategy {
            UpdateStrategy::Rows(rows) => rows.write.changed.clone(),
            UpdateStrategy::Whole(_) => Vec::new(),
        },
        Statement::Merge(merge) => match &merge.update {
            Some((_, write)) => write.changed.clone(),
            None => Vec::new(),
        },
        Statement::Rows(_)
        | Statement::Assign(_)
        | Statement::Into(_)
        | Statement::Insert(_)
        | Statement::Delete(_)
        | Statement::Truncate(_) => Vec::new(),
    }
}

/// The program of a trigger.
fn program_of(trigger: &SchemaTrigger) -> Result<Program, SqlError> {
    let tree = parsed(&trigger.row.definition)?;
    let Some(StatementKind::Trigger(body)) = tree.statements.into_iter().next().map(|one| one.kind) else {
        return Err(SqlError::internal("a trigger's definition"));
    };
    let row = &trigger.row;
    let compiled = Program::of_trigger(&row.definition, &body, &row.name, row.object_id);
    compiled.map_err(|mut errors| match errors.is_empty() {
        true => SqlError::internal("a trigger"),
        false => errors.remove(0).with_ends(Ends::Batch),
    })
}
