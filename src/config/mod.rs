//! What is written (environment, `claw.toml`, the home) becomes what is meant (validated). The only reader of the process
//! environment. Must not know any room that uses a setting.

pub mod toml_fault;
