//! Splits a server's response into messages and tokens.

use super::Token;
use super::token::TokenParser;
use crate::{HEADER_SIZE, Header, MessageKind, MessagePart, TdsError};

/// Takes the first message from the front of `packets` and returns its data, or `None` if the message is incomplete.
///
/// Errors: `Malformed` if the message is not a tabular result.
pub fn split_message(packets: &mut &[u8]) -> Result<Option<Vec<u8>>, TdsError> {
    let mut data = Vec::new();
    let mut rest = *packets;
    while let Some((header, _)) = rest.split_first_chunk::<HEADER_SIZE>() {
        let header = Header::parse(header)?;
        if !matches!(header.kind, MessageKind::TabularResult | MessageKind::Prelogin) {
            return Err(TdsError::Malformed {
                part: MessagePart::Answer,
                what: "its type",
            });
        }
        let Some((packet, after)) = rest.split_at_checked(header.length.into()) else {
            return Ok(None);
        };
        data.extend_from_slice(&packet[HEADER_SIZE..]);
        rest = after;
        if header.status & Header::END != 0 {
            *packets = rest;
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Parses the tokens of a message.
///
/// Errors: `Cut`, `Malformed`; `Unsupported` for a token that this server never sends.
pub fn tokens(data: &[u8]) -> Result<Vec<Token>, TdsError> {
    let mut parser = TokenParser::new(data);
    let mut tokens = Vec::new();
    while let Some(token) = parser.next_token()? {
        tokens.push(token);
    }
    Ok(tokens)
}
