//! The limit of the work of binding and writing one statement.
//!
//! Each walk over a statement's nodes, and each copy, spends its cost. So a short text that expands to a large
//! statement fails with an error of its own, whichever expansion made it large.

use crate::SqlError;

/// The remaining nodes of a statement.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    /// Spends nodes.
    ///
    /// Errors: 8623 if fewer nodes are left.
    pub fn spend(&mut self, nodes: u64) -> Result<(), SqlError> {
        match self.left.checked_sub(nodes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(SqlError::no_plan())
            }
        }
    }

    /// Spends the cost of `count` items.
    ///
    /// Errors: as [`Budget::spend`].
    pub fn spend_items(&mut self, count: usize) -> Result<(), SqlError> {
        self.spend(u64::try_from(count).unwrap_or(u64::MAX))
    }

    /// The number of spent nodes.
    #[cfg(test)]
    pub fn spent(&self) -> u64 {
        NODE_COUNT_MAX - self.left
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: NODE_COUNT_MAX }
    }
}

/// 1,000,000: an INSERT of 1,000 rows of 100 values needs some 200,000; a node costs up to a microsecond and 200 bytes.
pub(crate) const NODE_COUNT_MAX: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_to_its_end() {
        let mut budget = Budget::default();
        assert!(budget.spend(NODE_COUNT_MAX).is_ok());
        assert_eq!(budget.spend(1).map_err(|error: SqlError| error.number()), Err(8623));
        assert_eq!(budget.spent(), NODE_COUNT_MAX);
    }
}
