//! OVER and WITHIN GROUP.

use super::{Parse, Parser};
use crate::{
    ast::{FrameBound, FrameUnit, OrderItem, Window, WindowFrame},
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// The window after OVER: a name, or parentheses.
    pub(super) fn over(&mut self) -> Parse<Window> {
        if !self.is_name() {
            return self.window();
        }
        Ok(Window {
            base: Some(self.name()?),
            partition_by: Vec::new(),
            order_by: Vec::new(),
            frame: None,
        })
    }

    /// A window in parentheses.
    pub(super) fn window(&mut self) -> Parse<Window> {
        self.expect(TokenKind::LeftParen)?;
        let is_clause = self.is_word("partition") && self.is_at(1, TokenKind::Keyword(Keyword::By))
            || self.is_word("rows")
            || self.is_word("range");
        let base = match self.is_name() && !is_clause {
            true => Some(self.name()?),
            false => None,
        };
        let partition_by = match self.eat_word("partition") {
            true => {
                self.expect_keyword(Keyword::By)?;
                self.list(Self::expression)?
            }
            false => Vec::new(),
        };
        let order_by = self.optional_order_by()?;
        let unit = match (self.is_word("rows"), self.is_word("range")) {
            (true, _) => Some(FrameUnit::Rows),
            (_, true) => Some(FrameUnit::Range),
            (false, false) => None,
        };
        let frame = match unit {
            Some(unit) => Some(self.frame(unit)?),
            None => None,
        };
        self.expect(TokenKind::RightParen)?;
        Ok(Window {
            base,
            partition_by,
            order_by,
            frame,
        })
    }

    fn frame(&mut self, unit: FrameUnit) -> Parse<WindowFrame> {
        self.advance();
        let between = self.eat_keyword(Keyword::Between);
        let start = self.frame_bound()?;
        let end = match between {
            true => {
                self.expect_keyword(Keyword::And)?;
                Some(self.frame_bound()?)
            }
            false => None,
        };
        Ok(WindowFrame { unit, start, end })
    }

    fn frame_bound(&mut self) -> Parse<FrameBound> {
        if self.eat_keyword(Keyword::Current) {
            self.expect_word("row")?;
            return Ok(FrameBound::CurrentRow);
        }
        if self.eat_word("unbounded") {
            return Ok(match self.preceding()? {
                true => FrameBound::UnboundedPreceding,
                false => FrameBound::UnboundedFollowing,
            });
        }
        let count = self.unsigned()?;
        Ok(match self.preceding()? {
            true => FrameBound::Preceding(count),
            false => FrameBound::Following(count),
        })
    }

    /// PRECEDING (true) or FOLLOWING.
    fn preceding(&mut self) -> Parse<bool> {
        if self.eat_word("preceding") {
            return Ok(true);
        }
        self.expect_word("following")?;
        Ok(false)
    }

    /// An integer without a sign.
    pub(super) fn unsigned(&mut self) -> Parse<u32> {
        let token = self.expect(TokenKind::Integer)?;
        let text = self.text(token);
        text.parse()
            .map_err(|_| SyntaxFault::integer_range(text).at(token.position))
    }

    /// `WITHIN GROUP (ORDER BY ..)`
    pub(super) fn within_group(&mut self) -> Parse<Vec<OrderItem>> {
        self.advance();
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        if !self.is_keyword(Keyword::Order) {
            return Err(self.unexpected());
        }
        let order_by = self.optional_order_by()?;
        self.expect(TokenKind::RightParen)?;
        Ok(order_by)
    }
}
