//! The physical limits: the same bytes through only the system call, the cipher or the copy.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::SystemTime;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rustix::rand::{GetRandomFlags, getrandom};
use selenite_lab::native::Native;
use selenite_worker::engine::Engine;
use selenite_worker::meter::WorkTimer;
use selenite_worker::protocol::PLAIN;

use crate::record::Limit;
use crate::work::{ARMS, PAGE_SIZE, large_file};

/// Measures every limit once.
pub fn measure(folder: &Path) -> Result<Vec<Limit>, Box<dyn Error>> {
    let mut limits = Vec::new();
    for arm in ARMS {
        reading(arm, folder, &mut limits)?;
        if let Some(time) = Native.cipher_time(arm).ok().flatten() {
            limits.push(Limit::new("open", arm, time.open_ns));
            limits.push(Limit::new("seal", arm, time.seal_ns));
        }
    }
    writing(folder, &mut limits)?;
    memory(&mut limits)?;
    Ok(limits)
}

fn reading(arm: &str, folder: &Path, limits: &mut Vec<Limit>) -> Result<(), Box<dyn Error>> {
    let file = File::open(large_file(arm, folder))?;
    let size = file.metadata()?.len();
    let mut buffer = vec![0; LONG];
    for (name, step) in [("read_page", PAGE), ("read_long", LONG)] {
        let step_u64 = u64::try_from(step)?;
        let mut offset = 0;
        let ns = each(READS / (step / PAGE), || {
            offset = if offset + 2 * step_u64 > size {
                0
            } else {
                offset + step_u64
            };
            Ok(file.read_exact_at(&mut buffer[..step], offset)?)
        })?;
        limits.push(Limit::new(name, arm, ns / (step_u64 as f64 / f64::from(PAGE_SIZE))));
    }
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let ns = each(READS, || {
        let page = random.random_range(0..size / u64::from(PAGE_SIZE));
        Ok(file.read_exact_at(&mut buffer[..PAGE], page * u64::from(PAGE_SIZE))?)
    })?;
    limits.push(Limit::new("read_random", arm, ns));
    let mut head = [0; 64];
    let ns = each(READS, || {
        file.read_exact_at(&mut head, 0)?;
        Ok(file.read_exact_at(&mut head, 32768)?)
    })?;
    limits.push(Limit::new("read_heads", arm, ns));
    Ok(())
}

/// Writes repeatedly to the same file of a thousand frames, as to a log that is restarted after
/// each checkpoint.
fn writing(folder: &Path, limits: &mut Vec<Limit>) -> Result<(), Box<dyn Error>> {
    let path = folder.join("writes");
    let file = File::create(&path)?;
    let frames = vec![0x5a; 3 * FRAME];
    for (name, count) in [("write_page", 0), ("write_frame", 1), ("write_three_frames", 3)] {
        let bytes = if count == 0 {
            &frames[..PAGE]
        } else {
            &frames[..count * FRAME]
        };
        let step = u64::try_from(bytes.len())?;
        let mut write = |at: u64| file.write_all_at(bytes, at % 1000 * step);
        // Afterwards all pages of the file are allocated.
        (0..1000).try_for_each(&mut write)?;
        let mut at = 0;
        let ns = each(READS / 4, || {
            at += 1;
            Ok(write(at)?)
        })?;
        limits.push(Limit::new(name, PLAIN, ns));
    }
    std::fs::remove_file(path)?;
    Ok(())
}

fn memory(limits: &mut Vec<Limit>) -> Result<(), Box<dyn Error>> {
    let (from, mut to) = (vec![1_u8; PAGE], vec![0_u8; PAGE]);
    let ns = each(READS * 4, || {
        to.copy_from_slice(black_box(&from));
        black_box(&mut to);
        Ok(())
    })?;
    limits.push(Limit::new("copy", PLAIN, ns));
    let mut seed = [0; 8];
    let ns = each(READS, || {
        getrandom(&mut seed, GetRandomFlags::empty())?;
        Ok(())
    })?;
    limits.push(Limit::new("random", PLAIN, ns));
    let ns = each(READS * 4, || {
        black_box(SystemTime::now());
        Ok(())
    })?;
    limits.push(Limit::new("clock", PLAIN, ns));
    Ok(())
}

/// CPU nanoseconds per call: the median of some blocks.
fn each(count: usize, mut job: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut blocks = Vec::new();
    for _ in 0..BLOCKS {
        let part = WorkTimer::start();
        for _ in 0..count {
            job()?;
        }
        let (_, cpu_ns) = part.stop();
        blocks.push(cpu_ns as f64 / count as f64);
    }
    blocks.sort_by(f64::total_cmp);
    Ok(blocks[BLOCKS / 2])
}

const PAGE: usize = PAGE_SIZE as usize;

/// A header of 24 bytes and a page.
const FRAME: usize = 24 + PAGE;

/// The largest read-ahead window.
const LONG: usize = 256 * 1024;

/// Reads of 4 KiB: they take some milliseconds.
const READS: usize = 4096;

const BLOCKS: usize = 9;
