//! LOGINACK (MS-TDS 2.2.7.14).

use crate::{ProductVersion, TdsVersion};

/// The login is accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoginAck<'a> {
    /// What is spoken from here on.
    pub tds_version: TdsVersion,
    /// The server's name of itself: clients expect `Microsoft SQL Server`.
    pub program: &'a str,
    /// Its version.
    pub version: ProductVersion,
}
