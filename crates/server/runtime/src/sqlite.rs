//! Execution on a SQLite connection: runs the SQL of bound statements, and registers the functions that SQLite calls.

mod cancellation;
mod damaged_page;
mod error;
mod executor;
mod function_context;
mod functions;
mod identities;
mod lock_timeout;
mod memory;
mod row_versions;
mod sequences;

pub use cancellation::{Cancellation, Cancelled};
pub use damaged_page::{DAMAGED_PAGE, damaged_page, note_file};
pub use error::{ChangeError, is_busy, lock_timeout, tsql_error};
pub use executor::{Call, Executor, LateSnapshot, PreparedChange, RowSink, SqliteRow};
pub use function_context::{CurrentCall, FunctionContext, SessionSnapshot, SharedSnapshot};
pub use functions::{register, stored_ref};
pub use identities::{Identities, IdentityJournal, SequenceCounter};
pub use lock_timeout::LockTimeout;
pub use memory::{reserve, within_memory};
pub use row_versions::next_temporary_row_version;
pub use sequences::{SequenceRange, TakenValues};
