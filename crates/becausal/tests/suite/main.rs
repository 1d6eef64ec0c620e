//! The front door and trainings from beginning to end.

mod training;
