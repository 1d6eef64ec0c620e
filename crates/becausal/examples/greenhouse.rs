//! Writes the log of a greenhouse whose rules are known: `cargo run --example greenhouse > examples/greenhouse/log.csv`.
//!
//! Sixty days of 48 half-hours. A controller heats when it is cold and vents when it is damp, and does something
//! at random in a quarter of the half-hours: without variety nothing can be learned about what it does not do.

use std::fmt::Write;

use becausal::Stream;

const DAYS: u32 = 60;
const HALF_HOURS: u32 = 48;
const DEVICES: [&str; 3] = ["off", "heat", "vent"];

fn main() {
    print!("{}", log());
}

/// The log as CSV: states in sequence, one row for each half-hour.
#[must_use]
pub fn log() -> String {
    let mut text = String::from("timestamp,episode,temperature,humidity,outside,device\n");
    for day in 0..DAYS {
        let mut noise = Stream::keyed(1, &[day]);
        let mut temperature = noise.uniform(16.0, 24.0);
        let mut humidity = noise.uniform(50.0, 75.0);
        let mut outside = noise.uniform(0.0, 16.0);
        for half_hour in 0..HALF_HOURS {
            let device = if noise.unit() < 0.25 {
                DEVICES[noise.below(3)]
            } else if humidity > 66.0 {
                "vent"
            } else if temperature < 20.5 {
                "heat"
            } else {
                "off"
            };
            let (hour, minute) = (half_hour / 2, 30 * (half_hour % 2));
            let _ = writeln!(
                text,
                "day-{day:02}T{hour:02}:{minute:02},{day},{temperature:.2},{humidity:.2},{outside:.2},{device}"
            );
            let (heats, vents) = (f64::from(device == "heat"), f64::from(device == "vent"));
            // The rules: humidity does not depend on the temperature, nor the weather on anything.
            let leak = (0.06 + 0.25 * vents) * (outside - temperature);
            temperature += leak + 1.6 * heats + 0.1 * noise.normal();
            humidity += 0.1 * (72.0 - humidity) - 5.0 * vents + 0.5 * noise.normal();
            outside += 0.05 * (8.0 - outside) + 0.4 * noise.normal();
        }
    }
    text
}
