//! Properties of every world: numbers stay finite, energy does not grow, bodies come to rest, and
//! clones agree.

#![allow(clippy::cast_possible_truncation, reason = "counts are small")]

use becausal_physics::{
    BodyId, BodyKind, Edge, Error, Filter, Limits, MAX_VERTICES, Material, Motor, Polygon,
    RevoluteJoint, Vector, World,
};

/// A small seeded generator (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.next() >> 40) as f32 / (1_u32 << 24) as f32)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn polygon(&mut self) -> Polygon {
        loop {
            let count = 3 + self.below(MAX_VERTICES - 2);
            let points: Vec<Vector> = (0..count)
                .map(|_| Vector::new(self.between(-0.8, 0.8), self.between(-0.8, 0.8)))
                .collect();
            if let Ok(polygon) = Polygon::new(&points) {
                return polygon;
            }
        }
    }
}

const GRAVITY: f32 = 10.0;

/// A basin with random polygons above it, some of them joined.
fn random_world(random: &mut Random, motors: bool) -> (World, Vec<BodyId>) {
    let build = |random: &mut Random| -> Result<(World, Vec<BodyId>), Error> {
        let mut world = World::new(Vector::new(0.0, -GRAVITY))?;
        let ground = world.add_body(BodyKind::Static, Vector::ZERO, 0.0)?;
        let corners = [(-9.0, 9.0), (-7.0, 0.0), (0.0, random.between(-1.0, 1.0)), (7.0, 0.0)];
        let corners = corners.into_iter().chain([(9.0, 9.0)]).map(|(x, y)| Vector::new(x, y));
        for ends in corners.collect::<Vec<_>>().windows(2) {
            let rough = Material { friction: 0.6, ..Material::default() };
            world.add_fixture(ground, Edge::new(ends[0], ends[1])?, rough, Filter::default())?;
        }
        let mut bodies = Vec::new();
        for _ in 0..2 + random.below(10) {
            let place = Vector::new(random.between(-5.0, 5.0), random.between(2.0, 9.0));
            let body = world.add_body(BodyKind::Dynamic, place, random.between(-3.0, 3.0))?;
            let material = Material {
                density: random.between(0.5, 3.0),
                friction: random.between(0.1, 0.9),
                restitution: 0.0,
            };
            world.add_fixture(body, random.polygon(), material, Filter::default())?;
            bodies.push(body);
        }
        for pair in bodies.windows(2).step_by(3) {
            let anchor = |random: &mut Random| {
                Vector::new(random.between(-0.5, 0.5), random.between(-0.5, 0.5))
            };
            let lower = random.between(-1.0, 0.5);
            world.add_joint(&RevoluteJoint {
                bodies: [pair[0], pair[1]],
                anchors: [anchor(random), anchor(random)],
                reference_angle: world.body(pair[1]).angle() - world.body(pair[0]).angle(),
                motor: motors.then(|| Motor { speed: random.between(-5.0, 5.0), max_torque: 20.0 }),
                limits: (random.below(2) == 0)
                    .then(|| Limits { lower, upper: lower + random.between(0.0, 1.5) }),
                collide: random.below(2) == 0,
            })?;
        }
        Ok((world, bodies))
    };
    build(random).expect("a valid world")
}

fn energy(world: &World) -> f64 {
    let moving = world.bodies().iter().filter(|body| body.kind() == BodyKind::Dynamic);
    moving
        .map(|body| {
            let (velocity, spin) = (body.velocity(), f64::from(body.angular_velocity()));
            let mass = f64::from(body.mass());
            0.5 * mass * f64::from(velocity.length_squared())
                + 0.5 * f64::from(body.inertia()) * spin * spin
                + mass * f64::from(GRAVITY) * f64::from(body.centre().y)
        })
        .sum()
}

fn all_finite(world: &World) -> bool {
    world.bodies().iter().all(|body| {
        body.position().is_finite()
            && body.velocity().is_finite()
            && body.angle().is_finite()
            && body.angular_velocity().is_finite()
    })
}

#[test]
fn numbers_stay_finite_and_clones_agree() {
    for seed in 0..40 {
        let mut random = Random(seed);
        let (mut world, bodies) = random_world(&mut random, true);
        let mut clone = None;
        for step in 0..200 {
            let body = bodies[random.below(bodies.len())];
            let push = Vector::new(random.between(-3.0, 3.0), random.between(-3.0, 3.0));
            let point = world.body(body).centre();
            for world in std::iter::once(&mut world).chain(clone.as_mut()) {
                world.apply_impulse(body, push, point).expect("a finite impulse");
                world.step(0.02, 20, 10).expect("a valid step");
            }
            assert!(all_finite(&world), "seed {seed}, step {step}");
            if step == 80 {
                clone = Some(world.clone());
            }
        }
        let clone = clone.expect("a clone");
        for (one, two) in world.bodies().iter().zip(clone.bodies()) {
            assert_eq!(one.transform(), two.transform(), "seed {seed}");
            assert_eq!(one.velocity(), two.velocity(), "seed {seed}");
        }
    }
}

/// The anchors of the joints start apart, so a world first has to settle. From then on its energy
/// must not grow, except for what position correction adds.
#[test]
fn energy_does_not_grow_once_the_joints_have_settled() {
    for seed in 100..140 {
        let (mut world, _) = random_world(&mut Random(seed), false);
        for _ in 0..100 {
            world.step(0.02, 20, 10).expect("a valid step");
        }
        let first = energy(&world);
        let allowed = first + 0.25 * first.abs() + 2.0;
        for step in 0..300 {
            world.step(0.02, 20, 10).expect("a valid step");
            let now = energy(&world);
            assert!(now < allowed, "seed {seed}, step {step}: {now} after {first}");
        }
    }
}

#[test]
fn resting_boxes_fall_asleep_and_wake_when_pushed() -> Result<(), Error> {
    for seed in 200..210 {
        let mut random = Random(seed);
        let mut world = World::new(Vector::new(0.0, -GRAVITY))?;
        let ground = world.add_body(BodyKind::Static, Vector::ZERO, 0.0)?;
        let floor = Edge::new(Vector::new(-50.0, 0.0), Vector::new(50.0, 0.0))?;
        world.add_fixture(ground, floor, Material::default(), Filter::default())?;
        let solid = Material { density: 1.0, friction: 0.5, restitution: 0.0 };
        let mut boxes = Vec::new();
        for column in 0..5_u8 {
            let x = 4.0 * f32::from(column) + random.between(-0.5, 0.5);
            for row in 0..3_u8 {
                let place = Vector::new(x, 0.6 + 1.1 * f32::from(row));
                let body = world.add_body(BodyKind::Dynamic, place, 0.0)?;
                let shape = Polygon::rectangle(random.between(0.4, 0.5), 0.5)?;
                world.add_fixture(body, shape, solid, Filter::default())?;
                boxes.push(body);
            }
        }
        for _ in 0..300 {
            world.step(0.02, 20, 10)?;
        }
        assert!(boxes.iter().all(|&body| !world.body(body).is_awake()), "seed {seed}");
        let asleep: Vec<_> = world.bodies().iter().map(|body| *body.transform()).collect();
        world.step(0.02, 20, 10)?;
        let later: Vec<_> = world.bodies().iter().map(|body| *body.transform()).collect();
        assert_eq!(asleep, later);

        world.apply_impulse(boxes[1], Vector::new(3.0, 0.0), world.body(boxes[1]).centre())?;
        world.step(0.02, 20, 10)?;
        let awake = |index: usize| world.body(boxes[index]).is_awake();
        assert!(awake(0) && awake(1) && awake(2), "the pushed column wakes");
        assert!(!awake(3), "the next column stays asleep");
    }
    Ok(())
}

#[test]
fn fast_bodies_do_not_tunnel_through_edges() -> Result<(), Error> {
    for seed in 300..330 {
        let mut random = Random(seed);
        let mut world = World::new(Vector::new(0.0, -GRAVITY))?;
        let ground = world.add_body(BodyKind::Static, Vector::ZERO, 0.0)?;
        let floor = Edge::new(Vector::new(-50.0, 0.0), Vector::new(50.0, 0.0))?;
        world.add_fixture(ground, floor, Material::default(), Filter::default())?;
        let bullet = world.add_body(BodyKind::Dynamic, Vector::new(0.0, 5.0), 0.3)?;
        let solid = Material { density: 1.0, ..Material::default() };
        world.add_fixture(bullet, Polygon::rectangle(0.1, 0.1)?, solid, Filter::default())?;
        let mass = world.body(bullet).mass();
        let speed = Vector::new(random.between(-20.0, 20.0), random.between(-95.0, -40.0));
        let impulse = Vector::new(mass * speed.x, mass * speed.y);
        world.apply_impulse(bullet, impulse, world.body(bullet).centre())?;
        let mut touched = false;
        for _ in 0..60 {
            world.step(0.02, 10, 10)?;
            touched |= world.events().iter().any(|event| event.begins);
            assert!(world.body(bullet).centre().y > 0.0, "seed {seed}");
        }
        assert!(touched, "seed {seed}");
    }
    Ok(())
}

/// Points that repeat or lie on a line may be dropped, but never give a shape that is not convex.
#[test]
fn repeated_and_collinear_points_give_a_convex_polygon_or_an_error() {
    let mut random = Random(400);
    for _ in 0..20_000 {
        let count = 3 + random.below(14);
        let points: Vec<Vector> = (0..count)
            .map(|_| Vector::new(random.below(4) as f32, random.below(4) as f32))
            .collect();
        let Ok(polygon) = Polygon::new(&points) else {
            continue;
        };
        let corners = polygon.vertices();
        for (index, &corner) in corners.iter().enumerate() {
            let side = corners[(index + 1) % corners.len()] - corner;
            assert!(corners.iter().all(|&other| side.cross(other - corner) >= 0.0));
        }
    }
}

#[test]
fn a_world_can_be_sent_to_another_thread() {
    fn needs<T: Clone + Send + Sync + 'static>() {}
    needs::<World>();
}
