//! Reads the items of a document.
//!
//! - `work-is-counted`: each step, and each byte of a text that is copied or compared, is counted, so that an evaluation
//!   can be interrupted whatever a document and a query make of each other.
//! - `memory-is-requested-first`: memory of items and texts is requested before they are made. What an expression took
//!   besides its result counts as freed when it ends ([`ItemReader::held`]).

use selenite_types::XmlDocument;

use super::item::number_in;
use super::{Item, Number};
use crate::SqlError;

/// A document whose items are read within limits.
pub(crate) struct ItemReader<'a> {
    /// The nodes.
    pub document: &'a XmlDocument,
    /// Bytes that items and texts take now.
    pub held: usize,
    requested: usize,
    work: &'a mut dyn FnMut(usize) -> Result<(), SqlError>,
    reserve: &'a mut dyn FnMut(usize) -> Result<(), SqlError>,
}

impl<'a> ItemReader<'a> {
    /// Reads `document`; `work` is told of so many further steps, `reserve` requests so many bytes in all.
    pub fn new(
        document: &'a XmlDocument,
        work: &'a mut dyn FnMut(usize) -> Result<(), SqlError>,
        reserve: &'a mut dyn FnMut(usize) -> Result<(), SqlError>,
    ) -> Self {
        Self {
            document,
            held: 0,
            requested: 0,
            work,
            reserve,
        }
    }

    /// Counts steps.
    pub fn work(&mut self, steps: usize) -> Result<(), SqlError> {
        (self.work)(steps)
    }

    /// Requests memory for further bytes.
    pub fn hold(&mut self, bytes: usize) -> Result<(), SqlError> {
        self.held = self.held.saturating_add(bytes);
        if self.held > self.requested {
            self.requested = self.held.saturating_add(REQUESTED_AT_ONCE);
            (self.reserve)(self.requested)?;
        }
        Ok(())
    }

    pub fn push(&mut self, items: &mut Vec<Item>, item: Item) -> Result<(), SqlError> {
        self.work(1)?;
        self.hold(ITEM_SIZE)?;
        items.push(item);
        Ok(())
    }

    /// Appends the text of an item.
    pub fn append_text(&mut self, item: &Item, out: &mut String) -> Result<(), SqlError> {
        let document = self.document;
        let small;
        let text = match item {
            Item::Node(id) => {
                return document.append_string_value(*id, out, &mut |size| {
                    self.work(size + 1)?;
                    self.hold(size)
                });
            }
            Item::Text(text) => &**text,
            Item::Attribute(id, at) => document.attributes(*id).get(*at).map_or("", |found| &found.value),
            Item::Number(_) | Item::Boolean(_) | Item::Made(_) => {
                small = item.text(document);
                &small
            }
        };
        self.work(text.len())?;
        self.hold(text.len())?;
        out.push_str(text);
        Ok(())
    }

    pub fn text(&mut self, item: &Item) -> Result<String, SqlError> {
        let mut out = String::new();
        self.append_text(item, &mut out)?;
        Ok(out)
    }

    /// The number of an item; NaN if it is none.
    pub fn number(&mut self, item: &Item) -> Result<Number, SqlError> {
        match item {
            Item::Number(number) => Ok(*number),
            Item::Boolean(value) => Ok(Number::of_count(usize::from(*value))),
            Item::Node(_) | Item::Attribute(..) | Item::Text(_) | Item::Made(_) => {
                let held = self.held;
                let number = number_in(&self.text(item)?);
                self.held = held;
                Ok(Number::Double(number))
            }
        }
    }
}

/// An item in a list that grows.
pub(super) const ITEM_SIZE: usize = 2 * size_of::<Item>();
/// 64 KiB.
const REQUESTED_AT_ONCE: usize = 1 << 16;
