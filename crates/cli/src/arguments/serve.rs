//! The arguments of `selenite serve`.

use std::path::PathBuf;

use clap::Args;
use selenite_server::Settings;

pub const AFTER_HELP: &str = "\
Example:
  selenite serve --data databases --identity key.txt
  selenite serve --listen 0.0.0.0:1433 --tls-cert server.crt --tls-key server.key

The first start makes the folder, master.db in it, and the login sa, whose password is printed once. \
Without an identity one is made in ~/.config/selenite, and its path printed: keep a copy elsewhere. \
Without --tls-cert the server makes a certificate of its own: DIR/server-certificate.pem is for \
clients. It ends by SIGTERM or Ctrl-C.";

#[derive(Args)]
pub struct Serve {
    /// The folder of the databases, which is the server's own [default: ~/.local/share/selenite/server]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where to listen [default: 127.0.0.1:1433]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// The certificate to show, and those that vouch for it (PEM).
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Its key (PEM).
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// What is encrypted: nothing, what the client asks for, all, or all by TDS 8 [default: require]
    #[arg(long, value_name = "MODE", value_parser = ["off", "optional", "require", "strict"])]
    pub encryption: Option<String>,
    /// Who encrypts packets: the session's thread, or another that it waits for, as SQL Server did until 2014
    /// [default: inline]
    #[arg(long, value_name = "WHO", value_parser = ["inline", "thread"])]
    pub tls_offload: Option<String>,
    /// How many sessions there may be [default: 4096]
    #[arg(long, value_name = "COUNT")]
    pub max_sessions: Option<usize>,
    /// How many of these one login may have, unless it is an administrator's [default: a quarter]
    #[arg(long, value_name = "COUNT")]
    pub max_sessions_per_login: Option<usize>,
    /// How many sessions are kept for administrators who find all others taken [default: 1]
    #[arg(long, value_name = "COUNT")]
    pub admin_sessions: Option<usize>,
    /// How many connections there may be that have not logged in [default: 256]
    #[arg(long, value_name = "COUNT")]
    pub max_logins: Option<usize>,
    /// How many seconds a connection may take to log in [default: 15]
    #[arg(long, value_name = "SECONDS")]
    pub login_timeout: Option<u64>,
    /// How much memory a session may use [default: 256]
    #[arg(long, value_name = "MIB")]
    pub session_memory: Option<u64>,
    /// How much memory all sessions may use [default: three quarters of the machine's]
    #[arg(long, value_name = "MIB")]
    pub server_memory: Option<u64>,
    /// How long a statement waits for a lock at most [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub lock_timeout: Option<u64>,
    /// How many wrong passwords in a row lock a login [default: 5]
    #[arg(long, value_name = "COUNT")]
    pub attempts_per_login: Option<u32>,
    /// How many wrong passwords may come from an address; one is restored each minute; 0: any number [default: 100]
    #[arg(long, value_name = "COUNT")]
    pub attempts_per_address: Option<u32>,
    /// How many seconds a batch or call of a login that is no administrator may run; 0: no limit [default: 0]
    #[arg(long, value_name = "SECONDS")]
    pub statement_timeout: Option<u64>,
    /// The audit log, one line of JSON for each event; none: no log [default: DIR/audit.jsonl]
    #[arg(long, value_name = "FILE")]
    pub audit_log: Option<PathBuf>,
    /// What happens when the audit log can't be written [default: continue]
    #[arg(long, value_name = "WHAT", value_parser = ["continue", "refuse-logins"])]
    pub audit_failure: Option<String>,
    /// What CREATE DATABASE makes: databases that are encrypted under the server's identity, or in clear [default: encrypted]
    #[arg(long, value_name = "HOW", value_parser = ["encrypted", "clear"])]
    pub new_databases: Option<String>,
    /// Keep all memory out of swap, or refuse to start
    #[arg(long)]
    pub lock_memory: bool,
    /// A file that says the same, by the same names (TOML). What stands here comes before it.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl Serve {
    /// What the flags say.
    pub fn settings(&self) -> Settings {
        Settings {
            data: self.data.clone(),
            identity: None,
            listen: self.listen.clone(),
            tls_cert: self.tls_cert.clone(),
            tls_key: self.tls_key.clone(),
            encryption: self.encryption.clone(),
            tls_offload: self.tls_offload.clone(),
            max_sessions: self.max_sessions,
            max_sessions_per_login: self.max_sessions_per_login,
            admin_sessions: self.admin_sessions,
            max_logins: self.max_logins,
            login_timeout: self.login_timeout,
            session_memory: self.session_memory,
            server_memory: self.server_memory,
            lock_timeout: self.lock_timeout,
            attempts_per_login: self.attempts_per_login,
            attempts_per_address: self.attempts_per_address,
            statement_timeout: self.statement_timeout,
            audit_log: self.audit_log.clone(),
            audit_failure: self.audit_failure.clone(),
            new_databases: self.new_databases.clone(),
            lock_memory: self.lock_memory.then_some(true),
        }
    }
}
