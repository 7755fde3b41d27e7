//! Why a login is refused: what the client is told, and what the log says.

use std::fmt;

use selenite_tds::TdsError;

use crate::password::RuleBroken;

/// Why a login is refused.
#[derive(Debug)]
pub enum Refusal {
    /// There is no such login.
    Unknown,
    /// The password is wrong.
    WrongPassword,
    /// It is locked after failures.
    Locked,
    /// Too many wrong passwords came from the client's address.
    TooManyFailures,
    /// No one may log in by it.
    Disabled,
    /// CONNECT SQL was denied to it.
    ConnectDenied,
    /// A new password has to be chosen.
    MustChange,
    /// So it has, since the old one is too old.
    Expired,
    /// The new password breaks the rule.
    NewPassword(RuleBroken),
    /// The new password is the old one.
    SamePassword,
    /// There is no such database, or the login may not use it.
    Database(String),
    /// Like [`Refusal::Database`], for the login's default database.
    DefaultDatabase(String),
    /// A language that is not known, and that the client insists on.
    Language(String),
    /// Too many sessions: as many as there may be.
    Full(usize),
    /// Too many sessions of the login: as many as it may have.
    FullOfLogin(usize),
    /// The process has too few file descriptors left.
    NoDescriptors(usize),
    /// Windows' authentication.
    Integrated,
    /// A user instance.
    UserInstance,
    /// What can't be had here: its name.
    Unsupported(&'static str),
    /// The client broke the protocol.
    Protocol(TdsError),
    /// The server could not check: why.
    Trouble(String),
}

/// An error that a client is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    /// SQL Server's number.
    pub number: i32,
    /// Its severity.
    pub severity: u8,
    /// Its text.
    pub text: String,
}

impl Refusal {
    /// What the client is sent: one error, or several.
    pub fn notices(&self, user: &str) -> Vec<Notice> {
        let login = |text: String| vec![Notice::new(LOGIN_SEVERITY, 18456, text)];
        let failed = format!("Login failed for user '{user}'.");
        let before = |severity, number, text: String| {
            vec![
                Notice::new(severity, number, text),
                Notice::new(LOGIN_SEVERITY, 18456, failed.clone()),
            ]
        };
        let own = |number, text| vec![Notice::new(LOGIN_SEVERITY, number, text)];
        match self {
            Self::Unknown | Self::WrongPassword | Self::TooManyFailures | Self::ConnectDenied | Self::Trouble(_) => {
                login(failed)
            }
            Self::Locked => own(
                18486,
                format!(
                    "Login failed for user '{user}' because the account is currently locked out. The system \
                     administrator can unlock it. "
                ),
            ),
            Self::Disabled => own(18470, format!("{failed} Reason: The account is disabled.")),
            Self::MustChange => own(
                18488,
                format!("{failed}  Reason: The password of the account must be changed."),
            ),
            Self::Expired => own(
                18487,
                format!("{failed}  Reason: The password of the account has expired."),
            ),
            Self::NewPassword(broken) => {
                let (number, why) = new_password(*broken);
                let policy =
                    "Reason: Password change failed. The password does not meet operating system policy requirements";
                own(number, format!("{failed} {policy} because it is {why}."))
            }
            Self::SamePassword => own(
                18463,
                format!(
                    "The login failed for user \"{user}\". The password change failed. The password cannot be used \
                     at this time. "
                ),
            ),
            Self::Database(name) => before(
                11,
                4060,
                format!("Cannot open database \"{name}\" requested by the login. The login failed."),
            ),
            Self::DefaultDatabase(_) => before(11, 4064, "Cannot open user default database. Login failed.".to_owned()),
            Self::Language(name) => before(
                16,
                2740,
                format!(
                    "SET LANGUAGE failed because '{name}' is not an official language name or a language alias on \
                     this SQL Server."
                ),
            ),
            Self::Full(max) | Self::FullOfLogin(max) | Self::NoDescriptors(max) => {
                vec![Notice::new(20, 17809, full(*max))]
            }
            Self::Integrated => own(18452, UNTRUSTED.to_owned()),
            Self::UserInstance => vec![Notice::new(16, 18493, USER_INSTANCE.to_owned())],
            Self::Unsupported(what) => complaint(&TdsError::Unsupported { what }),
            Self::Protocol(error) => complaint(error),
        }
    }
}

impl Notice {
    fn new(severity: u8, number: i32, text: String) -> Self {
        Self { number, severity, text }
    }
}

fn complaint(error: &TdsError) -> Vec<Notice> {
    let complaint = error.complaint().into_iter();
    complaint
        .map(|complaint| Notice::new(complaint.severity, complaint.number, complaint.text))
        .collect()
}

fn new_password(broken: RuleBroken) -> (i32, &'static str) {
    match broken {
        RuleBroken::Short => (18464, "too short"),
        RuleBroken::Long => (18465, "too long"),
        RuleBroken::Simple => (18466, "not complex enough"),
    }
}

fn full(max: usize) -> String {
    format!(
        "Could not connect because the maximum number of '{max}' user connections has already been reached. The system \
         administrator can use sp_configure to increase the maximum value. The connection has been closed."
    )
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("no such login"),
            Self::WrongPassword => f.write_str("wrong password"),
            Self::Locked => f.write_str("locked after wrong passwords"),
            Self::TooManyFailures => f.write_str("too many wrong passwords from this address"),
            Self::Disabled => f.write_str("the login is disabled"),
            Self::ConnectDenied => f.write_str("CONNECT SQL was denied to the login"),
            Self::MustChange => f.write_str("the password must be changed first"),
            Self::Expired => f.write_str("the password has expired"),
            Self::NewPassword(broken) => write!(f, "the new password is {}", new_password(*broken).1),
            Self::SamePassword => f.write_str("the new password equals the old one"),
            Self::Database(name) => write!(f, "database {name} does not exist, or the login may not use it"),
            Self::DefaultDatabase(name) => {
                write!(
                    f,
                    "its default database {name} does not exist, or the login may not use it"
                )
            }
            Self::Language(name) => write!(f, "unknown language {name}"),
            Self::Full(max) => write!(f, "the limit of {max} sessions is reached"),
            Self::FullOfLogin(max) => write!(f, "the login's limit of {max} sessions is reached"),
            Self::NoDescriptors(_) => f.write_str("the process has too few file descriptors left (ulimit -n)"),
            Self::Integrated => f.write_str("Windows authentication is not supported"),
            Self::UserInstance => f.write_str("user instances are not supported"),
            Self::Unsupported(what) => write!(f, "{what} is not supported"),
            Self::Protocol(error) => write!(f, "{error}"),
            Self::Trouble(what) => f.write_str(what),
        }
    }
}

const LOGIN_SEVERITY: u8 = 14;
const UNTRUSTED: &str =
    "Login failed. The login is from an untrusted domain and cannot be used with Windows Authentication.";
const USER_INSTANCE: &str =
    "The user instance login flag is not supported on this version of SQL Server. The connection will be closed.";
