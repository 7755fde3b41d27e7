//! The arguments of `selenite serve`.

use std::path::PathBuf;

use clap::Args;
use selenite_server::Settings;

pub const AFTER_HELP: &str = "\
Example:
  selenite serve --data databases --identity key.txt
  selenite serve --listen 0.0.0.0:1433 --tls-cert server.crt --tls-key server.key

The first start creates the folder, master.db in it, and the login sa, whose password is \
printed once. Without an identity one is created in ~/.config/selenite, and its path \
printed: keep a copy elsewhere. Without --tls-cert the server creates a self-signed \
certificate: DIR/server-certificate.pem is for clients. SIGTERM or Ctrl-C ends it.";

#[derive(Args)]
pub struct Serve {
    /// The server's data folder [default: ~/.local/share/selenite/server]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The address to listen on [default: 127.0.0.1:1433]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// The server's certificate chain (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// TLS: off, as the client requests, required, or TDS 8 only [default: require]
    #[arg(long, value_name = "MODE", value_parser = ["off", "optional", "require", "strict"])]
    pub encryption: Option<String>,
    /// The thread that encrypts packets: the session's, or another one it waits for, as SQL Server
    /// did until 2014 [default: inline]
    #[arg(long, value_name = "WHO", value_parser = ["inline", "thread"])]
    pub tls_offload: Option<String>,
    /// Maximum number of sessions [default: 4096]
    #[arg(long, value_name = "COUNT")]
    pub max_sessions: Option<usize>,
    /// Maximum sessions of one login; administrators are exempt [default: a quarter]
    #[arg(long, value_name = "COUNT")]
    pub max_sessions_per_login: Option<usize>,
    /// Sessions reserved for administrators [default: 1]
    #[arg(long, value_name = "COUNT")]
    pub admin_sessions: Option<usize>,
    /// Maximum connections that have not logged in [default: 256]
    #[arg(long, value_name = "COUNT")]
    pub max_logins: Option<usize>,
    /// Login timeout in seconds [default: 15]
    #[arg(long, value_name = "SECONDS")]
    pub login_timeout: Option<u64>,
    /// Memory limit of a session in MiB [default: 256]
    #[arg(long, value_name = "MIB")]
    pub session_memory: Option<u64>,
    /// Memory limit of all sessions in MiB [default: three quarters of the machine's]
    #[arg(long, value_name = "MIB")]
    pub server_memory: Option<u64>,
    /// Lock timeout of statements in seconds [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub lock_timeout: Option<u64>,
    /// Failed attempts in a row that lock a login [default: 5]
    #[arg(long, value_name = "COUNT")]
    pub attempts_per_login: Option<u32>,
    /// Failed attempts allowed from an address; one is restored each minute; 0: no limit [default:
    /// 100]
    #[arg(long, value_name = "COUNT")]
    pub attempts_per_address: Option<u32>,
    /// Time limit of a batch or call in seconds, except for administrators; 0: no limit [default:
    /// 0]
    #[arg(long, value_name = "SECONDS")]
    pub statement_timeout: Option<u64>,
    /// The audit log, one JSON object per line; none: no log [default: DIR/audit.jsonl]
    #[arg(long, value_name = "FILE")]
    pub audit_log: Option<PathBuf>,
    /// What to do when the audit log cannot be written [default: continue]
    #[arg(long, value_name = "WHAT", value_parser = ["continue", "refuse-logins"])]
    pub audit_failure: Option<String>,
    /// Whether CREATE DATABASE creates encrypted databases [default: encrypted]
    #[arg(long, value_name = "HOW", value_parser = ["encrypted", "clear"])]
    pub new_databases: Option<String>,
    /// A folder whose files BULK INSERT may read; repeatable [default: none]
    #[arg(long, value_name = "DIR")]
    pub bulk_folders: Vec<PathBuf>,
    /// The new file, readable by its owner alone, for sa's first password; otherwise it is printed
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Lock all memory (no swap); fail to start if that is not possible
    #[arg(long)]
    pub lock_memory: bool,
    /// A configuration file (TOML) with the same names; options take precedence
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl Serve {
    /// The settings given as options.
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
            bulk_folders: (!self.bulk_folders.is_empty()).then(|| self.bulk_folders.clone()),
            password_file: self.password_file.clone(),
            lock_memory: self.lock_memory.then_some(true),
        }
    }
}
