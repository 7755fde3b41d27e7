//! Errors of a type or value that a peer sent.

use crate::{ParameterFault, TableFault, TdsError};

/// Why a type or value was not parsed.
#[derive(Debug)]
pub(crate) enum ValueError {
    /// The surrounding bytes are invalid.
    Stream(TdsError),
    /// The type or value is invalid.
    Value(ParameterFault),
}

impl From<TdsError> for ValueError {
    fn from(error: TdsError) -> Self {
        Self::Stream(error)
    }
}

impl From<ParameterFault> for ValueError {
    fn from(fault: ParameterFault) -> Self {
        Self::Value(fault)
    }
}

impl From<TableFault> for ValueError {
    fn from(fault: TableFault) -> Self {
        Self::Value(ParameterFault::Table(fault))
    }
}
