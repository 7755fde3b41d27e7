//! Packets and logins, by successive snapshots of `sys.dm_exec_connections`.
//!
//! | column | becomes |
//! |---|---|
//! | `num_reads`, `num_writes` | the count of [`Operation::Packet`] |
//! | `net_packet_size` | the bytes of each: an upper bound, as packets may be shorter |
//! | `connection_id` that is new | [`Operation::Handshake`], where the logins were not counted otherwise |
//! | `encrypt_option` | a note |
//!
//! The documentation says "byte reads" of `num_reads`, and said "packet reads" before; the server counts packets.
//! Connections by shared memory, and the logical ones of MARS (`Session`), have no packets of their own on the network.

use std::collections::BTreeMap;

use super::super::delimited::{self, Row};
use super::super::snapshot::{SnapshotText, check_count, increase, seconds_between};
use super::snapshot_origin::{SnapshotOrigin, Span};
use super::{add_rate, has_load};
use crate::operation::Operation;
use crate::{Observation, PlanError};

/// The counts from the first snapshot to the last.
#[derive(Debug, Default)]
pub(super) struct Connections {
    seconds: f64,
    packets: f64,
    bytes: f64,
    begun: u64,
    ended: u64,
    seen: u64,
    encrypted: u64,
}

struct Snapshot {
    place: String,
    sample_ms: u64,
    rows: BTreeMap<String, Row>,
}

impl Connections {
    /// Reads the snapshots, which are of the same server and time as those of files.
    pub(super) fn read(texts: &[SnapshotText<'_>], origin: &SnapshotOrigin) -> Result<Self, PlanError> {
        let mut snapshots: Vec<Snapshot> = Vec::new();
        for text in texts {
            snapshots.extend(snapshots_of(text, origin)?);
        }
        check_count(snapshots.len(), "snapshots of sys.dm_exec_connections")?;
        let mut found = Self::default();
        for pair in snapshots.windows(2) {
            if let [before, after] = pair {
                found.add(before, after).map_err(|error| error.at(&after.place))?;
            }
        }
        if let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) {
            let start = first.sample_ms as f64 / 1000.0;
            let end = start + found.seconds;
            origin.check_ticks(&last.place, Span { start, end })?;
            for row in last.rows.values() {
                found.seen += 1;
                let is_encrypted = row.text("encrypt_option")?.eq_ignore_ascii_case("true");
                found.encrypted += u64::from(is_encrypted);
            }
        }
        Ok(found)
    }

    /// Enters the rates into all intervals.
    pub(super) fn complete(&self, observation: &mut Observation) {
        add_rate(
            observation,
            Operation::Packet,
            self.packets / self.seconds,
            self.bytes / self.seconds,
        );
        let begun = self.begun as f64;
        if !has_load(observation, Operation::Handshake) {
            add_rate(observation, Operation::Handshake, begun / self.seconds, 0.0);
        }
        let notes = [
            "bytes of packets are an upper bound: the greatest size of each".to_owned(),
            format!(
                "{} connections began and {} ended between snapshots; the packets of those that ended, and connections \
                 shorter than an interval, are not counted",
                self.begun, self.ended
            ),
            format!("{} of {} connections are encrypted already", self.encrypted, self.seen),
            "SQL Server encrypts each login by a handshake, also on connections without encryption".to_owned(),
        ];
        observation.notes.extend(notes);
    }

    fn add(&mut self, before: &Snapshot, after: &Snapshot) -> Result<(), PlanError> {
        let [earlier, later] = [before.sample_ms, after.sample_ms].map(|ms| ms as f64 / 1000.0);
        self.seconds += seconds_between(&after.place, earlier, later)?;
        for (id, row) in &after.rows {
            let earlier = before.rows.get(id);
            let mut packets = 0.0;
            for column in ["num_reads", "num_writes"] {
                let start = earlier.map_or(Ok(0), |row| row.counter(column))?;
                packets += increase(&format!("{column} of connection {id}"), start, row.counter(column)?)?;
            }
            let size = row.counter("net_packet_size")?;
            if size > PACKET_SIZE_MAX {
                let reason = format!("{size} bytes are more than a packet of TDS has");
                return Err(PlanError::input(row.place_of("net_packet_size"), reason));
            }
            self.packets += packets;
            self.bytes += packets * size as f64;
            self.begun += u64::from(earlier.is_none());
        }
        let is_gone = |id: &&String| !after.rows.contains_key(*id);
        self.ended += before.rows.keys().filter(is_gone).map(|_| 1).sum::<u64>();
        Ok(())
    }
}

fn snapshots_of(text: &SnapshotText<'_>, origin: &SnapshotOrigin) -> Result<Vec<Snapshot>, PlanError> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for row in delimited::rows(
        text,
        &["sample_ms", "connection_count", "connection_id", "net_transport"],
    )? {
        let sample_ms = row.counter("sample_ms")?;
        let expected = row.counter("connection_count")?;
        origin.check_server(&row)?;
        if snapshots.last().is_none_or(|snapshot| snapshot.sample_ms != sample_ms) {
            counts.push((expected, 0));
            snapshots.push(Snapshot {
                place: row.place(),
                sample_ms,
                rows: BTreeMap::new(),
            });
        }
        if let Some((_, count)) = counts.last_mut() {
            *count += 1;
        }
        let is_local = LOCAL.iter().any(|one| row.optional("net_transport") == Some(one));
        if let (Some(snapshot), false) = (snapshots.last_mut(), is_local) {
            let id = row.text("connection_id")?.to_owned();
            let place = row.place_of("connection_id");
            if snapshot.rows.insert(id, row).is_some() {
                return Err(PlanError::input(place, "it is there twice in one snapshot"));
            }
        }
    }
    for (snapshot, (expected, count)) in snapshots.iter().zip(counts) {
        if expected != count {
            let reason = format!("the snapshot that begins here has {count} of {expected} connections: it was cut");
            return Err(PlanError::input(snapshot.place.as_str(), reason));
        }
    }
    Ok(snapshots)
}

/// Transports without packets on the network.
const LOCAL: [&str; 2] = ["Shared memory", "Session"];
/// The greatest packet size of TDS (MS-TDS 2.2.3.1.3), which a client can request.
const PACKET_SIZE_MAX: u64 = 32_767;
