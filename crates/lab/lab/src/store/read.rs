//! Queries of a store.

use std::collections::BTreeMap;

use rusqlite::{Params, Row};
use serde::de::DeserializeOwned;

use super::record::{
    ArmRow, Ask, BlockRow, CellRow, Cost, ExtensionRow, HistogramRow, InstanceRow, MasterRow, PlanRow, SessionRow,
    StudyRow,
};
use super::{Store, StoreError};
use crate::summary::{Event, Extension};

impl Store {
    /// The study.
    ///
    /// Errors of this and all following functions: `Sqlite`, `Damaged`.
    pub fn study(&self) -> Result<StudyRow, StoreError> {
        let sql = "SELECT name, config, config_sha256, seed, lab_version, commit_id, command, created_s, host, state
                   FROM study";
        let mut rows = self.rows(sql, [], |row| {
            Ok(StudyRow {
                name: row.get(0)?,
                config: row.get(1)?,
                config_sha256: row.get(2)?,
                seed: unsigned(row, 3)?,
                lab_version: row.get(4)?,
                commit: row.get(5)?,
                command: row.get(6)?,
                created_s: unsigned(row, 7)?,
                host: json(row, 8)?,
                state: word(row, 9)?,
            })
        })?;
        rows.pop()
            .ok_or_else(|| StoreError::damaged(&self.path, "there is no study in it"))
    }

    /// The arms, in the order of the configuration; empty before their masters were made.
    pub fn arms(&self) -> Result<Vec<ArmRow>, StoreError> {
        let sql = "SELECT id, facts FROM arm ORDER BY id";
        let mut arms = self.rows(sql, [], |row| {
            Ok(ArmRow {
                id: row.get(0)?,
                facts: json(row, 1)?,
                masters: BTreeMap::new(),
            })
        })?;
        for arm in &mut arms {
            let sql = "SELECT data, digest, rows, bytes, pages FROM master WHERE arm = ?";
            let masters = self.rows(sql, [arm.id], |row| {
                let master = MasterRow {
                    digest: row.get(1)?,
                    rows: unsigned(row, 2)?,
                    bytes: unsigned(row, 3)?,
                    pages: unsigned(row, 4)?,
                };
                Ok((row.get(0)?, master))
            })?;
            arm.masters = masters.into_iter().collect();
        }
        Ok(arms)
    }

    /// The cells, in the order of the configuration; empty before the masters were made.
    pub fn cells(&self) -> Result<Vec<CellRow>, StoreError> {
        let sql = "SELECT id, params FROM cell ORDER BY id";
        self.rows(sql, [], |row| {
            Ok(CellRow {
                id: row.get(0)?,
                cell: json(row, 1)?,
            })
        })
    }

    /// The sessions that were begun.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.rows(
            "SELECT id, created_s, ended_s, void FROM session ORDER BY id",
            [],
            |row| {
                Ok(SessionRow {
                    id: row.get(0)?,
                    created_s: unsigned(row, 1)?,
                    ended_s: row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned),
                    void: row.get(3)?,
                })
            },
        )
    }

    /// The copies.
    pub fn instances(&self) -> Result<Vec<InstanceRow>, StoreError> {
        self.rows(
            "SELECT session, arm, data, made, pids, path FROM instance ORDER BY id",
            [],
            |row| {
                Ok(InstanceRow {
                    session: row.get(0)?,
                    arm: row.get(1)?,
                    data: row.get(2)?,
                    made: row.get(3)?,
                    pids: json(row, 4)?,
                    path: row.get(5)?,
                })
            },
        )
    }

    /// The schedule, in order.
    pub fn schedule(&self) -> Result<Vec<PlanRow>, StoreError> {
        self.rows(
            "SELECT seq, session, cell, pair, arm, seed, block FROM plan ORDER BY seq",
            [],
            |row| {
                Ok(PlanRow {
                    seq: row.get(0)?,
                    session: row.get(1)?,
                    cell: row.get(2)?,
                    pair: row.get(3)?,
                    arm: row.get(4)?,
                    seed: unsigned(row, 5)?,
                    block: row.get(6)?,
                })
            },
        )
    }

    /// All blocks that ran, in order. A block of a void session is void for the session's reason.
    pub fn blocks(&self) -> Result<Vec<BlockRow>, StoreError> {
        let sql = "SELECT b.id, p.seq, p.session, p.cell, p.pair, p.arm, b.began_s, b.sample, b.host,
                          coalesce(b.void, s.void), b.void IS NULL
                   FROM block b JOIN plan p ON p.seq = b.plan JOIN session s ON s.id = p.session ORDER BY b.id";
        self.rows(sql, [], |row| {
            let measured: bool = row.get(10)?;
            let cost: Cost = if measured { json(row, 7)? } else { Cost::default() };
            Ok(BlockRow {
                id: row.get(0)?,
                seq: row.get(1)?,
                session: row.get(2)?,
                cell: row.get(3)?,
                pair: row.get(4)?,
                arm: row.get(5)?,
                began_s: row.get(6)?,
                sample: cost.sample,
                phases: cost.phases,
                host: json(row, 8)?,
                void: row.get(9)?,
            })
        })
    }

    /// The latencies of all counted blocks, in order.
    pub fn histograms(&self) -> Result<Vec<HistogramRow>, StoreError> {
        let sql = "SELECT p.cell, p.arm, h.operation, h.v2
                   FROM histogram h JOIN block b ON b.id = h.block JOIN plan p ON p.seq = b.plan
                        JOIN session s ON s.id = p.session
                   WHERE b.void IS NULL AND s.void IS NULL ORDER BY p.cell, p.arm, h.operation, b.id";
        self.rows(sql, [], |row| {
            Ok(HistogramRow {
                cell: row.get(0)?,
                arm: row.get(1)?,
                operation: row.get(2)?,
                v2: row.get(3)?,
            })
        })
    }

    /// The events, in order.
    pub fn events(&self) -> Result<Vec<Event>, StoreError> {
        let sql = "SELECT at_s, text FROM event ORDER BY id";
        self.rows(sql, [], |row| {
            Ok(Event {
                at_s: row.get(0)?,
                text: row.get(1)?,
            })
        })
    }

    /// The extensions of the study, in order.
    pub fn extensions(&self) -> Result<Vec<Extension>, StoreError> {
        Ok(self.extension_rows()?.into_iter().map(|row| row.facts).collect())
    }

    /// The last extension; none if the study was not extended.
    pub fn last_extension(&self) -> Result<Option<ExtensionRow>, StoreError> {
        Ok(self.extension_rows()?.pop())
    }

    fn extension_rows(&self) -> Result<Vec<ExtensionRow>, StoreError> {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'extension'";
        if self.rows(sql, [], |row| row.get::<_, i64>(0))? == [0] {
            return Ok(Vec::new());
        }
        let sql = "SELECT at_s, from_sessions, sessions, until, drawn FROM extension ORDER BY id";
        self.rows(sql, [], |row| {
            Ok(ExtensionRow {
                facts: Extension {
                    at_s: unsigned(row, 0)?,
                    from: row.get(1)?,
                    sessions: row.get(2)?,
                },
                until: row.get(3)?,
                drawn: row.get(4)?,
            })
        })
    }

    pub(super) fn asks(&self) -> Result<Vec<Ask>, StoreError> {
        let sql = "SELECT id, ask FROM control WHERE taken = 0 ORDER BY id";
        self.rows(sql, [], |row| {
            Ok(Ask {
                id: row.get(0)?,
                control: json(row, 1)?,
            })
        })
    }

    fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let all = || {
            self.db
                .prepare(sql)?
                .query_map(values, read)?
                .collect::<rusqlite::Result<Vec<T>>>()
        };
        all().map_err(|error| {
            use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType};
            match matches!(error, FromSqlConversionFailure(..) | InvalidColumnType(..)) {
                true => StoreError::damaged(&self.path, error),
                false => StoreError::sqlite(&self.path, error),
            }
        })
    }
}

fn unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(index).map(i64::cast_unsigned)
}

fn json<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    let text: String = row.get(index)?;
    serde_json::from_str(&text).map_err(|error| refused(index, error))
}

fn word<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    let text: String = row.get(index)?;
    serde_json::from_value(serde_json::Value::String(text)).map_err(|error| refused(index, error))
}

fn refused(index: usize, error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Text, Box::new(error))
}
