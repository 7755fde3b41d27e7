//! What is wrong with a type or value from the wire.

use crate::{ParameterFault, TdsError};

/// What is wrong with a type or value.
#[derive(Debug)]
pub(crate) enum ValueError {
    /// The bytes around it.
    Stream(TdsError),
    /// Itself.
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
