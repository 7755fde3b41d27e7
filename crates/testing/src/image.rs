//! An image of a disk: its named files.

use std::collections::BTreeMap;

use selenite_vfs::role::Role;

use crate::Content;

/// The named files of a disk. A nameless file does not outlive its process.
#[derive(Clone, Default, Debug)]
pub struct Image {
    /// Role and content by path.
    pub files: BTreeMap<String, (Role, Content)>,
}

impl Image {
    /// The bytes of a file.
    ///
    /// # Panics
    /// If there is no such file.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        let found = self.files.get(path).map(|(_, content)| content.to_vec());
        assert!(found.is_some(), "no file {path}, but {:?}", self.files.keys());
        found.unwrap_or_default()
    }

    /// Changes the content of a file.
    pub fn edit(&mut self, path: &str, edit: impl FnOnce(&mut Content)) {
        let (_, content) = self
            .files
            .entry(path.to_owned())
            .or_insert((Role::Main, Content::default()));
        edit(content);
    }
}
