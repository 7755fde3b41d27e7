//! `for`, `let`, `some`, `every`, `if`.

use super::super::{Flwor, QueryExpr, QueryVariable};
use super::{Parse, Parser};

impl Parser<'_> {
    pub(super) fn conditional(&mut self) -> Parse<QueryExpr> {
        self.lexer.skip(2);
        let condition = self.sequence()?;
        self.expect(")")?;
        self.check_condition(&condition)?;
        self.expect_word("then")?;
        let then = self.expr()?;
        self.expect_word("else")?;
        let otherwise = self.expr()?;
        self.check_alike([&then, &otherwise].into_iter())?;
        Ok(QueryExpr::If(Box::new([condition, then, otherwise])))
    }

    pub(super) fn flwor(&mut self) -> Parse<QueryExpr> {
        let (variables_around, depth) = (self.variables.len(), self.depth);
        let mut variables = Vec::new();
        while (self.is_word("for") || self.is_word("let")) && self.is_at(1, "$") {
            let is_let = self.is_word("let");
            self.lexer.skip(1);
            loop {
                variables.push((is_let, self.variable_of(is_let)?));
                if !self.eat(",") {
                    break;
                }
            }
        }
        let filter = match self.eat_word("where") {
            true => Some(self.expr()?),
            false => None,
        };
        if let Some(filter) = &filter {
            self.check_condition(filter)?;
        }
        let order = self.order()?;
        if filter.is_none() && order.is_empty() && !self.is_word("return") {
            let near = self.near();
            let text = format!("Syntax error near '{near}', expected 'where', '(stable) order by' or 'return'.");
            return Err(self.error(9332, &text));
        }
        self.expect_word("return")?;
        let result = self.expr()?;
        self.variables.truncate(variables_around);
        self.depth = depth;
        Ok(QueryExpr::Flwor(Box::new(Flwor {
            variables,
            filter,
            order,
            result,
        })))
    }

    /// A variable of `for` or `let`, which is known from here on; returns its items.
    fn variable_of(&mut self, is_let: bool) -> Parse<QueryExpr> {
        // Each variable is a level of the evaluation.
        self.deeper()?;
        self.expect("$")?;
        let name = self.variable_name()?;
        if self.is_word("at") || self.is_word("as") {
            let word = self.name()?;
            return Err(self.refused(&format!("'{word}' of a variable")));
        }
        let is_there = if is_let { self.eat(":=") } else { self.eat_word("in") };
        if !is_there {
            let sign = if is_let { ":=" } else { "in" };
            return Err(self.error(2205, &format!("\"{sign}\" was expected.")));
        }
        let items = self.expr()?;
        self.check_read(&items, if is_let { "'let'" } else { "'for'" })?;
        self.know_variable(name, is_let, &items);
        Ok(items)
    }

    fn know_variable(&mut self, name: String, is_let: bool, items: &QueryExpr) {
        let variable = QueryVariable {
            at: self.variables.len(),
            single: !is_let || items.is_single(),
            kind: items.kind(),
        };
        self.variables.push((name, variable));
    }

    fn order(&mut self) -> Parse<Vec<(QueryExpr, bool)>> {
        let mut keys = Vec::new();
        if self.is_word("stable") {
            self.lexer.skip(1);
        }
        if !self.is_word("order") || !self.is_word_at(1, "by") {
            return Ok(keys);
        }
        self.lexer.skip(2);
        loop {
            let key = self.expr()?;
            self.check_read(&key, "data()")?;
            self.check_single(&key, "order by")?;
            let descending = self.eat_word("descending");
            if !descending {
                self.eat_word("ascending");
            }
            if self.is_word("empty") || self.is_word("collation") {
                let word = self.name()?;
                return Err(self.refused(&format!("'{word}' of order by")));
            }
            keys.push((key, descending));
            if !self.eat(",") {
                return Ok(keys);
            }
        }
    }

    pub(super) fn quantified(&mut self) -> Parse<QueryExpr> {
        let (variables_around, depth) = (self.variables.len(), self.depth);
        let every = self.is_word("every");
        let what = if every { "'every'" } else { "'some'" };
        self.lexer.skip(1);
        let mut variables = Vec::new();
        loop {
            self.deeper()?;
            self.expect("$")?;
            let name = self.variable_name()?;
            self.expect_word("in")?;
            let items = self.expr()?;
            self.check_read(&items, what)?;
            self.know_variable(name, false, &items);
            variables.push(items);
            if !self.eat(",") {
                break;
            }
        }
        self.expect_word("satisfies")?;
        let condition = self.expr()?;
        self.check_condition(&condition)?;
        self.variables.truncate(variables_around);
        self.depth = depth;
        Ok(QueryExpr::Quantified(every, variables, Box::new(condition)))
    }

    /// A reference to a variable.
    ///
    /// Errors: 2227 for an unknown one.
    pub(super) fn variable(&mut self) -> Parse<QueryExpr> {
        self.expect("$")?;
        let name = self.variable_name()?;
        let found = self.variables.iter().rev().find(|(known, _)| *known == name);
        match found {
            Some((_, variable)) => Ok(QueryExpr::Variable(*variable)),
            None => {
                let text = format!("The variable '${name}' was not found in the scope in which it was referenced.");
                Err(self.error(2227, &text))
            }
        }
    }

    fn variable_name(&mut self) -> Parse<String> {
        let name = self.name()?;
        if self.is(":") {
            return Err(self.refused("a variable with a prefix"));
        }
        Ok(name)
    }
}
