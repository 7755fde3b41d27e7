//! The hummer loop: a mix of reads of a Card, updates of a Vendor and inserts of a Purchase, in
//! units of ten loops.
//!
//! The source lists the mix in this order where it describes a run, and as reads, inserts, updates
//! in its table; here the order is reads, updates, inserts everywhere. The operation of a loop
//! depends on its number alone, and the rows on the seed and the number of the process, so that all
//! arms do the same.

mod latency;

use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rusqlite::{Connection, Statement};

use super::{Block, Checkpoint, Controls, Timed, WorkFigures, checkpoint};
use crate::WorkerError;
use crate::answer::AnswerDigest;
use crate::dataset::{cards, date};
use crate::protocol::{Control, Hummer, Sample};

pub use latency::Latency;

/// Runs the loops of one process; process 0 makes a checkpoint at the end.
pub fn run(
    connection: &Connection,
    hummer: Hummer,
    block: &Block<'_>,
    timed: Timed<'_>,
) -> Result<Sample, WorkerError> {
    if !is_mix(hummer.mix) {
        return Err(WorkerError::Refused(
            "the numbers of the mix must add up to 10".to_owned(),
        ));
    }
    let mut loops = Loops::new(connection, hummer, block)?;
    timed(&mut || {
        loops.run(block.controls)?;
        let checkpoint = if block.process.index == 0 {
            checkpoint(connection)?
        } else {
            Checkpoint::default()
        };
        loops.outcome(block, checkpoint)
    })
}

/// Retries while others have the database locked, and counts the retries.
pub fn retry_while_busy<T>(
    retries: &mut u64,
    mut operation: impl FnMut() -> Result<T, WorkerError>,
) -> Result<T, WorkerError> {
    for _ in 0..TRY_COUNT_MAX {
        match operation() {
            Err(error) if error.is_busy() => *retries += 1,
            other => return other,
        }
    }
    operation()
}

#[derive(Clone, Copy)]
enum Operation {
    Read,
    Update,
    Insert,
}

struct Loops<'a> {
    connection: &'a Connection,
    read: Statement<'a>,
    update: Statement<'a>,
    insert: Statement<'a>,
    random: ChaCha8Rng,
    hummer: Hummer,
    cards: u64,
    vendors: u64,
    counts: [u64; 3],
    latencies: [Latency; 3],
    answer: AnswerDigest,
    retries: u64,
    altered: bool,
}

impl<'a> Loops<'a> {
    fn new(connection: &'a Connection, hummer: Hummer, block: &Block<'_>) -> Result<Self, WorkerError> {
        let mut random = ChaCha8Rng::seed_from_u64(block.seed);
        random.set_stream(u64::from(block.process.index));
        let last = |table: &str| -> Result<u64, WorkerError> {
            let last: Option<i64> =
                connection.query_row(&format!("SELECT max(rowid) FROM {table}"), [], |row| row.get(0))?;
            last.map(i64::unsigned_abs)
                .ok_or_else(|| WorkerError::Refused(format!("{table} has no rows")))
        };
        Ok(Self {
            connection,
            read: connection.prepare("SELECT * FROM Card WHERE CardID = ?1")?,
            update: connection.prepare("UPDATE Vendor SET BusinessName = ?2, Changed = ?3 WHERE VendorID = ?1")?,
            insert: connection.prepare(cards::PURCHASE)?,
            random,
            hummer,
            cards: last("Card")?,
            vendors: last("Vendor")?,
            counts: [0; 3],
            latencies: [Latency::new()?, Latency::new()?, Latency::new()?],
            answer: AnswerDigest::new(),
            retries: 0,
            altered: false,
        })
    }

    fn run(&mut self, controls: &Controls) -> Result<(), WorkerError> {
        for number in 0..self.hummer.loops {
            if self.is_stopped(controls) {
                break;
            }
            self.turn(kind(self.hummer.mix, number))?;
            let done = number + 1;
            if self.hummer.pause_every > 0
                && done.is_multiple_of(self.hummer.pause_every)
                && done < self.hummer.loops
                && self.pause(controls)
            {
                break;
            }
        }
        Ok(())
    }

    fn turn(&mut self, operation: Operation) -> Result<(), WorkerError> {
        let index = operation as usize;
        let (answer, retries) = (&mut self.answer, &mut self.retries);
        let latency = &mut self.latencies[index];
        match operation {
            Operation::Read => {
                let card = cards::any(&mut self.random, self.cards);
                let read = &mut self.read;
                latency.time(|| retry_while_busy(retries, || read_card(read, card, answer)))?;
            }
            Operation::Update => {
                let vendor = cards::any(&mut self.random, self.vendors);
                let name = cards::business_name(&mut self.random);
                let changed = date(&mut self.random);
                let (connection, update) = (self.connection, &mut self.update);
                let mut write = || write(connection, || update.execute((vendor, &name, &changed)));
                latency.time(|| retry_while_busy(retries, &mut write))?;
            }
            Operation::Insert => {
                let values = cards::purchase_values(&mut self.random, self.cards, self.vendors);
                let (connection, insert) = (self.connection, &mut self.insert);
                let mut write = || write(connection, || insert.execute((values.0, values.1, values.2, &values.3)));
                latency.time(|| retry_while_busy(retries, &mut write))?;
            }
        }
        self.counts[index] += 1;
        Ok(())
    }

    /// Applies the controls that have arrived. At the end of the input the block stops: its result
    /// would not be read.
    fn is_stopped(&mut self, controls: &Controls) -> bool {
        loop {
            match controls.try_recv() {
                Ok(control) => {
                    if self.take(control) {
                        return true;
                    }
                }
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => return self.cut(),
            }
        }
    }

    /// Waits; a control to stop ends the wait at once. Returns whether to stop.
    fn pause(&mut self, controls: &Controls) -> bool {
        let until = Instant::now() + Duration::from_millis(self.hummer.pause_ms.min(PAUSE_MS_MAX));
        loop {
            match controls.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(control) => {
                    if self.take(control) {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => return self.cut(),
            }
        }
    }

    /// Applies a control. Returns whether to stop. A mix that does not add up to 10 is ignored: a
    /// control has no answer.
    fn take(&mut self, control: Control) -> bool {
        if let Some(mix) = control.mix.filter(|mix| is_mix(*mix)) {
            self.altered = true;
            self.hummer.mix = mix;
        }
        control.stop && self.cut()
    }

    fn cut(&mut self) -> bool {
        self.altered = true;
        true
    }

    fn outcome(&mut self, block: &Block<'_>, checkpoint: Checkpoint) -> Result<WorkFigures, WorkerError> {
        let mut latencies = std::collections::BTreeMap::new();
        let [reads, updates, inserts] = self.counts;
        for (index, name) in ["read", "update", "insert"].iter().enumerate() {
            if self.counts[index] > 0 {
                latencies.insert((*name).to_owned(), self.latencies[index].encode()?);
            }
        }
        let mut answer = format!("{reads} read, {updates} updated, {inserts} inserted");
        // With several processes, the rows that one reads may depend on what the others have
        // written. The Cards never change, but the answer does not rely on this.
        if block.process.count == 1 {
            answer = format!("{answer}, {}", self.answer.text());
        }
        Ok(WorkFigures {
            operations: reads + updates + inserts,
            retries: self.retries,
            answer,
            checkpoint,
            altered: self.altered,
            latencies,
        })
    }
}

fn is_mix(mix: [u8; 3]) -> bool {
    mix.iter().copied().map(u32::from).sum::<u32>() == 10
}

/// The operation of a loop.
fn kind(mix: [u8; 3], number: u64) -> Operation {
    let place = number % 10;
    if place < u64::from(mix[0]) {
        Operation::Read
    } else if place < u64::from(mix[0]) + u64::from(mix[1]) {
        Operation::Update
    } else {
        Operation::Insert
    }
}

fn read_card(statement: &mut Statement<'_>, card: i64, answer: &mut AnswerDigest) -> Result<(), WorkerError> {
    let columns = statement.column_count();
    let mut rows = statement.query([card])?;
    // Stored only after a complete read: a read that was busy is retried.
    let mut seen = *answer;
    while let Some(row) = rows.next()? {
        seen.row(row, columns)?;
    }
    *answer = seen;
    Ok(())
}

fn write(
    connection: &Connection,
    statement: impl FnOnce() -> Result<usize, rusqlite::Error>,
) -> Result<(), WorkerError> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let written = statement().and_then(|_| connection.execute_batch("COMMIT"));
    if let Err(error) = written {
        // SQLite may have rolled it back itself.
        let _ = connection.execute_batch("ROLLBACK");
        return Err(error.into());
    }
    Ok(())
}

/// SQLite has waited for 10 s each time: after that another process hangs.
const TRY_COUNT_MAX: u32 = 10;

/// One hour: longer than any block.
const PAUSE_MS_MAX: u64 = 3_600_000;
