//! Where a fetch moves a cursor to.

/// The direction of a fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Movement {
    Next,
    Prior,
    /// As `Prior`, but fewer rows where there are not enough before the ones that were fetched last.
    Before,
    First,
    Last,
    Absolute(i64),
    Relative(i64),
}

/// The position after a movement: from 0, before the first of `count` rows, to `count + 1`.
pub(crate) fn moved(position: i64, count: i64, movement: Movement) -> i64 {
    let target = match movement {
        Movement::Next => position.saturating_add(1),
        Movement::Prior | Movement::Before => position.saturating_sub(1),
        Movement::First => 1,
        Movement::Last => count,
        Movement::Absolute(number) if number < 0 => count.saturating_add(1).saturating_add(number),
        Movement::Absolute(number) => number,
        Movement::Relative(number) => position.saturating_add(number),
    };
    target.clamp(0, count.saturating_add(1))
}

impl Movement {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Prior | Self::Before => "prior",
            Self::First => "first",
            Self::Last => "last",
            Self::Absolute(_) => "absolute",
            Self::Relative(_) => "relative",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Movement, moved};

    /// As SQL Server answers for five rows of a static cursor.
    #[test]
    fn a_cursor_moves_within_its_rows_and_one_beyond_either_end() {
        let movements = [
            (Movement::Last, 5),
            (Movement::Prior, 4),
            (Movement::First, 1),
            (Movement::Prior, 0),
            (Movement::Next, 1),
            (Movement::Absolute(3), 3),
            (Movement::Absolute(-2), 4),
            (Movement::Relative(-1), 3),
            (Movement::Relative(0), 3),
            (Movement::Relative(10), 6),
            (Movement::Prior, 5),
            (Movement::Absolute(0), 0),
            (Movement::Next, 1),
            (Movement::Absolute(99), 6),
            (Movement::Absolute(-99), 0),
            (Movement::Next, 1),
            (Movement::Relative(i64::MAX), 6),
            (Movement::Relative(i64::MIN), 0),
        ];
        let mut position = 0;
        for (movement, expected) in movements {
            position = moved(position, 5, movement);
            assert_eq!(position, expected, "{movement:?}");
        }
    }

    #[test]
    fn without_rows_every_movement_ends_outside() {
        for movement in [Movement::Next, Movement::Prior, Movement::First, Movement::Last] {
            let position = moved(0, 0, movement);
            assert!(position == 0 || position == 1, "{movement:?}");
        }
    }
}
