//! Tokens of an answer (MS-TDS 2.2.7).

use selenite_types::Value;

use crate::byte_reader::ByteReader;
use crate::token::{
    COLUMN_METADATA, DONE, DONE_IN_PROC, DONE_PROC, ENV_CHANGE, ERROR, FEATURE_EXT_ACK, INFO, LOGIN_ACK,
    NULL_BITMAP_ROW, ORDER, RETURN_STATUS, RETURN_VALUE, ROW,
};
use crate::value::{ValueError, WireType};
use crate::{Done, DoneKind, Feature, Part, ProductVersion, TdsError, TdsVersion, TypeInfo, utf16};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// COLMETADATA.
    Columns(Vec<ResultColumn>),
    /// ROW or NBCROW.
    Row(Vec<Value>),
    /// DONE, DONEPROC, DONEINPROC.
    Done(Done),
    /// ERROR.
    Error(Said),
    /// INFO.
    Info(Said),
    /// ENVCHANGE.
    EnvChange(Change),
    /// LOGINACK.
    LoginAck {
        /// What is spoken.
        tds_version: TdsVersion,
        /// The server's name of itself.
        program: String,
        /// Its version, but for the last part.
        version: ProductVersion,
    },
    /// FEATUREEXTACK.
    FeatureExtAck(Vec<Feature>),
    /// RETURNSTATUS.
    ReturnStatus(i32),
    /// RETURNVALUE.
    ReturnValue {
        /// The parameter's place.
        ordinal: u16,
        /// Its name.
        name: String,
        /// Its type.
        type_info: TypeInfo,
        /// Its value.
        value: Value,
    },
    /// ORDER.
    Order(Vec<u16>),
}

/// A column of COLMETADATA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultColumn {
    /// Its name.
    pub name: String,
    /// Flags as MS-TDS 2.2.7.4 has them.
    pub flags: u16,
    /// TYPE_INFO's first byte.
    pub type_byte: u8,
    /// Its type.
    pub type_info: TypeInfo,
}

/// ERROR or INFO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// Its number.
    pub number: i32,
    /// Its state.
    pub state: u8,
    /// Its severity.
    pub severity: u8,
    /// Its text.
    pub text: String,
    /// The server.
    pub server: String,
    /// The procedure.
    pub procedure: String,
    /// The line.
    pub line: u32,
}

/// ENVCHANGE: values as bytes, without their lengths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// 1 to 20.
    pub kind: u8,
    /// Now.
    pub new: Vec<u8>,
    /// Before.
    pub old: Vec<u8>,
}

impl Change {
    /// The new value of a kind that has text: database, language, packet size.
    #[must_use]
    pub fn new_text(&self) -> Option<String> {
        utf16::parse(&self.new)
    }
}

/// Reads tokens one by one; rows by the columns last sent.
pub(super) struct TokenParser<'a> {
    reader: ByteReader<'a>,
    columns: Vec<WireType>,
}

impl<'a> TokenParser<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self {
            reader: ByteReader::new(data, Part::Answer),
            columns: Vec::new(),
        }
    }

    /// None at the end.
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
            ERROR => Token::Error(said(&mut sized(reader)?)?),
            INFO => Token::Info(said(&mut sized(reader)?)?),
            ENV_CHANGE => Token::EnvChange(change(&mut sized(reader)?)?),
            LOGIN_ACK => login_ack(&mut sized(reader)?)?,
            FEATURE_EXT_ACK => feature_ext_ack(reader)?,
            RETURN_STATUS => Token::ReturnStatus(i32::from_le_bytes(reader.array()?)),
            RETURN_VALUE => return_value(reader)?,
            ORDER => {
                let (columns, _) = sized(reader)?.rest().as_chunks::<2>();
                Token::Order(columns.iter().map(|column| u16::from_le_bytes(*column)).collect())
            }
            _ => return Err(reader.malformed("a token")),
        }))
    }

    fn columns(&mut self) -> Result<Token, TdsError> {
        self.columns.clear();
        let mut columns = Vec::new();
        for _ in 0..self.reader.u16()? {
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

    /// Values of columns whose bit is not set in `bitmap`.
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
            part: Part::Answer,
            what: "a value",
        },
    }
}

/// The data of a token whose length precedes it.
fn sized<'a>(reader: &mut ByteReader<'a>) -> Result<ByteReader<'a>, TdsError> {
    let size = reader.u16()?;
    reader.split(size.into())
}

fn done(kind: DoneKind, reader: &mut ByteReader<'_>) -> Result<Done, TdsError> {
    Ok(Done {
        kind,
        status: reader.u16()?,
        command: reader.u16()?,
        row_count: reader.u64()?,
    })
}

fn said(reader: &mut ByteReader<'_>) -> Result<Said, TdsError> {
    let number = i32::from_le_bytes(reader.array()?);
    let [state, severity] = reader.array()?;
    let size = reader.u16()?;
    let text = text(reader, size.into())?;
    let said = Said {
        number,
        state,
        severity,
        text,
        server: short_text(reader)?,
        procedure: short_text(reader)?,
        line: reader.u32()?,
    };
    end(reader, said)
}

fn change(reader: &mut ByteReader<'_>) -> Result<Change, TdsError> {
    let kind = reader.u8()?;
    // Of names the length counts units, of the others bytes. MS-TDS 2.2.7.9 has longer lengths for promotion to a
    // distributed transaction and for routing.
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

/// What was read, if nothing is left over.
fn end<T>(reader: &ByteReader<'_>, read: T) -> Result<T, TdsError> {
    if reader.is_empty() {
        Ok(read)
    } else {
        Err(reader.malformed("the length of a token"))
    }
}
