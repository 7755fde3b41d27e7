//! Labels and GOTO.

use std::collections::HashSet;

use super::{Parse, Parser};
use crate::{ast::Name, error::SyntaxFault, token::TokenKind};

/// The labels of a batch or procedure, and the targets of its GOTOs.
#[derive(Default)]
pub(super) struct Labels {
    declared: HashSet<String>,
    gotos: Vec<Name>,
}

impl Parser<'_> {
    /// Whether a label is next: a name and a colon, but not `::`.
    pub(super) fn is_label(&self) -> bool {
        self.is_name() && self.is_at(1, TokenKind::Colon) && !self.is_at(2, TokenKind::Colon)
    }

    pub(super) fn declare_label(&mut self, name: &Name) -> Parse<()> {
        if self.labels.declared.insert(name.text.to_lowercase()) {
            return Ok(());
        }
        Err(SyntaxFault::label_twice(&name.text).at(name.position))
    }

    pub(super) fn add_goto(&mut self, name: &Name) {
        self.labels.gotos.push(name.clone());
    }

    /// Checks at the end of a batch or procedure that every GOTO has its label.
    pub(super) fn check_labels(&mut self) -> Parse<()> {
        let labels = core::mem::take(&mut self.labels);
        let missing = labels
            .gotos
            .iter()
            .find(|name| !labels.declared.contains(&name.text.to_lowercase()));
        match missing {
            Some(name) => Err(SyntaxFault::label_missing(&name.text).at(name.position)),
            None => Ok(()),
        }
    }
}
