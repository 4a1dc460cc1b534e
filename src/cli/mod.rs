//! x
pub mod fail;
pub mod out;
pub mod server;
pub mod turn_report;
pub mod follow;
