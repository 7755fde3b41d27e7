//! The marks of a chain's pages: which image of each page the backups have.
//!
//! They are in a file without a name, 8 bytes for each page, and so take no memory. A mark is no secret: it stands
//! in clear in the database file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use selenite_format::anchor::Mark;

/// A mark for each page that has one.
pub struct Marks {
    file: File,
    /// What was set last, pages side by side, and not written yet.
    held: Vec<u8>,
    held_first: u32,
}

impl Marks {
    /// None.
    ///
    /// # Errors
    /// As the system has it: no room for temporary files, say.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            held: Vec::new(),
            held_first: 0,
        })
    }

    /// Notes the mark of a page, in the place of one that it had.
    ///
    /// # Errors
    /// As the system has it.
    pub fn set(&mut self, page_no: u32, mark: Mark) -> io::Result<()> {
        let next = u64::from(self.held_first) + (self.held.len() / MARK_SIZE) as u64;
        if u64::from(page_no) != next || self.held.len() >= HELD_MAX {
            self.settle()?;
            self.held_first = page_no;
        }
        self.held.extend(mark.0);
        Ok(())
    }

    /// Writes what is held.
    ///
    /// # Errors
    /// As the system has it.
    pub fn settle(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.held, place(self.held_first))?;
        self.held.clear();
        Ok(())
    }

    /// The marks of pages that lie side by side, from `first` on; of one that has none, zeros. What was set before
    /// [`Marks::settle`] is among them.
    ///
    /// # Errors
    /// As the system has it.
    pub fn read(&self, first: u32, out: &mut [Mark]) -> io::Result<()> {
        let mut bytes = vec![0; out.len() * MARK_SIZE];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], place(first) + filled as u64) {
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
    fn the_last_mark_of_a_page_counts_and_others_are_zeros() {
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
