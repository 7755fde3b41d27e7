//! Operators: logical ones, comparisons, arithmetic.

use selenite_types::Comparison;

use super::super::{Arithmetic, Kind, QueryExpr};
use super::{Parse, Parser};

impl Parser<'_> {
    pub(super) fn disjunction(&mut self) -> Parse<QueryExpr> {
        let mut parts = vec![self.conjunction()?];
        while self.eat_word("or") {
            parts.push(self.conjunction()?);
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        parts.iter().try_for_each(|part| self.check_condition(part))?;
        Ok(QueryExpr::Or(parts))
    }

    fn conjunction(&mut self) -> Parse<QueryExpr> {
        let mut parts = vec![self.comparison()?];
        while self.eat_word("and") {
            parts.push(self.comparison()?);
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        parts.iter().try_for_each(|part| self.check_condition(part))?;
        Ok(QueryExpr::And(parts))
    }

    fn comparison(&mut self) -> Parse<QueryExpr> {
        let left = self.sum()?;
        let found = COMPARISONS
            .iter()
            .find(|(sign, word, _)| self.is(sign) || self.is_word(word));
        let Some((sign, word, comparison)) = found else {
            let sign = ["|", "<<", ">>"].into_iter().find(|sign| self.is(sign));
            let word = REFUSED.into_iter().find(|word| self.is_word(word));
            return match sign.or(word) {
                Some(what) => Err(self.refused(what)),
                None => Ok(left),
            };
        };
        let is_of_values = self.is_word(word);
        self.lexer.skip(1);
        let right = self.sum()?;
        for side in [&left, &right] {
            self.check_read(side, "data()")?;
            if is_of_values {
                self.check_single(side, word)?;
            }
        }
        self.check_comparable(&left, &right, if is_of_values { word } else { sign })?;
        let typed = left.kind().is_typed() && right.kind().is_typed();
        Ok(QueryExpr::Compare(*comparison, typed, Box::new(left), Box::new(right)))
    }

    /// Errors: 2234 for values of types that are not compared, 40510 for values of several types.
    fn check_comparable(&self, left: &QueryExpr, right: &QueryExpr, operator: &str) -> Parse<()> {
        if left.kind() == Kind::Mixed || right.kind() == Kind::Mixed {
            return Err(self.refused("a comparison of values of several types"));
        }
        let is_typed = |kind: Kind| matches!(kind, Kind::Numbers | Kind::Texts | Kind::Booleans);
        if left.kind() == right.kind() || !is_typed(left.kind()) || !is_typed(right.kind()) {
            return Ok(());
        }
        let name = |side: &QueryExpr| side.described().trim_end_matches([' ', '?', '*', '+']).to_owned();
        let (left, right) = (name(left), name(right));
        let text = format!("The operator \"{operator}\" cannot be applied to \"{left}\" and \"{right}\" operands.");
        Err(self.error(2234, &text))
    }

    fn sum(&mut self) -> Parse<QueryExpr> {
        let first = self.product()?;
        let mut rest = Vec::new();
        loop {
            let operator = match () {
                () if self.eat("+") => Arithmetic::Add,
                () if self.eat("-") => Arithmetic::Subtract,
                () => break,
            };
            rest.push((operator, self.product()?));
        }
        self.arithmetic(first, rest)
    }

    fn product(&mut self) -> Parse<QueryExpr> {
        let first = self.signed()?;
        let mut rest = Vec::new();
        loop {
            let operator = match () {
                () if self.eat("*") => Arithmetic::Multiply,
                () if self.eat_word("div") => Arithmetic::Divide,
                () if self.eat_word("mod") => Arithmetic::Modulo,
                () if self.is_word("idiv") => return Err(self.refused("idiv")),
                () => break,
            };
            rest.push((operator, self.signed()?));
        }
        self.arithmetic(first, rest)
    }

    fn arithmetic(&self, first: QueryExpr, rest: Vec<(Arithmetic, QueryExpr)>) -> Parse<QueryExpr> {
        let Some((operator, _)) = rest.first() else {
            return Ok(first);
        };
        self.check_operand(&first, operator.written())?;
        for (operator, operand) in &rest {
            self.check_operand(operand, operator.written())?;
        }
        Ok(QueryExpr::Arithmetic(Box::new(first), rest))
    }

    fn signed(&mut self) -> Parse<QueryExpr> {
        let (mut has_sign, mut is_negative) = (false, false);
        loop {
            match () {
                () if self.eat("-") => is_negative = !is_negative,
                () if self.eat("+") => {}
                () => break,
            }
            has_sign = true;
        }
        let operand = self.path()?;
        if !has_sign {
            return Ok(operand);
        }
        self.check_operand(&operand, if is_negative { "-" } else { "+" })?;
        let negated = QueryExpr::Negate(Box::new(operand));
        // Twice the sign: the operand as a number.
        Ok(match is_negative {
            true => negated,
            false => QueryExpr::Negate(Box::new(negated)),
        })
    }

    /// Errors: 2389 for several items, 9308 for what is no number, 2373.
    fn check_operand(&self, operand: &QueryExpr, operator: &str) -> Parse<()> {
        self.check_read(operand, "data()")?;
        self.check_single(operand, operator)?;
        match operand.kind() {
            Kind::Texts | Kind::Booleans => Err(self.no_operand(operator, operand)),
            Kind::Empty | Kind::Nodes | Kind::Made | Kind::Numbers | Kind::Untyped | Kind::External | Kind::Mixed => {
                Ok(())
            }
        }
    }

    /// 9308: what an operator or a function does not take.
    pub(super) fn no_operand(&self, of: &str, operand: &QueryExpr) -> crate::SqlError {
        let text = format!(
            "The argument of '{of}' must be of a single numeric primitive type or \
             'http://www.w3.org/2004/07/xpath-datatypes#untypedAtomic'. Found argument of type '{}'.",
            operand.described()
        );
        self.error(9308, &text)
    }
}

const COMPARISONS: [(&str, &str, Comparison); 6] = [
    ("=", "eq", Comparison::Equal),
    ("!=", "ne", Comparison::NotEqual),
    ("<", "lt", Comparison::Less),
    ("<=", "le", Comparison::LessOrEqual),
    (">", "gt", Comparison::Greater),
    (">=", "ge", Comparison::GreaterOrEqual),
];
const REFUSED: [&str; 8] = [
    "union",
    "to",
    "is",
    "cast",
    "castable",
    "instance",
    "intersect",
    "except",
];
