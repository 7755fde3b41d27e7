//! Days, times and moments: their parts, what is added to them, and what lies between them.
//!
//! M1. A date is a count of days in the Gregorian calendar, extended backwards to 0001-01-01.
//! M2. A datetime is held as the thousandth that SQL Server shows (.000, .003, .007); its third of a hundredth is put back where
//!     it becomes a finer type or goes to the wire.
//! M3. Functions of T-SQL get a value and its declared type: the type says which parts it has and how it rounds.

mod date_part;
mod error;
mod moment;

pub use date_part::{DateFirst, DatePart};
pub use error::DateError;
pub use moment::Moment;
