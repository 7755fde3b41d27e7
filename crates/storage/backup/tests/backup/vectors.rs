//! Opens every vector of archives and of their logs below `testdata/vectors/`: the failure's
//! class and every released page must be those that the vector states (`testdata/README.md`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use selenite_backup::{
    ArchiveFault, ArchiveName, BackupError, Catalog, Chain, Destination, KeySource, LogPlan, Object, StoreError,
    StoreErrorKind, Traffic, fault_of, is_for, parse_database_id,
};
use selenite_cipher::{DatabaseId, Secret, sha256};
use selenite_keyring::{Cache, Config, Identity, KeyError, OriginPolicy, RawIdentity, Trust, load_identity};

/// The input of a reader and the expected result.
struct Vector {
    lines: Vec<(String, String)>,
    place: MemoryDestination,
}

/// A read-only destination in memory.
#[derive(Default)]
struct MemoryDestination(BTreeMap<String, Vec<u8>>);

#[test]
fn vectors_have_the_expected_results() {
    let mut count = 0;
    let mut differences = Vec::new();
    for area in ["archive", "log"] {
        for path in paths(area) {
            count += 1;
            let vector = Vector::load(&path);
            differences.extend(compare(&vector).map(|what| format!("{}: {what}", path.display())));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(count > 150, "only {count} vectors were found");
}

fn compare(vector: &Vector) -> Option<String> {
    let mut pages = BTreeMap::new();
    let class = match restore(vector, &mut pages) {
        Ok(()) => "ok".to_owned(),
        Err(class) => class,
    };
    if class != vector.one("expect") {
        return Some(format!("{class}, not {}", vector.one("expect")));
    }
    // Before an error some pages may have been released, into a draft.
    (class == "ok" && pages != vector.pages()).then(|| format!("other pages: {pages:?}"))
}

/// Restores, then opens every object of every archive, as `backups verify` does; returns the first failure.
fn restore(vector: &Vector, found: &mut BTreeMap<u32, String>) -> Result<(), String> {
    let (id, name) = vector.archive();
    let catalog = Catalog::list(&vector.place, Some(id)).unwrap();
    let entries: Vec<_> = catalog.of(id).collect();
    let names: Vec<ArchiveName> = entries.iter().map(|entry| entry.name.clone()).collect();
    let identities = vector.identities();
    let mut trust = Trust::any();
    if vector.all("origin").any(|origin| origin == "own") {
        trust.policy = OriginPolicy::Own;
    }
    let cache = Cache::new();
    let keys = KeySource::Identities {
        identities: &identities,
        trust: &trust,
        cache: &cache,
    };
    let chain = Chain::open(&vector.place, id, &name, &names, &keys).map_err(class_of)?;
    let tip = chain.tip();
    let plan = match vector.all("log").next() {
        None => LogPlan::default(),
        Some(log) => {
            let until = if log == "last" { u64::MAX } else { log.parse().unwrap() };
            let own = entries.iter().find(|entry| entry.name == name).unwrap();
            tip.log(&vector.place, own.log_count, until).map_err(class_of)?
        }
    };
    let restored = chain.pages_with(&vector.place, &plan, &mut |page_no, bytes: &[u8]| {
        let is_new = found.insert(page_no, hex(&sha256(bytes))).is_none();
        assert!(is_new, "page {page_no} came twice");
        Ok::<(), BackupError>(())
    });
    for page_no in restored.map_err(class_of)?.zeros {
        let said = if page_no > tip.facts.page_count {
            hex(&sha256(&vec![0; tip.facts.page_size.bytes()]))
        } else {
            "missing".to_owned()
        };
        assert_eq!(found.insert(page_no, said), None, "page {page_no} came twice");
    }
    let mut below = None;
    for link in chain.links().iter().rev() {
        let inspection = link.inspect(&vector.place, below.as_ref(), &mut || true);
        let inspection = inspection.map_err(class_of)?;
        if let Some(fault) = inspection.faults.first() {
            return Err(class_of_fault(fault));
        }
        below = Some(inspection.coverage);
    }
    let recipients: Vec<_> = vector.all("recipient").map(|text| text.parse().unwrap()).collect();
    assert!(is_for(&tip.archive, &recipients), "for other recipients");
    let rows = tip.facts.digest.map(|digest| hex(&digest));
    assert!(vector.all("rows").all(|said| rows.as_deref() == Some(said)));
    Ok(())
}

fn class_of(error: BackupError) -> String {
    if let BackupError::Key { source, .. } = &error {
        let classes = [
            ("wrong key", matches!(source, KeyError::WrongKey)),
            ("foreign origin", matches!(source, KeyError::ArchiveUnproved)),
        ];
        let found = classes.into_iter().find(|(_, is_it)| *is_it);
        return found.map_or("begun refused", |(class, _)| class).to_owned();
    }
    if let BackupError::Chain { what, .. } = &error {
        let object = what.split_once(':').map(|(object, _)| object);
        let object = object.filter(|object| object.starts_with("log-"));
        return format!("{} refused", object.unwrap_or("base"));
    }
    let missing = [
        ("begun", matches!(error, BackupError::NotThere { .. })),
        ("manifest", matches!(error, BackupError::Unfinished { .. })),
        ("base", matches!(error, BackupError::MissingLink { .. })),
    ];
    if let Some((what, _)) = missing.into_iter().find(|(_, is_it)| *is_it) {
        return format!("{what} missing");
    }
    if matches!(error, BackupError::Incomplete { .. }) {
        return "incomplete".to_owned();
    }
    class_of_fault(&fault_of(error).unwrap())
}

fn class_of_fault(fault: &ArchiveFault) -> String {
    let object = fault.object.rsplit('/').next().unwrap();
    let is_there = fault.what != "it is missing";
    format!("{object} {}", if is_there { "refused" } else { "missing" })
}

impl Vector {
    fn load(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap();
        let mut body = &bytes[end + 2..];
        let mut vector = Self {
            lines: Vec::new(),
            place: MemoryDestination::default(),
        };
        let mut known: BTreeMap<String, MemoryDestination> = BTreeMap::new();
        for line in str::from_utf8(&bytes[..end]).unwrap().lines() {
            let (line, value) = line.split_once(": ").unwrap();
            let words: Vec<&str> = value.split(' ').collect();
            match (line, words.as_slice()) {
                ("object", &[name, size]) => {
                    let (object, rest) = body.split_at(size.parse().unwrap());
                    vector.place.0.insert(name.to_owned(), object.to_vec());
                    body = rest;
                }
                ("shared", &[name, size, other, there]) => {
                    let load = || Self::load(&root().join(format!("{other}.vec"))).place;
                    let object = &known.entry(other.to_owned()).or_insert_with(load).0[there];
                    let object = object[..size.parse().unwrap()].to_vec();
                    vector.place.0.insert(name.to_owned(), object);
                }
                _ => vector.lines.push((line.to_owned(), value.to_owned())),
            }
        }
        assert!(body.is_empty(), "bytes behind the last object");
        vector
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lines = self.lines.iter().filter(move |line| line.0 == name);
        lines.map(|line| line.1.as_str())
    }

    fn one(&self, name: &str) -> String {
        self.all(name).next().unwrap().to_owned()
    }

    fn archive(&self) -> (DatabaseId, ArchiveName) {
        let archive = self.one("archive");
        let (id, name) = archive.split_once('/').unwrap();
        (parse_database_id(id).unwrap(), name.parse().unwrap())
    }

    fn identities(&self) -> Vec<Box<dyn Identity>> {
        let key = self.one("key");
        let (kind, secret) = key.split_once(' ').unwrap();
        if kind == "raw" {
            let digits = secret.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
            let bytes: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
            return vec![Box::new(RawIdentity::new(Secret::new(bytes.try_into().unwrap())))];
        }
        assert_eq!(kind, "age");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("identity");
        selenite_keyring::write_key_file(&path, format!("{secret}\n").as_bytes()).unwrap();
        load_identity(&format!("age:{}", path.display()), &Config::default()).unwrap()
    }

    fn pages(&self) -> BTreeMap<u32, String> {
        let pages = self.all("page").map(|value| value.split_once(' ').unwrap());
        pages
            .map(|(number, said)| (number.parse().unwrap(), said.to_owned()))
            .collect()
    }
}

impl Destination for MemoryDestination {
    fn put_new(&self, _: &str, _: &[u8]) -> Result<(), StoreError> {
        unreachable!("vectors are not written to")
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        let error = |kind| StoreError {
            kind,
            verb: "read",
            name: name.to_owned(),
            what: String::new(),
        };
        let object = self.0.get(name).ok_or_else(|| error(StoreErrorKind::Missing))?;
        let is_small = object.len() <= size_max;
        is_small
            .then(|| object.clone())
            .ok_or_else(|| error(StoreErrorKind::InvalidResponse))
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        let listed = self.0.iter().filter(|(name, _)| name.starts_with(prefix));
        let object = |(name, bytes): (&String, &Vec<u8>)| Object {
            name: name.clone(),
            size: bytes.len() as u64,
            modified: 0,
        };
        Ok(listed.map(object).collect())
    }

    fn remove(&self, _: &str) -> Result<(), StoreError> {
        unreachable!("vectors are not removed")
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    fn place(&self) -> String {
        "a vector".to_owned()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/vectors")
}

fn paths(area: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(area)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "vec"));
    paths.sort();
    paths
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
