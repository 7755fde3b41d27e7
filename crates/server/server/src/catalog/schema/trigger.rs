//! Triggers in the catalog.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::{ChangeVerb, Fires, is_of};
use selenite_tsql::ast::{StatementKind, TriggerEvents, TriggerTiming};

use super::parsed;
use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::trigger_state::TriggerState;

/// A trigger.
pub struct SchemaTrigger {
    /// AFTER or INSTEAD OF.
    pub timing: TriggerTiming,
    /// The statements that fire it.
    pub events: TriggerEvents,
    /// Whether it is disabled, and when it fires.
    pub state: TriggerState,
    /// Its row.
    pub row: Arc<CatalogRow>,
}

impl SchemaTrigger {
    pub(super) fn add_to(&self, fires: &mut Fires) {
        let events = match self.timing {
            TriggerTiming::After => &mut fires.after,
            TriggerTiming::InsteadOf => &mut fires.instead_of,
        };
        events.insert |= self.events.insert;
        events.update |= self.events.update;
        events.delete |= self.events.delete;
    }

    /// Where it is among the triggers of an event: the first before all others, the last after them, which fire in the
    /// order in which they were created.
    pub fn rank(&self, verb: ChangeVerb) -> (u8, i32) {
        let place = match (is_of(self.state.first, verb), is_of(self.state.last, verb)) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        };
        (place, self.row.object_id)
    }

    pub(super) fn read(row: CatalogRow) -> Result<Self, SqlError> {
        let tree = parsed(&row.definition)?;
        let Some(StatementKind::Trigger(trigger)) = tree.statements.into_iter().next().map(|one| one.kind) else {
            return Err(SqlError::internal("a trigger's definition"));
        };
        Ok(Self {
            timing: trigger.timing,
            events: trigger.events,
            state: TriggerState::parse(row.state.as_deref()),
            row: Arc::new(row),
        })
    }
}
