//! Ports for tests.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Listens on a port of loopback below those that the system gives to clients, a different one each time.
pub fn listener() -> TcpListener {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..10_000 {
        // Processes that run side by side begin in different places.
        let number = std::process::id()
            .wrapping_mul(31)
            .wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))
            % 10_000;
        let port = 20_000 + u16::try_from(number).unwrap();
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            return listener;
        }
    }
    panic!("no port is free");
}
