//! Receivers of rows.

use selenite::{Cell, Rows};

/// Discards them.
pub struct Nothing;

#[derive(Default)]
pub struct Numbers(pub Vec<i64>);

#[derive(Default)]
pub struct Texts(pub Vec<String>);

impl Rows for Nothing {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, _: Vec<Cell>) -> bool {
        true
    }

    fn end(&mut self) {}
}

impl Rows for Numbers {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, cells: Vec<Cell>) -> bool {
        self.0.extend(cells.iter().filter_map(|cell| match cell {
            Cell::Integer(number) => Some(*number),
            Cell::Null | Cell::Real(_) | Cell::Text(_) | Cell::Blob(_) => None,
        }));
        true
    }

    fn end(&mut self) {}
}

impl Rows for Texts {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, cells: Vec<Cell>) -> bool {
        for cell in cells {
            if let Cell::Text(text) = cell {
                self.0.push(text);
            }
        }
        true
    }

    fn end(&mut self) {}
}
