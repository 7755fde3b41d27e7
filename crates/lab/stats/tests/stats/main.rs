//! Estimates against other libraries, simulations and any numbers: one executable for all.
#![cfg(test)]

mod golden;
mod simulation;
mod totality;
