//! Where rows and messages of a statement go.

use selenite_runtime::change::GivenRow;
use selenite_runtime::machine::{Failure, Message, Stop};
use selenite_tds::Column;
use selenite_types::Value;

/// Takes rows and messages for the client, and waits for one that does not read.
pub trait Receiver {
    /// Rows of this shape follow.
    ///
    /// # Errors
    /// 1056 for too many columns; that nobody is left to go on for.
    fn columns(&mut self, columns: &[Column]) -> Result<(), Failure>;

    /// A row of the last columns, each value of its column's type.
    ///
    /// # Errors
    /// 8624 for a value that is not; that nobody is left to go on for.
    fn row(&mut self, values: &[Value]) -> Result<(), Failure>;

    /// An information, such as 8153 or what DBCC says.
    ///
    /// # Errors
    /// That nobody is left to go on for.
    fn message(&mut self, message: &Message<'_>) -> Result<(), Stop>;

    /// The rows that were kept for the INSERT .. EXECUTE that runs now.
    fn take_captured(&mut self) -> Vec<GivenRow>;

    /// Whether to go on: to be asked at least every 50 milliseconds.
    ///
    /// # Errors
    /// Why not.
    fn poll(&mut self) -> Result<(), Stop>;
}
