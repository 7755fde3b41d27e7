//! Reports of studies that were never run, and what is made of their blocks.

mod analysis;
mod browser;
mod compare;
mod fixture;
mod gate;
mod html;
mod material;
mod online;
mod scene;
mod text;
