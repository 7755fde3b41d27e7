//! Accepts connections, and ends them all when the server stops.
//!
//! - `listener-ends-last`: the listener's thread owns the threads that serve: when it has ended, so
//!   have they.
//! - `joined-at-once`: a thread that has ended is joined at once, not at the next connection: it
//!   would keep its stack.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::connection::Connection;
use crate::event_fd::EventFd;
use crate::pending_logins::{Entered, PendingLogin};
use crate::registry::{CancelHandle, CancelReason};
use crate::{Front, Instance, ServerError};

/// Accepts connections.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    event_fd: Arc<EventFd>,
    is_stopping: Arc<AtomicBool>,
}

/// What stops a listener.
#[derive(Clone)]
pub struct Stopper {
    event_fd: Arc<EventFd>,
    is_stopping: Arc<AtomicBool>,
}

/// A connection that is being served.
struct Served {
    cancel_handle: Arc<CancelHandle>,
    thread: JoinHandle<()>,
    is_done: Arc<AtomicBool>,
}

/// Reports that its thread is done, however it ended.
struct NotifyOnDrop {
    is_done: Arc<AtomicBool>,
    event_fd: Arc<EventFd>,
}

impl Listener {
    /// Listens at an address, and accepts no connection yet.
    ///
    /// # Errors
    /// [`ServerError::Listen`].
    pub fn bind(address: SocketAddr) -> Result<Self, ServerError> {
        let bind = || {
            let socket = TcpListener::bind(address)?;
            // A connection that poll(2) reported may be gone by now.
            socket.set_nonblocking(true)?;
            Ok(Self {
                address: socket.local_addr()?,
                socket,
                event_fd: Arc::new(EventFd::new()?),
                is_stopping: Arc::default(),
            })
        };
        bind().map_err(|source| ServerError::Listen { address, source })
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The handle that stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper {
            event_fd: self.event_fd.clone(),
            is_stopping: self.is_stopping.clone(),
        }
    }

    /// Accepts connections until it is stopped; then ends them and the front.
    pub fn run(self, instance: &Arc<Instance>, front: &Arc<dyn Front>) {
        let mut served = Vec::new();
        while !self.is_stopping.load(Ordering::Acquire) {
            let may_accept = self.wait(instance, true);
            self.event_fd.quiet();
            reap(&mut served);
            if may_accept && let Err(error) = self.accept_all(instance, front, &mut served) {
                // Too many descriptors, no memory: the connections in the queue can wait.
                instance.log().line(&format!("cannot accept a connection: {error}"));
                self.wait(instance, false);
            }
        }
        drop(self.socket);
        for Served { cancel_handle, .. } in &served {
            cancel_handle.pull(CancelReason::Stopping);
        }
        for Served { thread, .. } in served {
            // The hook has reported a panic already.
            let _ = thread.join();
        }
        front.close();
    }

    /// Waits for a connection, or for the event. Without listening, only for a while.
    fn wait(&self, instance: &Instance, listens: bool) -> bool {
        let mut watched = [
            PollFd::new(&*self.event_fd, PollFlags::IN),
            PollFd::new(&self.socket, PollFlags::IN),
        ];
        let count = if listens { 2 } else { 1 };
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(PAUSE.subsec_nanos()),
        };
        match poll(&mut watched[..count], (!listens).then_some(&pause)) {
            Ok(_) => {}
            Err(Errno::INTR) => return false,
            Err(error) => instance.log().line(&format!("waiting for connections: {error}")),
        }
        listens && !watched[1].revents().is_empty()
    }

    fn accept_all(
        &self,
        instance: &Arc<Instance>,
        front: &Arc<dyn Front>,
        served: &mut Vec<Served>,
    ) -> std::io::Result<()> {
        loop {
            let (socket, peer) = match self.socket.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // The client left before it was accepted.
                Err(error) if [ErrorKind::Interrupted, ErrorKind::ConnectionAborted].contains(&error.kind()) => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let socket = Arc::new(socket);
            let Some(Entered { place, was_taken }) = instance.pending_logins().enter(&socket, peer.ip()) else {
                instance
                    .log()
                    .line(&format!("{peer}: refused: too many simultaneous logins"));
                continue;
            };
            if was_taken {
                instance.log().line(&format!(
                    "{peer}: replaced an older connection: too many connections that have not logged in"
                ));
            }
            served.push(self.serve(instance, front, socket, peer, place)?);
        }
    }

    fn serve(
        &self,
        instance: &Arc<Instance>,
        front: &Arc<dyn Front>,
        socket: Arc<TcpStream>,
        peer: SocketAddr,
        place: PendingLogin,
    ) -> std::io::Result<Served> {
        socket.set_nonblocking(false)?;
        let cancel_handle = Arc::new(CancelHandle::new(&socket));
        let is_done = Arc::new(AtomicBool::new(false));
        let connection = Connection {
            socket,
            cancel_handle: cancel_handle.clone(),
            peer,
        };
        let (instance, front) = (instance.clone(), front.clone());
        let notify = NotifyOnDrop {
            is_done: is_done.clone(),
            event_fd: self.event_fd.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("session".to_owned())
            .stack_size(STACK_SIZE)
            .spawn(move || {
                let _notify = notify;
                connection.serve(&instance, &*front, place);
            })?;
        Ok(Served {
            cancel_handle,
            thread,
            is_done,
        })
    }
}

impl Stopper {
    /// Stops the listener.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.event_fd.ring();
    }
}

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Release);
        self.event_fd.ring();
    }
}

/// `joined-at-once`: joining a thread that has announced its end does not wait.
fn reap(served: &mut Vec<Served>) {
    for ended in served.extract_if(.., |served| served.is_done.load(Ordering::Acquire)) {
        let _ = ended.thread.join();
    }
}

/// How long to wait where the system has no resources left.
const PAUSE: Duration = Duration::from_millis(100);
/// 4 MiB of address space: statements are nested, and only what is used is taken.
const STACK_SIZE: usize = 4 << 20;
