//! The class of a sample, determined by the function in which it was taken.
//!
//! - symbols-decide: the executable's own symbol table decides: a static function of C belongs to
//!   the source file under which it is listed, a function of Rust to its crate; a function of
//!   `core` or `alloc` that was instantiated for a crate belongs to that crate.
//! - kernel-by-system-call: in the kernel the system call decides, except for the copying itself. A
//!   sample in the C library's function that makes a call belongs to the call, because the entry
//!   into and exit from the kernel are attributed to it.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// A class of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Copying between the system's page cache and the process.
    KernelCopy,
    /// Reading, except for the copying.
    KernelRead,
    /// Writing, except for the copying.
    KernelWrite,
    /// File locks.
    KernelLock,
    /// Syncs, sizes, names.
    KernelFile,
    /// The random number generator.
    KernelRandom,
    /// Page faults and mapping.
    KernelMemory,
    /// Interrupts, the scheduler, everything else.
    KernelOther,
    /// AES-GCM, AEGIS, SHA-256.
    Cipher,
    /// `memcpy` and similar functions, whatever the caller.
    Copy,
    /// Selenite's own code.
    Own,
    /// SQLite.
    Sqlite,
    /// The C library, Rust's standard library, the vDSO.
    Library,
    /// Callers of SQLite: rusqlite and the budget.
    Caller,
    /// Matched by no rule.
    Unknown,
}

impl Class {
    /// In the order of display.
    pub const ALL: [Self; 15] = [
        Self::KernelCopy,
        Self::KernelRead,
        Self::KernelWrite,
        Self::KernelLock,
        Self::KernelFile,
        Self::KernelRandom,
        Self::KernelMemory,
        Self::KernelOther,
        Self::Cipher,
        Self::Copy,
        Self::Own,
        Self::Sqlite,
        Self::Library,
        Self::Caller,
        Self::Unknown,
    ];

    /// The display name.
    pub fn label(self) -> &'static str {
        match self {
            Self::KernelCopy => "kernel: copying the bytes",
            Self::KernelRead => "kernel: the rest of reading",
            Self::KernelWrite => "kernel: the rest of writing",
            Self::KernelLock => "kernel: locks",
            Self::KernelFile => "kernel: syncs, sizes, names of files",
            Self::KernelRandom => "kernel: random bytes",
            Self::KernelMemory => "kernel: memory",
            Self::KernelOther => "kernel: interrupts, other",
            Self::Cipher => "cipher",
            Self::Copy => "copies and fills of memory",
            Self::Own => "Selenite",
            Self::Sqlite => "SQLite",
            Self::Library => "C library, Rust's, clock",
            Self::Caller => "the caller",
            Self::Unknown => "not classified",
        }
    }
}

/// A function on the stack of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// The address.
    pub address: u64,
    /// The name in the symbol table.
    pub symbol: String,
    /// The executable, `[vdso]`, or a library's path.
    pub object: String,
}

/// The classes of the functions of one executable.
pub struct Classes {
    executable: String,
    /// The source file or compilation unit of each static function.
    units: HashMap<String, String>,
}

impl Classes {
    /// Reads the executable's symbol table, by `readelf`.
    pub fn of(executable: &Path) -> Result<Self, Box<dyn Error>> {
        let told = Command::new("readelf").args(["-sW", "--"]).arg(executable).output()?;
        if !told.status.success() {
            return Err(format!("readelf: {}", String::from_utf8_lossy(&told.stderr)).into());
        }
        let name = executable
            .to_str()
            .ok_or("the executable has a name that is not UTF-8")?;
        Ok(Self::parse(name, &String::from_utf8_lossy(&told.stdout)))
    }

    fn parse(executable: &str, table: &str) -> Self {
        let (mut units, mut unit) = (HashMap::new(), "");
        for line in table.lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            match fields.as_slice() {
                [_, _, _, "FILE", "LOCAL", _, _, name, ..] => unit = name,
                [_, _, _, "FUNC", "LOCAL", _, _, name, ..] => {
                    units.insert((*name).to_owned(), unit.to_owned());
                }
                _ => {}
            }
        }
        Self {
            executable: executable.to_owned(),
            units,
        }
    }

    /// The class of a sample, whose own function is the first frame.
    pub fn class(&self, frames: &[StackFrame]) -> Class {
        let Some(frame) = frames.first() else {
            return Class::Unknown;
        };
        if is_kernel(frame) {
            return kernel(frames);
        }
        if frame.object == self.executable {
            return self.ours(&frame.symbol);
        }
        if frame.object == "[vdso]" {
            return Class::Library;
        }
        if frame.object.contains("libc.so") || frame.object.contains("libc-") {
            return library(&frame.symbol);
        }
        Class::Unknown
    }

    fn ours(&self, symbol: &str) -> Class {
        let unit = self.units.get(symbol).map_or("", String::as_str);
        if unit == "sqlite3.c" || symbol.starts_with("sqlite3") {
            return Class::Sqlite;
        }
        let crate_name = crate_of(symbol).unwrap_or("");
        let unit_crate = unit.split('.').next().unwrap_or("");
        if CIPHER_CRATES.contains(&crate_name) || CIPHER_PREFIXES.iter().any(|prefix| symbol.starts_with(prefix)) {
            return Class::Cipher;
        }
        // All C code other than SQLite belongs to a cipher.
        if [".c", ".S", ".s"].iter().any(|ending| unit.ends_with(ending)) && !unit.starts_with("crt") {
            return Class::Cipher;
        }
        let name = if RUST_CRATES.contains(&crate_name) || crate_name.is_empty() {
            unit_crate
        } else {
            crate_name
        };
        match name {
            "std" | "core" | "alloc" | "compiler_builtins" | "libc" => Class::Library,
            name if OWN_CRATES.contains(&name) => Class::Own,
            name if CALLER_CRATES.contains(&name) => Class::Caller,
            name if CIPHER_CRATES.contains(&name) => Class::Cipher,
            _ if RUST_CRATES.contains(&crate_name) => Class::Library,
            _ => Class::Unknown,
        }
    }
}

fn is_kernel(frame: &StackFrame) -> bool {
    frame.address >> 63 == 1
}

fn kernel(frames: &[StackFrame]) -> Class {
    if KERNEL_COPIES.iter().any(|part| frames[0].symbol.contains(part)) {
        return Class::KernelCopy;
    }
    let (inside, outside) = frames.split_at(frames.iter().take_while(|frame| is_kernel(frame)).count());
    for frame in inside {
        if frame.symbol.starts_with("asm_exc_page_fault") {
            return Class::KernelMemory;
        }
        if frame.symbol.starts_with("asm_") {
            return Class::KernelOther;
        }
        if let Some((_, call)) = frame.symbol.split_once("sys_")
            && let Some(class) = call_class(call)
        {
            return class;
        }
    }
    // Before the kernel has determined the call, the caller in the C library decides.
    outside
        .first()
        .and_then(|frame| call_class(bare(&frame.symbol)))
        .unwrap_or(Class::KernelOther)
}

fn library(symbol: &str) -> Class {
    let name = bare(symbol);
    if ["mem", "bcmp", "bzero"].iter().any(|prefix| name.starts_with(prefix)) {
        return Class::Copy;
    }
    call_class(name).unwrap_or(Class::Library)
}

/// A function's name without the prefixes of the C library.
fn bare(symbol: &str) -> &str {
    let name = symbol.split('@').next().unwrap_or(symbol);
    let name = name.strip_prefix("__GI_").unwrap_or(name);
    let name = name.strip_prefix("__libc_").unwrap_or(name);
    name.trim_start_matches('_')
        .strip_prefix("libc_")
        .unwrap_or(name.trim_start_matches('_'))
}

/// The class of a system call, by its name in the kernel or the C library.
fn call_class(name: &str) -> Option<Class> {
    let found = CALLS.iter().find(|(_, calls)| calls.contains(&name));
    found.map(|(class, _)| *class)
}

/// The first crate in the name of a Rust function: `selenite_vfs` of
/// `_ZN80_$LT$selenite_vfs..main_file..MainFile$u20$as..`.
fn crate_of(symbol: &str) -> Option<&str> {
    if let Some(rest) = symbol.strip_prefix("_ZN") {
        let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let size: usize = symbol[3..symbol.len() - rest.len()].parse().ok()?;
        let path = rest.get(..size)?;
        let path = path
            .strip_prefix('_')
            .filter(|path| path.starts_with('$'))
            .unwrap_or(path);
        let mut path = path;
        while let Some(rest) = ["$LT$", "$RF$", "$BP$", "mut$u20$", "const$u20$", "dyn$u20$"]
            .iter()
            .find_map(|mark| path.strip_prefix(mark))
        {
            path = rest;
        }
        let end = path.find(['.', '$']).unwrap_or(path.len());
        return Some(&path[..end]);
    }
    // `_RNvNtCs1234_12selenite_vfs4pool4take`: a crate is `C`, a disambiguator, the length of the name, the name.
    let (_, rest) = symbol.strip_prefix("_R")?.split_once("Cs")?;
    let (_, rest) = rest.split_once('_')?;
    let name = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let size: usize = rest[..rest.len() - name.len()].parse().ok()?;
    name.get(..size)
}

/// A demangled name without its hash.
pub fn readable(symbol: &str) -> String {
    let Some(mut rest) = symbol.strip_prefix("_ZN") else {
        return symbol.to_owned();
    };
    let mut parts = Vec::new();
    loop {
        let name = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let size = rest[..rest.len() - name.len()].parse().unwrap_or(0);
        let (Some(part), Some(tail)) = (name.get(..size), name.get(size..)) else {
            break;
        };
        if size == 0 {
            break;
        }
        parts.push(
            part.strip_prefix('_')
                .filter(|part| part.starts_with('$'))
                .unwrap_or(part),
        );
        rest = tail;
    }
    parts.pop_if(|part| part.len() == 17 && part.starts_with('h'));
    let mut name = parts.join("::");
    for (mark, text) in [
        ("$LT$", "<"),
        ("$GT$", ">"),
        ("$RF$", "&"),
        ("$u20$", " "),
        ("$u7b$", "{"),
        ("$u7d$", "}"),
        ("$C$", ","),
        ("..", "::"),
    ] {
        name = name.replace(mark, text);
    }
    name
}

const KERNEL_COPIES: [&str; 9] = [
    "copy_to_iter",
    "copy_from_iter",
    "copy_page_to_iter",
    "copy_page_from_iter",
    "copy_folio",
    "rep_movs",
    "copy_user",
    "copy_to_user",
    "copy_from_user",
];

const CALLS: [(Class, &[&str]); 6] = [
    (Class::KernelRead, &["pread64", "pread", "read", "readv", "preadv"]),
    (
        Class::KernelWrite,
        &["pwrite64", "pwrite", "write", "writev", "pwritev"],
    ),
    (
        Class::KernelLock,
        &["fcntl", "fcntl64", "flock", "fcntl64_nocancel_adjusted"],
    ),
    (
        Class::KernelFile,
        &[
            "fsync",
            "fdatasync",
            "ftruncate",
            "ftruncate64",
            "fallocate",
            "newfstat",
            "newfstatat",
            "fstat",
            "fstat64",
            "stat",
            "stat64",
            "lstat",
            "statx",
            "openat",
            "open",
            "open64",
            "close",
            "unlink",
            "unlinkat",
            "lseek",
            "access",
            "readlink",
            "getcwd",
            "fchmod",
            "fchown",
            "geteuid",
        ],
    ),
    (Class::KernelRandom, &["getrandom"]),
    (
        Class::KernelMemory,
        &[
            "mmap", "mmap64", "munmap", "mremap", "madvise", "mprotect", "brk", "sbrk",
        ],
    ),
];

const RUST_CRATES: [&str; 4] = ["core", "alloc", "std", "compiler_builtins"];

const OWN_CRATES: [&str; 6] = [
    "selenite",
    "selenite_cipher",
    "selenite_format",
    "selenite_keyring",
    "selenite_vfs",
    "zeroize",
];

const CALLER_CRATES: [&str; 8] = [
    "budget",
    "rusqlite",
    "selenite_worker",
    "selenite_lab",
    "rand",
    "rand_core",
    "rand_chacha",
    "ppv_lite86",
];

const CIPHER_CRATES: [&str; 22] = [
    "aegis",
    "aes",
    "aes_gcm",
    "aws_lc_rs",
    "aws_lc_sys",
    "block_buffer",
    "cbc",
    "chacha20",
    "chacha20poly1305",
    "cipher",
    "cpufeatures",
    "crypto_common",
    "ctr",
    "des",
    "digest",
    "ghash",
    "hkdf",
    "hmac",
    "poly1305",
    "polyval",
    "ring",
    "sha2",
];

const CIPHER_PREFIXES: [&str; 5] = ["aws_lc_", "ring_core_", "aegis", "libaegis", "sha256_block"];

#[cfg(test)]
mod tests;
