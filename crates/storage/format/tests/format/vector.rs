//! A vector, in the form of `testdata/README.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The input of a reader and the expected result.
pub struct Vector {
    lines: Vec<(String, String)>,
    files: Vec<(String, Sparse)>,
}

/// A sparse file; parts that are not listed are zero.
pub struct Sparse {
    pub size: u64,
    pub extents: Vec<(u64, Vec<u8>)>,
}

impl Vector {
    pub fn load(path: &Path) -> Self {
        Self::parse(&fs::read(path).unwrap())
    }

    pub fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap();
        let head = str::from_utf8(&bytes[..end]).unwrap();
        let mut vector = Self {
            lines: Vec::new(),
            files: Vec::new(),
        };
        let mut body = &bytes[end + 2..];
        for line in head.lines() {
            let (name, value) = line.split_once(": ").unwrap();
            match name {
                "file" => vector.add_file(value),
                "extent" => body = vector.add_extent(value, body),
                name => vector.lines.push((name.to_owned(), value.to_owned())),
            }
        }
        assert!(body.is_empty(), "bytes behind the last extent");
        vector
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.lines
            .iter()
            .filter(move |line| line.0 == name)
            .map(|line| line.1.as_str())
    }

    pub fn one(&self, name: &str) -> &str {
        self.all(name).next().unwrap()
    }

    /// Whether the caller allows "plain" or "deprecated".
    pub fn allows(&self, what: &str) -> bool {
        self.all("allow").any(|allowed| allowed == what)
    }

    /// Page numbers, each with the SHA-256 of the released page or the class of the refusal.
    pub fn pages(&self) -> BTreeMap<u32, String> {
        let pages = self.all("page").map(|value| value.split_once(' ').unwrap());
        pages
            .map(|(number, said)| (number.parse().unwrap(), said.to_owned()))
            .collect()
    }

    pub fn file(&self, name: &str) -> Option<&Sparse> {
        self.files.iter().find(|file| file.0 == name).map(|file| &file.1)
    }

    fn add_file(&mut self, value: &str) {
        let (name, size) = value.split_once(' ').unwrap();
        self.files.push((
            name.to_owned(),
            Sparse {
                size: size.parse().unwrap(),
                extents: Vec::new(),
            },
        ));
    }

    fn add_extent<'a>(&mut self, value: &str, body: &'a [u8]) -> &'a [u8] {
        let [name, offset, size] = value.split(' ').collect::<Vec<_>>()[..] else {
            panic!("extent: {value}");
        };
        let (bytes, rest) = body.split_at(size.parse().unwrap());
        let file = self.files.iter_mut().find(|file| file.0 == name).unwrap();
        file.1.extents.push((offset.parse().unwrap(), bytes.to_vec()));
        rest
    }
}

impl Sparse {
    /// Up to `size` bytes from `offset`: fewer if the file ends earlier.
    pub fn read(&self, offset: u64, size: usize) -> Vec<u8> {
        let left = usize::try_from(self.size.saturating_sub(offset)).unwrap();
        let mut out = vec![0; size.min(left)];
        let end = offset + out.len() as u64;
        for (start, bytes) in &self.extents {
            let (first, last) = (offset.max(*start), end.min(start + bytes.len() as u64));
            if first < last {
                let within = |from: u64| usize::try_from(first - from).unwrap();
                let count = usize::try_from(last - first).unwrap();
                out[within(offset)..][..count].copy_from_slice(&bytes[within(*start)..][..count]);
            }
        }
        out
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn from_hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}
