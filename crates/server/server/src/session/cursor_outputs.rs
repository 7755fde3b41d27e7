//! What a client gets back that opens a cursor by a procedure.

use selenite_runtime::machine::{Output, Stop};
use selenite_types::{DataType, Value};

use crate::execution::cursor_work::ApiOpened;
use crate::reply::Reply;

/// The output parameters of sp_cursoropen and related ones, by their places and names.
pub(crate) struct CursorOutputs {
    pub cursor: (usize, String),
    pub scroll: Option<(usize, String)>,
    pub concurrency: Option<(usize, String)>,
    pub row_count: Option<(usize, String)>,
}

impl CursorOutputs {
    /// Sends what became of the cursor.
    pub fn send(&self, opened: ApiOpened, reply: &mut Reply) -> Result<(), Stop> {
        let places = [
            (Some(&self.cursor), opened.cursor),
            (self.scroll.as_ref(), opened.scroll),
            (self.concurrency.as_ref(), opened.concurrency),
            (self.row_count.as_ref(), opened.row_count),
        ];
        for (place, value) in places {
            if let Some((at, name)) = place {
                send_int(reply, (*at, name), value)?;
            }
        }
        Ok(())
    }
}

/// Sends an output parameter.
pub(super) fn send_int(reply: &mut Reply, (ordinal, name): (usize, &str), value: i32) -> Result<(), Stop> {
    reply.return_value(&Output {
        ordinal,
        name,
        data_type: DataType::Int,
        value: &Value::Int(value),
    })
}
