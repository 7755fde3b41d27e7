//! Copies pages from a source into an archive: the calling thread reads and opens them, one thread
//! per core compresses them, and another one seals and sends them.
//!
//! - open-before-send: a page is opened before it is sent: a page that is not authentic is
//!   reported, and never sent.
//! - ascending-order: pages are in the order of their numbers: blocks reach the sender in the order
//!   in which they were read.
//! - bounded-memory: blocks in progress are limited to the number of threads and a few more. One
//!   part is being filled and one being sent, or only one of both with `frugal`.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use selenite_cipher::{PageNo, TRAILER_SIZE};
use selenite_format::{Geometry, PageSize, PageSource, SourceError, anchor::Mark};
use zeroize::Zeroizing;

use crate::archive::{Block, CompressionLevel, PackedPage, Packer, PartWriter, page_count_max};
use crate::{
    error::{BackupError, machine},
    marks::Marks,
    progress_observer::ProgressObserver,
    writer::ArchiveWriter,
};

/// The settings of a copy.
#[derive(Clone, Copy)]
pub struct Copy<'a> {
    /// The compression level.
    pub level: CompressionLevel,
    /// The marks of existing backups, the oldest first. A page is not sent if the last mark of it
    /// is that of its present image.
    pub present: &'a [&'a Marks],
    /// Whether pages that are not sent are opened, too.
    pub verify: bool,
    /// Whether a page that is not authentic is omitted and listed; otherwise it ends the copy.
    pub skip_bad: bool,
    /// Whether to save memory at the cost of time: one thread compresses, and a part is sent before
    /// the next is filled.
    pub frugal: bool,
    /// The observer of the progress.
    pub observer: &'a dyn ProgressObserver,
}

/// The result of a copy.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Copied {
    /// The number of pages sent.
    pub sent: u64,
    /// The number of pages that other archives already contain.
    pub same: u64,
    /// SQLite's change counter in page 1.
    pub change_counter: u32,
    /// The numbers of pages that could not be opened, ascending.
    pub missing: Vec<u32>,
}

impl Copy<'_> {
    /// Copies the pages of `source` that the other archives do not contain.
    ///
    /// # Errors
    /// [`BackupError::Source`], also for a bad page; [`BackupError::Stopped`];
    /// [`BackupError::WrittenByOther`]; those of the destination.
    pub fn run(&self, source: &mut dyn PageSource, archive: &mut ArchiveWriter) -> Result<Copied, BackupError> {
        let core_count = if self.frugal {
            1
        } else {
            thread::available_parallelism().map_or(1, NonZero::get)
        };
        let page_size = source.page_size();
        let packer = || BlockPacker::new(page_size, self.level);
        let packers: Vec<BlockPacker> = (0..core_count).map(|_| packer()).collect::<Result<_, _>>()?;
        let last_packer = packer()?;
        thread::scope(|scope| {
            let (job_sender, jobs) = sync_channel::<Job>(1);
            let (packed_sender, packed) = sync_channel::<PackedBlock>(1);
            let (part_sender, parts) = sync_channel::<FullPart>(0);
            let (sent_sender, sent) = sync_channel::<()>(1);
            let to_sender = ToSender {
                part_sender,
                sent: self.frugal.then_some(sent),
            };
            let jobs = Arc::new(Mutex::new(jobs));
            for packer in packers {
                let (jobs, packed_sender) = (jobs.clone(), packed_sender.clone());
                scope.spawn(move || pack(packer, &jobs, &packed_sender));
            }
            // Each end of a channel is owned only by its users: when one thread ends, its neighbours end, too.
            drop((jobs, packed_sender));
            scope.spawn(move || assemble_parts(&packed, last_packer, &to_sender));
            let sender = scope.spawn(move || send(&parts, archive, &sent_sender));
            let read = self.read(source, &job_sender);
            drop(job_sender);
            let sent = sender.join().unwrap_or(Err(BackupError::Machine {
                what: "a thread ended with a bug in selenite".to_owned(),
            }));
            // An error of the sender takes precedence: if the sender fails, the reader stops as well.
            sent?;
            read
        })
    }

    fn read(&self, source: &mut dyn PageSource, job_sender: &SyncSender<Job>) -> Result<Copied, BackupError> {
        let page_size = source.page_size();
        let (size, page_count) = (page_size.bytes(), source.page_count());
        let lock_page = Geometry::new(page_size).lock_page();
        let run = (RUN_SIZE / size).max(1);
        let mut images = vec![0; run * size];
        let (mut known, mut later) = (vec![Mark::default(); run], vec![Mark::default(); run]);
        let mut plain = Zeroizing::new(vec![0; size]);
        let mut copied = Copied::default();
        let mut block = BlockBuilder::new(page_size);
        let mut first = 1;
        while first <= page_count {
            if self.observer.is_interrupted() {
                return Err(BackupError::Stopped);
            }
            let left = usize::try_from(page_count - first).map_or(run, |left| run.min(left + 1));
            let images = &mut images[..left * size];
            source.read(first, images)?;
            self.read_marks(first, &mut known[..left], &mut later[..left])?;
            for ((image, known), page_no) in images.chunks_exact(size).zip(&known).zip(first..) {
                if PageNo(page_no) == lock_page {
                    continue;
                }
                let mark = mark_of(image);
                // The mark of zeros means that there is none, and belongs to a place that was never written.
                let is_same = mark != Mark::default() && mark == *known;
                if is_same && !self.verify && page_no != 1 {
                    copied.same += 1;
                    continue;
                }
                match source.open(page_no, image, &mut plain) {
                    Ok(()) => {}
                    Err(SourceError::Unauthentic { page_no, .. }) if self.skip_bad => {
                        copied.missing.push(page_no);
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                }
                if page_no == 1 {
                    copied.change_counter = u32::from_be_bytes([plain[24], plain[25], plain[26], plain[27]]);
                }
                if is_same {
                    copied.same += 1;
                    continue;
                }
                copied.sent += 1;
                if block.push(page_no, mark, &plain) && !block.send(job_sender) {
                    // The sender has ended, and returns its error.
                    return Ok(copied);
                }
            }
            first = first.saturating_add(u32::try_from(left).unwrap_or(u32::MAX));
            let done = u64::from(first - 1) * page_size.as_u64();
            self.observer.progress(done, u64::from(page_count) * page_size.as_u64());
        }
        block.send(job_sender);
        Ok(copied)
    }
}

impl Copy<'_> {
    /// Sets `known` to the last mark of each page, or zeros.
    fn read_marks(&self, first: u32, known: &mut [Mark], later: &mut [Mark]) -> Result<(), BackupError> {
        known.fill(Mark::default());
        for marks in self.present {
            marks.read(first, later).map_err(machine)?;
            for (known, later) in known.iter_mut().zip(&*later) {
                if *later != Mark::default() {
                    *known = *later;
                }
            }
        }
        Ok(())
    }
}

/// The pages of the next block.
struct BlockBuilder {
    number: u64,
    count_max: usize,
    job: Job,
}

struct Job {
    number: u64,
    pages: Vec<(u32, Mark)>,
    bytes: Zeroizing<Vec<u8>>,
}

struct PackedBlock {
    job: Job,
    packed: Zeroizing<Vec<u8>>,
}

impl BlockBuilder {
    fn new(page_size: PageSize) -> Self {
        Self {
            number: 0,
            count_max: page_count_max(page_size),
            job: Job::new(0),
        }
    }

    /// Adds a page; returns whether the block is full.
    fn push(&mut self, page_no: u32, mark: Mark, plain: &[u8]) -> bool {
        if self.job.bytes.capacity() == 0 {
            // Reserved in one step, so that no plaintext remains in a smaller buffer.
            self.job.bytes.reserve_exact(self.count_max * plain.len());
        }
        self.job.pages.push((page_no, mark));
        self.job.bytes.extend_from_slice(plain);
        self.job.pages.len() == self.count_max
    }

    /// Sends the block to the packers; `false` if they have ended.
    fn send(&mut self, to: &SyncSender<Job>) -> bool {
        if self.job.pages.is_empty() {
            return true;
        }
        self.number += 1;
        let job = std::mem::replace(&mut self.job, Job::new(self.number));
        to.send(job).is_ok()
    }
}

impl Job {
    fn new(number: u64) -> Self {
        Self {
            number,
            pages: Vec::new(),
            bytes: Zeroizing::new(Vec::new()),
        }
    }
}

/// Packs pages, each time into new memory.
struct BlockPacker {
    page_size: PageSize,
    packer: Packer,
    block: Zeroizing<Vec<u8>>,
}

impl BlockPacker {
    fn new(page_size: PageSize, level: CompressionLevel) -> Result<Self, BackupError> {
        Ok(Self {
            page_size,
            packer: Packer::new(level).map_err(machine)?,
            block: Zeroizing::new(Vec::new()),
        })
    }

    fn pack(&mut self, pages: &[(u32, Mark)], bytes: &[u8]) -> Zeroizing<Vec<u8>> {
        let images = bytes.chunks_exact(self.page_size.bytes());
        let pages: Vec<PackedPage<'_>> = pages
            .iter()
            .zip(images)
            .map(|(&(page_no, mark), bytes)| PackedPage { page_no, mark, bytes })
            .collect();
        Block::encode(self.page_size, &pages, &mut self.block);
        let mut packed = Zeroizing::new(Vec::new());
        self.packer.pack(&self.block, &mut packed);
        packed
    }
}

fn pack(mut packer: BlockPacker, jobs: &Mutex<Receiver<Job>>, packed_sender: &SyncSender<PackedBlock>) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        let packed = packer.pack(&job.pages, &job.bytes);
        if packed_sender.send(PackedBlock { job, packed }).is_err() {
            return;
        }
    }
}

/// A part to be sent.
#[derive(Default)]
struct FullPart {
    content: PartWriter,
    pages: Vec<(u32, Mark)>,
    is_last: bool,
}

/// The channels to the sender.
struct ToSender {
    part_sender: SyncSender<FullPart>,
    /// Signalled for each part that was sent; `None` if the next part is filled meanwhile (bounded-memory).
    sent: Option<Receiver<()>>,
}

impl ToSender {
    /// Sends a part; returns whether the sender still runs.
    fn send(&self, part: FullPart) -> bool {
        let is_taken = self.part_sender.send(part).is_ok();
        is_taken && self.sent.as_ref().is_none_or(|sent| sent.recv().is_ok())
    }
}

/// `ascending-order`: adds blocks to parts in their order.
fn assemble_parts(packed: &Receiver<PackedBlock>, mut packer: BlockPacker, to: &ToSender) {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut part = FullPart::default();
    while let Ok(block) = packed.recv() {
        waiting.insert(block.job.number, block);
        while let Some(block) = waiting.remove(&next) {
            next += 1;
            if !part.take(block, &mut packer, to) {
                return;
            }
        }
    }
    part.is_last = true;
    if !part.content.is_empty() {
        to.send(part);
    }
}

impl FullPart {
    /// Adds a block. A block that is too large fills the rest of the part and begins the next one,
    /// since a part that is not filled would be padded to the full size. Returns whether the sender
    /// still runs.
    fn take(&mut self, block: PackedBlock, packer: &mut BlockPacker, to: &ToSender) -> bool {
        let PackedBlock { job, packed } = block;
        if self.content.push(&packed) {
            self.pages.extend(job.pages);
            return true;
        }
        let page_bytes = packer.page_size.bytes();
        // The pages that would fit if all were equally compressible, with a margin.
        let fitting = job.pages.len() * self.content.room() / packed.len() * 31 / 32;
        let (front, mut rest) = job.pages.split_at(fitting);
        let mut bytes = job.bytes.as_slice();
        if !front.is_empty() {
            let packed = packer.pack(front, &bytes[..fitting * page_bytes]);
            if self.content.push(&packed) {
                self.pages.extend(front);
                bytes = &bytes[fitting * page_bytes..];
            } else {
                rest = &job.pages;
            }
        }
        if !to.send(std::mem::take(self)) {
            return false;
        }
        let packed = if rest.len() == job.pages.len() {
            packed
        } else {
            packer.pack(rest, bytes)
        };
        assert!(self.content.push(&packed), "an empty part has room for a block");
        self.pages.extend(rest);
        true
    }
}

fn send(
    parts: &Receiver<FullPart>,
    archive: &mut ArchiveWriter,
    sent_sender: &SyncSender<()>,
) -> Result<(), BackupError> {
    while let Ok(mut part) = parts.recv() {
        archive.part(&mut part.content, &part.pages, part.is_last)?;
        drop(part);
        // The receiver exists only if `frugal` is set.
        let _ = sent_sender.try_send(());
    }
    Ok(())
}

/// The first bytes of the tag, which ends a page's trailer.
pub(crate) fn mark_of(image: &[u8]) -> Mark {
    let trailer: &[u8; TRAILER_SIZE] = image.last_chunk().expect("a page is longer than its trailer");
    let tag: &[u8; 8] = trailer[TAG_OFFSET..].first_chunk().expect("a tag has 16 bytes");
    Mark(*tag)
}

const TAG_OFFSET: usize = 32;
/// The size of one read: small enough to be opened while it is in the processor's cache.
const RUN_SIZE: usize = 256 << 10;
