//! The file descriptors of the process: raised to what the limits promise, and not left to the session that takes
//! most.
//!
//! - `promise-kept`: as many sessions are admitted as the process has descriptors for. The soft limit is raised to
//!   that at the start, as far as the hard one allows; beyond, the start admits fewer sessions and says so.
//! - `reserve`: the last descriptors are for administrators, and for connections that have not logged in.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::{ServerLimits, SessionLimits};
use crate::{Announcement, ServerError};

/// The file descriptors of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptors {
    /// How many stay free of what is no administrator's.
    reserve: u64,
    /// How many there may be.
    limit: u64,
}

impl Descriptors {
    /// Raises the process's limit to what `limits` promise. Where that is not allowed, `limits` are lowered, which is
    /// answered.
    ///
    /// # Errors
    /// [`ServerError::Usage`] where not even a few sessions could be served.
    pub fn provide(limits: &mut ServerLimits) -> Result<(Self, Option<Announcement<'static>>), ServerError> {
        let wanted = wanted(limits);
        let limit = raise(wanted);
        if limit >= wanted {
            return Ok((Self::of(limit), None));
        }
        let promised = limits.sessions.max;
        let (lobby_max, session_max) = affordable(limits, limit);
        if session_max == 0 {
            return Err(ServerError::Usage {
                what: format!("the process may have {limit} file descriptors, which is too few for a server"),
                next: "allow more: ulimit -n 4096".to_owned(),
            });
        }
        limits.lobby_max = lobby_max;
        limits.sessions = SessionLimits {
            max: session_max,
            per_login: limits.sessions.per_login.min(session_max),
            ..limits.sessions
        };
        let lowered = Announcement::FewerSessions {
            promised,
            allowed: session_max,
            descriptors: limit,
        };
        Ok((Self::of(limit), Some(lowered)))
    }

    /// Whether a session without administrator rights may take more of them.
    pub fn has_room(&self) -> bool {
        // Where it can't be counted the limits of sessions have to do.
        open_count().is_none_or(|count| count.saturating_add(self.reserve) < self.limit)
    }

    fn of(limit: u64) -> Self {
        Self {
            reserve: reserve(limit),
            limit,
        }
    }
}

/// What all that `limits` allow may take.
fn wanted(limits: &ServerLimits) -> u64 {
    let sessions = as_u64(limits.sessions.max.saturating_add(limits.sessions.administrators));
    let sessions = sessions.saturating_mul(PER_SESSION);
    OWN + RESERVE_MAX + sessions + as_u64(limits.lobby_max)
}

/// How many connections before the login, and how many sessions, so many descriptors are enough for.
fn affordable(limits: &ServerLimits, limit: u64) -> (usize, usize) {
    let pending_logins = as_u64(limits.lobby_max).min(limit / 8).max(1);
    let left = limit.saturating_sub(OWN + pending_logins + reserve(limit));
    let sessions = (left / PER_SESSION).saturating_sub(as_u64(limits.sessions.administrators));
    let sessions = usize::try_from(sessions).unwrap_or(usize::MAX);
    (
        usize::try_from(pending_logins).unwrap_or(1),
        sessions.min(limits.sessions.max),
    )
}

fn reserve(limit: u64) -> u64 {
    RESERVE_MAX.min(limit / 8)
}

/// Raises the soft limit, if it is lower than `wanted` and the hard one allows it. Answers what the limit is then.
fn raise(wanted: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let present = current.unwrap_or(u64::MAX);
    let allowed = wanted.min(maximum.unwrap_or(u64::MAX));
    if present >= allowed {
        return present;
    }
    let raised = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(allowed),
            maximum,
        },
    );
    if raised.is_ok() { allowed } else { present }
}

/// How many the process has open.
fn open_count() -> Option<u64> {
    // proc(5): from Linux 6.2 on the size is the count, and 0 before.
    let size = fs::metadata("/proc/self/fd").ok()?.len();
    if size > 0 {
        return Some(size);
    }
    Some(as_u64(fs::read_dir("/proc/self/fd").ok()?.count()))
}

fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// A session's socket, the file and the log of a database, and one for a while. Where sessions have more, fewer are
/// admitted: [`Descriptors::has_room`].
const PER_SESSION: u64 = 4;
/// master.db, the data folder's lock, logs, standard streams, and what a backup or a scan of a database takes.
const OWN: u64 = 48;
/// Enough for an administrator who opens several databases, and for connections that arrive meanwhile.
const RESERVE_MAX: u64 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_sessions_are_promised_where_descriptors_are_few() {
        let limits = ServerLimits::default();
        for limit in [128, 256, 1024, 20_000] {
            let (pending_logins, sessions) = affordable(&limits, limit);
            let taken = as_u64(sessions + limits.sessions.administrators) * PER_SESSION + as_u64(pending_logins);
            assert!(sessions > 0 && pending_logins > 0, "{limit}");
            assert!(taken + OWN + reserve(limit) <= limit, "{limit}");
        }
        assert_eq!(affordable(&limits, 64).1, 0);
        assert_eq!(
            affordable(&limits, wanted(&limits)),
            (limits.lobby_max, limits.sessions.max)
        );
    }

    #[test]
    fn open_descriptors_are_counted() {
        let before = open_count().unwrap();
        let files: Vec<_> = (0..100).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        assert!(open_count().unwrap() >= before.min(50) + 50);
        drop(files);
    }
}
