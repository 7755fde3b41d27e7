//! RETURNVALUE (MS-TDS 2.2.7.19).

use selenite_types::{DataType, Value};

/// The value of an output parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct ReturnValue<'a> {
    /// The parameter's index in the call, from 0.
    pub ordinal: u16,
    /// The name with the `@`, as the client sent it; may be empty.
    pub name: &'a str,
    /// The type that the client declared.
    pub data_type: DataType,
    /// The output value.
    pub value: &'a Value,
}
