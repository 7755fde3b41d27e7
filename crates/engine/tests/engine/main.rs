//! The engine by its public API, on temporary folders.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod access_list;
mod anchor;
mod anchor_refused;
mod backup;
mod backup_faults;
mod backups;
mod backups_closed;
mod backups_cut;
mod conversion;
mod cut_file;
mod damaged_log;
mod drill;
mod epoch_count;
mod failing_disk;
mod folder;
mod folder_unfinished;
mod key_changes;
mod key_export;
mod keys;
mod kill;
mod locks;
mod offline;
mod offline_kill;
mod offline_power;
mod other_process;
mod pausing;
mod planted;
mod power;
mod restore;
mod restore_chain;
mod restore_faults;
mod restore_kill;
mod salvage;
mod salvage_damaged_log;
mod salvage_hostile;
mod salvage_kill;
mod salvage_logs;
mod salvage_strays;
mod salvage_twin;
mod support;
mod verify;
mod verify_in_use;
mod verify_logs;
mod verify_owners;
