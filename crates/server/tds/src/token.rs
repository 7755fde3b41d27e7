//! The tokens of a server's response (MS-TDS 2.2.7).

mod column;
mod column_info;
mod done;
mod env_change;
mod login_ack;
mod notice;
mod return_value;
mod row_shape;
mod text;
mod token_writer;

pub use column::Column;
pub use column_info::ColumnInfo;
pub use done::{Done, DoneKind};
pub use env_change::EnvChange;
pub use login_ack::LoginAck;
pub use notice::Notice;
pub use return_value::ReturnValue;
pub use row_shape::RowShape;
pub use token_writer::TokenWriter;

pub(crate) const RETURN_STATUS: u8 = 0x79;
pub(crate) const COLUMN_METADATA: u8 = 0x81;
pub(crate) const TABLE_NAME: u8 = 0xA4;
pub(crate) const COLUMN_INFO: u8 = 0xA5;
pub(crate) const ORDER: u8 = 0xA9;
pub(crate) const ERROR: u8 = 0xAA;
pub(crate) const INFO: u8 = 0xAB;
pub(crate) const RETURN_VALUE: u8 = 0xAC;
pub(crate) const LOGIN_ACK: u8 = 0xAD;
pub(crate) const FEATURE_EXT_ACK: u8 = 0xAE;
pub(crate) const ROW: u8 = 0xD1;
pub(crate) const NULL_BITMAP_ROW: u8 = 0xD2;
pub(crate) const ENV_CHANGE: u8 = 0xE3;
pub(crate) const DONE: u8 = 0xFD;
pub(crate) const DONE_PROC: u8 = 0xFE;
pub(crate) const DONE_IN_PROC: u8 = 0xFF;
