//! An unreadable sector: the page or frame in it is bad, and everything else is checked.

use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use selenite::storage::{Attributes, Claim, Disk, ReadAt, Storage, WriteAt};
use selenite::verify::{Origin, PhysicalReport, physical};
use selenite::{Watch, salvage};

use crate::salvage::{LAYOUT, NOTES, pages, place, saved, sealed, table};
use crate::salvage_logs::{THEM, THREE, texts, with_log as with_note_log};
use crate::support::{Fixture, query};
use crate::verify::{FRAME, with_log};

/// The disk of this machine; certain bytes of the files whose names end with `name` can't be read.
struct Failing {
    name: &'static str,
    bytes: Range<u64>,
}

struct FailingFile {
    file: Box<dyn ReadAt>,
    bytes: Range<u64>,
}

impl ReadAt for FailingFile {
    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let end = offset + u64::try_from(out.len()).unwrap();
        if offset < self.bytes.end && end > self.bytes.start {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.file.read_at(out, offset)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

impl Storage for Failing {
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        let file = Disk.open(path)?;
        if !path.to_str().unwrap().ends_with(self.name) {
            return Ok(file);
        }
        let bytes = self.bytes.clone();
        Ok(Box::new(FailingFile { file, bytes }))
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Disk.real_path(path)
    }

    fn attributes(&self, path: &Path) -> io::Result<Attributes> {
        Disk.attributes(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        Disk.list(folder)
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        Disk.create(path)
    }

    fn set_owner_and_mode(&self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        Disk.set_owner_and_mode(path, attributes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        Disk.sync_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        Disk.sync_folder(folder)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn read_claim(&self, path: &Path) -> io::Result<Option<String>> {
        Disk.read_claim(path)
    }

    fn claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        Disk.claim(path)
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Box<dyn WriteAt>> {
        Disk.open_to_write(path)
    }
}

fn check(fixture: &Fixture, path: &Path, disk: &Failing) -> PhysicalReport {
    physical(disk, path, &fixture.access(), &Watch::none()).unwrap()
}

fn save(fixture: &Fixture, path: &Path, disk: &Failing) -> salvage::Salvaged {
    let to = fixture.path("saved.db");
    salvage::salvage(disk, path, &fixture.access(), (&to, &[]), &Watch::none()).unwrap()
}

#[test]
fn verify_names_the_frame_of_a_log_that_can_not_be_read() {
    let fixture = Fixture::new();
    let sql = "UPDATE note SET b = 'one' WHERE a < 20; UPDATE note SET b = 'two' WHERE a > 2900;";
    let copy = with_log(&fixture, "WAL", sql);
    for (within, index, is_named) in [(0, Some(3), false), (500, Some(3), true)] {
        let start = 32 + 3 * FRAME + within;
        let disk = Failing {
            name: "copy.db-wal",
            bytes: start..start + 100,
        };
        let report = check(&fixture, &copy, &disk);
        assert_eq!(
            (
                report.bad.len(),
                report.bad[0].origin,
                report.bad[0].index,
                report.bad[0].page_no > 0
            ),
            (1, Origin::Wal, index, is_named),
            "{report:?}"
        );
    }
    let disk = Failing {
        name: "copy.db-wal",
        bytes: 0..10,
    };
    let report = check(&fixture, &copy, &disk);
    assert_eq!((report.bad.len(), report.bad[0].index), (1, None), "{report:?}");
}

#[test]
fn verify_names_the_record_of_a_journal_that_can_not_be_read() {
    let fixture = Fixture::new();
    let copy = with_log(
        &fixture,
        "DELETE",
        "PRAGMA cache_size = 5; BEGIN; UPDATE note SET b = 'changed'",
    );
    // With so small a cache, each record has a header of its own.
    let second = 2048 + 512;
    for (bytes, index) in [(second + 100..second + 110, Some(1)), (0..10, None)] {
        let disk = Failing {
            name: "copy.db-journal",
            bytes,
        };
        let report = check(&fixture, &copy, &disk);
        let bad = report.bad.iter().find(|bad| bad.origin == Origin::Journal).unwrap();
        assert_eq!(bad.index, index, "{report:?}");
        assert_eq!(bad.page_no > 0, index.is_some(), "{report:?}");
    }
}

#[test]
fn salvage_continues_after_an_unreadable_frame_of_a_log() {
    let fixture = Fixture::new();
    let sql =
        format!("DROP INDEX note_by_text; PRAGMA wal_checkpoint(TRUNCATE); {THREE} PRAGMA wal_checkpoint(PASSIVE);");
    let path = with_note_log(&fixture, &LAYOUT, "WAL", &sql);
    let start = 32 + FRAME + 30;
    let disk = Failing {
        name: "damaged.db-wal",
        bytes: start..start + 100,
    };
    let salvaged = save(&fixture, &path, &disk);
    assert_eq!((salvaged.bad_logs.len(), salvaged.bad_logs[0].index), (1, Some(1)));
    assert_eq!(texts(&fixture, THEM), ["first", "second", "third"]);
}

#[test]
fn salvage_loses_the_page_of_a_record_that_can_not_be_read_and_no_more() {
    let fixture = Fixture::new();
    let open = "PRAGMA cache_size = 5; DROP INDEX note_by_text; BEGIN; UPDATE note SET text = 'open';";
    let path = with_note_log(&fixture, &LAYOUT, "DELETE", open);
    let start = 2048 + 512 + 500;
    let disk = Failing {
        name: "damaged.db-journal",
        bytes: start..start + 8,
    };
    let salvaged = save(&fixture, &path, &disk);
    assert_eq!(
        (salvaged.bad_logs.len(), table(&salvaged, "note").lost_count),
        (1, 1),
        "{salvaged:?}"
    );
    assert_eq!(
        texts(&fixture, "SELECT count(*) || '' FROM note WHERE text = 'open'"),
        ["0"]
    );
}

#[test]
fn salvage_loses_the_rows_of_a_page_that_can_not_be_read_and_no_others() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, NOTES);
    let leaf = pages(&path, &fixture, "note", "leaf")[5];
    let dump = query(&path, &fixture.access(), "SELECT * FROM note").unwrap();
    let disk = Failing {
        name: "app.db",
        bytes: place(leaf) + 100..place(leaf) + 101,
    };
    let salvaged = save(&fixture, &path, &disk);
    let note = table(&salvaged, "note");
    assert_eq!(
        (salvaged.bad_pages.as_slice(), note.lost_count),
        ([leaf].as_slice(), 1),
        "{salvaged:?}"
    );
    let rows = saved(&fixture, "SELECT * FROM note");
    assert!(rows.len() > 2900 && rows.iter().all(|row| dump.contains(row)));
    assert_eq!(rows.len() as u64, note.row_count);
    let report = check(&fixture, &path, &disk);
    assert_eq!((report.bad_count, report.bad[0].page_no), (1, leaf));
}
