//! The marks of a chain's pages: the image of each page that the backups contain.
//!
//! They are stored in an unnamed file, 8 bytes for each page, and so occupy no memory. A mark is
//! not secret: it is part of the database file in plaintext.

use std::fs::File;
use std::io;

use selenite_format::anchor::Mark;
use selenite_keyring::platform::{read_at, write_all_at};

/// At most one mark for each page.
pub struct Marks {
    file: File,
    /// Marks of consecutive pages that were set last and are not written yet.
    held: Vec<u8>,
    held_first: u32,
}

impl Marks {
    /// An empty set of marks.
    ///
    /// # Errors
    /// Those of the system, for example if there is no space for temporary files.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            held: Vec::new(),
            held_first: 0,
        })
    }

    /// Sets the mark of a page, replacing any previous one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set(&mut self, page_no: u32, mark: Mark) -> io::Result<()> {
        let next = u64::from(self.held_first) + (self.held.len() / MARK_SIZE) as u64;
        if u64::from(page_no) != next || self.held.len() >= HELD_MAX {
            self.settle()?;
            self.held_first = page_no;
        }
        self.held.extend(mark.0);
        Ok(())
    }

    /// Writes the marks that are not written yet.
    ///
    /// # Errors
    /// Those of the system.
    pub fn settle(&mut self) -> io::Result<()> {
        write_all_at(&self.file, &self.held, place(self.held_first))?;
        self.held.clear();
        Ok(())
    }

    /// The marks of consecutive pages, from `first` on; zeros for pages without one. Marks set
    /// before the last [`Marks::settle`] are included.
    ///
    /// # Errors
    /// Those of the system.
    pub fn read(&self, first: u32, out: &mut [Mark]) -> io::Result<()> {
        let mut bytes = vec![0; out.len() * MARK_SIZE];
        let mut filled = 0;
        while filled < bytes.len() {
            match read_at(&self.file, &mut bytes[filled..], place(first) + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        for (mark, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
            *mark = Mark(*bytes);
        }
        Ok(())
    }
}

fn place(page_no: u32) -> u64 {
    u64::from(page_no) * MARK_SIZE as u64
}

const MARK_SIZE: usize = 8;
const HELD_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mark_of_a_page_is_returned_and_missing_ones_are_zero() {
        let mut marks = Marks::new().unwrap();
        for page_no in (1..=20_000).chain([7, 8, 9, 30_000, 8]) {
            let mark = if page_no == 8 { 99 } else { u64::from(page_no) };
            marks.set(page_no, Mark(mark.to_be_bytes())).unwrap();
        }
        marks.set(9, Mark([5; 8])).unwrap();
        marks.settle().unwrap();
        let mut out = [Mark([1; 8]); 5];
        marks.read(6, &mut out).unwrap();
        let of = |mark: u64| Mark(mark.to_be_bytes());
        assert_eq!(out, [of(6), of(7), of(99), Mark([5; 8]), of(10)]);
        marks.read(29_999, &mut out).unwrap();
        assert_eq!(out[..3], [Mark::default(), of(30_000), Mark::default()]);
    }
}
