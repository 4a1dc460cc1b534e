//! `claw supervise` as a program beside the unit tests of the hub, which have no claw to start. Not
//! part of the product.

fn main() -> std::process::ExitCode {
    claw_core::hub::supervisor::main()
}
