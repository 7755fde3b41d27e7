//! COMPRESS and DECOMPRESS: gzip.

use std::io::Read;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use selenite_types::Value;

use crate::SqlError;
use crate::functions::Arguments;

/// COMPRESS: the characters of text are encoded as its type says.
pub(super) fn compress(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let bytes = if let Value::Binary(bytes) = call.value(0) {
        Arc::clone(bytes)
    } else {
        Arc::from(call.data_type(0).encoded(call.text(0)?))
    };
    call.reserve(bytes.len())?;
    // The header is .NET's: the fastest method, and no system or time.
    let mut encoder = GzBuilder::new()
        .operating_system(0)
        .read(bytes.as_ref(), Compression::fast());
    read_all(call, &mut encoder)?.ok_or_else(|| SqlError::internal("compression"))
}

/// DECOMPRESS: NULL for bytes that are not gzip.
pub(super) fn decompress(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Value::Binary(bytes) = call.value(0) else {
        return Err(SqlError::internal("bytes to decompress"));
    };
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    Ok(read_all(call, &mut MultiGzDecoder::new(bytes.as_ref()))?.unwrap_or(Value::Null))
}

/// All bytes of a stream; `None` if it is damaged. Its size is not known before: memory is requested as it grows.
fn read_all(call: &Arguments<'_>, stream: &mut dyn Read) -> Result<Option<Value>, SqlError> {
    let mut read = Vec::new();
    let mut block = vec![0; BLOCK_SIZE];
    loop {
        call.environment.poll()?;
        call.reserve(read.len() + BLOCK_SIZE)?;
        match stream.read(&mut block) {
            Ok(0) => return Ok(Some(Value::Binary(Arc::from(read)))),
            Ok(size) => read.extend_from_slice(block.get(..size).unwrap_or_default()),
            Err(_) => return Ok(None),
        }
    }
}

/// 64 KiB: a thousandth of what a small input may become.
const BLOCK_SIZE: usize = 64 << 10;
