//! A call that fails.

use selenite_vfs::ffi::Code;
use selenite_vfs::role::Role;

use crate::Call;

/// Makes calls of one kind fail.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which.
    pub call: Call,
    /// Of which files; `None` for all.
    pub role: Option<Role>,
    /// How many of them go well before.
    pub after: u64,
    /// How many then fail.
    pub times: u64,
    /// How they fail.
    pub failure: Failure,
}

/// How a call fails.
#[derive(Clone, Copy, Debug)]
pub enum Failure {
    /// Nothing is done.
    Code(Code),
    /// A write that stops in the middle.
    PartialWrite(Code),
    /// A write that is done wholly, and reported as failed.
    Landed(Code),
    /// A read that answers no byte, as at the end of the file.
    ShortRead,
    /// A planted bug: a write that is answered as if all were well, and not done.
    Lost,
    /// A planted bug: a write that is answered at once, and done behind the next write to that file through another
    /// opening of it.
    Late,
}

/// What SQLite is told of a fault.
pub(crate) fn code_of(failure: Failure) -> Code {
    match failure {
        Failure::Code(code) | Failure::PartialWrite(code) | Failure::Landed(code) => code,
        Failure::ShortRead => Code::IOERR_SHORT_READ,
        Failure::Lost | Failure::Late => Code::IOERR,
    }
}

/// What is known of the faults that were set.
#[derive(Default)]
pub(crate) struct Faults {
    set: Vec<(Fault, u64)>,
    hits: u64,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        self.set.push((fault, 0));
    }

    pub(crate) fn clear(&mut self) {
        self.set.clear();
        self.hits = 0;
    }

    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// Counts a call, and says whether it fails.
    pub(crate) fn meet(&mut self, call: Call, role: Role) -> Option<Failure> {
        let mut failure = None;
        for (fault, seen) in &mut self.set {
            if fault.call != call || fault.role.is_some_and(|wanted| wanted != role) {
                continue;
            }
            let index = *seen;
            *seen += 1;
            if index >= fault.after && index - fault.after < fault.times {
                failure = Some(fault.failure);
            }
        }
        self.hits += u64::from(failure.is_some());
        failure
    }
}
