//! The viewer's server, as browsers, programs and attackers see it.

mod answers;
mod common;
mod probes;
