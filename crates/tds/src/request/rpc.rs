//! Calls of procedures (MS-TDS 2.2.6.6).

use selenite_types::Value;

use super::{Headers, Procedure};
use crate::{TdsError, TypeInfo};

/// 2100: as SQL Server has it.
pub const PARAMETER_COUNT_MAX: usize = 2100;

/// Calls in one message: one, or more between flags of a batch.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcRequest {
    /// What comes before every request.
    pub headers: Headers,
    /// In the order in which they are to run; one at least.
    pub calls: Vec<RpcCall>,
}

/// A call.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcCall {
    /// What is called.
    pub procedure: Procedure,
    /// fWithRecomp.
    pub with_recompile: bool,
    /// fNoMetaData: the client knows the columns already and wants none told (cursors alone).
    pub no_metadata: bool,
    /// fReuseMetaData.
    pub reuse_metadata: bool,
    /// In their order.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// With the @; empty if it is told by its place.
    pub name: String,
    /// fByRefValue: its value is told back.
    pub is_output: bool,
    /// fDefaultValue: the procedure's default is meant, and `value` is NULL.
    pub is_default: bool,
    /// The type that the client declares.
    pub type_info: TypeInfo,
    /// The value.
    pub value: Value,
}

impl RpcRequest {
    pub(super) fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let _ = data;
        unimplemented!()
    }
}
