//! RPC (MS-TDS 2.2.6.6).

use std::sync::Arc;

use selenite_types::{DataType, Value};

use super::table_value::{ValueBudget, value_size};
use super::{Headers, Procedure, ProcedureId, TableValue};
use crate::byte_reader::ByteReader;
use crate::value::{ValueError, WireType};
use crate::{
    MessagePart, PARAMETER_COUNT_MAX, ParameterError, ParameterFault, TablePlace, TdsError, TypeInfo, type_byte, utf16,
};

/// The calls of one message; several are separated by batch flags.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcRequest {
    /// ALL_HEADERS.
    pub headers: Headers,
    /// The calls in execution order; at least one.
    pub calls: Vec<RpcCall>,
}

/// One procedure call.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcCall {
    /// The called procedure.
    pub procedure: Procedure,
    /// fWithRecomp.
    pub with_recompile: bool,
    /// fNoMetaData: the server is to send no column metadata (cursors only).
    pub no_metadata: bool,
    /// fReuseMetaData.
    pub reuse_metadata: bool,
    /// The parameters in the order sent.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// The name with the `@`; empty for a positional parameter.
    pub name: String,
    /// fByRefValue: an output parameter.
    pub is_output: bool,
    /// fDefaultValue: the procedure's default applies, and `value` is NULL.
    pub is_default: bool,
    /// The declared type.
    pub type_info: TypeInfo,
    /// The value; NULL if `is_default`, and of a table.
    pub value: Value,
    /// The rows of a table-valued parameter, whose type says nothing.
    pub table: Option<Arc<TableValue>>,
}

impl RpcRequest {
    pub(super) fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let (headers, rest) = Headers::parse(data)?;
        let mut reader = ByteReader::new(rest, MessagePart::Rpc);
        let mut calls = Vec::new();
        let mut parameter_count = 0;
        let mut budget = ValueBudget::new();
        loop {
            let call = RpcCall::parse(&mut reader, &mut budget)?;
            // One limit bounds all calls together: many small calls cannot allocate much more memory than they have
            // bytes.
            parameter_count += call.parameters.len() + 1;
            if parameter_count > CALL_COUNT_MAX {
                return Err(TdsError::TooManyParameters);
            }
            calls.push(call);
            match reader.peek() {
                None => return Ok(Self { headers, calls }),
                Some(BATCH | NO_EXEC) => {
                    if reader.u8()? == NO_EXEC {
                        return Err(TdsError::Unsupported {
                            what: "a call that is not to be run",
                        });
                    }
                    // Some clients send a batch flag after the last call, too.
                    if reader.is_empty() {
                        return Ok(Self { headers, calls });
                    }
                }
                Some(_) => return Err(reader.malformed("what follows a call")),
            }
        }
    }
}

impl RpcCall {
    /// Parses up to the end or the next batch flag.
    fn parse(reader: &mut ByteReader<'_>, budget: &mut ValueBudget) -> Result<Self, TdsError> {
        let procedure = parse_procedure(reader)?;
        let options = reader.u16()?;
        if options & !(WITH_RECOMPILE | NO_METADATA | REUSE_METADATA) != 0 {
            return Err(reader.malformed("the options of a call"));
        }
        let mut parameters = Vec::new();
        while !matches!(reader.peek(), None | Some(BATCH | NO_EXEC)) {
            if parameters.len() == PARAMETER_COUNT_MAX {
                return Err(TdsError::TooManyParameters);
            }
            let index = u16::try_from(parameters.len() + 1).unwrap_or(u16::MAX);
            let is_by_number = matches!(procedure, Procedure::Id(_));
            parameters.push(Parameter::parse((index, is_by_number), reader, budget)?);
        }
        Ok(Self {
            procedure,
            with_recompile: options & WITH_RECOMPILE != 0,
            no_metadata: options & NO_METADATA != 0,
            reuse_metadata: options & REUSE_METADATA != 0,
            parameters,
        })
    }
}

impl Parameter {
    fn parse(
        (index, is_by_number): (u16, bool),
        reader: &mut ByteReader<'_>,
        budget: &mut ValueBudget,
    ) -> Result<Self, TdsError> {
        let size = reader.u8()?;
        let name = utf16::parse(reader.take(usize::from(size) * 2)?);
        let fail = |name: &str, fault| {
            TdsError::Parameter(Box::new(ParameterError {
                index,
                name: name.to_owned(),
                table: None,
                fault,
            }))
        };
        // Procedures with a number match parameters by position: tiberius names sp_executesql's `stmt` and `params`
        // without the `@`.
        let is_name = |name: &String| name.is_empty() || ((is_by_number || name.starts_with('@')) && size <= 128);
        let Some(name) = name.filter(is_name) else {
            return Err(fail("", ParameterFault::Name));
        };
        let status = reader.u8()?;
        if status & ENCRYPTED != 0 {
            return Err(fail(&name, ParameterFault::Unsupported("Always Encrypted")));
        }
        if status & !(BY_REFERENCE | DEFAULT_VALUE) != 0 {
            return Err(fail(&name, ParameterFault::Status));
        }
        if reader.peek() == Some(type_byte::TABLE) {
            return Self::parse_table(index, name, status, reader, budget);
        }
        let typed = WireType::parse(reader).and_then(|wire| {
            budget.take(value_size(&wire))?;
            Ok((wire, wire.parse_value(reader)?))
        });
        let (wire, value) = typed.map_err(|wrong| match wrong {
            ValueError::Stream(error) => error,
            ValueError::Value(fault) => fail(&name, fault),
        })?;
        if status & BY_REFERENCE != 0 && wire.is_untyped() {
            return Err(fail(&name, ParameterFault::UntypedOutput(wire.byte)));
        }
        Ok(Self {
            is_output: status & BY_REFERENCE != 0,
            is_default: status & DEFAULT_VALUE != 0,
            type_info: wire.info,
            value,
            table: None,
            name,
        })
    }

    /// A table-valued parameter, which is no OUTPUT parameter (MS-TDS 2.2.5.5.5).
    fn parse_table(
        index: u16,
        name: String,
        status: u8,
        reader: &mut ByteReader<'_>,
        budget: &mut ValueBudget,
    ) -> Result<Self, TdsError> {
        let fail = |name: String, table, fault| {
            TdsError::Parameter(Box::new(ParameterError {
                index,
                name,
                table,
                fault,
            }))
        };
        if status & BY_REFERENCE != 0 {
            return Err(fail(name, None, ParameterFault::Status));
        }
        let is_default = status & DEFAULT_VALUE != 0;
        let mut place = TablePlace { row: 0, column: 0 };
        match TableValue::parse(reader, is_default, budget, &mut place) {
            Ok(table) => Ok(Self {
                name,
                is_output: false,
                is_default,
                type_info: TypeInfo {
                    data_type: DataType::Int,
                    collation: None,
                },
                value: Value::Null,
                table: Some(Arc::new(table)),
            }),
            Err(ValueError::Stream(error)) => Err(error),
            Err(ValueError::Value(fault)) => Err(fail(name, Some(place), fault)),
        }
    }
}

/// NameLenProcID: 0xFFFF and a procedure number, or a name.
fn parse_procedure(reader: &mut ByteReader<'_>) -> Result<Procedure, TdsError> {
    let size = reader.u16()?;
    if size == u16::MAX {
        let id = ProcedureId::from_number(reader.u16()?);
        return id.map(Procedure::Id).ok_or(TdsError::ProcedureName);
    }
    let bytes = reader.take(usize::from(size) * 2)?;
    // MS-TDS 2.2.6.6 allows 1046 characters: four names of 128 with brackets, doubled brackets inside, and dots.
    let name = utf16::parse(bytes).filter(|_| (1..=NAME_SIZE_MAX).contains(&size));
    name.map(Procedure::Name).ok_or(TdsError::ProcedureName)
}

/// 64 Ki: the maximum number of calls and parameters in one message.
const CALL_COUNT_MAX: usize = 1 << 16;
const NAME_SIZE_MAX: u16 = 1046;
const WITH_RECOMPILE: u16 = 0x0001;
const NO_METADATA: u16 = 0x0002;
const REUSE_METADATA: u16 = 0x0004;
const BY_REFERENCE: u8 = 0x01;
const DEFAULT_VALUE: u8 = 0x02;
const ENCRYPTED: u8 = 0x08;
/// BatchFlag since TDS 7.2.
const BATCH: u8 = 0xFF;
const NO_EXEC: u8 = 0xFE;
