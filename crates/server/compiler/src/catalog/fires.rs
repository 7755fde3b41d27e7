//! The triggers of a table or view, as far as statements depend on them.

use selenite_tsql::ast::TriggerEvents;

use super::ChangeVerb;

/// The events for which a table or view has enabled triggers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fires {
    /// Those of AFTER triggers.
    pub after: TriggerEvents,
    /// Those of INSTEAD OF triggers.
    pub instead_of: TriggerEvents,
}

impl Fires {
    /// Whether a trigger fires after or instead of a change.
    #[must_use]
    pub fn on(&self, verb: ChangeVerb) -> bool {
        is_of(self.after, verb) || self.is_instead_of(verb)
    }

    /// Whether a trigger takes the place of a change.
    #[must_use]
    pub fn is_instead_of(&self, verb: ChangeVerb) -> bool {
        is_of(self.instead_of, verb)
    }
}

/// Whether a statement is among the events.
#[must_use]
pub fn is_of(events: TriggerEvents, verb: ChangeVerb) -> bool {
    match verb {
        ChangeVerb::Insert => events.insert,
        ChangeVerb::Update => events.update,
        ChangeVerb::Delete => events.delete,
    }
}
