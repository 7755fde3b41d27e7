//! The header of a shared library (ELF): for which processor and C library it was made.

use std::fmt;

use object::LittleEndian;
use object::elf::{self, DynamicTag, FileHeader64, Machine};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

/// What a shared library was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLibrary {
    /// The processor, in the kernel's words: `x86_64`.
    pub architecture: String,
    /// The C library that it needs, if that is known.
    pub libc: Option<Libc>,
}

/// A C library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Libc {
    /// GNU's, with the lowest version that has every needed symbol.
    Glibc(u32, u32),
    /// musl.
    Musl,
}

impl SharedLibrary {
    /// Parses a file; none if it is no ELF file of 64 bits with the little end first.
    #[must_use]
    pub fn parse(file: &[u8]) -> Option<Self> {
        let header = FileHeader64::<LittleEndian>::parse(file).ok()?;
        // It refuses the big end.
        header.endian().ok()?;
        let architecture = match header.e_machine(LittleEndian) {
            elf::EM_X86_64 => "x86_64".to_owned(),
            elf::EM_AARCH64 => "aarch64".to_owned(),
            elf::EM_RISCV => "riscv64".to_owned(),
            Machine(other) => format!("machine {other}"),
        };
        let libc = libc(header, file);
        Some(Self { architecture, libc })
    }

    /// Why a process of that architecture and C library cannot load it; none if nothing is seen.
    #[must_use]
    pub fn misfit(&self, architecture: &str, libc: Option<&Libc>) -> Option<String> {
        if self.architecture != architecture {
            return Some(format!(
                "it was made for {}, and this machine is {architecture}",
                self.architecture
            ));
        }
        match (self.libc.as_ref()?, libc?) {
            (Libc::Glibc(major, minor), Libc::Glibc(..)) if libc < self.libc.as_ref() => Some(format!(
                "it needs glibc {major}.{minor}, and this machine has {}",
                libc?
            )),
            (Libc::Glibc(..), Libc::Glibc(..)) | (Libc::Musl, Libc::Musl) => None,
            (own @ (Libc::Glibc(..) | Libc::Musl), there) => {
                Some(format!("it was made for {}, and this machine has {there}", own.name()))
            }
        }
    }
}

impl Libc {
    fn name(&self) -> &'static str {
        match self {
            Self::Glibc(..) => "glibc",
            Self::Musl => "musl",
        }
    }
}

impl PartialOrd for Libc {
    /// Versions of glibc have an order.
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Self::Glibc(major, minor), Self::Glibc(other_major, other_minor)) => {
                (major, minor).partial_cmp(&(other_major, other_minor))
            }
            (Self::Musl, Self::Musl) => Some(std::cmp::Ordering::Equal),
            (Self::Glibc(..), Self::Musl) | (Self::Musl, Self::Glibc(..)) => None,
        }
    }
}

impl fmt::Display for Libc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glibc(major, minor) => write!(f, "glibc {major}.{minor}"),
            Self::Musl => f.write_str("musl"),
        }
    }
}

/// The C library that the dynamic linker will look for, from the strings that it reads: names of
/// libraries and of versions of their symbols.
fn libc(header: &FileHeader64<LittleEndian>, file: &[u8]) -> Option<Libc> {
    let segments = header.program_headers(LittleEndian, file).ok()?;
    let entries = segments
        .iter()
        .find_map(|segment| segment.dynamic(LittleEndian, file).ok()?)?;
    let values = |tag: DynamicTag| {
        let found = entries.iter().filter(move |entry| entry.d_tag(LittleEndian) == tag);
        found.map(|entry| entry.d_val(LittleEndian))
    };
    let (address, size) = (values(elf::DT_STRTAB).next()?, values(elf::DT_STRSZ).next()?);
    let strings = segments
        .iter()
        .find_map(|segment| segment.data_range(LittleEndian, file, address, size).ok()?)?;
    let mut needed = values(elf::DT_NEEDED).filter_map(|start| {
        let name = strings.get(usize::try_from(start).ok()?..)?;
        name.split(|&byte| byte == 0).next()
    });
    if needed.any(|name| name.starts_with(b"libc.musl-") || name == b"libc.so") {
        return Some(Libc::Musl);
    }
    let versions = strings.split(|&byte| byte == 0).filter_map(glibc_version);
    versions.max().map(|(major, minor)| Libc::Glibc(major, minor))
}

/// The version in a name such as `GLIBC_2.28`.
fn glibc_version(name: &[u8]) -> Option<(u32, u32)> {
    let mut parts = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library of a process: this test's own program, which is linked to the C library.
    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    /// A file with two segments: everything is loaded at 0x1000, and the dynamic section is at 0xb0.
    fn hand_made(machine: u8, strings: &[u8]) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(64, 0);
        file[18] = machine;
        (file[32], file[54], file[56]) = (64, 56, 2);
        for (kind, offset, address, size) in [(1_u64, 0_u64, 0x1000_u64, 0x400_u64), (2, 0xb0, 0x10b0, 64)] {
            for value in [kind, offset, address, 0, size, size, 0] {
                file.extend(value.to_le_bytes());
            }
        }
        let length = u64::try_from(strings.len()).unwrap();
        for (tag, value) in [(1_u64, 1_u64), (5, 0x10f0), (10, length), (0, 0)] {
            file.extend(tag.to_le_bytes());
            file.extend(value.to_le_bytes());
        }
        file.extend(strings);
        file.resize(0x400, 0);
        file
    }

    #[test]
    fn a_library_tells_its_processor_and_its_c_library() {
        let of = |machine, strings: &[u8]| SharedLibrary::parse(&hand_made(machine, strings)).unwrap();
        let arm = of(183, b"\0libc.so.6\0GLIBC_2.17\0GLIBC_2.34\0GLIBC_PRIVATE\0");
        assert_eq!(
            (arm.architecture.as_str(), &arm.libc),
            ("aarch64", &Some(Libc::Glibc(2, 34)))
        );
        assert_eq!(of(62, b"\0libc.musl-x86_64.so.1\0").libc, Some(Libc::Musl));
        assert_eq!(of(62, b"\0libm.so.6\0").libc, None);
        assert_eq!(of(40, b"\0x\0").architecture, "machine 40");
    }

    #[test]
    fn a_misfit_is_explained() {
        let of = |architecture: &str, libc| SharedLibrary {
            architecture: architecture.to_owned(),
            libc,
        };
        let here = Some(Libc::Glibc(2, 36));
        let misfit = |library: SharedLibrary| library.misfit("x86_64", here.as_ref());
        assert_eq!(misfit(of("x86_64", Some(Libc::Glibc(2, 28)))), None);
        assert_eq!(misfit(of("x86_64", None)), None);
        let told = misfit(of("aarch64", None)).unwrap();
        assert_eq!(told, "it was made for aarch64, and this machine is x86_64");
        let told = misfit(of("x86_64", Some(Libc::Musl))).unwrap();
        assert_eq!(told, "it was made for musl, and this machine has glibc 2.36");
        let told = misfit(of("x86_64", Some(Libc::Glibc(2, 39)))).unwrap();
        assert_eq!(told, "it needs glibc 2.39, and this machine has glibc 2.36");
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_program_of_this_machine_fits() {
        let library = SharedLibrary::parse(&own()).unwrap();
        assert_eq!(library.architecture, std::env::consts::ARCH);
        assert!(matches!(library.libc, Some(Libc::Glibc(2, _))), "{library:?}");
    }

    #[test]
    fn no_file_makes_it_fail() {
        let file = hand_made(62, b"\0libc.so.6\0GLIBC_2.17\0");
        for end in 0..file.len() {
            let _ = SharedLibrary::parse(&file[..end]);
        }
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0xff;
            let _ = SharedLibrary::parse(&changed);
        }
        assert_eq!(SharedLibrary::parse(b"#!/bin/sh\n"), None);
    }
}
