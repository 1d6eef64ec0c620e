//! The front door and trainings from beginning to end.

mod front_door;
mod logs;
mod progress;
mod training;
