//! The keys and rules of a database for one generation of its superblock.

use crate::{DataKey, DatabaseId, Epoch, PageNo, Suite, TRAILER_SIZE};

use crate::{PageError, Scan};

/// The smallest page: SQLite's 512 leaves too little beside the trailer (FORMAT 3.1).
pub const PAGE_SIZE_MIN: usize = 1024;

/// SQLite's largest page.
pub const PAGE_SIZE_MAX: usize = 65536;

/// The parts of [`PageKeys`].
pub struct PageKeysParts {
    /// The database's identifier.
    pub database_id: DatabaseId,
    /// The size of a page in bytes.
    pub page_size: usize,
    /// The scan over the database's pages.
    pub scan: Scan,
    /// The highest epoch ever used.
    pub epoch_max: Epoch,
    /// The epoch that new pages are sealed under.
    pub sealing_epoch: Epoch,
    /// The keys of all listed epochs.
    pub data_keys: Vec<DataKey>,
    /// Whether the caller accepts an unencrypted database, which has suite NONE only.
    pub allow_plain: bool,
    /// Whether the caller requested a deprecated suite by name.
    pub allow_deprecated: bool,
}

/// Checked and immutable keys and rules of one generation of the superblock.
pub struct PageKeys {
    parts: PageKeysParts,
    sealing_index: usize,
}

impl PageKeys {
    /// Checks the parts.
    ///
    /// # Errors
    /// [`PageError::SettingsMismatch`] if the page size is invalid, the sealing epoch has no key,
    /// or a key is of another database, of an epoch above the highest, or of the same epoch as
    /// another.
    pub fn new(parts: PageKeysParts) -> Result<Self, PageError> {
        let size_is_good =
            parts.page_size.is_power_of_two() && (PAGE_SIZE_MIN..=PAGE_SIZE_MAX).contains(&parts.page_size);
        let keys_are_good = parts.data_keys.iter().enumerate().all(|(index, key)| {
            key.database_id() == parts.database_id
                && (Epoch(1)..=parts.epoch_max).contains(&key.epoch())
                && parts.data_keys[..index]
                    .iter()
                    .all(|earlier| earlier.epoch() != key.epoch())
        });
        let sealing_index = parts
            .data_keys
            .iter()
            .position(|key| key.epoch() == parts.sealing_epoch);
        match sealing_index {
            Some(sealing_index) if size_is_good && keys_are_good => Ok(Self { parts, sealing_index }),
            Some(_) | None => Err(PageError::SettingsMismatch),
        }
    }

    /// The database's identifier.
    pub fn database_id(&self) -> DatabaseId {
        self.parts.database_id
    }

    /// The size of a page in bytes.
    pub fn page_size(&self) -> usize {
        self.parts.page_size
    }

    /// The size of the ciphertext of a page: all but the trailer.
    pub fn body_size(&self) -> usize {
        self.parts.page_size - TRAILER_SIZE
    }

    /// The scan over the database's pages.
    pub fn scan(&self) -> Scan {
        self.parts.scan
    }

    /// The highest epoch ever used.
    pub fn epoch_max(&self) -> Epoch {
        self.parts.epoch_max
    }

    /// The epoch that new pages are sealed under.
    pub fn sealing_epoch(&self) -> Epoch {
        self.parts.sealing_epoch
    }

    /// The suite that new pages are sealed in.
    pub fn sealing_suite(&self) -> Suite {
        self.parts.data_keys[self.sealing_index].suite()
    }

    /// The key for sealing a page.
    pub(crate) fn key_to_seal(&self, page_no: PageNo) -> Result<&DataKey, PageError> {
        let key = &self.parts.data_keys[self.sealing_index];
        self.check_deprecated(key.suite())?;
        if !key.suite().is_sealed_here() {
            return Err(PageError::NotApproved(key.suite()));
        }
        // FORMAT 5.4: while switching on, nothing new is written in NONE.
        let switching_on = matches!(self.parts.scan, Scan::SwitchingOn { .. });
        if key.suite() == Suite::None && (switching_on || !self.none_is_accepted(page_no)) {
            return Err(PageError::SettingsMismatch);
        }
        Ok(key)
    }

    /// The key for opening a page whose trailer states `epoch`.
    pub(crate) fn key_to_open(&self, page_no: PageNo, epoch: Epoch) -> Result<&DataKey, PageError> {
        // Epochs count from 1. A place that was never written is all zero and is not a page.
        if epoch == Epoch(0) {
            return Err(PageError::Unauthentic);
        }
        let key = self
            .parts
            .data_keys
            .iter()
            .find(|key| key.epoch() == epoch)
            .ok_or(PageError::UnknownEpoch {
                epoch,
                above_highest: epoch > self.parts.epoch_max,
            })?;
        self.check_deprecated(key.suite())?;
        if !key.suite().is_opened_here() {
            return Err(PageError::NotApproved(key.suite()));
        }
        if key.suite() == Suite::None && !self.none_is_accepted(page_no) {
            return Err(PageError::Unauthentic);
        }
        Ok(key)
    }

    fn check_deprecated(&self, suite: Suite) -> Result<(), PageError> {
        if suite.is_deprecated() && !self.parts.allow_deprecated {
            return Err(PageError::DeprecatedSuite);
        }
        Ok(())
    }

    /// Whether a page may be in suite NONE, of which an epoch is listed (FORMAT 5.4).
    fn none_is_accepted(&self, page_no: PageNo) -> bool {
        let is_plain_database = self.parts.data_keys.len() == 1;
        match self.parts.scan {
            Scan::Steady | Scan::Changing => is_plain_database && self.parts.allow_plain,
            Scan::SwitchingOn { cursor } => page_no > cursor,
            // Finishing: a log that a process still reads may contain any page in its old state.
            Scan::SwitchingOff | Scan::Finishing => true,
        }
    }
}
