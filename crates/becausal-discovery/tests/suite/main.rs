//! Discovery on worlds whose causes are known.

#[path = "../../benches/discovery/calibration.rs"]
mod calibration;
mod discovery;
#[path = "../../benches/discovery/probes.rs"]
mod probes;
#[path = "../../benches/discovery/worlds.rs"]
mod worlds;
