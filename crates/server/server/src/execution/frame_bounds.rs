//! How frames of a session begin and end: batches, texts, procedures and triggers.

use std::sync::Arc;

use selenite_compiler::NameKey;
use selenite_compiler::program::{Body, Program};
use selenite_runtime::machine::{Failure, FrameKind};

use crate::catalog::running_module::RunningModule;
use crate::catalog::table_variables::{TableVariable, declared};
use crate::database::frames::Frame;
use crate::database::temporary_tables;
use crate::execution::session_executor::SessionExecutor;

impl SessionExecutor<'_> {
    /// A frame begins; `before` is the database to come back to, if that is another one.
    ///
    /// # Errors
    /// What is wrong with its table variables.
    pub(crate) fn begin_frame(
        &mut self,
        program: &Arc<Program>,
        (kind, contexts): (FrameKind, usize),
        before: Option<i32>,
    ) -> Result<(), Failure> {
        self.cursors.check_passed()?;
        let declared = declared(program);
        let module = RunningModule::of(program, &self.scope.objects.catalog.schema);
        let is_text = matches!(program.body(), Body::Batch);
        let mut variables = self.passed_variables(before, is_text)?;
        let mut trigger = None;
        if kind == FrameKind::Trigger {
            let (object_id, logical) = self.begin_trigger(self.frames.depth() + 1)?;
            trigger = Some(object_id);
            variables.extend(logical);
        }
        if !declared.is_empty() {
            self.refresh()?;
            let depth = self.frames.depth() + 1;
            let connection = &self.transactions.connected()?.database.connection;
            for declared in declared {
                let table_type = declared.table_type.as_deref();
                let may = table_type.map_or(Ok(()), |table_type| self.check_execute(table_type, module.owner));
                match may.and_then(|()| TableVariable::make(connection, &declared, depth)) {
                    Ok(made) => variables.insert(NameKey::new(declared.name), Arc::new(made)),
                    Err(error) => {
                        for made in variables.values().filter(|made| !made.is_passed) {
                            made.drop_in(connection)?;
                        }
                        return Err(error.on_line(declared.line).into());
                    }
                };
            }
        }
        self.cursors.enter();
        self.frames.begin(Frame {
            kind,
            program: Arc::clone(program),
            module,
            before,
            database: self.transactions.current,
            variables: Arc::new(variables),
            temporary: Vec::new(),
            identity_insert: self.identity_insert.clone(),
            trigger,
            contexts: (contexts, self.contexts.count()),
        });
        Ok(())
    }

    /// The frame that began last ends, and tells which database to come back to. No one hears of what SQLite says:
    /// what stays behind is empty, or goes with the session.
    pub(crate) fn end_frame(&mut self) -> Option<i32> {
        let frame = self.frames.end()?;
        self.cursors.leave();
        let before = frame.before;
        // As every SET in a procedure or text.
        if frame.kind != FrameKind::Batch {
            self.identity_insert = frame.identity_insert;
            self.end_contexts(frame.contexts.0);
        }
        let Ok(used) = self.transactions.connected() else {
            return before;
        };
        for variable in frame.variables.values().filter(|variable| !variable.is_passed) {
            let _ = variable.drop_in(&used.database.connection);
            used.database.shared.identities.discard(variable.table.object_id);
        }
        if frame.temporary.is_empty() {
            return before;
        }
        for name in &frame.temporary {
            let _ = temporary_tables::drop_table(&used.database, name);
        }
        let _ = self.note_definitions();
        before
    }
}
