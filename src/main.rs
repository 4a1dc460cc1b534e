//! claw
fn main() {}
