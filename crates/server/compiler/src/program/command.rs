//! The command numbers of DONE tokens.

/// The numbers by which DONE tokens identify kinds of statements.
///
/// MS-TDS leaves them to the server. Drivers count rows by the numbers of SELECT to UPDATE, and report an update count
/// of 0 for the numbers of definitions (mssql-jdbc, `StreamDone`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command;

impl Command {
    /// Any other statement: no client uses its number.
    pub const NONE: u16 = 0x00;
    /// DENY.
    pub const DENY: u16 = 0x99;
    /// DROP SCHEMA.
    pub const DROP_SCHEMA: u16 = 0xB0;
    /// DROP FUNCTION.
    pub const DROP_FUNCTION: u16 = 0xB3;
    /// SET of an option.
    pub const SET: u16 = 0xBE;
    /// IF and WHILE.
    pub const CONDITION: u16 = 0xC0;
    /// SELECT, and SET of a variable.
    pub const SELECT: u16 = 0xC1;
    /// SELECT INTO.
    pub const SELECT_INTO: u16 = 0xC2;
    /// INSERT.
    pub const INSERT: u16 = 0xC3;
    /// DELETE.
    pub const DELETE: u16 = 0xC4;
    /// UPDATE.
    pub const UPDATE: u16 = 0xC5;
    /// CREATE TABLE.
    pub const CREATE_TABLE: u16 = 0xC6;
    /// DROP TABLE.
    pub const DROP_TABLE: u16 = 0xC7;
    /// CREATE INDEX.
    pub const CREATE_INDEX: u16 = 0xC8;
    /// DROP INDEX.
    pub const DROP_INDEX: u16 = 0xC9;
    /// CREATE DATABASE.
    pub const CREATE_DATABASE: u16 = 0xCB;
    /// DROP DATABASE.
    pub const DROP_DATABASE: u16 = 0xCC;
    /// GRANT.
    pub const GRANT: u16 = 0xCD;
    /// REVOKE.
    pub const REVOKE: u16 = 0xCE;
    /// CREATE VIEW.
    pub const CREATE_VIEW: u16 = 0xCF;
    /// DROP VIEW.
    pub const DROP_VIEW: u16 = 0xD0;
    /// ROLLBACK.
    pub const ROLLBACK: u16 = 0xD2;
    /// BEGIN TRANSACTION.
    pub const BEGIN: u16 = 0xD4;
    /// COMMIT.
    pub const COMMIT: u16 = 0xD5;
    /// ALTER DATABASE.
    pub const ALTER_DATABASE: u16 = 0xD7;
    /// ALTER TABLE.
    pub const ALTER_TABLE: u16 = 0xD8;
    /// CREATE PROCEDURE.
    pub const CREATE_PROCEDURE: u16 = 0xDE;
    /// DROP PROCEDURE.
    pub const DROP_PROCEDURE: u16 = 0xDF;
    /// EXECUTE.
    pub const EXECUTE: u16 = 0xE0;
    /// DROP TRIGGER.
    pub const DROP_TRIGGER: u16 = 0xE1;
    /// DBCC.
    pub const DBCC: u16 = 0xE6;
    /// PRINT and RAISERROR.
    pub const PRINT: u16 = 0xF7;
    /// MERGE.
    pub const MERGE: u16 = 0x117;
    /// CREATE USER.
    pub const CREATE_USER: u16 = 0x13B;
    /// ALTER USER.
    pub const ALTER_USER: u16 = 0x13C;
    /// DROP USER.
    pub const DROP_USER: u16 = 0x13D;
    /// CREATE ROLE.
    pub const CREATE_ROLE: u16 = 0x13F;
    /// ALTER ROLE.
    pub const ALTER_ROLE: u16 = 0x140;
    /// DROP ROLE.
    pub const DROP_ROLE: u16 = 0x141;
    /// CREATE LOGIN.
    pub const CREATE_LOGIN: u16 = 0x145;
    /// ALTER LOGIN.
    pub const ALTER_LOGIN: u16 = 0x146;
    /// DROP LOGIN.
    pub const DROP_LOGIN: u16 = 0x147;
    /// CREATE SCHEMA.
    pub const CREATE_SCHEMA: u16 = 0x14A;
    /// ALTER INDEX.
    pub const ALTER_INDEX: u16 = 0x151;
    /// CREATE CERTIFICATE.
    pub const CREATE_CERTIFICATE: u16 = 0x170;
    /// DROP CERTIFICATE.
    pub const DROP_CERTIFICATE: u16 = 0x171;
    /// CREATE MASTER KEY.
    pub const CREATE_MASTER_KEY: u16 = 0x19B;
    /// DROP MASTER KEY.
    pub const DROP_MASTER_KEY: u16 = 0x19C;
}
