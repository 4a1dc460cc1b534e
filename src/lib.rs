//! claw: a personal agent that asks before it acts. The modules in reading order are the tour of the house; who may know
//! whom is in `docs/architecture.md` and held by `tests/arrows.rs`.

pub mod domain;

mod killpoint;

pub mod config;

pub mod store;

pub mod mail;

pub mod hub;

pub mod gate;

pub mod model;

pub mod turn;

pub mod session;

pub mod gateway;

pub mod cli;
