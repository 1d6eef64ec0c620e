//! The front door and trainings from beginning to end.

mod decisions;
mod foreign;
mod front_door;
mod lander;
mod logs;
mod paper;
mod progress;
mod training;
mod tried;
