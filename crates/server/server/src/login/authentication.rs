//! Whether a password is the login's.

use std::net::IpAddr;
use std::time::Instant;

use super::Refusal;
use crate::Instance;
use crate::lockout::{Account, Attempt, Blocked};
use crate::master::ServerPermission;
use crate::master::{Attempts, LoginRecord, MasterError};
use crate::password::{PasswordFault, PasswordHash, check_new_password};

/// A login that is to be authenticated.
pub struct Applicant<'a> {
    /// The login's name.
    pub name: &'a str,
    /// Its password.
    pub password: &'a str,
    /// The password that it wants from now on.
    pub new_password: Option<&'a str>,
    /// The client's address.
    pub address: IpAddr,
    /// Until when it can wait.
    pub deadline: Instant,
}

/// What is to be written when the client has its answer and its connection is closed: what that costs says nothing to
/// it then.
#[must_use = "failures are not kept otherwise"]
#[derive(Default)]
pub struct Afterwards(Option<FailedLogin>);

enum FailedLogin {
    /// A login, and its failures from now on.
    Known(i64, Attempts),
    /// There is no such login. As much is written as for one that there is: the next login waits as long.
    Unknown,
}

impl Afterwards {
    /// Writes it. That it can't be written is for the log: what counts is in memory.
    pub fn write(self, instance: &Instance) {
        let written = match self.0 {
            None => return,
            Some(FailedLogin::Known(login, attempts)) => instance.master().store_attempts(login, attempts),
            Some(FailedLogin::Unknown) => instance.master().count_unknown_login(),
        };
        if let Err(error) = written {
            instance.log().line(&format!("cannot record failed logins: {error}"));
        }
    }
}

/// Whether a password is the login's, checked for a statement of a session. Counted as a login is.
///
/// # Errors
/// [`PasswordFault`].
pub fn confirm(
    instance: &Instance,
    (login, hash): (&LoginRecord, &PasswordHash),
    (password, address): (&str, IpAddr),
    deadline: Instant,
) -> (Result<bool, PasswordFault>, Afterwards) {
    let lockout = instance.lockout();
    lockout.recall(login.id, login.attempts);
    let account = Account::Login(login.id);
    let reservation = match lockout.reserve(Attempt { account, address }, now, deadline) {
        Ok(reservation) => reservation,
        Err(Blocked::Locked | Blocked::Address) => return (Ok(false), Afterwards::default()),
        Err(Blocked::Crowded) => return (Err(PasswordFault::Crowded), Afterwards::default()),
    };
    let place = instance.statement_gate().enter(deadline);
    let checked = place.and_then(|_place| hash.is_of(password));
    let kept = match checked {
        Ok(true) => reservation.succeeded(),
        Ok(false) => reservation.failed(now()),
        Err(_) => None,
    };
    (
        checked,
        Afterwards(kept.map(|attempts| FailedLogin::Known(login.id, attempts))),
    )
}

/// Decides. `equal-cost`: a password is hashed whether the login exists, is locked, or neither.
pub fn authenticate(instance: &Instance, applicant: &Applicant<'_>) -> (Result<LoginRecord, Refusal>, Afterwards) {
    let mut afterwards = Afterwards::default();
    let outcome = decide(instance, applicant, &mut afterwards);
    (outcome, afterwards)
}

fn decide(instance: &Instance, applicant: &Applicant<'_>, afterwards: &mut Afterwards) -> Result<LoginRecord, Refusal> {
    let lockout = instance.lockout();
    let found = instance.master().login_and_hash(applicant.name);
    let found = found.map_err(|error| tsql_error(&error))?;
    let (account, hash) = match &found {
        Some((login, hash)) => {
            lockout.recall(login.id, login.attempts);
            (Account::Login(login.id), hash)
        }
        None => (lockout.unknown(applicant.name), instance.nobodys_password()),
    };
    let attempt = Attempt {
        account,
        address: applicant.address,
    };
    let reservation = match lockout.reserve(attempt, now, applicant.deadline) {
        Ok(reservation) => reservation,
        Err(Blocked::Locked) => {
            is_right(instance, applicant, instance.nobodys_password())?;
            return Err(Refusal::Locked);
        }
        Err(Blocked::Address) => return Err(Refusal::TooManyFailures),
        Err(Blocked::Crowded) => return Err(Refusal::Trouble(PasswordFault::Crowded.to_string())),
    };
    let is_right = is_right(instance, applicant, hash)?;
    let Some((login, _)) = found else {
        reservation.failed(now());
        afterwards.0 = Some(FailedLogin::Unknown);
        return Err(Refusal::Unknown);
    };
    let kept = match is_right {
        true => reservation.succeeded(),
        false => reservation.failed(now()),
    };
    afterwards.0 = kept.map(|attempts| FailedLogin::Known(login.id, attempts));
    if !is_right {
        return Err(Refusal::WrongPassword);
    }
    check_state(instance, &login)?;
    match applicant.new_password {
        Some(new_password) => change_password(instance, applicant, &login, new_password)?,
        None if login.must_change => return Err(Refusal::MustChange),
        None if login.is_expired(now()) => return Err(Refusal::Expired),
        None => {}
    }
    Ok(login)
}

/// Looks again at a login that was let in a while ago, and may have been dropped, disabled or denied since.
///
/// # Errors
/// [`Refusal::Unknown`], also if another login has its name; [`Refusal::Disabled`]; [`Refusal::ConnectDenied`].
pub fn look_again(instance: &Instance, known: &LoginRecord) -> Result<(), Refusal> {
    let found = instance
        .master()
        .login(&known.name)
        .map_err(|error| tsql_error(&error))?;
    match found.filter(|login| login.sid == known.sid) {
        Some(login) => check_state(instance, &login),
        None => Err(Refusal::Unknown),
    }
}

fn check_state(instance: &Instance, login: &LoginRecord) -> Result<(), Refusal> {
    if login.is_disabled {
        return Err(Refusal::Disabled);
    }
    let security = instance.master().server_security();
    let rights = security.map_err(|error| tsql_error(&error))?.of(&login.sid);
    match login.is_administrator || rights.may(ServerPermission::ConnectSql) {
        true => Ok(()),
        false => Err(Refusal::ConnectDenied),
    }
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
    let stored = instance.master().set_password(login, &hash, false);
    stored.map_err(|error| tsql_error(&error))
}

fn tsql_error(error: &MasterError) -> Refusal {
    Refusal::Trouble(error.to_string())
}

/// Seconds since 1970-01-01 UTC.
fn now() -> i64 {
    i64::try_from(selenite::now()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
