//! Whether a password is the login's.

use std::net::IpAddr;
use std::time::Instant;

use super::Refusal;
use super::lockout::Visit;
use crate::Instance;
use crate::master::{Attempts, LoginRecord, MasterError};
use crate::password::{PasswordFault, PasswordHash, check_new_password};

/// Who wants to come in.
pub struct Applicant<'a> {
    /// The login's name.
    pub name: &'a str,
    /// Its password.
    pub password: &'a str,
    /// The password that it wants from now on.
    pub new_password: Option<&'a str>,
    /// Where it comes from.
    pub address: IpAddr,
    /// Until when it can wait.
    pub deadline: Instant,
}

/// What is to be written when the client has its answer: what that costs says nothing to it then.
#[must_use = "failures are not kept otherwise"]
#[derive(Default)]
pub struct Afterwards(Option<(i64, Attempts)>);

impl Afterwards {
    /// Writes it. That it can't be written is for the log: what counts is in memory.
    pub fn write(self, instance: &Instance) {
        if let Some((login, attempts)) = self.0
            && let Err(error) = instance.master().store_attempts(login, attempts)
        {
            instance.log().line(&format!("failed logins are not kept: {error}"));
        }
    }
}

/// Decides. A2: something is stretched in every case.
pub fn authenticate(instance: &Instance, applicant: &Applicant<'_>) -> (Result<LoginRecord, Refusal>, Afterwards) {
    let found = instance.master().login_and_hash(applicant.name);
    let mut afterwards = Afterwards::default();
    let outcome = match found {
        Ok(Some((login, hash))) => decide(instance, applicant, login, &hash, &mut afterwards),
        Ok(None) => pretend(instance, applicant, Refusal::Unknown),
        Err(error) => Err(trouble(&error)),
    };
    (outcome, afterwards)
}

fn decide(
    instance: &Instance,
    applicant: &Applicant<'_>,
    login: LoginRecord,
    hash: &PasswordHash,
    afterwards: &mut Afterwards,
) -> Result<LoginRecord, Refusal> {
    let lockout = instance.lockout();
    let visit = Visit {
        login: login.id,
        address: applicant.address,
    };
    lockout.recall(login.id, login.attempts);
    if lockout.is_locked(visit, now()) {
        return pretend(instance, applicant, Refusal::Locked);
    }
    if !is_right(instance, applicant, hash)? {
        afterwards.0 = lockout.failed(visit, now()).map(|attempts| (login.id, attempts));
        return Err(Refusal::WrongPassword);
    }
    afterwards.0 = lockout.succeeded(visit, now()).map(|attempts| (login.id, attempts));
    if login.is_disabled {
        return Err(Refusal::Disabled);
    }
    match applicant.new_password {
        Some(new_password) => change_password(instance, applicant, &login, new_password)?,
        None if login.must_change => return Err(Refusal::MustChange),
        None if login.is_expired(now()) => return Err(Refusal::Expired),
        None => {}
    }
    Ok(login)
}

/// Costs what a wrong password costs.
fn pretend(instance: &Instance, applicant: &Applicant<'_>, refusal: Refusal) -> Result<LoginRecord, Refusal> {
    is_right(instance, applicant, instance.nobodys_password())?;
    Err(refusal)
}

fn is_right(instance: &Instance, applicant: &Applicant<'_>, hash: &PasswordHash) -> Result<bool, Refusal> {
    let place = instance.password_gate().enter(applicant.deadline);
    let checked = place.and_then(|_place| hash.is_of(applicant.password));
    checked.map_err(|fault: PasswordFault| Refusal::Trouble(fault.to_string()))
}

fn change_password(
    instance: &Instance,
    applicant: &Applicant<'_>,
    login: &LoginRecord,
    new_password: &str,
) -> Result<(), Refusal> {
    if login.checks_policy {
        check_new_password(&login.name, new_password).map_err(Refusal::NewPassword)?;
    }
    if new_password == applicant.password {
        return Err(Refusal::SamePassword);
    }
    let place = instance.password_gate().enter(applicant.deadline);
    let hash = place.and_then(|_place| PasswordHash::new(new_password, instance.password_cost()));
    let hash = hash.map_err(|fault| Refusal::Trouble(fault.to_string()))?;
    let stored = instance.master().set_password(&login.name, &hash, false);
    stored.map_err(|error| trouble(&error))
}

fn trouble(error: &MasterError) -> Refusal {
    Refusal::Trouble(error.to_string())
}

fn now() -> i64 {
    i64::try_from(selenite_engine::now()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
