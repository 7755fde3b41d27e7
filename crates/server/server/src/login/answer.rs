//! What a login is answered (MS-TDS 3.3.5.3).

use std::io;

use selenite_tds::{
    Collation, Done, DoneKind, EnvChange, Feature, LoginAck, MessageKind, PacketSink, PacketSize, PacketWriter,
    TdsError, TdsVersion, TokenWriter,
};

use super::Notice;
use crate::instance::{LANGUAGE, PROGRAM, VERSION};
use crate::transport::Line;

/// What an admitted client is told.
pub struct Acceptance<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The session.
    pub spid: u16,
    /// What is spoken.
    pub tds_version: TdsVersion,
    /// The database in use.
    pub database: &'a str,
    /// The size of packets from here on.
    pub packet_size: PacketSize,
    /// The features that the client has requested in addition.
    pub features: &'a [Feature],
}

/// Sends packets through a line that no session has yet.
pub struct LineSink<'a>(pub &'a mut Line);

impl PacketSink for LineSink<'_> {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        Ok(self.0.send(packet)?)
    }
}

/// Answers an admitted login.
///
/// # Errors
/// `Sink`.
pub fn accept(line: &mut Line, acceptance: &Acceptance<'_>) -> Result<(), TdsError> {
    let &Acceptance {
        server,
        spid,
        tds_version,
        database,
        packet_size,
        features,
    } = acceptance;
    let mut tokens = tokens(line, spid);
    tokens.env_change(&EnvChange::Database {
        new: database,
        old: "master",
    })?;
    let text = format!("Changed database context to '{database}'.");
    tokens.info(&notice(server, 5701, 2, 0, &text))?;
    tokens.env_change(&EnvChange::Collation {
        new: Collation::DEFAULT,
        old: None,
    })?;
    tokens.env_change(&EnvChange::Language { new: LANGUAGE, old: "" })?;
    let text = format!("Changed language setting to {LANGUAGE}.");
    tokens.info(&notice(server, 5703, 1, 0, &text))?;
    tokens.login_ack(&LoginAck {
        tds_version,
        program: PROGRAM,
        version: VERSION,
    })?;
    tokens.env_change(&EnvChange::PacketSize {
        new: packet_size,
        old: PacketSize::DEFAULT,
    })?;
    tokens.feature_ext_ack(features)?;
    tokens.done(done(Done::FINAL))?;
    tokens.packets_mut().finish()
}

/// Answers a refused login.
///
/// # Errors
/// `Sink`.
pub fn refuse(line: &mut Line, server: &str, notices: &[Notice]) -> Result<(), TdsError> {
    let mut tokens = tokens(line, 0);
    for Notice { number, severity, text } in notices {
        tokens.error(&notice(server, *number, 1, *severity, text))?;
    }
    tokens.done(done(Done::ERROR))?;
    tokens.packets_mut().finish()
}

fn tokens(line: &mut Line, spid: u16) -> TokenWriter<LineSink<'_>> {
    let packets = PacketWriter::new(LineSink(line), MessageKind::TabularResult, PacketSize::DEFAULT, spid);
    TokenWriter::new(packets)
}

fn notice<'a>(server: &'a str, number: i32, state: u8, severity: u8, text: &'a str) -> selenite_tds::Notice<'a> {
    selenite_tds::Notice {
        number,
        state,
        severity,
        text,
        server,
        procedure: "",
        line: 1,
    }
}

fn done(status: u16) -> Done {
    Done {
        kind: DoneKind::Statement,
        status,
        command: 0,
        row_count: 0,
    }
}
