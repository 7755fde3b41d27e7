//! Encryption by another thread, waited for: what SQL Server did until 2014, so that its price can be seen.
//!
//! - `two-real-switches`: each packet costs two real context switches: the session sleeps until it
//!   is encrypted, the other thread until the next one. Both sleep at once, without spinning.
//! - `connection-is-moved-whole`: the connection is moved as a whole: two threads never have it at
//!   once.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustls::ServerConnection;

use crate::registry::{WaitType, own};

/// The other thread of a session. It ends when this is dropped.
pub struct Encryptor {
    handover: Arc<Handover>,
    thread: Option<JoinHandle<()>>,
    /// Reused, so that no packet allocates.
    packet: Vec<u8>,
}

struct Handover {
    slot: Mutex<Slot>,
    work_came: Condvar,
    work_done: Condvar,
}

enum Slot {
    Empty,
    Waiting(PendingPacket),
    Done(PendingPacket, io::Result<()>),
    End,
}

struct PendingPacket {
    connection: Box<ServerConnection>,
    packet: Vec<u8>,
}

impl Encryptor {
    /// Starts the thread. `introduce` runs on it first, and what it answers is dropped by it last.
    ///
    /// # Errors
    /// The system's, where it has no more threads.
    pub fn start<G>(introduce: impl FnOnce() -> G + Send + 'static) -> io::Result<Self> {
        let handover = Arc::new(Handover {
            slot: Mutex::new(Slot::Empty),
            work_came: Condvar::new(),
            work_done: Condvar::new(),
        });
        let other = handover.clone();
        let thread = std::thread::Builder::new()
            .name("encrypt".to_owned())
            .stack_size(STACK_SIZE)
            .spawn(move || {
                let _guard = introduce();
                other.serve();
            })?;
        Ok(Self {
            handover,
            thread: Some(thread),
            packet: Vec::new(),
        })
    }

    /// Has a packet encrypted: it is in the connection then, to be written.
    ///
    /// # Errors
    /// If the thread is gone; the connection is, too.
    pub fn encrypt(
        &mut self,
        connection: Box<ServerConnection>,
        packet: &[u8],
    ) -> io::Result<(Box<ServerConnection>, io::Result<()>)> {
        let mut copy = std::mem::take(&mut self.packet);
        copy.clear();
        copy.extend_from_slice(packet);
        let _wait = own::begin_wait(WaitType::EncryptMessage);
        let work = PendingPacket {
            connection,
            packet: copy,
        };
        let mut slot = self.handover.lock();
        if matches!(*slot, Slot::End) {
            return Err(gone());
        }
        *slot = Slot::Waiting(work);
        // two-real-switches: a thread that is woken while the lock is held would go to sleep again.
        drop(slot);
        self.handover.work_came.notify_one();
        slot = self.handover.lock();
        loop {
            match std::mem::replace(&mut *slot, Slot::Empty) {
                Slot::Done(work, outcome) => {
                    self.packet = work.packet;
                    return Ok((work.connection, outcome));
                }
                Slot::End => {
                    *slot = Slot::End;
                    return Err(gone());
                }
                waiting @ (Slot::Waiting(_) | Slot::Empty) => *slot = waiting,
            }
            slot = self
                .handover
                .work_done
                .wait(slot)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Encryptor {
    fn drop(&mut self) {
        *self.handover.lock() = Slot::End;
        self.handover.work_came.notify_one();
        if let Some(thread) = self.thread.take() {
            // The hook has reported its panic already.
            let _ = thread.join();
        }
    }
}

impl Handover {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Encrypts until it is to end.
    fn serve(&self) {
        let _end = EndAtDrop(self);
        let mut slot = self.lock();
        loop {
            match std::mem::replace(&mut *slot, Slot::Empty) {
                Slot::Waiting(mut work) => {
                    drop(slot);
                    let outcome = work.connection.writer().write_all(&work.packet);
                    slot = self.lock();
                    if matches!(*slot, Slot::End) {
                        return;
                    }
                    *slot = Slot::Done(work, outcome);
                    drop(slot);
                    self.work_done.notify_one();
                    slot = self.lock();
                    continue;
                }
                Slot::End => return,
                other @ (Slot::Done(..) | Slot::Empty) => *slot = other,
            }
            slot = self.work_came.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Wakes what waits for a thread that ended, in whatever way.
struct EndAtDrop<'a>(&'a Handover);

impl Drop for EndAtDrop<'_> {
    fn drop(&mut self) {
        *self.0.lock() = Slot::End;
        self.0.work_done.notify_one();
    }
}

fn gone() -> io::Error {
    io::Error::other("the encryption thread has ended")
}

/// 128 KiB: it calls the cipher, and nothing deeper.
const STACK_SIZE: usize = 128 * 1024;
