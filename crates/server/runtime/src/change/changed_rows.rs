//! Keeps the rows that a statement changes, for its triggers.

use selenite_compiler::SqlError;
use selenite_compiler::catalog::ChangeVerb;
use selenite_types::Value;

use crate::changed_rows::ChangedRow;
use crate::sqlite::reserve;
use crate::statement::Run;

/// Whether triggers take the place of a change.
pub(super) fn is_instead_of(run: &Run<'_>, verb: ChangeVerb) -> bool {
    run.changed
        .as_ref()
        .is_some_and(|changed| changed.instead_of.contains(&verb))
}

/// Keeps a changed row, if there are triggers.
///
/// Errors: 701.
pub(super) fn note(
    run: &mut Run<'_>,
    verb: ChangeVerb,
    old: Option<&[Value]>,
    new: Option<&[Value]>,
) -> Result<(), SqlError> {
    if let Some(changed) = &mut run.changed {
        reserve(0)?;
        changed.rows.push(ChangedRow {
            verb,
            old: old.map(<[Value]>::to_vec),
            new: new.map(<[Value]>::to_vec),
        });
    }
    Ok(())
}
