//! When heartbeats fire, and what comes of it: on a held clock, with a real gate and a real server.

mod firing;
mod shown;
mod when;
