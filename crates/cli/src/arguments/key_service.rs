//! The arguments of `selenite key-service`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub const AFTER_HELP: &str = "Example, in the configuration file:\n  \
    identity = \"command:hsm\"\n  \
    [commands]\n  \
    hsm = [\"selenite\", \"key-service\", \"pkcs11\", \"--uri\", \"pkcs11:token=app;object=tde?module-path=/usr/lib/hsm.so\
    &pin-source=/etc/selenite/pin\"]\n\n\
    Selenite adds wrap or unwrap, and runs the command as a process of its own: what a module does to its process does \
    not reach the application. Try it first with check instead. Its messages are on standard error. Exit status 4: the \
    service refuses; 6: it can't be reached.";

#[derive(Args)]
pub struct KeyService {
    #[command(subcommand)]
    pub service: Service,
}

#[derive(Subcommand)]
pub enum Service {
    /// A key in a hardware security module or smart card, through its PKCS#11 module.
    Pkcs11(Pkcs11),
    /// A key of the transit engine of HashiCorp Vault or OpenBao.
    #[cfg(feature = "s3")]
    Vault(Vault),
    /// A key of AWS KMS.
    #[cfg(feature = "s3")]
    AwsKms(AwsKms),
}

#[derive(Args)]
pub struct Pkcs11 {
    /// The key, its module and the file of its PIN (RFC 7512):
    /// pkcs11:token=T;object=KEY?module-path=M&pin-source=FILE.
    #[arg(long, value_name = "URI")]
    pub uri: String,
    /// The module, if the URI has none.
    #[arg(long, value_name = "PATH")]
    pub module: Option<PathBuf>,
    /// The file of the PIN, if the URI has none. A line break at its end does not count.
    #[arg(long, value_name = "FILE")]
    pub pin_file: Option<PathBuf>,
    /// The hash function of RSA-OAEP for what is wrapped from now on.
    #[arg(long, value_name = "HASH", default_value = "sha256")]
    pub oaep: OaepHash,
    #[command(subcommand)]
    pub task: Pkcs11Task,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum OaepHash {
    Sha256,
    /// For modules that have no other, such as SoftHSM.
    Sha1,
}

#[derive(Subcommand, Clone, Copy)]
pub enum Pkcs11Task {
    /// Wrap the 64 bytes of standard input.
    Wrap,
    /// Unwrap standard input.
    Unwrap,
    /// Try the token, the PIN and the key, and say what was found.
    Check,
    /// Generate a key that can't leave the token, under the URI's name.
    Generate {
        /// The kind of the key.
        #[arg(long, default_value = "aes")]
        kind: KeyKind,
    },
}

#[cfg(feature = "s3")]
#[derive(Subcommand, Clone, Copy)]
pub enum Task {
    /// Wrap the 64 bytes of standard input.
    Wrap,
    /// Unwrap standard input.
    Unwrap,
    /// Try the service and the key, and say what was found.
    Check,
}

#[cfg(feature = "s3")]
#[derive(Args)]
pub struct Vault {
    /// The address: https://vault.example.com:8200. Without TLS, only of this machine.
    #[arg(long, value_name = "URL")]
    pub address: String,
    /// The name of the key in the engine.
    #[arg(long, value_name = "NAME")]
    pub key: String,
    /// Where the engine is mounted.
    #[arg(long, value_name = "PATH", default_value = "transit")]
    pub mount: String,
    /// The namespace.
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// The file of a token, such as an agent writes.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["role_id_file", "kubernetes_role"])]
    pub token_file: Option<PathBuf>,
    /// Log in by AppRole: the file of the role's id.
    #[arg(
        long,
        value_name = "FILE",
        requires = "secret_id_file",
        conflicts_with = "kubernetes_role"
    )]
    pub role_id_file: Option<PathBuf>,
    /// Log in by AppRole: the file of the secret id.
    #[arg(long, value_name = "FILE", requires = "role_id_file")]
    pub secret_id_file: Option<PathBuf>,
    /// Log in by Kubernetes, with this role.
    #[arg(long, value_name = "ROLE")]
    pub kubernetes_role: Option<String>,
    /// The service account's token.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "/var/run/secrets/kubernetes.io/serviceaccount/token"
    )]
    pub jwt_file: PathBuf,
    /// Where the login method is mounted, if not by its own name.
    #[arg(long, value_name = "PATH")]
    pub auth_mount: Option<String>,
    /// Certificates that are trusted besides the system's, in PEM.
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    #[command(subcommand)]
    pub task: Task,
}

#[cfg(feature = "s3")]
#[derive(Args)]
pub struct AwsKms {
    /// The key: its id, ARN or alias/NAME.
    #[arg(long, value_name = "KEY")]
    pub key: String,
    /// The region [default: as for backups in S3].
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Another endpoint than that of AWS in the region.
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    #[command(subcommand)]
    pub task: Task,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum KeyKind {
    /// AES of 256 bits, which wraps by RFC 3394.
    Aes,
    /// RSA of 3072 bits, which wraps by OAEP.
    Rsa,
    /// RSA of 2048 bits, for tokens that have no longer ones, as many TPMs.
    Rsa2048,
}
