//! The cursors of a session, by their names and variables.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use selenite_compiler::{CursorFacts, CursorScope, NameKey, SqlError};
use selenite_runtime::machine::PassedCursor;
use selenite_tsql::ast::{CursorName, NameOrVariable};

use super::{Cursor, CursorId, OpenCursor};

/// The cursors of a session.
#[derive(Default)]
pub(crate) struct CursorNames {
    kept: HashMap<CursorId, Cursor>,
    last: u32,
    global: HashMap<NameKey, CursorId>,
    /// Those of procedures such as sp_cursoropen, by their numbers.
    numbered: HashSet<CursorId>,
    /// Of the frames that run, outermost first.
    frames: Vec<FrameNames>,
    /// The cursor parameters of the frame that begins next.
    passed: Vec<PassedCursor>,
}

/// The names of one frame.
#[derive(Default)]
struct FrameNames {
    local: HashMap<NameKey, CursorId>,
    variables: HashMap<NameKey, (String, Option<CursorId>)>,
    /// The parameters among the variables.
    parameters: Vec<PassedCursor>,
}

/// What holds a new cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holder<'a> {
    /// A name of the frame.
    Local(&'a str),
    /// A name of the session.
    Global(&'a str),
    /// A variable of the frame.
    Variable(&'a str),
    /// Its number.
    Number,
}

impl CursorNames {
    /// The cursor parameters of the frame that begins next.
    pub fn pass(&mut self, cursors: Vec<PassedCursor>) {
        self.passed = cursors;
    }

    /// Refuses cursor parameters whose variables have cursors; then none is passed.
    ///
    /// # Errors
    /// 16951.
    pub fn check_passed(&mut self) -> Result<(), SqlError> {
        let frame = self.frames.last();
        let is_taken = |passed: &&PassedCursor| {
            let held = frame.and_then(|frame| frame.variables.get(&NameKey::new(&passed.to)));
            held.is_some_and(|(_, id)| id.is_some())
        };
        match self.passed.iter().find(is_taken) {
            None => Ok(()),
            Some(taken) => {
                let error = SqlError::cursor_already_allocated(&taken.to);
                self.passed.clear();
                Err(error)
            }
        }
    }

    /// A frame begins.
    pub fn enter(&mut self) {
        let parameters = std::mem::take(&mut self.passed);
        let variables = parameters.iter().map(|passed| {
            let name = passed.name.as_ref();
            (NameKey::new(name), (name.to_owned(), None))
        });
        self.frames.push(FrameNames {
            variables: variables.collect(),
            local: HashMap::new(),
            parameters,
        });
    }

    /// The frame that began last ends, and with it what only it can name: its parameters' cursors are the caller's.
    pub fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        for passed in &frame.parameters {
            let held = frame.variables.get(&NameKey::new(&passed.name));
            let Some(id) = held.and_then(|(_, id)| *id) else {
                continue;
            };
            // One that is closed is not returned.
            if self.kept.get(&id).is_some_and(|cursor| cursor.open.is_some()) {
                self.set_variable(&passed.to, id);
            }
        }
        let of_variables = frame.variables.into_values().filter_map(|(_, id)| id);
        for id in frame.local.into_values().chain(of_variables) {
            self.release(id);
        }
    }

    /// All are gone.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// A variable is there, without a cursor.
    pub fn declare_variable(&mut self, name: &str) {
        if let Some(frame) = self.frames.last_mut() {
            frame
                .variables
                .entry(NameKey::new(name))
                .or_insert_with(|| (name.to_owned(), None));
        }
    }

    /// Refuses a name that is taken.
    ///
    /// # Errors
    /// 16915; 16960 for more cursors than a session may have.
    pub fn check_new(&self, holder: Holder<'_>) -> Result<(), SqlError> {
        let taken = match holder {
            Holder::Local(name) => {
                let frame = self.frames.last();
                frame
                    .is_some_and(|frame| frame.local.contains_key(&NameKey::new(name)))
                    .then_some(name)
            }
            Holder::Global(name) => self.global.contains_key(&NameKey::new(name)).then_some(name),
            Holder::Variable(_) | Holder::Number => None,
        };
        if let Some(name) = taken {
            return Err(SqlError::cursor_exists(name));
        }
        if self.kept.len() >= COUNT_MAX {
            return Err(SqlError::too_many_cursors());
        }
        Ok(())
    }

    /// Adds a cursor, whose holder [`CursorNames::check_new`] has checked.
    pub fn add(&mut self, cursor: Cursor, holder: Holder<'_>) -> CursorId {
        // The client knows it as an int, of which 0 and below are no cursors.
        self.last = self.last % i32::MAX.unsigned_abs() + 1;
        let id = CursorId(self.last);
        self.kept.insert(id, cursor);
        match holder {
            Holder::Local(name) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.local.insert(NameKey::new(name), id);
                }
                self.hold(id);
            }
            Holder::Global(name) => {
                self.global.insert(NameKey::new(name), id);
                self.hold(id);
            }
            Holder::Variable(name) => self.set_variable(name, id),
            Holder::Number => {
                self.numbered.insert(id);
                self.hold(id);
            }
        }
        id
    }

    /// The cursor of a number.
    pub fn numbered(&self, number: i32) -> Option<CursorId> {
        let id = CursorId(u32::try_from(number).ok()?);
        self.numbered.contains(&id).then_some(id)
    }

    /// The number is no longer the cursor's.
    pub fn forget_number(&mut self, id: CursorId) {
        if self.numbered.remove(&id) {
            self.release(id);
        }
    }

    /// A cursor has a global name besides.
    ///
    /// # Errors
    /// 16915.
    pub fn set_name(&mut self, id: CursorId, name: &str) -> Result<(), SqlError> {
        self.check_new(Holder::Global(name))?;
        self.global.insert(NameKey::new(name), id);
        self.hold(id);
        if let Some(cursor) = self.kept.get_mut(&id) {
            name.clone_into(&mut cursor.name);
        }
        Ok(())
    }

    /// A variable is another name of a cursor.
    pub fn set_variable(&mut self, name: &str, id: CursorId) {
        self.hold(id);
        let Some(frame) = self.frames.last_mut() else { return };
        let before = frame.variables.insert(NameKey::new(name), (name.to_owned(), Some(id)));
        if let Some((_, Some(before))) = before {
            self.release(before);
        }
    }

    /// The cursor of a name: one of the frame, otherwise one of the session.
    ///
    /// # Errors
    /// 16916 and 16950.
    pub fn find(&self, name: &CursorName) -> Result<CursorId, SqlError> {
        let frame = self.frames.last();
        match &name.name {
            NameOrVariable::Name(written) => {
                let key = NameKey::new(&written.text);
                let local = frame.filter(|_| !name.global).and_then(|frame| frame.local.get(&key));
                let found = local.or_else(|| self.global.get(&key));
                found.copied().ok_or_else(|| SqlError::unknown_cursor(&written.text))
            }
            NameOrVariable::Variable(variable) => {
                let found = frame.and_then(|frame| frame.variables.get(&NameKey::new(variable)));
                let id = found.and_then(|(_, id)| *id);
                id.ok_or_else(|| SqlError::no_cursor_allocated(variable))
            }
        }
    }

    /// DEALLOCATE: the name or variable is no longer the cursor's.
    ///
    /// # Errors
    /// 16916 and 16950.
    pub fn deallocate(&mut self, name: &CursorName) -> Result<(), SqlError> {
        let id = self.find(name)?;
        let frame = self.frames.last_mut();
        match &name.name {
            NameOrVariable::Name(written) => {
                let key = NameKey::new(&written.text);
                let local = frame
                    .filter(|_| !name.global)
                    .and_then(|frame| frame.local.remove(&key));
                if local.is_none() {
                    self.global.remove(&key);
                }
            }
            NameOrVariable::Variable(variable) => {
                if let Some((_, held)) = frame.and_then(|frame| frame.variables.get_mut(&NameKey::new(variable))) {
                    *held = None;
                }
            }
        }
        self.release(id);
        Ok(())
    }

    /// A cursor.
    ///
    /// # Errors
    /// 8624 for one that is not there.
    pub fn cursor(&mut self, id: CursorId) -> Result<&mut Cursor, SqlError> {
        self.kept
            .get_mut(&id)
            .ok_or_else(|| SqlError::internal("a cursor that is not there"))
    }

    /// CURSOR_CLOSE_ON_COMMIT: all are closed.
    pub fn close_all(&mut self) {
        for cursor in self.kept.values_mut() {
            cursor.open = None;
        }
    }

    /// ROLLBACK: all are closed but those that keep their rows.
    pub fn close_sensitive(&mut self) {
        for cursor in self.kept.values_mut() {
            if cursor.kind.table().is_some() {
                cursor.open = None;
            }
        }
    }

    /// One holder less.
    fn release(&mut self, id: CursorId) {
        let Some(cursor) = self.kept.get_mut(&id) else { return };
        cursor.holder_count = cursor.holder_count.saturating_sub(1);
        if cursor.holder_count == 0 {
            self.kept.remove(&id);
        }
    }

    fn hold(&mut self, id: CursorId) {
        if let Some(cursor) = self.kept.get_mut(&id) {
            cursor.holder_count += 1;
        }
    }

    /// What CURSOR_STATUS and the views of cursors show.
    pub fn facts(&self) -> Arc<Vec<CursorFacts>> {
        let mut facts = Vec::new();
        let mut shown: HashSet<CursorId> = HashSet::new();
        let global: HashSet<CursorId> = self.global.values().copied().collect();
        let details =
            |id: CursorId, cursor: &Cursor| cursor.details(id, (global.contains(&id), self.numbered.contains(&id)));
        let mut add = |scope, name: &str, id: Option<CursorId>| {
            let cursor = id.and_then(|id| Some((id, self.kept.get(&id)?)));
            shown.extend(id);
            facts.push(CursorFacts {
                scope,
                name: name.to_owned(),
                status: cursor.map_or(UNALLOCATED, |(_, cursor)| cursor.status()),
                cursor: cursor.map(|(id, cursor)| details(id, cursor)),
            });
        };
        let named = |id: &CursorId| self.kept.get(id).map_or("", |cursor| cursor.name.as_str());
        for id in self.global.values() {
            add(CursorScope::Global, named(id), Some(*id));
        }
        let scopes = [
            (CursorScope::Local, CursorScope::Variable),
            (CursorScope::CallersName, CursorScope::CallersVariable),
        ];
        for (frame, (of_name, of_variable)) in self.frames.iter().rev().zip(scopes) {
            for id in frame.local.values() {
                add(of_name, named(id), Some(*id));
            }
            for (name, id) in frame.variables.values() {
                add(of_variable, name, *id);
            }
        }
        let others: Vec<CursorId> = self.kept.keys().copied().filter(|id| !shown.contains(id)).collect();
        for id in others {
            let cursor = self.kept.get(&id);
            facts.push(CursorFacts {
                scope: CursorScope::Other,
                name: named(&id).to_owned(),
                status: cursor.map_or(UNALLOCATED, Cursor::status),
                cursor: cursor.map(|cursor| details(id, cursor)),
            });
        }
        Arc::new(facts)
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.frames.iter().all(|frame| frame.variables.is_empty())
    }

    /// Bytes of memory that open cursors take.
    pub fn memory_size(&self) -> u64 {
        let opened = self.kept.values().filter_map(|cursor| cursor.open.as_ref());
        opened.map(OpenCursor::memory_size).sum()
    }
}

/// CURSOR_STATUS of a variable without a cursor.
const UNALLOCATED: i16 = -2;
/// Of a session: each takes some memory, and many a file.
const COUNT_MAX: usize = 1024;
