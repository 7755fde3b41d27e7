//! What a check has to say.

/// One message of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    /// Its number.
    pub number: i32,
    /// Its severity: up to 10 it is no error.
    pub severity: u8,
    /// Its text.
    pub text: String,
    /// The page that it is about.
    pub page_no: Option<u32>,
}

/// What was found, in order.
#[derive(Default, Debug)]
pub(crate) struct Findings {
    /// The findings that are reported.
    pub told: Vec<Finding>,
    /// Space that is unowned, or owned twice.
    pub allocation_errors: u64,
    /// All others.
    pub consistency_errors: u64,
}

impl Findings {
    /// An information.
    pub fn info(&mut self, number: i32, text: String) {
        self.told.push(Finding {
            number,
            severity: 10,
            text,
            page_no: None,
        });
    }

    /// Counts an error; one beyond the limit is not reported.
    pub fn error(&mut self, is_allocation: bool, finding: Finding) {
        let count = if is_allocation {
            &mut self.allocation_errors
        } else {
            &mut self.consistency_errors
        };
        *count += 1;
        if self.told.len() < TOLD_MAX {
            self.told.push(finding);
        }
    }

    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.allocation_errors == 0 && self.consistency_errors == 0
    }
}

/// 10,000 messages, some MB: a longer list is not read.
const TOLD_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_beyond_the_listed_ones() {
        let mut findings = Findings::default();
        assert!(findings.is_good());
        for number in 0..=TOLD_MAX {
            let finding = Finding {
                number: 1,
                severity: 16,
                text: String::new(),
                page_no: None,
            };
            findings.error(number % 2 == 0, finding);
        }
        assert_eq!(findings.told.len(), TOLD_MAX);
        assert_eq!((findings.allocation_errors, findings.consistency_errors), (5001, 5000));
    }
}
