//! Reports of synthetic studies, and the analysis of their blocks.

mod analysis;
mod browser;
mod compare;
mod fixture;
mod gate;
mod html;
mod material;
mod observatory;
mod online;
mod plan;
mod published;
mod scene;
mod text;
mod versions;
