//! A socket that is written to, and whose reader may be slow.

use std::io::{self, IoSlice, Write};
use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, send, sendmsg};

use crate::registry::{WaitType, own};

/// Writes to a socket: what it takes at once costs one system call, and only if it takes nothing the writer waits,
/// which counts as a wait for the network.
pub struct WaitingSocket<'a>(pub &'a TcpStream);

impl WaitingSocket<'_> {
    fn waiting<R>(&self, write: impl FnOnce(&TcpStream) -> io::Result<R>) -> io::Result<R> {
        let _wait = own::begin_wait(WaitType::AsyncNetworkIo);
        write(self.0)
    }
}

impl Write for WaitingSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match send(self.0, bytes, AT_ONCE) {
            Ok(size) => Ok(size),
            Err(Errno::AGAIN) => self.waiting(|mut socket| socket.write(bytes)),
            Err(error) => Err(error.into()),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match sendmsg(self.0, parts, &mut SendAncillaryBuffer::default(), AT_ONCE) {
            Ok(size) => Ok(size),
            Err(Errno::AGAIN) => self.waiting(|mut socket| socket.write_vectored(parts)),
            Err(error) => Err(error.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const AT_ONCE: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn all_of_it_arrives_whatever_the_reader_does() {
        let listener = crate::loopback::listener();
        let writer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut reader, _) = listener.accept().unwrap();
        // More than any socket's buffers hold: the first writes are taken at once, later ones wait for the reader.
        let bytes: Vec<u8> = (0..8 << 20).map(|at: u32| at.to_le_bytes()[1]).collect();
        let read = std::thread::scope(|scope| {
            let sent = &bytes;
            scope.spawn(move || {
                let mut socket = WaitingSocket(&writer);
                let parts = [IoSlice::new(&sent[..10]), IoSlice::new(&sent[10..20])];
                assert_eq!(socket.write_vectored(&parts).unwrap(), 20);
                socket.write_all(&sent[20..]).unwrap();
            });
            let mut read = vec![0; sent.len()];
            reader.read_exact(&mut read).unwrap();
            read
        });
        assert!(read == bytes);
    }
}
