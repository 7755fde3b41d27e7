//! What is said of a trigger after it was created: whether it is disabled, and when it fires.

use selenite_tsql::ast::TriggerEvents;

use crate::catalog::module_context::StoredContext;

/// The state of a trigger, which is in its row in the catalog: words between blanks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TriggerState {
    /// Whether nothing fires it.
    pub is_disabled: bool,
    /// The events of whose triggers it is the first.
    pub first: TriggerEvents,
    /// The events of whose triggers it is the last.
    pub last: TriggerEvents,
    /// The principal that it executes as.
    pub execute_as: Option<StoredContext>,
}

impl TriggerState {
    /// The state in a row; a word of a newer server is passed over.
    pub fn parse(text: Option<&str>) -> Self {
        let mut state = Self {
            execute_as: StoredContext::in_state(text),
            ..Self::default()
        };
        for word in text.unwrap_or_default().split(' ') {
            if word == DISABLED {
                state.is_disabled = true;
            }
            for (place, prefix) in [(&mut state.first, FIRST), (&mut state.last, LAST)] {
                if let Some(event) = word.strip_prefix(prefix).and_then(|event| event_of(place, event)) {
                    *event = true;
                }
            }
        }
        state
    }

    /// The state as a row has it.
    pub fn encode(mut self) -> Option<String> {
        let mut words: Vec<String> = self.execute_as.map(StoredContext::word).into_iter().collect();
        if self.is_disabled {
            words.push(DISABLED.to_owned());
        }
        for (place, prefix) in [(&mut self.first, FIRST), (&mut self.last, LAST)] {
            for event in EVENTS {
                if event_of(place, event).is_some_and(|is_set| *is_set) {
                    words.push(format!("{prefix}{event}"));
                }
            }
        }
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// The event with this name, in any case.
pub fn event_of<'a>(events: &'a mut TriggerEvents, name: &str) -> Option<&'a mut bool> {
    match name.to_ascii_uppercase().as_str() {
        "INSERT" => Some(&mut events.insert),
        "UPDATE" => Some(&mut events.update),
        "DELETE" => Some(&mut events.delete),
        _ => None,
    }
}

const EVENTS: [&str; 3] = ["INSERT", "UPDATE", "DELETE"];
const DISABLED: &str = "disabled";
const FIRST: &str = "first:";
const LAST: &str = "last:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_as_it_was_stored() {
        let all = TriggerEvents {
            insert: true,
            update: true,
            delete: true,
        };
        for state in [
            TriggerState::default(),
            TriggerState {
                is_disabled: true,
                ..TriggerState::default()
            },
            TriggerState {
                is_disabled: true,
                first: all,
                last: all,
                execute_as: Some(StoredContext {
                    principal: 7,
                    is_owner: true,
                }),
            },
        ] {
            assert_eq!(TriggerState::parse(state.encode().as_deref()), state);
        }
        assert_eq!(TriggerState::default().encode(), None);
        assert!(TriggerState::parse(Some("later disabled")).is_disabled);
    }
}
