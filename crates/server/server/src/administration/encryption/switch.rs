//! ALTER DATABASE SET ENCRYPTION ON, OFF, SUSPEND and RESUME.

use selenite::reencrypt::{Goal, pause, resume};
use selenite::storage::Disk;
use selenite::{Access, Expected};
use selenite_compiler::SqlError;
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::{Name, Setting};

use super::database_key::Subject;
use super::{error, of_engine, unsupported};
use crate::administration::Administration;
use crate::database::file_state::{FileState, Phase};
use crate::database::scans::goal_of;
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::{EncryptionKeyRecord, Tde};

/// What is to become of a database's encryption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It is switched on.
    On,
    /// It is switched off.
    Off,
    /// The scan rests.
    Suspend,
    /// The scan continues.
    Resume,
}

impl Change {
    /// The requested state of options that include ENCRYPTION.
    ///
    /// # Errors
    /// 40510 for any other option; 102.
    pub fn of(options: &[Setting], has_termination: bool) -> Result<Self, SqlError> {
        let [option] = options else {
            return Err(unsupported(
                "ALTER DATABASE SET ENCRYPTION together with another option",
            ));
        };
        if has_termination {
            return Err(unsupported("ALTER DATABASE SET ENCRYPTION with a termination"));
        }
        let words = [
            ("ON", Self::On),
            ("OFF", Self::Off),
            ("SUSPEND", Self::Suspend),
            ("RESUME", Self::Resume),
        ];
        let told = option.word().filter(|_| !option.equals);
        let found = told.and_then(|word| words.into_iter().find(|(known, _)| word.is(known)));
        found.map(|(_, change)| change).ok_or_else(|| {
            let near = told.map_or("ENCRYPTION", |word| word.text.as_str());
            error(102, format!("Incorrect syntax near '{near}'.")).with_severity(15)
        })
    }
}

impl Administration<'_, '_> {
    /// Switches a database's encryption.
    pub(crate) fn switch_encryption(
        &self,
        name: Option<&Name>,
        change: Change,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let instance = self.session.instance;
        let id = match name {
            None => self.transactions.current,
            Some(name) => {
                let found = instance
                    .master()
                    .database(&name.text)
                    .map_err(|fault| of_master(&fault))?;
                found.ok_or_else(|| not_alterable(&name.text))?.id
            }
        };
        if !self.session.login_info.is_administrator {
            let record = instance.master().database_of(id).map_err(|fault| of_master(&fault))?;
            return Err(not_alterable(record.as_ref().map_or("", |record| record.name.as_str())).into());
        }
        let subject = self.subject(id)?;
        let key = instance
            .master()
            .encryption_key(id)
            .map_err(|fault| of_master(&fault))?;
        let key = key.ok_or_else(|| {
            error(
                33106,
                "Cannot change database encryption state because no database encryption key is set.",
            )
        })?;
        match change {
            Change::On => self.switch_on(&subject, &key, execution),
            Change::Off => self.switch_off(&subject, &key, execution),
            Change::Suspend => Ok(self.suspend(&subject)?),
            Change::Resume => self.resume(&subject, execution),
        }
    }

    fn switch_on(
        &self,
        subject: &Subject,
        key: &EncryptionKeyRecord,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let state = self.settled(subject, execution)?;
        if !state.is_ours {
            return Err(unsupported("ENCRYPTION ON of a database that was made by another program").into());
        }
        match state.phase {
            Phase::Clear if state.pages.is_moving() => return Err(in_progress("enable").into()),
            Phase::Clear => {}
            // A scan that was stopped by an error continues.
            Phase::Encrypting if !state.is_running && !self.registry.scans().is_running(subject.record.id) => {}
            Phase::Encrypted | Phase::Encrypting => {
                let text = "Cannot enable database encryption because it is already enabled.";
                return Err(error(33107, text).into());
            }
            Phase::Decrypting | Phase::ChangingKey => return Err(in_progress("enable").into()),
        }
        let goal = goal_of(Tde::TurningOn, key, &state, subject.keeps_encrypted());
        let goal = goal.ok_or_else(|| SqlError::internal("an algorithm that is none"))?;
        self.begin_noted_scan(subject, goal, (key.tde, Tde::TurningOn), execution)?;
        Ok(self.note_switch(subject)?)
    }

    fn switch_off(
        &self,
        subject: &Subject,
        key: &EncryptionKeyRecord,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        if self.admit_in_clear(subject)? {
            subject.note(Tde::Off)?;
            return Ok(self.note_switch(subject)?);
        }
        let state = self.settled(subject, execution)?;
        match state.phase {
            Phase::Clear => {
                let text = "Cannot disable database encryption because it is already disabled.";
                return Err(error(33108, text).into());
            }
            Phase::Decrypting if !state.is_running && !self.registry.scans().is_running(subject.record.id) => {}
            Phase::Encrypted => {}
            Phase::Encrypting | Phase::Decrypting | Phase::ChangingKey => return Err(in_progress("disable").into()),
        }
        let goal = goal_of(Tde::TurningOff, key, &state, subject.keeps_encrypted()).unwrap_or(Goal::GoOn);
        let master = self.session.instance.master();
        if goal == Goal::Off {
            // Before the first page is decrypted, since there may be a kill in between.
            let noted = master.require_encryption(subject.record.id, false);
            noted.map_err(|fault| of_master(&fault))?;
        }
        if let Err(why) = self.begin_noted_scan(subject, goal, (key.tde, Tde::TurningOff), execution) {
            if subject.state().is_ok_and(|state| state.pages == Phase::Encrypted) {
                let noted = master.require_encryption(subject.record.id, true);
                noted.map_err(|fault| of_master(&fault))?;
            }
            return Err(why);
        }
        Ok(self.note_switch(subject)?)
    }

    /// A database that has to be encrypted and is in clear was decrypted by the command line, or replaced: it can't
    /// be opened. Switching encryption off accepts that. Returns whether it was so.
    fn admit_in_clear(&self, subject: &Subject) -> Result<bool, SqlError> {
        if !subject.access.expected.is_encrypted {
            return Ok(false);
        }
        let access = Access {
            expected: Expected {
                is_encrypted: false,
                ..subject.access.expected
            },
            ..subject.access.clone()
        };
        let state = FileState::load(&subject.path, &access);
        if !state.is_ok_and(|state| state.phase == Phase::Clear) {
            return Ok(false);
        }
        let master = self.session.instance.master();
        let noted = master.require_encryption(subject.record.id, false);
        noted.map_err(|fault| of_master(&fault))?;
        Ok(true)
    }

    fn suspend(&self, subject: &Subject) -> Result<(), SqlError> {
        if !subject.state()?.phase.is_moving() {
            return Err(no_scan("SUSPEND", subject));
        }
        pause(&Disk, &subject.path).map_err(|failed| of_engine(&subject.record.name, &failed))?;
        self.note_scan(subject)
    }

    fn resume(&self, subject: &Subject, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        let state = subject.state()?;
        if !state.phase.is_moving() {
            return Err(no_scan("RESUME", subject).into());
        }
        resume(&Disk, &subject.path).map_err(|failed| of_engine(&subject.record.name, &failed))?;
        if !state.is_running && !self.registry.scans().is_running(subject.record.id) {
            self.begin_scan(subject, Goal::GoOn, execution)?;
        }
        Ok(self.note_scan(subject)?)
    }

    /// Begins a scan that turns the state of a database's encryption key from one into another. Both are noted: a
    /// scan that does not begin leaves the first.
    ///
    /// # Errors
    /// As [`Self::begin_scan`].
    pub(crate) fn begin_noted_scan(
        &self,
        subject: &Subject,
        goal: Goal,
        (before, after): (Tde, Tde),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        subject.note(after)?;
        let started = self.begin_scan(subject, goal, execution);
        if started.is_err() && subject.state().is_ok_and(|state| !state.pages.is_moving()) {
            subject.note(before)?;
        }
        started
    }

    /// Begins a scan in the background, and waits until the file says so.
    ///
    /// # Errors
    /// What keeps it from beginning; that the request is to stop: then it does not begin.
    pub(crate) fn begin_scan(
        &self,
        subject: &Subject,
        goal: Goal,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let scans = self.registry.scans();
        let started = scans.begin(&subject.record, &subject.path, goal, || execution.reply.poll())?;
        if let Err(why) = started {
            let text = format!("The database '{}' says: {why}.", subject.record.name);
            return Err(error(50823, text).into());
        }
        Ok(self.note_scan(subject)?)
    }

    fn note_switch(&self, subject: &Subject) -> Result<(), SqlError> {
        let master = self.session.instance.master();
        let noted = master.change_encryption_key(subject.record.id, |key, now| {
            key.set = now;
            key.modified = now;
        });
        noted.map_err(|fault| of_master(&fault))
    }

    fn note_scan(&self, subject: &Subject) -> Result<(), SqlError> {
        let master = self.session.instance.master();
        let noted = master.change_encryption_key(subject.record.id, |key, now| key.scanned = now);
        noted.map_err(|fault| of_master(&fault))
    }
}

/// 5011: a database that is not there, or not the login's to alter.
fn not_alterable(name: &str) -> SqlError {
    let text = format!(
        "User does not have permission to alter database '{name}', the database does not exist, or the database is not in a \
         state that allows access checks."
    );
    error(5011, text).with_severity(14).with_state(5)
}

/// 33109.
fn in_progress(verb: &str) -> SqlError {
    let text = format!(
        "Cannot {verb} database encryption while an encryption, decryption, or key change scan is in progress."
    );
    error(33109, text)
}

/// 5058: there is no scan that could be suspended or resumed.
fn no_scan(word: &str, subject: &Subject) -> SqlError {
    let name = &subject.record.name;
    error(
        5058,
        format!("Option 'ENCRYPTION {word}' cannot be set in database '{name}'."),
    )
}
