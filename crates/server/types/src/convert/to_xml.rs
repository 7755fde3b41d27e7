//! Conversions to and from xml.

use std::sync::Arc;

use crate::convert::{ConversionError, ConversionFault, Request, convert};
use crate::xml::{XmlSource, normalized_while};
use crate::{DataType, DateFormat, Encoding, Family, Value, Width};

/// Text or bytes as xml. Style 1 keeps white space; 2 and 3, which allow a document type, are refused.
pub(super) fn to_xml(
    value: &Value,
    request: &Request<'_>,
    poll: &mut dyn FnMut(usize) -> bool,
) -> Result<Value, ConversionError> {
    let style = request.style.unwrap_or(0);
    match style {
        0 | 1 => {}
        2 | 3 => {
            let what = format!("CONVERT style {style} (a document type in xml)");
            return Err(request.fail_with(ConversionFault::Unsupported, what));
        }
        _ => return Err(request.no_style()),
    }
    let keeps_space = style == 1;
    let source = if request.from.family() == Family::Xml {
        return Ok(value.clone());
    } else if let Value::Text(text) = value {
        match request.from.encoding() {
            Encoding::Utf16 => XmlSource::Wide(text),
            Encoding::Utf8 if !text.is_ascii() => {
                let what = "xml of text in a UTF-8 collation";
                return Err(request.fail_with(ConversionFault::Unsupported, what));
            }
            Encoding::CodePage | Encoding::Utf8 => XmlSource::Narrow(text),
        }
    } else if let Value::Binary(bytes) = value {
        XmlSource::Bytes(bytes)
    } else {
        return Err(request.misfit());
    };
    match normalized_while(source, keeps_space, poll) {
        Ok(text) => Ok(Value::Text(Arc::from(text))),
        Err(error) => Err(request.fail_with(ConversionFault::Xml(error.number()), error.to_string())),
    }
}

/// xml as text or bytes, which are UTF-16 with a byte order mark.
pub(super) fn from_xml(value: &Value, from: &DataType, to: &DataType) -> Result<Value, ConversionError> {
    let too_short = || ConversionError::new(ConversionFault::XmlText, from, to);
    let Value::Text(text) = value else {
        return Err(ConversionError::new(ConversionFault::Unreadable, from, to));
    };
    if to.family() == Family::Binary {
        let mut bytes = vec![0xFF, 0xFE];
        bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        if !to.fits(bytes.len()) {
            return Err(too_short());
        }
        let value = Value::Binary(bytes.into());
        return convert(
            &value,
            &DataType::VarBinary(Width::Max),
            to,
            None,
            DateFormat::default(),
        );
    }
    if !to.fits(to.text_length(text)) {
        return Err(too_short());
    }
    convert(value, &DataType::NVarChar(Width::Max), to, None, DateFormat::default())
}
