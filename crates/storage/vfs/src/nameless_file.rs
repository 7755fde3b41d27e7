//! Files without a name: temporary databases, sorter runs, statement journals, the copy that VACUUM makes.
//!
//! - key-in-memory-only: the key exists as long as the open file, in memory only; so do the
//!   trailers of its blocks. After a crash no process can decrypt what remains on disk, including the
//!   writer.
//! - any-offset-and-size: SQLite accesses these files at any offset and size (a statement journal
//!   is one write of 60 KB): the file is a stream of blocks of 4 KiB, of which the current one is
//!   kept decrypted in memory.
//! - unwritten-is-zeros: a block that was never written reads as zeros, like a hole: whether it was
//!   written is known from memory, never from disk.
//! - place-reserved-on-write: space for a block is allocated on disk as soon as anything is written
//!   to it: if the disk is full, the write that needs more space fails, and earlier data remains
//!   readable.

use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;

use selenite_cipher::{DataKey, DatabaseId, Epoch, PageKey, PageNo, Secret, SessionId, Suite, TRAILER_SIZE};

use zeroize::Zeroize;

use crate::counters::FileCounters;
use crate::error::VfsError;
use crate::ffi::{Code, Control, File, LockLevel, LowerFile, RawControl, SyncFlags, os_random};
use crate::host::Host;
use crate::role::Role;
use crate::session::Nonces;

/// An open file without a name.
pub struct NamelessFile {
    host: Arc<Host>,
    counters: FileCounters,
    lower: LowerFile,
    key: DataKey,
    session_key: Option<(SessionId, PageKey)>,
    nonces: Nonces,
    /// One per block; all zero for a block that was never written.
    trailers: Vec<[u8; TRAILER_SIZE]>,
    size: u64,
    /// The current block, decrypted.
    block: Box<[u8]>,
    block_index: Option<usize>,
    block_is_dirty: bool,
    /// Sealed blocks that are being written.
    sealed: Vec<u8>,
}

impl NamelessFile {
    /// A file that was just opened, and is empty.
    ///
    /// # Errors
    /// If the system's random number generator fails.
    pub fn new(host: Arc<Host>, lower: LowerFile) -> Result<Self, VfsError> {
        let mut id = [0; 16];
        os_random(&mut id)?;
        let mut secret = [0; 32];
        os_random(&mut secret)?;
        let key = DataKey::new(Secret::new(secret), DatabaseId(id), Epoch(1), Suite::DEFAULT);
        Ok(Self {
            counters: host.counters.for_file(Role::Nameless),
            host,
            lower,
            key,
            session_key: None,
            nonces: Nonces::new()?,
            trailers: Vec::new(),
            size: 0,
            block: vec![0; BLOCK_SIZE].into_boxed_slice(),
            block_index: None,
            block_is_dirty: false,
            sealed: Vec::new(),
        })
    }

    fn try_read(&mut self, out: &mut [u8], offset: u64) -> Result<(), VfsError> {
        let mut done = 0;
        let end = self.size.saturating_sub(offset);
        let known = usize::try_from(end).unwrap_or(usize::MAX).min(out.len());
        while done < known {
            let (index, within) = place(offset, done)?;
            let size = (BLOCK_SIZE - within).min(known - done);
            let part = &mut out[done..done + size];
            if size == BLOCK_SIZE && self.block_index != Some(index) {
                self.load(index, part)?;
            } else {
                self.hold(index)?;
                part.copy_from_slice(&self.block[within..within + size]);
            }
            done += size;
        }
        out[known..].fill(0);
        if known < out.len() {
            Err(Code::IOERR_SHORT_READ.into())
        } else {
            Ok(())
        }
    }

    fn try_write(&mut self, data: &[u8], offset: u64) -> Result<(), VfsError> {
        let mut done = 0;
        while done < data.len() {
            let (index, within) = place(offset, done)?;
            let whole = (data.len() - done) / BLOCK_SIZE;
            if within == 0 && whole > 0 {
                let size = whole.min(GATHER_COUNT) * BLOCK_SIZE;
                self.store(index, &data[done..done + size])?;
                done += size;
            } else {
                let size = (BLOCK_SIZE - within).min(data.len() - done);
                self.hold(index)?;
                self.block[within..within + size].copy_from_slice(&data[done..done + size]);
                self.block_is_dirty = true;
                // place-reserved-on-write.
                if !self.is_stored(index)
                    && let Err(error) = self.flush()
                {
                    self.forget_block();
                    return Err(error);
                }
                done += size;
            }
        }
        let end = offset + u64::try_from(data.len()).map_err(|_| Code::IOERR_WRITE)?;
        self.size = self.size.max(end);
        Ok(())
    }

    fn is_stored(&self, index: usize) -> bool {
        self.trailers
            .get(index)
            .is_some_and(|trailer| *trailer != [0; TRAILER_SIZE])
    }

    fn forget_block(&mut self) {
        self.block_index = None;
        self.block_is_dirty = false;
    }

    /// Makes `index` the current block.
    fn hold(&mut self, index: usize) -> Result<(), VfsError> {
        if self.block_index == Some(index) {
            return Ok(());
        }
        self.flush()?;
        self.block_index = None;
        let mut block = std::mem::take(&mut self.block);
        let loaded = self.load(index, &mut block);
        self.block = block;
        loaded?;
        self.block_index = Some(index);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), VfsError> {
        let (Some(index), true) = (self.block_index, self.block_is_dirty) else {
            return Ok(());
        };
        let block = std::mem::take(&mut self.block);
        let stored = self.store_blocks(index, &block);
        self.block = block;
        stored?;
        self.block_is_dirty = false;
        Ok(())
    }

    /// Reads and opens one block.
    fn load(&mut self, index: usize, out: &mut [u8]) -> Result<(), VfsError> {
        let trailer = match self.trailers.get(index) {
            Some(trailer) if *trailer != [0; TRAILER_SIZE] => *trailer,
            Some(_) | None => {
                out.fill(0);
                return Ok(());
            }
        };
        self.sealed.resize(BLOCK_SIZE, 0);
        self.lower.read(&mut self.sealed, offset_of(index)?)?;
        let page_no = block_no(index)?;
        let session = selenite_cipher::Trailer::parse(&trailer).nonce.session;
        let key = session_key(&self.key, &mut self.session_key, session);
        self.counters
            .open(BLOCK_SIZE, || key.open(page_no, &self.sealed, &trailer, out))
            .map_err(|_| {
                self.counters.refuse();
                VfsError::Unauthentic {
                    role: Role::Nameless,
                    page_no: page_no.0,
                }
            })
    }

    /// Seals and writes whole blocks; the current block is dropped if it is among them.
    fn store(&mut self, first: usize, data: &[u8]) -> Result<(), VfsError> {
        let count = data.len() / BLOCK_SIZE;
        self.store_blocks(first, data)?;
        if self
            .block_index
            .is_some_and(|index| index >= first && index < first + count)
        {
            self.forget_block();
        }
        Ok(())
    }

    fn store_blocks(&mut self, first: usize, data: &[u8]) -> Result<(), VfsError> {
        self.sealed.resize(data.len().max(BLOCK_SIZE), 0);
        let count = data.len() / BLOCK_SIZE;
        let mut trailers = vec![[0; TRAILER_SIZE]; count];
        for (number, (plain, out)) in data
            .chunks_exact(BLOCK_SIZE)
            .zip(self.sealed.chunks_exact_mut(BLOCK_SIZE))
            .enumerate()
        {
            let nonce = self.nonces.draw(Suite::DEFAULT)?;
            let key = session_key(&self.key, &mut self.session_key, nonce.session);
            let page_no = block_no(first + number)?;
            let trailer = &mut trailers[number];
            self.counters
                .seal(BLOCK_SIZE, || key.seal(page_no, &nonce, plain, out, trailer));
        }
        self.lower.write(&self.sealed[..data.len()], offset_of(first)?)?;
        // Trailers change only after the write: if it failed, the old blocks can still be opened.
        if self.trailers.len() < first + count {
            self.trailers.resize(first + count, [0; TRAILER_SIZE]);
        }
        self.trailers[first..first + count].copy_from_slice(&trailers);
        Ok(())
    }

    fn try_truncate(&mut self, size: u64) -> Result<(), VfsError> {
        if size < self.size {
            let (index, within) = place(size, 0)?;
            let keep = index + usize::from(within > 0);
            if self.block_index.is_some_and(|held| held >= keep) {
                self.forget_block();
            }
            if within > 0 && self.is_stored(index) {
                // Truncated bytes must read as zeros if the file grows again.
                self.hold(index)?;
                self.block[within..].fill(0);
                self.block_is_dirty = true;
            }
            self.trailers.truncate(keep);
            self.lower.truncate(offset_of(keep)?)?;
        }
        self.size = size;
        Ok(())
    }

    fn report<T>(&self, result: Result<T, VfsError>) -> Result<T, Code> {
        result.map_err(|error| self.host.report("a temporary file", &error))
    }
}

/// The page key of a session. The session changes only after a fork, or after 2^32 blocks.
fn session_key<'a>(key: &DataKey, held: &'a mut Option<(SessionId, PageKey)>, session: SessionId) -> &'a PageKey {
    if held.as_ref().is_none_or(|(known, _)| *known != session) {
        *held = None;
    }
    let (_, key) = held.get_or_insert_with(|| (session, key.page_key(session)));
    key
}

fn place(offset: u64, done: usize) -> Result<(usize, usize), VfsError> {
    let at = offset + u64::try_from(done).map_err(|_| Code::IOERR)?;
    let at = usize::try_from(at).map_err(|_| Code::IOERR)?;
    Ok((at / BLOCK_SIZE, at % BLOCK_SIZE))
}

fn offset_of(index: usize) -> Result<u64, VfsError> {
    Ok(u64::try_from(index * BLOCK_SIZE).map_err(|_| Code::IOERR)?)
}

fn block_no(index: usize) -> Result<PageNo, VfsError> {
    u32::try_from(index + 1)
        .map(PageNo)
        .map_err(|_| VfsError::Lower(Code::FULL))
}

impl File for NamelessFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        let read = self.try_read(out, offset);
        self.report(read)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        let written = self.try_write(data, offset);
        self.report(written)
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        let truncated = self.try_truncate(size);
        self.report(truncated)
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        let flushed = self.flush();
        self.report(flushed)?;
        self.lower.sync(flags)
    }

    fn size(&mut self) -> Result<u64, Code> {
        Ok(self.size)
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.lower.lock(level.0)
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.lower.unlock(level.0)
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        self.lower.check_reserved_lock()
    }

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        let raw = *control;
        match control.parse() {
            Control::Atomic | Control::Visit(_) => Err(Code::NOTFOUND),
            Control::SizeHint | Control::ChunkSize => Ok(()),
            Control::MmapSize(size) => {
                *size = 0;
                self.lower.forbid_mapping();
                Ok(())
            }
            Control::Pragma(_)
            | Control::VfsName(_)
            | Control::CheckpointStart
            | Control::CheckpointDone
            | Control::PowersafeOverwrite(_)
            | Control::Connection(_)
            | Control::Other => self.lower.control(&raw),
        }
    }

    fn sector_size(&mut self) -> c_int {
        self.lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        crate::device::characteristics(self.lower.device_characteristics(), false)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Drop for NamelessFile {
    fn drop(&mut self) {
        self.block.zeroize();
    }
}

const BLOCK_SIZE: usize = 4096;
/// 64 KiB per write at most: the amount that SQLite writes at once.
const GATHER_COUNT: usize = 16;
