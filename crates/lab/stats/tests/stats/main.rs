//! Tests of the estimates against other libraries, simulations and arbitrary numbers, in one
//! executable.
#![cfg(test)]

mod golden;
mod sequential;
mod simulation;
mod totality;
