//! The `selenite` command, run as its users run it.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test asks for tokens of one kind")]

mod anchor;
mod backups;
mod backups_place;
mod backups_signals;
mod compromised;
mod convert;
mod doctor;
mod each;
mod exec;
mod exposition;
mod fixture;
mod folder;
mod follow;
mod help;
mod init;
mod key_service;
mod key_service_aws;
mod key_service_tpm;
mod key_service_vault;
mod keys;
mod lab;
mod lab_bisect;
mod lab_online;
mod lab_rekey;
mod lab_transit;
mod lab_worker;
mod look;
mod object_store;
mod origin;
mod plan_calibrate;
mod plan_observe_sqlite;
mod plan_output;
mod plan_predict;
mod plan_validate;
mod printing;
mod reencrypt;
mod reencrypt_signals;
mod restore;
mod serve;
mod serve_limits;
mod serve_providers;
mod service_double;
#[path = "../../../server/server/tests/server/session/client.rs"]
#[expect(dead_code, reason = "the server's own tests need more of it")]
mod tds_client;
mod trace;
