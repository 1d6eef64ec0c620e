//! The world of LunarLander: random hills with a flat pad, the hull, and its two legs.

use becausal_physics::{
    BodyId, BodyKind, Edge, Error, Filter, Limits, Material, Motor, Polygon, RevoluteJoint, Vector,
    World,
};

use becausal_core::Stream;

/// Pixels per metre in Gymnasium's drawing. Lengths below are in these pixels.
pub(super) const SCALE: f64 = 30.0;
/// The visible world in metres.
pub(super) const WIDTH: f64 = 600.0 / SCALE;
pub(super) const HEIGHT: f64 = 400.0 / SCALE;

const HULL: [(f64, f64); 6] =
    [(-14.0, 17.0), (-17.0, 0.0), (-17.0, -10.0), (17.0, -10.0), (17.0, 0.0), (14.0, 17.0)];
const LEG_AWAY: f64 = 20.0;
pub(super) const LEG_DOWN: f64 = 18.0;
const LEG_HALF_WIDTH: f64 = 2.0;
const LEG_HALF_HEIGHT: f64 = 8.0;
const LEG_TORQUE: f64 = 40.0;
const LEG_SPEED: f64 = 0.3;

pub(super) const TERRAIN_POINTS: usize = 11;
const MIDDLE: usize = TERRAIN_POINTS / 2;

const GROUND: u16 = 0x0001;
const HULL_CATEGORY: u16 = 0x0010;
const LEG_CATEGORY: u16 = 0x0020;

/// A vector for the physics, which computes in 32 bits.
pub(super) fn narrow(x: f64, y: f64) -> Vector {
    Vector::new(x as f32, y as f32)
}

/// Random hills, flat around the pad, smoothed.
pub(super) fn terrain(random: &mut Stream) -> [(f64, f64); TERRAIN_POINTS] {
    let mut heights = [0.0; TERRAIN_POINTS + 1];
    for height in &mut heights {
        *height = random.uniform(0.0, HEIGHT / 2.0);
    }
    heights[MIDDLE - 2..=MIDDLE + 2].fill(HEIGHT / 4.0);
    let mut points = [(0.0, 0.0); TERRAIN_POINTS];
    for (index, point) in points.iter_mut().enumerate() {
        let before = heights[(index + TERRAIN_POINTS) % (TERRAIN_POINTS + 1)];
        *point = (
            WIDTH / (TERRAIN_POINTS - 1) as f64 * index as f64,
            0.33 * (before + heights[index] + heights[index + 1]),
        );
    }
    points
}

/// The ground: a base at height zero and the edges of the hills.
pub(super) fn add_ground(world: &mut World, terrain: &[(f64, f64)]) -> Result<(), Error> {
    let ground = world.add_body(BodyKind::Static, Vector::ZERO, 0.0)?;
    let base = Edge::new(Vector::ZERO, narrow(WIDTH, 0.0))?;
    world.add_fixture(ground, base, Material::default(), Filter::default())?;
    let soil = Material { friction: 0.1, ..Material::default() };
    for ends in terrain.windows(2) {
        let edge = Edge::new(narrow(ends[0].0, ends[0].1), narrow(ends[1].0, ends[1].1))?;
        world.add_fixture(ground, edge, soil, Filter::default())?;
    }
    Ok(())
}

/// The hull at the top of the view.
pub(super) fn add_hull(world: &mut World) -> Result<BodyId, Error> {
    let hull = world.add_body(BodyKind::Dynamic, narrow(WIDTH / 2.0, HEIGHT), 0.0)?;
    let outline = HULL.map(|(x, y)| narrow(x / SCALE, y / SCALE));
    let metal = Material { density: 5.0, friction: 0.1, restitution: 0.0 };
    let filter = Filter { category: HULL_CATEGORY, accepts: GROUND };
    world.add_fixture(hull, Polygon::new(&outline)?, metal, filter)?;
    Ok(hull)
}

/// Adds a leg. `side` is -1 or 1; the leg of -1 is on the right.
pub(super) fn add_leg(world: &mut World, hull: BodyId, side: f64) -> Result<BodyId, Error> {
    let position = narrow(WIDTH / 2.0 - side * LEG_AWAY / SCALE, HEIGHT);
    let leg = world.add_body(BodyKind::Dynamic, position, (side * 0.05) as f32)?;
    let shape =
        Polygon::rectangle((LEG_HALF_WIDTH / SCALE) as f32, (LEG_HALF_HEIGHT / SCALE) as f32)?;
    let strut = Material { density: 1.0, ..Material::default() };
    let filter = Filter { category: LEG_CATEGORY, accepts: GROUND };
    world.add_fixture(leg, shape, strut, filter)?;
    let (lower, upper) = if side < 0.0 { (0.9 - 0.5, 0.9) } else { (-0.9, -0.9 + 0.5) };
    let (hull_angle, leg_angle) = (world.body(hull).angle(), world.body(leg).angle());
    world.add_joint(&RevoluteJoint {
        bodies: [hull, leg],
        anchors: [Vector::ZERO, narrow(side * LEG_AWAY / SCALE, LEG_DOWN / SCALE)],
        reference_angle: (f64::from(leg_angle) - f64::from(hull_angle)) as f32,
        motor: Some(Motor { speed: (LEG_SPEED * side) as f32, max_torque: LEG_TORQUE as f32 }),
        limits: Some(Limits { lower: lower as f32, upper: upper as f32 }),
        collide: false,
    })?;
    Ok(leg)
}
