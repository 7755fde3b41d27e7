//! The other side, for tests: encodes what clients send and parses what servers answer.
