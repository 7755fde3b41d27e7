//! Evaluates FLWOR expressions and quantifiers.

use std::cmp::Ordering;

use super::super::call::is_true;
use super::super::{Flwor, Item, Number, QueryExpr};
use super::{Context, Evaluation};
use crate::SqlError;

/// What rows are ordered by.
enum SortKey {
    Empty,
    Number(Number),
    Text(String),
}

/// The results of the rows of a FLWOR expression.
#[derive(Default)]
struct FlworRows {
    rows: Vec<(Vec<SortKey>, Vec<Item>)>,
    /// Bytes that they take.
    size: usize,
}

impl Evaluation<'_> {
    pub(super) fn flwor(&mut self, flwor: &Flwor, context: Context<'_>) -> Result<Vec<Item>, SqlError> {
        let mut out = FlworRows::default();
        self.bind(flwor, 0, context, &mut out)?;
        let mut rows = out.rows;
        if !flwor.order.is_empty() {
            rows = sorted(rows, &mut |left, right| self.order(flwor, left, right))?;
        }
        Ok(rows.into_iter().flat_map(|(_, items)| items).collect())
    }

    /// Evaluates what follows the first `at` variables.
    fn bind(&mut self, flwor: &Flwor, at: usize, context: Context<'_>, out: &mut FlworRows) -> Result<(), SqlError> {
        let Some((is_let, items)) = flwor.variables.get(at) else {
            return self.row(flwor, context, out);
        };
        let (held, before) = (self.reader.held, out.size);
        let items = self.evaluate(items, context)?;
        let groups = match is_let {
            true => vec![items],
            false => items.into_iter().map(|item| vec![item]).collect(),
        };
        for group in groups {
            self.variables.push(group);
            self.bind(flwor, at + 1, context, out)?;
            self.variables.pop();
        }
        self.reader.held = held;
        self.reader.hold(out.size.saturating_sub(before))
    }

    fn row(&mut self, flwor: &Flwor, context: Context<'_>, out: &mut FlworRows) -> Result<(), SqlError> {
        self.reader.work(1)?;
        if let Some(filter) = &flwor.filter {
            let held = self.reader.held;
            let keeps = is_true(&self.evaluate(filter, context)?);
            self.reader.held = held;
            if !keeps {
                return Ok(());
            }
        }
        let held = self.reader.held;
        let mut keys = Vec::with_capacity(flwor.order.len());
        for (key, _) in &flwor.order {
            self.reader.hold(size_of::<SortKey>())?;
            let items = self.evaluate(key, context)?;
            keys.push(match items.first() {
                None => SortKey::Empty,
                Some(Item::Number(number)) => SortKey::Number(*number),
                Some(item) => SortKey::Text(self.reader.text(item)?),
            });
        }
        let items = self.evaluate(&flwor.result, context)?;
        self.reader.hold(size_of::<(Vec<SortKey>, Vec<Item>)>())?;
        out.size += self.reader.held.saturating_sub(held);
        out.rows.push((keys, items));
        Ok(())
    }

    fn order(&mut self, flwor: &Flwor, left: &[SortKey], right: &[SortKey]) -> Result<Ordering, SqlError> {
        for ((left, right), (_, descending)) in left.iter().zip(right).zip(&flwor.order) {
            let order = match (left, right) {
                (SortKey::Empty, SortKey::Empty) => Ordering::Equal,
                (SortKey::Empty, _) => Ordering::Less,
                (_, SortKey::Empty) => Ordering::Greater,
                (SortKey::Number(left), SortKey::Number(right)) => left.order(*right).unwrap_or(Ordering::Equal),
                (SortKey::Text(left), SortKey::Text(right)) => {
                    self.reader.work(1 + left.len().min(right.len()))?;
                    left.cmp(right)
                }
                (SortKey::Number(_), SortKey::Text(_)) => Ordering::Less,
                (SortKey::Text(_), SortKey::Number(_)) => Ordering::Greater,
            };
            self.reader.work(1)?;
            if order != Ordering::Equal {
                return Ok(if *descending { order.reverse() } else { order });
            }
        }
        Ok(Ordering::Equal)
    }

    /// Whether the condition is true of each (`every`) or of one (`some`) combination of items.
    pub(super) fn quantified(
        &mut self,
        every: bool,
        variables: &[QueryExpr],
        condition: &QueryExpr,
        context: Context<'_>,
    ) -> Result<bool, SqlError> {
        let held = self.reader.held;
        let Some((first, rest)) = variables.split_first() else {
            let holds = is_true(&self.evaluate(condition, context)?);
            self.reader.held = held;
            return Ok(holds);
        };
        for item in self.evaluate(first, context)? {
            self.variables.push(vec![item]);
            let holds = self.quantified(every, rest, condition, context)?;
            self.variables.pop();
            if holds != every {
                self.reader.held = held;
                return Ok(holds);
            }
        }
        self.reader.held = held;
        Ok(every)
    }
}

/// Sorts rows, those that are equal in the order that they have; a comparison may fail.
fn sorted<K, T>(
    rows: Vec<(K, T)>,
    compare: &mut impl FnMut(&K, &K) -> Result<Ordering, SqlError>,
) -> Result<Vec<(K, T)>, SqlError> {
    let mut runs: Vec<Vec<(K, T)>> = rows.into_iter().map(|row| vec![row]).collect();
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(first) = pairs.next() {
            let second = pairs.next().unwrap_or_default();
            let mut out = Vec::with_capacity(first.len() + second.len());
            let (mut left, mut right) = (first.into_iter().peekable(), second.into_iter().peekable());
            while let (Some((one, _)), Some((other, _))) = (left.peek(), right.peek()) {
                let next = match compare(one, other)? {
                    Ordering::Greater => right.next(),
                    Ordering::Less | Ordering::Equal => left.next(),
                };
                out.extend(next);
            }
            out.extend(left);
            out.extend(right);
            merged.push(out);
        }
        runs = merged;
    }
    Ok(runs.pop().unwrap_or_default())
}
