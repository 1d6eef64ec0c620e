//! A small rigid-body engine in 32-bit floats, deterministic to the last bit.
//!
//! It has edges and convex polygons, contacts with friction, revolute joints with motors and
//! limits, sleeping, and continuous collision against static bodies. The order of every
//! floating-point operation follows the engine behind Gymnasium's environments (Box2D 2.3.0), so
//! that trajectories recorded there are reproduced bit for bit. Nothing is fused, vectorised across
//! operations or left to a system library, so the result is the same on every processor.
//!
//! ```
//! use becausal_physics::{BodyKind, Edge, Filter, Material, Polygon, Vector, World};
//!
//! let mut world = World::new(Vector::new(0.0, -10.0))?;
//! let ground = world.add_body(BodyKind::Static, Vector::ZERO, 0.0)?;
//! let edge = Edge::new(Vector::new(-5.0, 0.0), Vector::new(5.0, 0.0))?;
//! world.add_fixture(ground, edge, Material::default(), Filter::default())?;
//!
//! let crate_ = world.add_body(BodyKind::Dynamic, Vector::new(0.0, 2.0), 0.1)?;
//! let solid = Material { density: 1.0, ..Material::default() };
//! world.add_fixture(crate_, Polygon::rectangle(0.5, 0.5)?, solid, Filter::default())?;
//!
//! for _ in 0..200 {
//!     world.step(0.02, 10, 10)?;
//! }
//! assert!(!world.body(crate_).is_awake());
//! # Ok::<(), becausal_physics::Error>(())
//! ```

#![allow(
    clippy::cast_possible_truncation,
    reason = "the engine computes in 32 bits; a polygon has at most 16 corners"
)]
#![allow(
    clippy::similar_names,
    reason = "sides of triangles and pairs of bodies have similar names"
)]

mod angle;
mod body;
mod bounds;
mod broad_phase;
mod collide_edge;
mod collide_polygons;
mod contact;
mod contact_positions;
mod contact_solver;
mod continuous;
mod distance;
mod error;
mod fixture;
mod island;
mod joint;
mod joint_matrix;
mod joint_positions;
mod joint_velocities;
mod manifold;
mod motion;
mod polygon;
mod repeated_sum;
mod repetition;
mod settings;
mod shape;
mod time_of_impact;
mod transform;
mod vector;
mod velocity_iterations;
mod world;

pub use body::{Body, BodyId, BodyKind};
pub use contact::ContactEvent;
pub use error::Error;
pub use fixture::{Filter, Fixture, FixtureId, Material};
pub use joint::{JointId, Limits, Motor, RevoluteJoint};
pub use polygon::Polygon;
pub use settings::MAX_VERTICES;
pub use shape::{Edge, Shape};
pub use transform::{Rotation, Transform};
pub use vector::Vector;
pub use world::{Placement, World};
