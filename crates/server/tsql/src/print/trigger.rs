//! Triggers.

use core::fmt;

use super::{List, definition::module_options, statement::Body};
use crate::ast::{TableTriggerSwitch, Trigger, TriggerEvents, TriggerSwitch, TriggerTiming};

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} TRIGGER {} ON {}", self.create, self.name, self.table)?;
        module_options(f, &self.options, self.execute_as.as_ref())?;
        write!(f, " {} {} AS\n{}", self.timing, self.events, Body(&self.body))
    }
}

impl fmt::Display for TriggerTiming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::After => "AFTER",
            Self::InsteadOf => "INSTEAD OF",
        })
    }
}

impl fmt::Display for TriggerEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = [
            (self.insert, "INSERT"),
            (self.update, "UPDATE"),
            (self.delete, "DELETE"),
        ];
        let events: Vec<&str> = events
            .into_iter()
            .filter(|(is_on, _)| *is_on)
            .map(|(_, word)| word)
            .collect();
        write!(f, "{}", List(&events))
    }
}

impl fmt::Display for TriggerSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ListOrAll(&self.names);
        write!(f, "{} TRIGGER {names} ON {}", verb(self.enable), self.table)
    }
}

impl fmt::Display for TableTriggerSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} TRIGGER {}", verb(self.enable), ListOrAll(&self.names))
    }
}

fn verb(enable: bool) -> &'static str {
    if enable { "ENABLE" } else { "DISABLE" }
}

/// Names, or ALL if there are none.
struct ListOrAll<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for ListOrAll<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => f.write_str("ALL"),
            false => write!(f, "{}", List(self.0)),
        }
    }
}
