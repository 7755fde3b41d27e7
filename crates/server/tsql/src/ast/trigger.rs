//! The parts of CREATE TRIGGER, and ENABLE and DISABLE TRIGGER.

use super::{Name, ObjectName};

/// When a trigger fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerTiming {
    /// `AFTER` or `FOR`: after the change.
    After,
    /// `INSTEAD OF`: in place of the change.
    InsteadOf,
}

/// The statements that fire a trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TriggerEvents {
    /// `INSERT`
    pub insert: bool,
    /// `UPDATE`
    pub update: bool,
    /// `DELETE`
    pub delete: bool,
}

/// `ENABLE TRIGGER .. ON ..`, `DISABLE TRIGGER .. ON ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerSwitch {
    /// Whether it is ENABLE.
    pub enable: bool,
    /// The triggers; empty is ALL.
    pub names: Vec<ObjectName>,
    /// The table or view.
    pub table: ObjectName,
}

/// `ENABLE TRIGGER` or `DISABLE TRIGGER` of ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableTriggerSwitch {
    /// Whether it is ENABLE.
    pub enable: bool,
    /// The triggers; empty is ALL.
    pub names: Vec<Name>,
}
