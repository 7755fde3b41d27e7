//! What a destination answers is opened, or refused.
#![cfg(test)]

mod catalog;
mod chain;
mod fixture;
mod opened;
mod pages;
