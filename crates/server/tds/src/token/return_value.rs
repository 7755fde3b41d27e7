//! RETURNVALUE (MS-TDS 2.2.7.19).

use selenite_types::{DataType, Value};

/// The value of an output parameter after a call.
#[derive(Clone, PartialEq, Debug)]
pub struct ReturnValue<'a> {
    /// The parameter's place in the call, from 0.
    pub ordinal: u16,
    /// With the @, as the client wrote it; may be empty.
    pub name: &'a str,
    /// Its type: as the client declared it.
    pub data_type: DataType,
    /// Its value.
    pub value: &'a Value,
}
