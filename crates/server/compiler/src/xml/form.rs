//! The one form of xml that was composed.

use selenite_types::{XmlSource, normalized_while};

use crate::expr::Polls;
use crate::{Ends, SqlError};

/// The form of xml that was composed.
///
/// Errors: those of text that is no xml, 6335 and others; the error of cancellation.
pub(crate) fn form_of(polls: &mut Polls<'_>, xml: &str) -> Result<String, SqlError> {
    let form = polls.during(|poll| normalized_while(XmlSource::Wide(xml), true, poll))?;
    form.map_err(|error| SqlError::new(i32::from(error.number()), Ends::Transaction, error.to_string()))
}
