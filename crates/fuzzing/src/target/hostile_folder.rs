//! A data folder that someone else could write to, and rows of its master.db: the server starts on it or says why not.
//!
//! outside-is-kept: nothing outside of the folder is changed or removed, also where names and links lead there.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, OpenFlags, params};
use selenite::Access;
use selenite_server::DatabaseRegistry;
use selenite_server::password::PasswordCost;
use selenite_server::{Announcement, Config, Log, Running, Server, ServerError, SqlFront, TlsFiles};
use tempfile::TempDir;

use crate::altered;

/// Does to a good folder what the bytes say, and starts a server on it twice.
pub fn fuzz(data: &[u8]) {
    let world = world();
    let place = tempfile::tempdir().expect("there is a place for temporary files");
    let (data_folder, outside) = (place.path().join("data"), place.path().join("outside"));
    for folder in [&data_folder, &outside] {
        std::fs::create_dir(folder).expect("a folder of our own");
    }
    for (name, bytes) in &world.files {
        std::fs::write(data_folder.join(name), bytes).expect("a file of our own");
    }
    std::fs::write(outside.join("kept.db"), &world.files["app.db"]).expect("a file of our own");
    std::fs::write(outside.join("text"), "kept").expect("a file of our own");
    let mut steps = Steps(data);
    for _ in 0..STEPS_MAX {
        if steps.take(world, &data_folder, &outside).is_none() {
            break;
        }
    }
    let before = contents(&outside);
    for _ in 0..2 {
        if let Ok(running) = start(world.key.path(), &data_folder) {
            running.stop();
        }
        assert_eq!(
            contents(&outside),
            before,
            "something outside of the data folder was changed"
        );
    }
}

/// The files of a folder in which a server has made two databases.
struct World {
    key: TempDir,
    files: BTreeMap<String, Vec<u8>>,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let key = tempfile::tempdir().expect("there is a place for temporary files");
        std::fs::write(key.path().join("key"), [7; 32]).expect("a file of our own");
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        std::fs::write(key.path().join("certificate.pem"), made.cert.pem()).expect("a file of our own");
        std::fs::write(key.path().join("key.pem"), made.signing_key.serialize_pem()).expect("a file of our own");
        let place = tempfile::tempdir().expect("there is a place for temporary files");
        let folder = place.path().join("data");
        start(key.path(), &folder).expect("a new folder").stop();
        let app = connect(key.path(), &folder.join("app.db"), true);
        app.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
            .expect("a new database");
        drop(app);
        insert(
            &connect(key.path(), &folder.join("master.db"), false),
            5,
            "app",
            "",
            None,
        )
        .expect("a row");
        let files = contents(&folder);
        World { key, files }
    })
}

/// What is left to be done, as bytes.
struct Steps<'a>(&'a [u8]);

impl Steps<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let size = usize::from(self.byte()?).min(self.0.len());
        let (taken, rest) = self.0.split_at(size);
        self.0 = rest;
        Some(taken.to_vec())
    }

    /// A name that the server itself could have given, or any other.
    fn name(&mut self) -> Option<String> {
        let number = usize::from(self.byte()?);
        match NAMES.get(number % (NAMES.len() + 1)) {
            Some(name) => Some((*name).to_owned()),
            None => Some(String::from_utf8_lossy(&self.bytes()?).into_owned()),
        }
    }

    /// Does the next step; none when there is none. What the system refuses is left.
    fn take(&mut self, world: &World, folder: &Path, outside: &Path) -> Option<()> {
        let kind = self.byte()?;
        let name = self.name()?;
        // One who may write to this folder may write to no other.
        let path = folder.join(name.replace(['/', '\0'], "_"));
        // What is there makes room, and is not written through.
        if kind % 8 != 7 {
            let _ = std::fs::remove_file(&path);
        }
        match kind % 8 {
            0 => drop(std::fs::write(path, self.bytes()?)),
            1 => drop(symlink(outside.join("kept.db"), path)),
            2 => drop(symlink(outside, path)),
            3 => drop(std::fs::create_dir(path)),
            4 => {
                let file = altered(&world.files["master.db"], &self.bytes()?);
                let bytes = file.extents.into_iter().next().map(|(_, bytes)| bytes);
                let _ = std::fs::remove_file(folder.join("master.db"));
                let _ = std::fs::write(folder.join("master.db"), bytes.unwrap_or_default());
            }
            5 => drop(std::fs::write(path, &world.files["app.db"])),
            6 => drop(symlink(outside.join("text"), path)),
            _ => {
                let (id, word, known) = (self.byte()?, self.byte()?, self.byte()?);
                let word = ["", "create", "drop", "restore", "else"][usize::from(word) % 5];
                let file_id = (known & 1 == 1).then(|| &world.files["app.db"][40..56]);
                if let Ok(master) = try_connect(world.key.path(), &folder.join("master.db"), false) {
                    let _ = insert(&master, id.into(), &name, word, file_id);
                }
            }
        }
        Some(())
    }
}

fn insert(
    master: &Connection,
    id: i64,
    name: &str,
    unfinished: &str,
    file_id: Option<&[u8]>,
) -> rusqlite::Result<usize> {
    let sql = "INSERT OR REPLACE INTO selenite_database (id, name, folded, created, unfinished, file_id, next_file_id)
               VALUES (?1, ?2, lower(?2), 0, ?3, ?4, ?4)";
    master.execute(sql, params![id, name, unfinished, file_id])
}

fn access(key: &Path) -> Access {
    Access {
        identity: Some(format!("raw:{}", key.join("key").display()).parse().expect("a raw key")),
        ..Access::default()
    }
}

fn try_connect(key: &Path, path: &Path, may_make: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI;
    let flags = match may_make {
        true => flags,
        false => flags - OpenFlags::SQLITE_OPEN_CREATE,
    };
    Connection::open_with_flags(access(key).uri(path).as_str(), flags)
}

fn connect(key: &Path, path: &Path, may_make: bool) -> Connection {
    try_connect(key, path, may_make).expect("a good database")
}

fn start(key: &Path, folder: &Path) -> Result<Running, ServerError> {
    let mut config = Config::new(folder.to_path_buf());
    config.access = access(key);
    config.listen = ([127, 0, 0, 1], 0).into();
    config.tls_files = Some(TlsFiles {
        certificate: key.join("certificate.pem"),
        key: key.join("key.pem"),
    });
    config.password_cost = PasswordCost::LEAST;
    config.log = Log::silent();
    let open = |_: &Arc<_>| {
        Ok(Arc::new(SqlFront::new(Arc::new(DatabaseRegistry::default()))) as Arc<dyn selenite_server::Front>)
    };
    Server::start(config, &mut |_: Announcement<'_>| Ok(()), open)
}

/// Of every file its bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some((name, std::fs::read(&path).ok()?))
        })
        .collect()
}

const STEPS_MAX: usize = 24;
const NAMES: [&str; 20] = [
    "master.db",
    "master.db-wal",
    "master.db-journal",
    "master.db-selenite",
    "app.db",
    "app.db-wal",
    "app.db-journal",
    "app.db-selenite",
    ".app.db.selenite-tmp-0123abcd-claim",
    ".app.db.selenite-tmp-0123abcd",
    "app.db.selenite-tmp-0123abcd",
    "made.db",
    "made",
    "app",
    "../outside/kept",
    "../outside/kept.db",
    "..",
    "tempdb",
    "server-key.txt",
    "server-certificate.pem",
];
