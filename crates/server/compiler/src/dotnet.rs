//! Patterns and texts of .NET, as FORMAT and PARSE take them, in the culture en-US and the invariant culture.

mod moment;
mod number;
mod parse_moment;
mod parse_number;

pub(crate) use moment::{format_moment, format_time};
pub(crate) use number::{Number, format_number};
pub(crate) use parse_moment::ParsedMoment;
pub(crate) use parse_number::plain_number;

/// A culture that FORMAT and PARSE know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Culture {
    /// en-US.
    English,
    /// The invariant culture.
    Invariant,
}

impl Culture {
    /// The culture with this name, in any case; `None` for all others.
    pub fn find(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "en-us" | "en" => Some(Self::English),
            "" | "iv" => Some(Self::Invariant),
            _ => None,
        }
    }
}
