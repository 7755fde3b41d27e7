//! New passwords, and the options about them.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use selenite_compiler::SqlError;
use selenite_tsql::ast::{ExprKind, Literal, Password, Setting};

use super::error;
use crate::Instance;
use crate::login::confirm;
use crate::master::LoginRecord;
use crate::password::{PasswordHash, RuleBroken, check_new_password};

/// The text of a password.
///
/// # Errors
/// 40510 for a hash.
pub(crate) fn plain(password: &Password) -> Result<&str, SqlError> {
    match &password.value {
        Literal::String(text) | Literal::National(text) if !password.hashed => Ok(text),
        Literal::String(_)
        | Literal::National(_)
        | Literal::Null
        | Literal::Integer(_)
        | Literal::Decimal(_)
        | Literal::Float(_)
        | Literal::Money(_)
        | Literal::Binary(_) => Err(super::refused("PASSWORD HASHED")),
    }
}

/// Stretches a new password.
///
/// # Errors
/// 15116 to 15118 for a password that breaks the policy, if the policy is to be checked; too many at a time.
pub(crate) fn stretch(
    instance: &Instance,
    (login, password): (&str, &str),
    is_checked: bool,
) -> Result<PasswordHash, SqlError> {
    let checked = match is_checked {
        true => check_new_password(login, password),
        false if password.encode_utf16().count() > UNIT_COUNT_MAX => Err(RuleBroken::Long),
        false => Ok(()),
    };
    checked.map_err(broken)?;
    let place = instance.statement_gate().enter(Instant::now() + PATIENCE);
    let hash = place.and_then(|_place| PasswordHash::new(password, instance.password_cost()));
    hash.map_err(|fault| {
        error(
            15121,
            format!("An error occurred during the execution of a password check: {fault}."),
        )
    })
}

/// Whether a password is the login's. A wrong one counts as a failed login from that address; while the login is
/// locked none is right.
///
/// # Errors
/// As [`stretch`].
pub(crate) fn is_right(
    instance: &Instance,
    (login, hash): (&LoginRecord, &PasswordHash),
    (password, address): (&str, IpAddr),
) -> Result<bool, SqlError> {
    let (checked, afterwards) = confirm(instance, (login, hash), (password, address), Instant::now() + PATIENCE);
    afterwards.write(instance);
    checked.map_err(|fault| {
        error(
            15121,
            format!("An error occurred during the execution of a password check: {fault}."),
        )
    })
}

fn broken(rule: RuleBroken) -> SqlError {
    let (number, why) = match rule {
        RuleBroken::Short => (15116, "it is too short"),
        RuleBroken::Long => (15117, "it is too long"),
        RuleBroken::Simple => (15118, "it is not complex enough"),
    };
    let text =
        "Password validation failed. The password does not meet the operating system policy requirements because";
    error(number, format!("{text} {why}."))
}

/// The options of CREATE LOGIN and ALTER LOGIN other than the password.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct LoginOptions {
    /// NAME.
    pub name: Option<String>,
    /// SID.
    pub sid: Option<[u8; 16]>,
    /// DEFAULT_DATABASE.
    pub database: Option<String>,
    /// CHECK_POLICY.
    pub checks_policy: Option<bool>,
    /// CHECK_EXPIRATION.
    pub checks_expiration: Option<bool>,
}

impl LoginOptions {
    /// Reads them.
    ///
    /// # Errors
    /// 40517 for what is not supported, 155 for what is unknown, 15419 for a security id of another size.
    pub fn read(settings: &[Setting], statement: &str) -> Result<Self, SqlError> {
        let mut options = Self::default();
        for setting in settings {
            let name = setting.name.text.to_ascii_uppercase();
            let word = || setting.word().map(|word| word.text.clone());
            match name.as_str() {
                "NAME" => options.name = word(),
                "DEFAULT_DATABASE" => options.database = word(),
                "SID" => options.sid = Some(sid(setting)?),
                "CHECK_POLICY" => options.checks_policy = Some(switch(setting)?),
                "CHECK_EXPIRATION" => options.checks_expiration = Some(switch(setting)?),
                "DEFAULT_LANGUAGE" => {
                    let language = word().unwrap_or_default();
                    if !["us_english", "english"]
                        .iter()
                        .any(|known| language.eq_ignore_ascii_case(known))
                    {
                        return Err(super::refused(&format!("DEFAULT_LANGUAGE = {language}")));
                    }
                }
                "CREDENTIAL" | "NO" => return Err(super::refused(&format!("{statement} with a credential"))),
                _ => {
                    let text = format!("'{}' is not a recognized {statement} option.", setting.name.text);
                    return Err(error(155, text).with_severity(15));
                }
            }
        }
        Ok(options)
    }

    /// Whether a password is checked, and expires; `present` is how it was before.
    ///
    /// # Errors
    /// 15122: what never is checked can't expire.
    pub fn policy(&self, present: (bool, bool)) -> Result<(bool, bool), SqlError> {
        let policy = self.checks_policy.unwrap_or(present.0);
        let expiration = match self.checks_expiration {
            Some(expiration) => expiration,
            // What is switched off takes the other along.
            None => present.1 && policy,
        };
        if expiration && !policy {
            let text = "The CHECK_EXPIRATION option cannot be used when CHECK_POLICY is OFF.";
            return Err(error(15122, text.to_owned()));
        }
        Ok((policy, expiration))
    }
}

fn switch(setting: &Setting) -> Result<bool, SqlError> {
    match setting.word() {
        Some(word) if word.is("ON") => Ok(true),
        Some(word) if word.is("OFF") => Ok(false),
        Some(_) | None => Err(SqlError::unsupported(&format!("This value of {}", setting.name.text))),
    }
}

fn sid(setting: &Setting) -> Result<[u8; 16], SqlError> {
    let wrong = || error(15419, "Supplied parameter sid should be binary(16).".to_owned());
    let digits = match setting.expr().map(|expr| &expr.kind) {
        Some(ExprKind::Literal(Literal::Binary(digits))) if digits.len() == 32 && digits.is_ascii() => digits,
        Some(_) | None => return Err(wrong()),
    };
    let mut sid = [0; 16];
    for (byte, at) in sid.iter_mut().zip((0..32).step_by(2)) {
        let pair = digits.get(at..at + 2).ok_or_else(wrong)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
    }
    Ok(sid)
}

/// SQL Server's limit of a password's length, in units of UTF-16.
const UNIT_COUNT_MAX: usize = 128;
/// Logins wait as long.
const PATIENCE: Duration = Duration::from_secs(30);
