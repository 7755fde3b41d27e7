//! The error that a client receives for its own fault, with SQL Server's numbers and texts.

use super::{MessagePart, PARAMETER_COUNT_MAX, ParameterError, ParameterFault, TableFault, TablePlace, TdsError};

/// An error with SQL Server's number, severity and text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Complaint {
    /// SQL Server's number.
    pub number: i32,
    /// Severity; from 20 on the connection is closed.
    pub severity: u8,
    /// The message text.
    pub text: String,
}

impl TdsError {
    /// The error to send to the client; `None` if the caller or the machine is at fault.
    #[must_use]
    pub fn complaint(&self) -> Option<Complaint> {
        let (number, severity, text) = match self {
            Self::Cut {
                part: MessagePart::Answer,
            }
            | Self::Malformed {
                part: MessagePart::Answer,
                ..
            } => return None,
            Self::TooLarge {
                part: MessagePart::Answer,
                ..
            }
            | Self::Misfit { .. }
            | Self::Sink(_) => return None,
            Self::Cut {
                part: MessagePart::BulkLoad,
            } => (4804, 16, ROW_CUT.to_owned()),
            Self::TooLarge {
                part: MessagePart::BulkLoad | MessagePart::Rpc,
                ..
            } => (701, 17, OUT_OF_MEMORY.to_owned()),
            Self::Cut { part } | Self::Malformed { part, .. } | Self::TooLarge { part, .. } => of_part(*part),
            Self::TooManyParameters => (8003, 16, too_many_parameters()),
            Self::ProcedureName => (8004, 16, format!("{RPC} The RPC name is invalid.")),
            Self::Unsupported { what } => (40510, 16, unsupported(what)),
            Self::BulkColumn { index, fault } => of_bulk_column(*index, *fault),
            Self::Parameter(error) => of_parameter(error),
        };
        Some(Complaint { number, severity, text })
    }
}

fn of_part(part: MessagePart) -> (i32, u8, String) {
    let invalid = |packet: &str| {
        format!(
            "The {packet} packet used to open the connection is structurally invalid; the connection has been closed. \
             Please contact the vendor of the client library."
        )
    };
    match part {
        MessagePart::Prelogin => (17828, 20, invalid("prelogin")),
        MessagePart::Login => (17832, 20, invalid("login")),
        MessagePart::Headers => (4009, 16, format!("{STREAM} The TDS headers contained errors.")),
        MessagePart::Batch | MessagePart::Rpc | MessagePart::BulkLoad | MessagePart::Transaction => {
            (4002, 16, format!("{STREAM} The stream ended unexpectedly."))
        }
        MessagePart::Packet | MessagePart::Answer => (
            4014,
            20,
            "A fatal error occurred while reading the input stream from the network. The session will be terminated \
             (input error: 0, output error: 0)."
                .to_owned(),
        ),
    }
}

fn of_parameter(error: &ParameterError) -> (i32, u8, String) {
    let ParameterError {
        index,
        name,
        table,
        fault,
    } = error;
    if let Some(place) = table {
        return of_table(&format!("parameter {index} (\"{name}\")"), *place, *fault);
    }
    let parameter = format!("{RPC} Parameter {index} (\"{name}\"):");
    let (number, text) = match *fault {
        ParameterFault::Name => (8005, format!("{RPC} Parameter {index}: The parameter name is invalid.")),
        ParameterFault::Status => (
            8006,
            format!("{RPC} Parameter {index}: The parameter status flags are invalid."),
        ),
        ParameterFault::Chunks(byte) => {
            let text = "The chunking format is incorrect for a large object parameter of type";
            (8007, format!("{parameter} {text} 0x{byte:02X}."))
        }
        ParameterFault::UnknownType(byte) => (8009, format!("{parameter} Data type 0x{byte:02X} is unknown.")),
        ParameterFault::Length(byte) => {
            let text = "has an invalid data length or metadata length.";
            (8016, format!("{parameter} Data type 0x{byte:02X} {text}"))
        }
        ParameterFault::Precision(byte) => {
            let text = "has an invalid precision or scale.";
            (8017, format!("{parameter} Data type 0x{byte:02X} {text}"))
        }
        ParameterFault::Value(byte) => {
            let name = crate::type_byte::type_name(byte);
            let text = format!("{parameter} The supplied value is not a valid instance of data type {name}. {VALUES}");
            (8023, text)
        }
        ParameterFault::UntypedOutput(byte) => {
            let text = "is an untyped NULL but is marked as an output parameter.";
            (8015, format!("{parameter} Data type 0x{byte:02X} {text}"))
        }
        ParameterFault::Table(fault) => of_table_fault(&parameter, fault),
        ParameterFault::Xml(error) => (error.number().into(), error.to_string()),
        ParameterFault::Unsupported(what) => (40510, unsupported(what)),
        ParameterFault::UnsupportedType(what) => (40510, format!("{parameter} Data type '{what}' is not supported.")),
    };
    (number, 16, text)
}

/// The errors of a table-valued parameter have numbers of their own.
fn of_table(parameter: &str, place: TablePlace, fault: ParameterFault) -> (i32, u8, String) {
    let TablePlace { row, column } = place;
    let place = format!("Table-valued {parameter}, row {row}, column {column}:");
    let typed = |byte: u8, text: &str| format!("{RPC} {place} Data type 0x{byte:02X} {text}");
    let (number, text) = match fault {
        ParameterFault::Chunks(byte) => {
            let text = "The chunking format is incorrect for a large object parameter of data type";
            (8031, format!("{RPC} {place} {text} 0x{byte:02X}."))
        }
        ParameterFault::UnknownType(byte) => (8032, typed(byte, "is unknown.")),
        ParameterFault::Length(byte) => (8037, typed(byte, "has an invalid data length or metadata length.")),
        ParameterFault::Precision(byte) => (8038, typed(byte, "has an invalid precision or scale.")),
        ParameterFault::Value(byte) => {
            let name = crate::type_byte::type_name(byte);
            let text = format!("The supplied value is not a valid instance of data type {name}. {VALUES}");
            (8043, format!("{RPC} {place} {text}"))
        }
        ParameterFault::Table(fault) => of_table_fault(&place, fault),
        ParameterFault::UntypedOutput(_) | ParameterFault::Name | ParameterFault::Status => {
            of_table_fault(&place, TableFault::Token)
        }
        ParameterFault::Xml(error) => (error.number().into(), error.to_string()),
        ParameterFault::Unsupported(what) => (40510, unsupported(what)),
        ParameterFault::UnsupportedType(what) => (40510, format!("{RPC} {place} Data type '{what}' is not supported.")),
    };
    (number, 16, text)
}

fn of_table_fault(place: &str, fault: TableFault) -> (i32, String) {
    let (number, text) = match fault {
        TableFault::Token => (
            8029,
            "unexpected token encountered processing a table-valued parameter.",
        ),
        TableFault::Database => (
            8047,
            "has a non-zero length database name specified. Database name is not allowed with a table-valued parameter, \
             only schema name and type name are valid.",
        ),
        TableFault::Schema => (8048, "has an invalid schema specified."),
        TableFault::Name => (8049, "has an invalid type name specified."),
        TableFault::ColumnCount => (8050, "has an invalid column count specified."),
        TableFault::ColumnName => (8051, "has an invalid column name specified."),
        TableFault::Order => (8054, "has invalid ordering and uniqueness metadata specified."),
        TableFault::ColumnOrder => (8055, "has invalid column ordering metadata specified."),
        TableFault::MetadataCount => (8056, "has too many optional metadata tokens specified."),
        TableFault::OrderOfDefault => {
            let text = "The specified column is computed or default and has ordering or uniqueness set. Ordering and \
                        uniqueness can only be set on columns that have client supplied data.";
            return (8057, format!("{place} {TABLE}. {text}"));
        }
        TableFault::OtherColumnOrder => {
            return (
                40510,
                unsupported("a table-valued parameter whose columns have another order"),
            );
        }
        TableFault::Null => (
            8060,
            "is null and not set to default. A null table-valued parameter is required to be sent as a default parameter.",
        ),
    };
    (number, format!("{RPC} {place} {TABLE} {text}"))
}

fn of_bulk_column(index: u16, fault: ParameterFault) -> (i32, u8, String) {
    let (number, text) = match fault {
        ParameterFault::Length(_) | ParameterFault::Chunks(_) => (
            4815,
            format!("Received an invalid column length from the bcp client for colid {index}."),
        ),
        ParameterFault::Value(byte) => {
            let name = crate::type_byte::type_name(byte);
            (9803, format!("Invalid data for type \"{name}\"."))
        }
        ParameterFault::UnknownType(_)
        | ParameterFault::Precision(_)
        | ParameterFault::UntypedOutput(_)
        | ParameterFault::Name
        | ParameterFault::Table(_)
        | ParameterFault::Status => (4816, format!("Invalid column type from bcp client for colid {index}.")),
        ParameterFault::Xml(error) => (error.number().into(), error.to_string()),
        ParameterFault::Unsupported(what) => (40510, unsupported(what)),
        ParameterFault::UnsupportedType(what) => (40510, unsupported(&format!("INSERT BULK of {what}"))),
    };
    (number, 16, text)
}

fn too_many_parameters() -> String {
    format!(
        "The incoming request has too many parameters. The server supports a maximum of {PARAMETER_COUNT_MAX} parameters. \
         Reduce the number of parameters and resend the request."
    )
}

fn unsupported(what: &str) -> String {
    format!("Statement '{what}' is not supported in this version of SQL Server.")
}

const VALUES: &str = "Check the source data for invalid values. An example of an invalid value is data of numeric type with \
                      scale greater than precision.";
const TABLE: &str = "Data type 0xF3 (user-defined table type)";
const ROW_CUT: &str = "While reading current row from host, a premature end-of-message was encountered--an incoming \
                       data stream was interrupted when the server expected to see more data. The host program may have \
                       terminated. Ensure that you are using a supported client application programming interface (API).";
const OUT_OF_MEMORY: &str = "There is insufficient system memory in resource pool 'default' to run this query.";
const STREAM: &str = "The incoming tabular data stream (TDS) protocol stream is incorrect.";
const RPC: &str = "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect.";

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(fault: ParameterFault) -> TdsError {
        TdsError::Parameter(Box::new(ParameterError {
            index: 3,
            name: "@a".to_owned(),
            table: None,
            fault,
        }))
    }

    #[test]
    fn an_error_of_the_client_has_sql_servers_number_and_text() {
        let complaint = parameter(ParameterFault::UnknownType(0x33)).complaint().unwrap();
        assert_eq!((complaint.number, complaint.severity), (8009, 16));
        assert_eq!(
            complaint.text,
            "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect. \
             Parameter 3 (\"@a\"): Data type 0x33 is unknown."
        );
        let complaint = parameter(ParameterFault::Value(0x6C)).complaint().unwrap();
        assert_eq!(complaint.number, 8023);
        assert!(
            complaint
                .text
                .contains("not a valid instance of data type numeric. Check"),
            "{}",
            complaint.text
        );
        let complaint = TdsError::TooManyParameters.complaint().unwrap();
        assert!(
            complaint.text.contains("a maximum of 2100 parameters."),
            "{}",
            complaint.text
        );
    }

    #[test]
    fn a_malformed_stream_closes_the_connection_and_a_malformed_request_does_not() {
        let severity = |part| TdsError::Cut { part }.complaint().unwrap().severity;
        let parts = [MessagePart::Packet, MessagePart::Prelogin, MessagePart::Login].map(severity);
        assert_eq!(parts, [20, 20, 20]);
        let parts = [
            MessagePart::Headers,
            MessagePart::Batch,
            MessagePart::Rpc,
            MessagePart::Transaction,
        ]
        .map(severity);
        assert_eq!(parts, [16, 16, 16, 16]);
    }

    #[test]
    fn errors_of_the_caller_or_machine_have_no_complaint() {
        assert_eq!(TdsError::Misfit { what: "a name" }.complaint(), None);
        let gone = TdsError::Sink(std::io::ErrorKind::BrokenPipe.into());
        assert_eq!(gone.complaint(), None);
    }
}
