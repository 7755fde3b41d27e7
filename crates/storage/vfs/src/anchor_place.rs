//! Where the newest short anchor of a database is: in a file, or with a command of the configuration.
//!
//! - place-is-trusted: the MAC says that a holder of the database's key wrote an anchor, not that it
//!   is the newest: that is up to the place, which a user who can write to the database must not be
//!   able to rewrite.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::iter::{once, repeat};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use selenite_cipher::{AnchorKey, DatabaseId};
use selenite_format::anchor::ShortAnchor;
use selenite_keyring::child::{self, Stderr};
use selenite_keyring::{Config, Unlocked};

use crate::error::VfsError;
use crate::own_descriptors;

/// Where short anchors are written and read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnchorPlace {
    /// A file to which they are appended.
    File(PathBuf),
    /// A command of the configuration, by its name.
    Command(String),
}

impl AnchorPlace {
    /// Parses `PATH` or `command:NAME`.
    ///
    /// # Errors
    /// `Setting` if it is empty.
    pub fn parse(text: OsString) -> Result<Self, VfsError> {
        match text.to_str().map(|text| text.strip_prefix("command:").ok_or(text)) {
            Some(Ok("") | Err("")) => Err(VfsError::Setting(
                "the place of anchors is empty: it is a path, or command:NAME".to_owned(),
            )),
            Some(Ok(name)) => Ok(Self::Command(name.to_owned())),
            Some(Err(_)) | None => Ok(Self::File(text.into())),
        }
    }

    /// Reads the newest anchor of a database: of the complete ones at the end of the file, or in the command's answer, that
    /// with the highest number.
    ///
    /// # Errors
    /// `NoAnchor`: it can't be read, or is not of this database.
    pub fn newest(&self, config: &Config, unlocked: &Unlocked) -> Result<Newest, VfsError> {
        let bytes = match self {
            Self::File(path) => match read_end(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                read => read.map_err(|error| self.missing(&error.to_string()))?,
            },
            Self::Command(name) => self.run(config, name, "anchor", &database_line(unlocked.superblock.database_id))?,
        };
        let present = unlocked.superblock.generation;
        let mut own: Option<ShortAnchor> = None;
        // The highest number and generation under other keys, and the highest number with a generation above the present.
        let (mut others, mut above) = (None, 0);
        for (text, is_last) in ShortAnchor::last_of(&bytes).zip(once(true).chain(repeat(false))) {
            match self.check(text, unlocked) {
                Ok(Checked::Own(found)) if own.as_ref().is_none_or(|own| own.number < found.number) => {
                    own = Some(found)
                }
                Ok(Checked::OtherMaster(number, generation)) => {
                    let (number_max, generation_max) = others.unwrap_or_default();
                    others = Some((number.max(number_max), generation.max(generation_max)));
                    if generation > present {
                        above = number.max(above);
                    }
                }
                Err(error) if is_last => return Err(error),
                Ok(Checked::Own(_)) | Err(_) => {}
            }
        }
        match (own, others) {
            // Anyone can write one under another key: it is no reason not to compare with one whose MAC is right, unless it
            // is the newer one, as after a renewal of the master key, or when an older state was accepted.
            (Some(own), Some((number, generation))) if above > own.number => Ok(Newest::OtherMaster {
                generation,
                number,
                own: Some(Box::new(own)),
            }),
            (Some(anchor), others) => Ok(Newest::Anchor {
                number_max: anchor.number.max(others.map_or(0, |(number, _)| number)),
                anchor,
            }),
            (None, Some((number, generation))) => Ok(Newest::OtherMaster {
                generation,
                number,
                own: None,
            }),
            (None, None) if bytes.is_empty() => Ok(Newest::None),
            (None, None) => Err(self.missing("what is there is no complete anchor: move it away")),
        }
    }

    /// As [`AnchorPlace::newest`], where one has to be that the database is not older than.
    ///
    /// # Errors
    /// The same; `NoAnchor` if there is none, or if the master key is another one; those of
    /// [`Newest::check_generation`].
    pub fn expect(&self, config: &Config, unlocked: &Unlocked) -> Result<ShortAnchor, VfsError> {
        let newest = self.newest(config, unlocked)?;
        newest.check_generation(unlocked)?;
        match newest {
            Newest::Anchor { anchor, .. } => Ok(anchor),
            Newest::None => Err(self.missing("there is none")),
            Newest::OtherMaster { generation, .. } => Err(self.missing(&format!(
                "the newest was written under another master key, at generation {generation}, and this database is at {}: \
                    after keys renew, selenite follow writes one",
                unlocked.superblock.generation
            ))),
        }
    }

    /// Appends an anchor with this number, which is one more than that of the last one under its key: what has no MAC of
    /// this key can be of anyone.
    ///
    /// # Errors
    /// `NoAnchor`, also if another process has appended one.
    pub fn append(&self, config: &Config, number: u64, text: &str, key: &AnchorKey) -> Result<(), VfsError> {
        match self {
            Self::File(path) => append(path, number, text, key).map_err(|error| self.missing(&error.to_string())),
            Self::Command(name) => self.run(config, name, "append-anchor", text.as_bytes()).map(drop),
        }
    }

    fn check(&self, text: &[u8], unlocked: &Unlocked) -> Result<Checked, VfsError> {
        let refused = |why: &str| self.missing(why);
        let superblock = &unlocked.superblock;
        let seal = ShortAnchor::seal(text).map_err(|error| refused(&error.to_string()))?;
        if seal.database_id != superblock.database_id {
            return Err(refused("it is of another database"));
        }
        let key = unlocked.master.anchor_key();
        let anchor = ShortAnchor::parse(text).map_err(|error| refused(&error.to_string()))?;
        if seal.key_id != key.id() {
            // Anyone can have written it: after a higher one no more could be counted.
            let number = anchor.number.min(OTHER_NUMBER_MAX);
            return Ok(Checked::OtherMaster(number, anchor.generation));
        }
        if !key.mac_is_valid(seal.maced, &seal.mac) {
            return Err(refused(
                "it was altered: its MAC is wrong; find out by whom, move it away, and write the first one",
            ));
        }
        if anchor.page_size != superblock.page_size {
            return Err(refused("it is of another page size"));
        }
        Ok(Checked::Own(anchor))
    }

    fn missing(&self, why: &str) -> VfsError {
        VfsError::NoAnchor(format!("{self}: {why}"))
    }

    /// Runs a command as `argv... verb`.
    fn run(&self, config: &Config, name: &str, verb: &str, input: &[u8]) -> Result<Vec<u8>, VfsError> {
        let words = config.command(name)?.split_first();
        let (program, words) = words.ok_or_else(|| self.missing("the command has no words"))?;
        let mut command = Command::new(program);
        command.args(words).arg(verb);
        let answer = child::run(command, Stderr::LastLine, input, TIME_LIMIT);
        let answer = answer.map_err(|failure| self.missing(&failure.to_string()))?;
        let status = answer.status.ok_or_else(|| {
            self.missing(
                "its exit status is not known: this process ignores SIGCHLD, and a failure would look like success",
            )
        })?;
        match (status.success(), answer.last_line.as_str()) {
            (true, _) => Ok(answer.output.to_vec()),
            (false, "") => Err(self.missing(&status.to_string())),
            (false, said) => Err(self.missing(&format!("{status}: {said}"))),
        }
    }
}

/// An anchor of this database.
enum Checked {
    /// Its MAC is right.
    Own(ShortAnchor),
    /// Number and generation of one under another master key, whose MAC can't be checked.
    OtherMaster(u64, u64),
}

/// The newest anchor at a place.
#[derive(Debug)]
pub enum Newest {
    /// None was written yet.
    None,
    /// One under another master key, whose MAC can't be checked.
    OtherMaster {
        /// The highest generation of a superblock under such keys.
        generation: u64,
        /// The highest number under such keys.
        number: u64,
        /// The newest one under the present master key.
        own: Option<Box<ShortAnchor>>,
    },
    /// One under the present master key.
    Anchor {
        /// The anchor.
        anchor: ShortAnchor,
        /// The highest number at the place, of any master key.
        number_max: u64,
    },
}

impl Newest {
    /// The number of the anchor; 0 without one.
    #[must_use]
    pub fn number(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::OtherMaster { number, .. } => *number,
            Self::Anchor { anchor, .. } => anchor.number,
        }
    }

    /// The highest number of the anchors there, of any master key; 0 without one.
    #[must_use]
    pub fn number_max(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::OtherMaster { number, .. } => *number,
            Self::Anchor { number_max, .. } => *number_max,
        }
    }

    /// As [`check_generation`].
    ///
    /// # Errors
    /// `Older`.
    pub fn check_generation(&self, unlocked: &Unlocked) -> Result<(), VfsError> {
        check_generation(self.generation(), unlocked)
    }

    /// The generation of the anchor; 0 without one.
    #[must_use]
    pub fn generation(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::OtherMaster { generation, .. } => *generation,
            Self::Anchor { anchor, .. } => anchor.generation,
        }
    }
}

/// Compares the generation of the superblock with an anchor's. It rises when the master key is replaced: an anchor under
/// another key, whose MAC can't be checked, is of an earlier generation, or the database is an old one.
///
/// # Errors
/// `Older`.
pub fn check_generation(generation: u64, unlocked: &Unlocked) -> Result<(), VfsError> {
    let present = unlocked.superblock.generation;
    match generation <= present {
        true => Ok(()),
        false => Err(VfsError::Older(format!(
            "generation {present} instead of {generation} at least (or its newest superblock is damaged, which selenite \
                keys repair mends)"
        ))),
    }
}

impl std::fmt::Display for AnchorPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Command(name) => write!(f, "command:{name}"),
        }
    }
}

fn database_line(database_id: DatabaseId) -> Vec<u8> {
    format!("database {database_id}\n").into_bytes()
}

/// Reads the end of a file, in which the last anchor is whole.
fn read_end(path: &Path) -> io::Result<Vec<u8>> {
    // Another thread must not take the file for one that this process has open otherwise.
    let _gate = own_descriptors::gate();
    let mut file = open(path, File::options().read(true))?;
    end_of(&mut file)
}

fn end_of(file: &mut File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(END_SIZE)))?;
    let mut bytes = Vec::new();
    file.take(END_SIZE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Appends in one write, and syncs.
fn append(path: &Path, number: u64, text: &str, key: &AnchorKey) -> io::Result<()> {
    let _gate = own_descriptors::gate();
    let mut options = File::options();
    // Applications of other users may read it, and none but the writer's write, whatever its umask.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    let mut file = open(path, options.append(true).read(true).create(true))?;
    // Of two writers the later one would append the older state.
    file.lock()?;
    let end = end_of(&mut file)?;
    let (mut last_own, mut is_next) = (None, false);
    for text in ShortAnchor::last_of(&end) {
        let (Ok(seal), Ok(anchor)) = (ShortAnchor::seal(text), ShortAnchor::parse(text)) else {
            continue;
        };
        let is_own = seal.key_id == key.id() && key.mac_is_valid(seal.maced, &seal.mac);
        last_own = last_own.max(is_own.then_some(anchor.number));
        // Under another master key, too: a database from before a renewal was accepted.
        is_next |= anchor.number.checked_add(1) == Some(number);
    }
    if let Some(last) = last_own
        && (last >= number || !is_next)
    {
        let what =
            format!("its newest anchor is number {last}, not the one before {number}: another process writes there");
        return Err(io::Error::other(what));
    }
    // One that was cut keeps the next from being found, unless that begins a line.
    let begin = if end.last().is_none_or(|&last| last == b'\n') {
        ""
    } else {
        "\n"
    };
    io::Write::write_all(&mut file, format!("{begin}{text}").as_bytes())?;
    file.sync_all()
}

/// Opens a regular file that this process does not have open: closing it would release the locks of a database. The
/// caller holds the gate until it is closed.
fn open(path: &Path, options: &std::fs::OpenOptions) -> io::Result<File> {
    if own_descriptors::has_open(path) {
        return Err(io::Error::other("this process has it open"));
    }
    // Opening a pipe would wait.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("not a regular file"));
    }
    options.open(path)
}

/// More than the longest anchor, of 63 KiB, and one that was cut.
const END_SIZE: u64 = 262_144;
/// More than are ever written: one in each nanosecond takes 292 years.
const OTHER_NUMBER_MAX: u64 = u64::MAX / 2;
/// As that of key commands.
const TIME_LIMIT: Duration = Duration::from_secs(10);
