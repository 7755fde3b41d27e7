//! The file of the extension: where it is, and whether it fits this machine.

use std::path::{Path, PathBuf};

use crate::Check;
use crate::elf::{Libc, SharedLibrary};

/// The extension that belongs to a program: beside it, or where packages put it.
#[must_use]
pub fn find(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?;
    let above = folder.parent().unwrap_or(folder);
    let places = [
        folder.to_owned(),
        above.join("lib"),
        above.join("lib/selenite"),
        above.join(format!("lib/{}-linux-gnu/selenite", std::env::consts::ARCH)),
        above.join(format!("lib/{}-linux-gnu", std::env::consts::ARCH)),
    ];
    places
        .into_iter()
        .map(|place| place.join(FILE_NAME))
        .find(|file| file.is_file())
}

/// Why a process of this program's kind cannot load an extension; none if nothing is seen.
///
/// # Errors
/// The file cannot be read, or is no shared library for Linux of 64 bits.
pub fn misfit(file: &Path) -> Result<Option<String>, String> {
    // Neither a pipe nor a device, which may never end.
    let facts = std::fs::metadata(file).map_err(|error| error.to_string())?;
    if !facts.is_file() {
        return Err("not a file".to_owned());
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let library = SharedLibrary::parse(&bytes).ok_or("no shared library of 64 bits (ELF)")?;
    Ok(library.misfit(std::env::consts::ARCH, libc().as_ref()))
}

/// Checks the extension of this program; `file` is none if it was not found.
#[must_use]
pub fn extension(file: Option<&Path>) -> Check {
    let name = "extension";
    let Some(file) = file else {
        return Check::advice(
            name,
            format!("no {FILE_NAME} beside the command"),
            "name it with --extension FILE; the Python package and others bring their own",
        );
    };
    let shown = file.display();
    let advice = "install the package for this platform";
    match misfit(file) {
        Ok(None) => Check::ok(name, shown.to_string()),
        Ok(Some(why)) => Check::problem(name, format!("{shown}: {why}"), advice),
        Err(why) => Check::problem(name, format!("{shown}: {why}"), advice),
    }
}

/// The C library of this machine's programs: GNU's if it is there, whose file names its version, else musl. This
/// program's own says nothing: it may be static.
fn libc() -> Option<Libc> {
    let architecture = std::env::consts::ARCH;
    let places = [
        format!("/lib/{architecture}-linux-gnu/libc.so.6"),
        "/lib64/libc.so.6".to_owned(),
        "/lib/libc.so.6".to_owned(),
    ];
    match places.iter().find_map(|place| std::fs::read(place).ok()) {
        Some(bytes) => defined_glibc(&bytes),
        None => Path::new(&format!("/lib/ld-musl-{architecture}.so.1"))
            .exists()
            .then_some(Libc::Musl),
    }
}

/// The newest version of symbols that a glibc has: the version of that glibc.
fn defined_glibc(libc: &[u8]) -> Option<Libc> {
    SharedLibrary::parse(libc)?.libc
}

const FILE_NAME: &str = "libselenite.so";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Verdict;

    #[test]
    fn the_extension_is_found_beside_the_command_and_where_packages_put_it() {
        let folder = tempfile::tempdir().unwrap();
        let command = folder.path().join("bin/selenite");
        assert_eq!(find(&command), None);
        let places = ["lib/selenite", "lib", "bin"];
        for place in places {
            fs::create_dir_all(folder.path().join(place)).unwrap();
            let file = folder.path().join(place).join(FILE_NAME);
            fs::write(&file, "x").unwrap();
            assert_eq!(find(&command), Some(file));
        }
    }

    #[test]
    fn a_file_of_another_machine_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        fs::write(&file, &own).unwrap();
        assert_eq!(
            extension(Some(&file)).verdict,
            Verdict::Ok,
            "{}",
            extension(Some(&file))
        );
        let mut foreign = own;
        foreign[18] = 21;
        fs::write(&file, &foreign).unwrap();
        let check = extension(Some(&file));
        assert_eq!(check.verdict, Verdict::Problem);
        assert!(
            check
                .finding
                .contains("it was made for machine 21, and this machine is"),
            "{check}"
        );
        fs::write(&file, "<html>").unwrap();
        assert!(extension(Some(&file)).finding.contains("no shared library"));
        assert!(extension(Some(Path::new("/dev/zero"))).finding.ends_with("not a file"));
        assert_eq!(extension(None).verdict, Verdict::Advice);
    }
}
