//! What a destination answers is opened, or refused.

mod catalog;
mod chain;
mod fixture;
mod forged;
mod opened;
mod pages;
