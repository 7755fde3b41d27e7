//! IF, WHILE, GOTO, RETURN, TRY.

use std::collections::HashMap;

use selenite_tsql::ast::{self, Position};
use selenite_types::DataType;

use super::{Compiler, Returns};
use crate::program::index;
use crate::program::step::{Branch, Role, Step, Target, TryRegion};
use crate::{NameKey, SqlError};

/// The state of a compilation: loops, TRYs and labels.
#[derive(Default)]
pub(super) struct Flow {
    loops: Vec<Loop>,
    /// The enclosing TRY and CATCH blocks, outermost first.
    blocks: Vec<Block>,
    block_count: u32,
    labels: HashMap<NameKey, Label>,
    gotos: Vec<Goto>,
}

/// A WHILE that is being compiled.
struct Loop {
    /// The step of its condition.
    test: Target,
    /// The number of CATCH blocks around it.
    catch_depth: u32,
    /// The jumps to its end.
    breaks: Vec<usize>,
}

/// A TRY or CATCH block.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Block {
    number: u32,
    is_catch: bool,
}

struct Label {
    target: Target,
    blocks: Vec<Block>,
}

struct Goto {
    step: usize,
    name: ast::Name,
    line: u32,
    blocks: Vec<Block>,
}

impl Compiler<'_> {
    /// IF; a chain of ELSE IFs, which may be long, is walked without recursion.
    pub(super) fn if_statement(&mut self, statement: ast::If, position: Position) {
        let mut tests = Vec::new();
        let mut jumps = Vec::new();
        let (mut statement, mut position) = (statement, position);
        loop {
            let test = self.condition(&statement.condition, position);
            tests.push(test);
            self.statement(statement.then);
            let Some(otherwise) = statement.otherwise else {
                self.patch(test, self.here());
                break;
            };
            jumps.push(self.steps.len());
            self.push(Step::Jump(0), position.line);
            self.patch(test, self.here());
            let ast::StatementKind::If(next) = otherwise.kind else {
                self.statement(otherwise);
                break;
            };
            (statement, position) = (*next, otherwise.position);
        }
        let end = self.here();
        for jump in jumps {
            self.patch(jump, end);
        }
        for test in tests {
            self.patch_end(test, end);
        }
    }

    pub(super) fn while_statement(&mut self, statement: ast::While, position: Position) {
        let start = self.here();
        let test = self.condition(&statement.condition, position);
        let catch_depth = self.flow.catch_depth();
        self.flow.loops.push(Loop {
            test: start,
            catch_depth,
            breaks: Vec::new(),
        });
        self.statement(statement.body);
        self.push(Step::Jump(start), position.line);
        let end = self.here();
        self.patch(test, end);
        self.patch_end(test, end);
        let breaks = self.flow.loops.pop().map(|inner| inner.breaks).unwrap_or_default();
        for step in breaks {
            self.patch(step, end);
        }
    }

    pub(super) fn break_statement(&mut self, line: u32) -> Result<(), SqlError> {
        let step = self.steps.len();
        let depth = self.flow.catch_depth();
        let Some(inner) = self.flow.loops.last_mut() else {
            return Err(SqlError::break_outside_loop());
        };
        inner.breaks.push(step);
        let jump = leave(0, inner.catch_depth, depth);
        self.push(jump, line);
        Ok(())
    }

    pub(super) fn continue_statement(&mut self, line: u32) -> Result<(), SqlError> {
        let depth = self.flow.catch_depth();
        let Some(inner) = self.flow.loops.last() else {
            return Err(SqlError::continue_outside_loop());
        };
        let jump = leave(inner.test, inner.catch_depth, depth);
        self.push(jump, line);
        Ok(())
    }

    pub(super) fn return_statement(&mut self, value: Option<ast::Expr>, position: Position) -> Result<(), SqlError> {
        let Some(value) = value else {
            if let Returns::Value(_) = self.returns {
                return Err(SqlError::return_without_value());
            }
            self.push(Step::Return(None), position.line);
            return Ok(());
        };
        let data_type = match self.returns {
            Returns::Nothing | Returns::Rows => return Err(SqlError::return_value_not_allowed()),
            Returns::Status => DataType::Int,
            Returns::Value(data_type) => data_type,
        };
        if let Some(operand) = self.scalar(&value, Some(&data_type))? {
            self.push(Step::Return(Some(Box::new(operand))), position.line);
            return Ok(());
        }
        let (name, slot) = self.hidden(data_type)?;
        self.select_into(&name, ast::AssignmentOperator::Set, value, position, Role::Value)?;
        self.push(Step::ReturnSlot(slot), position.line);
        Ok(())
    }

    pub(super) fn goto(&mut self, name: &ast::Name, line: u32) {
        let step = self.steps.len();
        self.flow.gotos.push(Goto {
            step,
            name: name.clone(),
            line,
            blocks: self.flow.blocks.clone(),
        });
        self.push(
            Step::Goto {
                target: 0,
                catch_depth: 0,
            },
            line,
        );
    }

    pub(super) fn label(&mut self, name: &ast::Name) -> Result<(), SqlError> {
        let label = Label {
            target: self.here(),
            blocks: self.flow.blocks.clone(),
        };
        match self.flow.labels.insert(NameKey::new(&name.text), label) {
            None => Ok(()),
            Some(_) => Err(SqlError::label_declared_twice(&name.text)),
        }
    }

    /// Resolves the targets of GOTOs.
    pub(super) fn patch_gotos(&mut self) {
        for goto in std::mem::take(&mut self.flow.gotos) {
            let error = match self.flow.labels.get(&NameKey::new(&goto.name.text)) {
                Some(label) if goto.blocks.starts_with(&label.blocks) => {
                    let catch_depth = catch_depth(&label.blocks);
                    self.steps[goto.step] = Step::Goto {
                        target: label.target,
                        catch_depth,
                    };
                    continue;
                }
                Some(_) => SqlError::goto_into_try(),
                None => SqlError::unknown_label(&goto.name.text),
            };
            self.error(error, goto.line);
        }
    }

    pub(super) fn try_statement(&mut self, statement: ast::Try, line: u32) {
        let depth = self.flow.catch_depth();
        self.push(Step::BeginTry, line);
        let start = self.here();
        self.flow.open(false);
        self.statements(statement.body);
        self.flow.close();
        let end = self.here();
        self.push(Step::EndTry(0), line);
        let handler = self.here();
        self.flow.open(true);
        self.statements(statement.handler);
        self.flow.close();
        self.push(Step::EndCatch { catch_depth: depth }, line);
        let after = self.here();
        self.steps[index(end)] = Step::EndTry(after);
        self.tries.push(TryRegion {
            start,
            end,
            handler,
            catch_depth: depth,
        });
    }

    /// Whether a CATCH block is open.
    pub(super) fn in_catch(&self) -> bool {
        self.flow.catch_depth() > 0
    }

    /// Compiles the condition of IF or WHILE, and returns the step whose target is to be patched. After an error in it
    /// the rest is compiled all the same, because it may contain declarations.
    fn condition(&mut self, condition: &ast::Condition, position: Position) -> usize {
        let step = self.steps.len();
        if let Err(error) = self.try_condition(condition, position) {
            self.error(error, condition.position.line);
        }
        if self.steps.len() == step {
            self.push(Step::Jump(0), position.line);
        }
        step
    }

    fn try_condition(&mut self, condition: &ast::Condition, position: Position) -> Result<(), SqlError> {
        let Some((bound, reads)) = self.scalar_condition(condition)? else {
            return self.query_condition(condition, position);
        };
        let step = self.fast_branch(Branch {
            condition: bound,
            otherwise: 0,
            end: 0,
            reads,
        });
        self.push(step, position.line);
        Ok(())
    }

    /// Patches the target of a jump.
    fn patch(&mut self, step: usize, to: Target) {
        let place = if let Step::Branch(branch) = &mut self.steps[step] {
            &mut branch.otherwise
        } else if let Step::BranchInt(branch) = &mut self.steps[step] {
            &mut branch.general.otherwise
        } else if let Step::Jump(target) | Step::Goto { target, .. } = &mut self.steps[step] {
            target
        } else if let Step::Statement {
            role: Role::Condition { otherwise, .. },
            ..
        } = &mut self.steps[step]
        {
            otherwise
        } else {
            return;
        };
        *place = to;
    }
}

impl Compiler<'_> {
    /// Patches the end of a branch, where execution continues after an error in its condition.
    fn patch_end(&mut self, step: usize, to: Target) {
        let step = &mut self.steps[step];
        if let Step::Branch(branch) = step {
            branch.end = to;
        } else if let Step::BranchInt(branch) = step {
            branch.general.end = to;
        } else if let Step::Statement {
            role: Role::Condition { end, .. },
            ..
        } = step
        {
            *end = to;
        }
    }
}

impl Flow {
    fn open(&mut self, is_catch: bool) {
        let number = self.block_count;
        self.block_count += 1;
        self.blocks.push(Block { number, is_catch });
    }

    fn close(&mut self) {
        self.blocks.pop();
    }

    fn catch_depth(&self) -> u32 {
        catch_depth(&self.blocks)
    }
}

fn catch_depth(blocks: &[Block]) -> u32 {
    super::number(blocks.iter().filter(|block| block.is_catch).count())
}

/// A jump from `depth` CATCH blocks to a target within `kept` of them.
fn leave(target: Target, kept: u32, depth: u32) -> Step {
    if kept == depth {
        return Step::Jump(target);
    }
    Step::Goto {
        target,
        catch_depth: kept,
    }
}
