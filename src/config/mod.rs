//! placeholder

pub mod model;
