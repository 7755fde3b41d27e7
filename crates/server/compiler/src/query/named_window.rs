//! WINDOW: named windows.

use std::sync::Arc;

use selenite_tsql::ast;

use super::QueryBinder;
use crate::{SqlError, same_name};

impl QueryBinder<'_> {
    /// Checks the names of WINDOW.
    ///
    /// Errors: 5362 and 5365 for references, 16211 for a name twice, 8623 for too many.
    pub(super) fn check_windows(&mut self, windows: &[ast::NamedWindow]) -> Result<(), SqlError> {
        if windows.len() > NAMED_COUNT_MAX {
            return Err(SqlError::no_plan());
        }
        for (at, window) in windows.iter().enumerate() {
            let before = windows.iter().take(at);
            if before
                .clone()
                .any(|other| same_name(&other.name.text, &window.name.text))
            {
                return Err(SqlError::window_twice().on_line(window.name.position.line));
            }
            let base = window.window.base.as_ref();
            if let Some(base) = base.filter(|base| same_name(&base.text, &window.name.text)) {
                return Err(SqlError::unknown_window(&base.text).on_line(base.position.line));
            }
            self.resolved_window(&window.window)?;
        }
        Ok(())
    }

    /// A window with the parts of the windows that it names.
    ///
    /// Errors: 5362, 5364, 5365; 40510 for a part that both have.
    pub(super) fn resolved_window(&mut self, window: &ast::Window) -> Result<ast::Window, SqlError> {
        let mut resolved = window.clone();
        if window.base.is_none() {
            return Ok(resolved);
        }
        let windows = self.scope().map(|scope| Arc::clone(&scope.windows)).unwrap_or_default();
        let mut left = windows.len();
        while let Some(base) = resolved.base.take() {
            let line = base.position.line;
            let found = windows.iter().find(|known| same_name(&known.name.text, &base.text));
            let found = found.ok_or_else(|| SqlError::unknown_window(&base.text).on_line(line))?;
            left = left
                .checked_sub(1)
                .ok_or_else(|| SqlError::cyclic_windows().on_line(line))?;
            let ast::Window {
                base,
                partition_by,
                order_by,
                frame,
            } = found.window.clone();
            let twice = [
                !partition_by.is_empty() && !resolved.partition_by.is_empty(),
                !order_by.is_empty() && !resolved.order_by.is_empty(),
                frame.is_some() && resolved.frame.is_some(),
            ];
            if twice.contains(&true) {
                return Err(
                    SqlError::unsupported("A window that replaces a part of the window it names").on_line(line),
                );
            }
            resolved.base = base;
            resolved.partition_by.extend(partition_by);
            resolved.order_by.extend(order_by);
            resolved.frame = resolved.frame.or(frame);
        }
        if window.base.is_some() && resolved.frame.is_some() && resolved.order_by.is_empty() {
            return Err(SqlError::named_frame_without_order());
        }
        Ok(resolved)
    }
}

/// As many as there may be windows in a SELECT (`WINDOW_COUNT_MAX` of the writer): each OVER looks through all of them.
const NAMED_COUNT_MAX: usize = 256;
