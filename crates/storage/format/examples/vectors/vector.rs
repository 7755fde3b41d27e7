//! One vector, in the form of `testdata/README.md`.

use selenite_cipher::sha256;

/// The input of a reader and the expected result.
#[derive(Clone)]
pub struct Vector {
    name: String,
    lines: Vec<(&'static str, String)>,
    files: Vec<Sparse>,
    objects: Vec<Object>,
}

/// An object of a backup destination.
#[derive(Clone)]
struct Object {
    name: String,
    bytes: Vec<u8>,
    /// The vector and its object that begins with these bytes.
    shared: Option<(String, String)>,
}

/// A sparse file; parts that are not listed are zero.
#[derive(Clone, Default)]
pub struct Sparse {
    name: &'static str,
    size: u64,
    extents: Vec<(u64, Vec<u8>)>,
}

impl Vector {
    /// A vector that is opened with the raw key of the example database.
    pub fn new(name: &str, expect: &str, comment: &str) -> Self {
        let key = format!("raw {}", hex(&crate::world::named::<32>("raw key")));
        Self::with_key(name, expect, comment, key)
    }

    /// A vector that is opened with another key.
    pub fn with_key(name: &str, expect: &str, comment: &str, key: String) -> Self {
        let lines = vec![
            ("expect", expect.to_owned()),
            ("key", key),
            ("comment", comment.to_owned()),
        ];
        Self {
            name: name.to_owned(),
            lines,
            files: Vec::new(),
            objects: Vec::new(),
        }
    }

    pub fn line(mut self, name: &'static str, value: impl ToString) -> Self {
        self.lines.push((name, value.to_string()));
        self
    }

    pub fn file(mut self, file: Sparse) -> Self {
        self.files.push(file);
        self
    }

    pub fn object(mut self, name: String, bytes: Vec<u8>) -> Self {
        self.objects.push(Object {
            name,
            bytes,
            shared: None,
        });
        self
    }

    /// Expects that page `number` is released, with these bytes.
    pub fn released(self, number: u32, page: &[u8]) -> Self {
        self.line("page", format!("{number} {}", hex(&sha256(page))))
    }

    /// Expects that page `number` is refused.
    pub fn refused(self, number: u32, class: &str) -> Self {
        self.line("page", format!("{number} {class}"))
    }

    /// Expects that every page is released, with these contents.
    pub fn released_all(self, pages: &[Vec<u8>]) -> Self {
        let vector = self.line("pages", pages.len());
        pages
            .iter()
            .zip(1..)
            .fold(vector, |vector, (page, number)| vector.released(number, page))
    }

    /// Expects that every page is released, and that SQLite's integrity check passes.
    pub fn released_sound(self, pages: &[Vec<u8>]) -> Self {
        self.released_all(pages).line("integrity", "ok")
    }

    pub fn path(&self) -> String {
        format!("{}.vec", self.name)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut head = String::new();
        let mut body = Vec::new();
        for (name, value) in &self.lines {
            head.push_str(&format!("{name}: {value}\n"));
        }
        for file in &self.files {
            head.push_str(&format!("file: {} {}\n", file.name, file.size));
            for (offset, bytes) in &file.extents {
                head.push_str(&format!("extent: {} {offset} {}\n", file.name, bytes.len()));
                body.extend_from_slice(bytes);
            }
        }
        for object in &self.objects {
            let (name, size) = (&object.name, object.bytes.len());
            if let Some((vector, there)) = &object.shared {
                head.push_str(&format!("shared: {name} {size} {vector} {there}\n"));
            } else {
                head.push_str(&format!("object: {name} {size}\n"));
                body.extend_from_slice(&object.bytes);
            }
        }
        head.push('\n');
        [head.into_bytes(), body].concat()
    }
}

impl Sparse {
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// A file with these bytes from its start.
    pub fn whole(name: &'static str, bytes: Vec<u8>) -> Self {
        Self::new(name).put(0, bytes)
    }

    /// Adds bytes where there are none yet.
    pub fn put(mut self, offset: u64, bytes: Vec<u8>) -> Self {
        self.size = self.size.max(offset + bytes.len() as u64);
        self.extents.push((offset, bytes));
        self
    }

    pub fn resize(mut self, size: u64) -> Self {
        self.size = size;
        self
    }
}

/// Shares objects: if an earlier vector has an object that begins with the same bytes, later vectors refer to it.
pub fn share(mut vectors: Vec<Vector>) -> Vec<Vector> {
    let mut known: Vec<(String, String, Vec<u8>)> = Vec::new();
    for vector in &mut vectors {
        for object in &mut vector.objects {
            let found = known.iter().find(|(_, _, bytes)| bytes.starts_with(&object.bytes));
            if let Some((vector, name, _)) = found {
                object.shared = Some((vector.clone(), name.clone()));
            } else {
                known.push((vector.name.clone(), object.name.clone(), object.bytes.clone()));
            }
        }
    }
    vectors
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
