//! What the process keeps from getting outside of its memory: core dumps, swap.

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{CapabilitySet, capabilities};

use crate::ServerError;

/// Prevents core dumps of this process, whose memory holds keys and unencrypted pages, and prevents other processes
/// of the same user from reading that memory (ptrace(2)).
///
/// # Errors
/// [`ServerError::Machine`].
pub fn forbid_core_dumps() -> Result<(), ServerError> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Both: what /proc/sys/kernel/core_pattern pipes dumps to is not bound by the limit.
    let forbidden = setrlimit(Resource::Core, none).and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    forbidden.map_err(|error| ServerError::Machine(format!("core dumps can't be forbidden: {error}")))
}

/// Keeps all memory of the process out of swap, present and future. Pages are locked as they are used.
///
/// # Errors
/// [`ServerError::Usage`] where the system does not allow it.
pub fn lock_memory() -> Result<(), ServerError> {
    let refused = |why: String| ServerError::Usage {
        what: format!("memory can't be locked: {why}"),
        next: "allow it: ulimit -l unlimited, LimitMEMLOCK=infinity in a unit of systemd, or CAP_IPC_LOCK".to_owned(),
    };
    // Below a limit later allocations would fail, at an unpredictable place and time.
    let Rlimit { maximum, .. } = getrlimit(Resource::Memlock);
    let may_lock = capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    if !may_lock {
        if let Some(maximum) = maximum {
            return Err(refused(format!("the process may lock {maximum} bytes only")));
        }
        let unlimited = Rlimit {
            current: None,
            maximum: None,
        };
        setrlimit(Resource::Memlock, unlimited).map_err(|error| refused(error.to_string()))?;
    }
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    mlockall(flags).map_err(|error| refused(error.to_string()))
}
