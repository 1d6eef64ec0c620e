//! Random worlds of edges, polygons and joints, recorded with Box2D 2.3, are reproduced exactly.
//!
//! The recording starts with the number of scenes and of steps (u32 each). A scene is its gravity
//! (2 f32), the numbers of bodies, joints, velocity and position iterations (u32 each), the seconds
//! of a step (f32), the bodies, the joints, three kicks, and a hash of all bodies and contact
//! events after every step (u64). The readers below show the rest. All numbers are little-endian.
//! `golden/record_scenes.py` writes a recording. Set the environment variable `SCENES` to check
//! another one.

#![allow(
    clippy::cast_possible_truncation,
    reason = "recordings are in single precision, ids are small"
)]

use becausal_physics::{
    BodyId, BodyKind, Edge, Error, Filter, Limits, Material, Motor, Polygon, RevoluteJoint, Shape,
    Vector, World,
};

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, tail) = self.0.split_first_chunk::<N>().expect("a complete recording");
        self.0 = tail;
        *head
    }

    fn flag(&mut self) -> bool {
        self.take::<1>()[0] != 0
    }

    fn count(&mut self) -> usize {
        u32::from_le_bytes(self.take()) as usize
    }

    fn number(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }

    fn vector(&mut self) -> Vector {
        let x = self.number();
        Vector::new(x, self.number())
    }

    fn fixture(&mut self) -> Result<(Shape, Material, Filter), Error> {
        let kind = self.take::<1>()[0];
        let count = self.count();
        let points: Vec<Vector> = (0..count).map(|_| self.vector()).collect();
        let shape = match kind {
            0 => Edge::new(points[0], points[1])?.into(),
            1 => Polygon::new(&points)?.into(),
            _ => Polygon::rectangle(points[0].x, points[0].y)?.into(),
        };
        let [density, friction, restitution] = [(); 3].map(|()| self.number());
        let category = u16::from_le_bytes(self.take());
        let accepts = u16::from_le_bytes(self.take());
        Ok((shape, Material { density, friction, restitution }, Filter { category, accepts }))
    }

    fn body(&mut self, world: &mut World) -> Result<BodyId, Error> {
        let kind = if self.flag() { BodyKind::Static } else { BodyKind::Dynamic };
        let position = self.vector();
        let body = world.add_body(kind, position, self.number())?;
        for _ in 0..self.count() {
            let (shape, material, filter) = self.fixture()?;
            world.add_fixture(body, shape, material, filter)?;
        }
        Ok(body)
    }

    fn joint(&mut self, bodies: &[BodyId]) -> RevoluteJoint {
        let bodies = [bodies[self.count()], bodies[self.count()]];
        let anchors = [self.vector(), self.vector()];
        let reference_angle = self.number();
        let limits = Limits { lower: self.number(), upper: self.number() };
        let motor = Motor { speed: self.number(), max_torque: self.number() };
        let motor = self.flag().then_some(motor);
        let limits = self.flag().then_some(limits);
        RevoluteJoint { bodies, anchors, reference_angle, motor, limits, collide: self.flag() }
    }
}

fn hash(world: &World) -> u64 {
    let bodies = world.bodies().iter().flat_map(|body| {
        let (position, velocity) = (body.position(), body.velocity());
        let numbers = [position.x, position.y, body.angle(), velocity.x, velocity.y];
        let numbers = numbers.into_iter().chain([body.angular_velocity()]).map(f32::to_bits);
        numbers.chain([u32::from(body.is_awake())])
    });
    let events = world.events().iter().flat_map(|event| {
        let [first, second] = event.bodies.map(|body| body.index() as u32);
        [u32::from(event.begins), first, second]
    });
    bodies.chain(events).fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn recorded_scenes_are_reproduced_bit_for_bit() -> Result<(), Error> {
    let path = std::env::var("SCENES").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/scenes.bin").to_string()
    });
    let bytes = std::fs::read(path).expect("a recording");
    let mut file = Reader(&bytes);
    let (scenes, steps) = (file.count(), file.count());
    let mut wrong = Vec::new();
    for scene in 0..scenes {
        let mut world = World::new(file.vector())?;
        let (body_count, joint_count) = (file.count(), file.count());
        let (velocity_iterations, position_iterations) = (file.count(), file.count());
        let seconds = file.number();
        let bodies =
            (0..body_count).map(|_| file.body(&mut world)).collect::<Result<Vec<_>, _>>()?;
        for _ in 0..joint_count {
            world.add_joint(&file.joint(&bodies))?;
        }
        let kicks = [(); 3].map(|()| (file.count(), file.count(), file.vector(), file.number()));
        let mut first_wrong = None;
        for step in 0..steps {
            for (when, body, impulse, offset) in kicks {
                if when == step {
                    let place = world.body(bodies[body]).position();
                    let point =
                        Vector::new((f64::from(place.x) + f64::from(offset)) as f32, place.y);
                    world.apply_impulse(bodies[body], impulse, point)?;
                }
            }
            world.step(seconds, velocity_iterations, position_iterations)?;
            let recorded = u64::from_le_bytes(file.take());
            if recorded != hash(&world) && first_wrong.is_none() {
                first_wrong = Some(step);
            }
        }
        wrong.extend(first_wrong.map(|step| (scene, step)));
    }
    assert!(file.0.is_empty(), "the recording has more than its scenes");
    assert!(wrong.is_empty(), "{} of {scenes} scenes differ (scene, step): {wrong:?}", wrong.len());
    Ok(())
}
