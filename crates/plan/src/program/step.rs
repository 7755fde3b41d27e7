//! What a machine carries out.

/// One step of a program.
#[derive(Debug)]
pub(crate) enum Step {
    /// The end: as RETURN without a value.
    End,
}
