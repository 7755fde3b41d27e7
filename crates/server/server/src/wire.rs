//! One connection after login: requests in, packets out.
//!
//! - `only-the-session-waits`: only the session's thread waits for the socket, and it holds the
//!   state's lock while it does. No other thread waits for that lock.
//! - `poll-while-running`: while a request runs, received bytes are checked every few milliseconds,
//!   without waiting: an ATTENTION is noted, one other message is kept for later, and then no more
//!   is read.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use std::{fmt, io};

use rustix::time::{ClockId, clock_gettime};
use selenite_tds::{
    BulkPiece, Incoming, MessageKind, MessageReader, PacketSink, PacketSize, PacketWriter, TdsError, TokenWriter,
};

use crate::SessionEntry;
use crate::registry::{CancelHandle, CancelReason};
use crate::transport::{Line, LineError, WaitMode};

/// Requests in, answers out. It belongs to the session's thread.
pub struct Wire {
    shared: Arc<Shared>,
    entry: Arc<SessionEntry>,
    size: PacketSize,
}

/// The output of answers: each packet is encrypted and sent when it is passed, and waits for a client that does not
/// read.
#[derive(Clone)]
pub struct Outlet(Arc<Shared>);

/// The input of a bulk load while its request runs.
pub struct Inlet(Arc<Shared>);

/// What came of a bulk load.
#[derive(Debug)]
pub enum BulkInput {
    /// Its next piece.
    Piece(BulkPiece),
    /// The client has withdrawn the message.
    Withdrawn,
    /// The request is to stop: [`Interrupts::poll`] tells why.
    Interrupted,
}

/// Tells a long statement to stop. It can be cloned, given to SQLite's progress handler and polled often.
#[derive(Clone)]
pub struct Interrupts(Arc<Shared>);

/// Why a request is to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interrupt {
    /// The client sent ATTENTION: end the request, roll back what has to be, and answer it by a DONE with
    /// [`selenite_tds::Done::ATTENTION`] after [`Wire::take_attention`].
    Attention,
    /// The request has run for longer than it may: end the request, and answer it by an error after
    /// [`Wire::take_timeout`].
    TimedOut,
    /// KILL: end the session.
    Killed,
    /// The server stops: end the session.
    Stopping,
    /// The client is gone: end the session.
    Gone,
}

/// Why no request came.
#[derive(Debug)]
#[non_exhaustive]
pub enum WireError {
    /// The client closed the connection between two requests.
    Left,
    /// The client closed the connection within a message.
    Cut,
    /// KILL.
    Killed,
    /// The server stops.
    Stopping,
    /// The client sent something other than TDS.
    Peer(TdsError),
    /// The client sent something other than TLS.
    Tls(String),
    /// The client sends more than there is memory for.
    NoMemory,
    /// The machine's error, or the network's.
    Io(io::Error),
}

struct Shared {
    state: Mutex<ConnectionState>,
    cancel_handle: Arc<CancelHandle>,
    /// What was noted while a request ran.
    noted: AtomicU8,
    /// When to poll next: nanoseconds of the coarse clock.
    look_next_ns: AtomicU64,
    /// How long a request may run; zero is as long as it takes.
    request_time: Duration,
    /// Until when the present request may run: nanoseconds of the coarse clock; [`NEVER`] if it has no limit.
    request_end_ns: AtomicU64,
}

/// Input and output of the connection.
struct ConnectionState {
    line: Line,
    reader: MessageReader,
    /// A message that arrived while a request ran.
    kept: Option<Incoming>,
    fault: Option<LineError>,
}

impl Wire {
    /// The wire of a session that has logged in.
    pub(crate) fn new(
        line: Line,
        reader: MessageReader,
        cancel_handle: Arc<CancelHandle>,
        entry: Arc<SessionEntry>,
        (size, request_time): (PacketSize, Duration),
    ) -> Self {
        let state = ConnectionState {
            line,
            reader,
            kept: None,
            fault: None,
        };
        let shared = Shared {
            state: Mutex::new(state),
            cancel_handle,
            noted: AtomicU8::new(NOTHING),
            look_next_ns: AtomicU64::new(0),
            request_time,
            request_end_ns: AtomicU64::new(NEVER),
        };
        Self {
            shared: Arc::new(shared),
            entry,
            size,
        }
    }

    /// Waits for the next message. The session counts as sleeping until it arrives, and as running from then on.
    ///
    /// An ATTENTION that a request has not taken ([`Wire::take_attention`]) is returned as [`Incoming::Attention`].
    ///
    /// # Errors
    /// [`WireError`]: the session ends.
    pub fn receive(&mut self) -> Result<Incoming, WireError> {
        self.entry.rest();
        if self.take_attention() {
            self.entry.wake();
            return Ok(Incoming::Attention);
        }
        let mut state = self.shared.state();
        let received = state.receive();
        drop(state);
        match received {
            Ok(incoming) => {
                self.entry.wake();
                Ok(incoming)
            }
            Err((error, is_idle)) => Err(self.shared.explain(error, is_idle)),
        }
    }

    /// A writer of answers with the session's size of packets. One is enough for the whole session.
    #[must_use]
    pub fn answers(&self) -> TokenWriter<Outlet> {
        let outlet = Outlet(self.shared.clone());
        let spid = self.entry.spid();
        TokenWriter::new(PacketWriter::new(outlet, MessageKind::TabularResult, self.size, spid))
    }

    /// What tells a long statement to stop.
    #[must_use]
    pub fn interrupts(&self) -> Interrupts {
        Interrupts(self.shared.clone())
    }

    /// The input of a bulk load that has begun.
    #[must_use]
    pub fn inlet(&self) -> Inlet {
        Inlet(self.shared.clone())
    }

    /// Whether an ATTENTION was seen since the last time. The caller answers it.
    #[must_use]
    pub fn take_attention(&mut self) -> bool {
        let attention = self
            .shared
            .noted
            .compare_exchange(ATTENTION, NOTHING, Ordering::AcqRel, Ordering::Acquire);
        attention.is_ok()
    }

    /// Whether the request has run for longer than it may. It has ended.
    #[must_use]
    pub fn take_timeout(&mut self) -> bool {
        self.shared.request_end_ns.store(NEVER, Ordering::Release);
        self.shared.forget_timeout()
    }
}

impl ConnectionState {
    /// The next message; or the error, and whether it occurred between two messages.
    fn receive(&mut self) -> Result<Incoming, (LineError, bool)> {
        if let Some(error) = self.fault.take() {
            return Err((error, self.reader.is_idle()));
        }
        if let Some(incoming) = self.kept.take() {
            return Ok(incoming);
        }
        loop {
            match self.line.message(&mut self.reader, WaitMode::Wait) {
                Ok(Some(incoming)) => return Ok(incoming),
                Ok(None) => {}
                Err(error) => return Err((error, self.reader.is_idle())),
            }
        }
    }

    /// Reads what has arrived meanwhile, without waiting.
    fn look(&mut self) -> u8 {
        if self.kept.is_some() {
            return NOTHING;
        }
        match self.line.message(&mut self.reader, WaitMode::None) {
            Ok(None) => NOTHING,
            Ok(Some(Incoming::Attention)) => ATTENTION,
            Ok(Some(other @ (Incoming::Message(_) | Incoming::BulkLoad(_) | Incoming::Ignored(_)))) => {
                self.kept = Some(other);
                NOTHING
            }
            Err(error) => {
                self.fault = Some(error);
                GONE
            }
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancelled(&self) -> Option<Interrupt> {
        self.cancel_handle.cancelled().map(|pull| match pull {
            CancelReason::Killed => Interrupt::Killed,
            CancelReason::Stopping => Interrupt::Stopping,
        })
    }

    /// An error of the line as the session sees it: a cancelled connection looks like a peer that left.
    fn explain(&self, error: LineError, is_idle: bool) -> WireError {
        match self.cancel_handle.cancelled() {
            Some(CancelReason::Killed) => return WireError::Killed,
            Some(CancelReason::Stopping) => return WireError::Stopping,
            None => {}
        }
        match error {
            LineError::End if is_idle => WireError::Left,
            LineError::End => WireError::Cut,
            LineError::Tds(error) => WireError::Peer(error),
            LineError::Io(error) => WireError::Io(error),
            LineError::NoMemory => WireError::NoMemory,
            LineError::Tls(_) | LineError::Framing(_) => WireError::Tls(error.to_string()),
            LineError::TooSlow | LineError::TooMuch => WireError::Io(io::Error::other(error.to_string())),
        }
    }

    /// Whether it is time to poll, and no other thread does. Returns the time.
    fn is_due(&self) -> Option<u64> {
        let now_ns = coarse_now_ns();
        let due = self.look_next_ns.load(Ordering::Relaxed);
        if now_ns < due {
            return None;
        }
        self.look_next_ns.store(now_ns + LOOK_EVERY_NS, Ordering::Relaxed);
        Some(now_ns)
    }

    fn forget_timeout(&self) -> bool {
        let timeout = self
            .noted
            .compare_exchange(TIMED_OUT, NOTHING, Ordering::AcqRel, Ordering::Acquire);
        timeout.is_ok()
    }
}

impl Inlet {
    /// Waits for the next piece, as long as the request may run.
    pub fn next_piece(&self) -> BulkInput {
        if Interrupts(self.0.clone()).poll().is_some() {
            return BulkInput::Interrupted;
        }
        let end_ns = self.0.request_end_ns.load(Ordering::Acquire);
        let left_ns = end_ns.saturating_sub(coarse_now_ns()).max(1);
        self.receive((end_ns != NEVER).then(|| Duration::from_nanos(left_ns)))
    }

    /// Waits for the next piece after the request has ended.
    pub fn next_skipped(&self) -> BulkInput {
        self.receive(None)
    }

    fn receive(&self, limit: Option<Duration>) -> BulkInput {
        let mut state = self.0.state();
        let limited = limit.is_none() || state.line.limit_wait(limit).is_ok();
        let received = match limited {
            true => state.receive(),
            false => Err((LineError::End, false)),
        };
        if limit.is_some() {
            // If it fails, so does the next read.
            let _ = state.line.limit_wait(None);
        }
        let noted = match received {
            Ok(Incoming::BulkLoad(piece)) => return BulkInput::Piece(piece),
            Ok(Incoming::Ignored(_)) => return BulkInput::Withdrawn,
            Ok(Incoming::Attention) => ATTENTION,
            Err((LineError::TooSlow, _)) if limit.is_some() => TIMED_OUT,
            // No other message begins within one.
            Ok(Incoming::Message(_)) | Err(_) => GONE,
        };
        drop(state);
        Interrupts(self.0.clone()).note(noted);
        BulkInput::Interrupted
    }
}

impl PacketSink for Outlet {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        Ok(self.0.state().line.send(packet)?)
    }
}

impl Interrupts {
    /// Whether to stop. It polls the socket at most every 5 milliseconds, and otherwise costs some ten nanoseconds.
    #[must_use]
    pub fn poll(&self) -> Option<Interrupt> {
        if let Some(cancelled) = self.0.cancelled() {
            return Some(cancelled);
        }
        if self.0.noted.load(Ordering::Acquire) == NOTHING
            && let Some(now_ns) = self.0.is_due()
        {
            if now_ns >= self.0.request_end_ns.load(Ordering::Acquire) {
                self.note(TIMED_OUT);
                return Some(Interrupt::TimedOut);
            }
            match self.0.state.try_lock() {
                Ok(mut state) => self.note(state.look()),
                Err(TryLockError::Poisoned(state)) => self.note(state.into_inner().look()),
                // The session's thread holds the lock.
                Err(TryLockError::WouldBlock) => {}
            }
        }
        match self.0.noted.load(Ordering::Acquire) {
            ATTENTION => Some(Interrupt::Attention),
            GONE => Some(Interrupt::Gone),
            TIMED_OUT => Some(Interrupt::TimedOut),
            _ => None,
        }
    }

    /// A request begins: from here on its time counts.
    pub(crate) fn begin_request(&self) {
        let limit = self.0.request_time;
        if limit.is_zero() {
            return;
        }
        self.0.forget_timeout();
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(NEVER);
        let end_ns = coarse_now_ns().saturating_add(limit_ns);
        self.0.request_end_ns.store(end_ns, Ordering::Release);
    }

    fn note(&self, what: u8) {
        if what != NOTHING {
            self.0.noted.store(what, Ordering::Release);
        }
    }
}

fn coarse_now_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    let now_ns = now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec);
    u64::try_from(now_ns).unwrap_or(0)
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => f.write_str("the client disconnected"),
            Self::Cut => f.write_str("the client disconnected within a message"),
            Self::Killed => f.write_str("the session was killed"),
            Self::Stopping => f.write_str("the server is stopping"),
            Self::Peer(error) => write!(f, "{error}"),
            Self::Tls(error) => f.write_str(error),
            Self::NoMemory => f.write_str("the client sent more than there is memory for"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for WireError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Left | Self::Cut | Self::Killed | Self::Stopping | Self::Tls(_) | Self::NoMemory => None,
            Self::Peer(error) => Some(error),
            Self::Io(error) => Some(error),
        }
    }
}

const NOTHING: u8 = 0;
const ATTENTION: u8 = 1;
const GONE: u8 = 2;
const TIMED_OUT: u8 = 3;
const NEVER: u64 = u64::MAX;
/// 5 ms: a client that cancels is answered within 50.
pub(crate) const LOOK_EVERY_NS: u64 = 5_000_000;
