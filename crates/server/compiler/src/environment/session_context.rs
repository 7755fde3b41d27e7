//! What sp_set_session_context has set: SESSION_CONTEXT.

use std::sync::Arc;

use selenite_types::{DataType, Value, utf16_length};

use crate::{Ends, SqlError, same_name};

/// The keys of a session with their values, which are of type sql_variant.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct SessionContext {
    entries: Vec<ContextEntry>,
}

#[derive(Clone, PartialEq, Debug)]
struct ContextEntry {
    key: Arc<str>,
    value: Value,
    is_read_only: bool,
}

impl SessionContext {
    /// The value of a key; NULL if it has none.
    #[must_use]
    pub fn value(&self, key: &str) -> Value {
        let found = self.entries.iter().find(|entry| same_name(&entry.key, key));
        found.map_or(Value::Null, |entry| entry.value.clone())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// 15664 for a key that is read-only, 15665 beyond 1 MB in all, 15666 for a long key.
    pub fn set(&mut self, key: &str, value: Value, is_read_only: bool) -> Result<(), SqlError> {
        if utf16_length(key) > KEY_LENGTH_MAX {
            let text =
                format!("Cannot set key '{key}' in the session context. The size of the key cannot exceed 256 bytes.");
            // 15666: a long key.
            return Err(SqlError::new(15_666, Ends::Statement, text));
        }
        let at = self.entries.iter().position(|entry| same_name(&entry.key, key));
        let known = at.and_then(|at| self.entries.get_mut(at));
        if known.as_ref().is_some_and(|known| known.is_read_only) {
            let text = format!(
                "Cannot set key '{key}' in the session context. The key has been set as read_only for this session."
            );
            // 15664: a key that is read-only.
            return Err(SqlError::new(15_664, Ends::Statement, text));
        }
        let entry = ContextEntry {
            key: Arc::from(key),
            value,
            is_read_only,
        };
        let (size, size_before) = (entry.size(), known.as_ref().map_or(0, |known| known.size()));
        let known_size: usize = self.entries.iter().map(ContextEntry::size).sum();
        if known_size - size_before + size > SIZE_MAX {
            let text = format!(
                "The value was not set for key '{key}' because the total size of keys and values in the session context \
                 would exceed the 1 MB limit."
            );
            // 15665: keys and values beyond the limit.
            return Err(SqlError::new(15_665, Ends::Statement, text));
        }
        match at.and_then(|at| self.entries.get_mut(at)) {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
        Ok(())
    }
}

impl ContextEntry {
    fn size(&self) -> usize {
        let key = utf16_length(&self.key) * 2;
        key + DataType::SqlVariant.data_length(&self.value).unwrap_or(0) + ENTRY_SIZE
    }
}

/// 128 characters: 256 bytes.
const KEY_LENGTH_MAX: usize = 128;
/// 1 MB, as SQL Server 2019 has it.
const SIZE_MAX: usize = 1_000_000;
/// What a key takes beside its text and value, so that empty ones are limited, too.
const ENTRY_SIZE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_last_value_until_it_is_read_only() {
        let mut context = SessionContext::default();
        context.set("User", Value::Int(1), false).unwrap();
        context.set("user", Value::Int(2), true).unwrap();
        assert_eq!(context.value("USER"), Value::Int(2));
        assert_eq!(context.value("other"), Value::Null);
        assert_eq!(context.set("user", Value::Int(3), false).unwrap_err().number(), 15_664);
        assert_eq!(context.value("user"), Value::Int(2));
        assert_eq!(
            context.set(&"k".repeat(129), Value::Null, false).unwrap_err().number(),
            15_666
        );
    }

    #[test]
    fn all_keys_together_have_a_limit() {
        let mut context = SessionContext::default();
        let full = (0..).find_map(|number: u32| context.set(&number.to_string(), Value::Null, false).err());
        assert_eq!(full.unwrap().number(), 15_665);
        context.set("0", Value::Null, false).unwrap();
    }
}
