//! Parses the tokens of a response (MS-TDS 2.2.7).

use selenite_types::Value;

use crate::byte_reader::ByteReader;
use crate::token::{
    COLUMN_INFO, COLUMN_METADATA, DONE, DONE_IN_PROC, DONE_PROC, ENV_CHANGE, ERROR, FEATURE_EXT_ACK, INFO, LOGIN_ACK,
    NULL_BITMAP_ROW, ORDER, RETURN_STATUS, RETURN_VALUE, ROW, TABLE_NAME,
};
use crate::value::{ValueError, WireType};
use crate::{Done, DoneKind, Feature, MessagePart, ProductVersion, TdsError, TdsVersion, TypeInfo, utf16};

/// A token of a response.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// COLMETADATA.
    Columns(Vec<ResultColumn>),
    /// ROW or NBCROW.
    Row(Vec<Value>),
    /// DONE, DONEPROC or DONEINPROC.
    Done(Done),
    /// ERROR.
    Error(ServerMessage),
    /// INFO.
    Info(ServerMessage),
    /// ENVCHANGE.
    EnvChange(Change),
    /// LOGINACK.
    LoginAck {
        /// The negotiated version.
        tds_version: TdsVersion,
        /// ProgName: the server's name.
        program: String,
        /// ProgVersion, without the sub-build number.
        version: ProductVersion,
    },
    /// FEATUREEXTACK.
    FeatureExtAck(Vec<Feature>),
    /// RETURNSTATUS.
    ReturnStatus(i32),
    /// RETURNVALUE.
    ReturnValue {
        /// The parameter's index in the call.
        ordinal: u16,
        /// The parameter's name.
        name: String,
        /// The parameter's type.
        type_info: TypeInfo,
        /// The output value.
        value: Value,
    },
    /// ORDER.
    Order(Vec<u16>),
    /// TABNAME: the parts of each name.
    TableNames(Vec<Vec<String>>),
    /// COLINFO: table and status of each column.
    ColumnInfo(Vec<(u8, u8)>),
}

/// A column of COLMETADATA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultColumn {
    /// The column's name.
    pub name: String,
    /// Flags (MS-TDS 2.2.7.4).
    pub flags: u16,
    /// The first byte of TYPE_INFO.
    pub type_byte: u8,
    /// The column's type.
    pub type_info: TypeInfo,
}

/// The contents of ERROR or INFO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerMessage {
    /// The message's number.
    pub number: i32,
    /// The message's state.
    pub state: u8,
    /// The message's severity (Class).
    pub severity: u8,
    /// The message's text.
    pub text: String,
    /// The server's name.
    pub server: String,
    /// The procedure's name.
    pub procedure: String,
    /// The line number.
    pub line: u32,
}

/// ENVCHANGE; the values are bytes without their length prefixes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The type of the change, 1 to 20.
    pub kind: u8,
    /// The new value.
    pub new: Vec<u8>,
    /// The old value.
    pub old: Vec<u8>,
}

impl Change {
    /// The new value of a type whose value is text: database, language, packet size.
    #[must_use]
    pub fn new_text(&self) -> Option<String> {
        utf16::parse(&self.new)
    }
}

/// Parses tokens one at a time; rows by the last COLMETADATA.
pub(super) struct TokenParser<'a> {
    reader: ByteReader<'a>,
    columns: Vec<WireType>,
}

impl<'a> TokenParser<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self {
            reader: ByteReader::new(data, MessagePart::Answer),
            columns: Vec::new(),
        }
    }

    /// `None` at the end of the data.
    pub fn next_token(&mut self) -> Result<Option<Token>, TdsError> {
        if self.reader.is_empty() {
            return Ok(None);
        }
        let reader = &mut self.reader;
        Ok(Some(match reader.u8()? {
            COLUMN_METADATA => self.columns()?,
            ROW => Token::Row(self.row(&[])?),
            NULL_BITMAP_ROW => {
                let bitmap = reader.take(self.columns.len().div_ceil(8))?;
                Token::Row(self.row(bitmap)?)
            }
            DONE => Token::Done(done(DoneKind::Statement, reader)?),
            DONE_PROC => Token::Done(done(DoneKind::Procedure, reader)?),
            DONE_IN_PROC => Token::Done(done(DoneKind::InProcedure, reader)?),
            ERROR => Token::Error(server_message(&mut sized(reader)?)?),
            INFO => Token::Info(server_message(&mut sized(reader)?)?),
            ENV_CHANGE => Token::EnvChange(change(&mut sized(reader)?)?),
            LOGIN_ACK => login_ack(&mut sized(reader)?)?,
            FEATURE_EXT_ACK => feature_ext_ack(reader)?,
            RETURN_STATUS => Token::ReturnStatus(i32::from_le_bytes(reader.array()?)),
            RETURN_VALUE => return_value(reader)?,
            ORDER => {
                let (columns, _) = sized(reader)?.rest().as_chunks::<2>();
                Token::Order(columns.iter().map(|column| u16::from_le_bytes(*column)).collect())
            }
            TABLE_NAME => table_names(&mut sized(reader)?)?,
            COLUMN_INFO => column_info(&mut sized(reader)?)?,
            _ => return Err(reader.malformed("a token")),
        }))
    }

    fn columns(&mut self) -> Result<Token, TdsError> {
        let mut columns = Vec::new();
        let count = self.reader.u16()?;
        if count == NO_METADATA {
            return Ok(Token::Columns(columns));
        }
        self.columns.clear();
        for _ in 0..count {
            self.reader.u32()?;
            let flags = self.reader.u16()?;
            let wire = WireType::parse(&mut self.reader).map_err(stream)?;
            let name = short_text(&mut self.reader)?;
            columns.push(ResultColumn {
                name,
                flags,
                type_byte: wire.byte,
                type_info: wire.info,
            });
            self.columns.push(wire);
        }
        Ok(Token::Columns(columns))
    }

    /// The values of a row; columns whose bit is set in `bitmap` are NULL.
    fn row(&mut self, bitmap: &[u8]) -> Result<Vec<Value>, TdsError> {
        let mut values = Vec::with_capacity(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            let is_null = bitmap.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
            values.push(match is_null {
                true => Value::Null,
                false => column.parse_value(&mut self.reader).map_err(stream)?,
            });
        }
        Ok(values)
    }
}

fn stream(wrong: ValueError) -> TdsError {
    match wrong {
        ValueError::Stream(error) => error,
        ValueError::Value(_) => TdsError::Malformed {
            part: MessagePart::Answer,
            what: "a value",
        },
    }
}

/// COLMETADATA without columns: those of an earlier one.
const NO_METADATA: u16 = 0xFFFF;
/// A status of COLINFO: the column's name in the table follows.
const OTHER_NAME: u8 = 0x20;

/// The data of a token that has a two-byte length prefix.
fn sized<'a>(reader: &mut ByteReader<'a>) -> Result<ByteReader<'a>, TdsError> {
    let size = reader.u16()?;
    reader.split(size.into())
}

fn table_names(reader: &mut ByteReader<'_>) -> Result<Token, TdsError> {
    let mut names = Vec::new();
    while !reader.is_empty() {
        let mut parts = Vec::new();
        for _ in 0..reader.u8()? {
            let size = reader.u16()?;
            parts.push(text(reader, size.into())?);
        }
        names.push(parts);
    }
    Ok(Token::TableNames(names))
}

fn column_info(reader: &mut ByteReader<'_>) -> Result<Token, TdsError> {
    let mut columns = Vec::new();
    while !reader.is_empty() {
        let [_, table, status] = reader.array()?;
        if status & OTHER_NAME != 0 {
            short_text(reader)?;
        }
        columns.push((table, status));
    }
    Ok(Token::ColumnInfo(columns))
}

fn done(kind: DoneKind, reader: &mut ByteReader<'_>) -> Result<Done, TdsError> {
    Ok(Done {
        kind,
        status: reader.u16()?,
        command: reader.u16()?,
        row_count: reader.u64()?,
    })
}

fn server_message(reader: &mut ByteReader<'_>) -> Result<ServerMessage, TdsError> {
    let number = i32::from_le_bytes(reader.array()?);
    let [state, severity] = reader.array()?;
    let size = reader.u16()?;
    let text = text(reader, size.into())?;
    let message = ServerMessage {
        number,
        state,
        severity,
        text,
        server: short_text(reader)?,
        procedure: short_text(reader)?,
        line: reader.u32()?,
    };
    end(reader, message)
}

fn change(reader: &mut ByteReader<'_>) -> Result<Change, TdsError> {
    let kind = reader.u8()?;
    // The length counts UTF-16 units for text values and bytes for others. MS-TDS 2.2.7.9: promotion to a distributed
    // transaction and routing have longer length fields.
    let unit_size = match kind {
        1..=6 => 2,
        15 | 20 => {
            return Err(TdsError::Unsupported {
                what: "an ENVCHANGE with a longer length",
            });
        }
        _ => 1,
    };
    let mut value = || {
        let size = usize::from(reader.u8()?) * unit_size;
        reader.take(size).map(<[u8]>::to_vec)
    };
    let (new, old) = (value()?, value()?);
    end(reader, Change { kind, new, old })
}

fn login_ack(reader: &mut ByteReader<'_>) -> Result<Token, TdsError> {
    let _interface = reader.u8()?;
    let tds_version = TdsVersion(u32::from_be_bytes(reader.array()?));
    let program = short_text(reader)?;
    let [major, minor, build_high, build_low] = reader.array()?;
    let version = ProductVersion {
        major,
        minor,
        build: u16::from_be_bytes([build_high, build_low]),
        sub_build: 0,
    };
    let token = Token::LoginAck {
        tds_version,
        program,
        version,
    };
    end(reader, token)
}

fn feature_ext_ack(reader: &mut ByteReader<'_>) -> Result<Token, TdsError> {
    let mut features = Vec::new();
    loop {
        let id = reader.u8()?;
        if id == 0xFF {
            return Ok(Token::FeatureExtAck(features));
        }
        let size = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        let data = reader.take(size)?.to_vec();
        features.push(Feature { id, data });
    }
}

fn return_value(reader: &mut ByteReader<'_>) -> Result<Token, TdsError> {
    let ordinal = reader.u16()?;
    let name = short_text(reader)?;
    // Status, UserType, Flags.
    reader.take(7)?;
    let wire = WireType::parse(reader).map_err(stream)?;
    Ok(Token::ReturnValue {
        ordinal,
        name,
        type_info: wire.info,
        value: wire.parse_value(reader).map_err(stream)?,
    })
}

fn short_text(reader: &mut ByteReader<'_>) -> Result<String, TdsError> {
    let size = reader.u8()?;
    text(reader, size.into())
}

fn text(reader: &mut ByteReader<'_>, unit_count: usize) -> Result<String, TdsError> {
    let bytes = reader.take(unit_count * 2)?;
    utf16::parse(bytes).ok_or(reader.malformed("text in UTF-16"))
}

/// Returns `read` if no bytes are left over.
fn end<T>(reader: &ByteReader<'_>, read: T) -> Result<T, TdsError> {
    if reader.is_empty() {
        Ok(read)
    } else {
        Err(reader.malformed("the length of a token"))
    }
}
