//! The header of a shared library (ELF): for which processor and C library it was made
//! (refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html).

use std::fmt;

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
        const LITTLE_64: &[u8] = b"\x7fELF\x02\x01";
        if !file.starts_with(LITTLE_64) {
            return None;
        }
        let machine = number(file, 18, 2)?;
        let architecture = match machine {
            62 => "x86_64".to_owned(),
            183 => "aarch64".to_owned(),
            243 => "riscv64".to_owned(),
            other => format!("machine {other}"),
        };
        let libc = Dynamic::of(file).and_then(|dynamic| dynamic.libc(file));
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

/// The strings that the dynamic linker reads.
struct Dynamic {
    /// Their place in the file.
    strings: std::ops::Range<usize>,
    /// Where in them the names of needed libraries begin.
    needed: Vec<usize>,
}

impl Dynamic {
    fn of(file: &[u8]) -> Option<Self> {
        const LOAD: usize = 1;
        const DYNAMIC: usize = 2;
        const HEADER_COUNT_MAX: usize = 64;
        const ENTRY_COUNT_MAX: usize = 256;
        let (table, size, count) = (number(file, 32, 8)?, number(file, 54, 2)?, number(file, 56, 2)?);
        let mut segments = Vec::new();
        for index in 0..count.min(HEADER_COUNT_MAX) {
            let header = table.checked_add(index.checked_mul(size)?)?;
            let field = |offset| number(file, header.checked_add(offset)?, 8);
            segments.push((number(file, header, 4)?, field(8)?, field(16)?, field(32)?));
        }
        let (_, start, _, _) = *segments.iter().find(|(kind, ..)| *kind == DYNAMIC)?;
        let (mut needed, mut address, mut length) = (Vec::new(), None, None);
        for index in 0..ENTRY_COUNT_MAX {
            let entry = start.checked_add(index * 16)?;
            let value = number(file, entry.checked_add(8)?, 8)?;
            match number(file, entry, 8)? {
                0 => break,
                1 => needed.push(value),
                5 => address = Some(value),
                10 => length = Some(value),
                _ => {}
            }
        }
        let (address, length) = (address?, length?);
        let strings = segments.iter().find_map(|&(kind, offset, at, size)| {
            let inside = address
                .checked_sub(at)
                .filter(|inside| kind == LOAD && *inside < size)?;
            offset.checked_add(inside)
        })?;
        Some(Self {
            strings: strings..strings.checked_add(length)?,
            needed,
        })
    }

    fn libc(&self, file: &[u8]) -> Option<Libc> {
        let strings = file.get(self.strings.clone())?;
        let name = |start: &usize| strings.get(*start..)?.split(|&byte| byte == 0).next();
        let mut names = self.needed.iter().filter_map(name);
        if names.any(|name| name.starts_with(b"libc.musl-") || name == b"libc.so") {
            return Some(Libc::Musl);
        }
        let versions = strings.split(|&byte| byte == 0).filter_map(glibc_version);
        versions.max().map(|(major, minor)| Libc::Glibc(major, minor))
    }
}

/// The version in a name such as `GLIBC_2.28`.
fn glibc_version(name: &[u8]) -> Option<(u32, u32)> {
    let mut parts = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// A number of `size` bytes, the little end first.
fn number(file: &[u8], offset: usize, size: usize) -> Option<usize> {
    let bytes = file.get(offset..offset.checked_add(size)?)?;
    let mut wide = [0; 8];
    wide[..size].copy_from_slice(bytes);
    usize::try_from(u64::from_le_bytes(wide)).ok()
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
