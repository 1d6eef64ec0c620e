//! Discovery on worlds whose causes are known.

mod discovery;
#[path = "../../benches/discovery/probes.rs"]
mod probes;
#[path = "../../benches/discovery/worlds.rs"]
mod worlds;
