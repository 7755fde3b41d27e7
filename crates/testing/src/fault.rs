//! Faults: calls that fail.

use selenite_vfs::ffi::Code;
use selenite_vfs::role::Role;

use crate::Call;

/// Makes calls of one kind fail.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The kind of call.
    pub call: Call,
    /// The role of the files; `None` for all.
    pub role: Option<Role>,
    /// The number of calls that succeed first.
    pub after: u64,
    /// The number of calls that then fail.
    pub times: u64,
    /// How they fail.
    pub failure: Failure,
}

/// How a call fails.
#[derive(Clone, Copy, Debug)]
pub enum Failure {
    /// Fails without effect.
    Code(Code),
    /// A write that stops halfway.
    PartialWrite(Code),
    /// A write that is completed, and reported as failed.
    Landed(Code),
    /// A read that returns no bytes, as at the end of the file.
    ShortRead,
    /// A planted bug: a write that is reported as successful, and has no effect.
    Lost,
    /// A planted bug: a write that is reported at once, and performed after the next write to that
    /// file through another open handle.
    Late,
}

/// The code that SQLite receives for a fault.
pub(crate) fn code_of(failure: Failure) -> Code {
    match failure {
        Failure::Code(code) | Failure::PartialWrite(code) | Failure::Landed(code) => code,
        Failure::ShortRead => Code::IOERR_SHORT_READ,
        Failure::Lost | Failure::Late => Code::IOERR,
    }
}

/// The active faults, each with its number of calls, and the number of failures.
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

    /// Counts a call, and returns its failure if a fault applies.
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
