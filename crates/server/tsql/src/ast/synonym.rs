//! CREATE SYNONYM.

use super::ObjectName;

/// `CREATE SYNONYM name FOR object`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateSynonym {
    /// The synonym's name.
    pub name: ObjectName,
    /// The object that it stands for, which need not exist.
    pub object: ObjectName,
}
