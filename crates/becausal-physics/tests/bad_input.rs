//! Invalid input is rejected with an error that names it, and changes nothing.

use becausal_physics::{
    BodyKind, Edge, Error, Filter, Limits, Material, Motor, Polygon, RevoluteJoint, Vector, World,
};

const GRAVITY: f32 = 10.0;

#[test]
fn invalid_shapes_are_rejected() {
    let point = Vector::new;
    let circle = |count: u8| -> Vec<Vector> {
        (0..count).map(f32::from).map(|k| point(k.cos(), k.sin())).collect()
    };
    for count in [0, 1, 2, 17, 40] {
        let got = usize::from(count);
        assert_eq!(Polygon::new(&circle(count)), Err(Error::VertexCount { got }));
    }
    let bad = [
        vec![point(0.0, 0.0), point(1.0, 0.0), point(f32::NAN, 1.0)],
        vec![point(0.0, 0.0), point(1.0, 0.0), point(f32::INFINITY, 1.0)],
        vec![point(0.0, 0.0), point(1.0, 1.0), point(2.0, 2.0)],
        vec![point(1.0, 1.0); 5],
        vec![point(0.0, 0.0), point(1.0, 0.0), point(0.0, 0.0), point(1.0, 0.0)],
        vec![point(0.0, 0.0), point(f32::MAX, 0.0), point(0.0, f32::MAX)],
        vec![point(0.0, 0.0), point(1e-5, 0.0), point(0.0, 1e-5)],
    ];
    for points in bad {
        assert!(Polygon::new(&points).is_err(), "{points:?}");
    }
    for (width, height) in [(0.0, 1.0), (-1.0, 1.0), (f32::NAN, 1.0), (1.0, f32::INFINITY)] {
        assert!(Polygon::rectangle(width, height).is_err());
    }
    assert!(Edge::new(Vector::ZERO, Vector::ZERO).is_err());
    assert!(Edge::new(Vector::ZERO, point(f32::NAN, 0.0)).is_err());
}

#[test]
fn invalid_bodies_fixtures_forces_and_steps_are_rejected() -> Result<(), Error> {
    let nan = f32::NAN;
    assert!(World::new(Vector::new(0.0, nan)).is_err());
    let mut world = World::new(Vector::new(0.0, -GRAVITY))?;
    assert!(world.add_body(BodyKind::Dynamic, Vector::new(nan, 0.0), 0.0).is_err());
    assert!(world.add_body(BodyKind::Dynamic, Vector::ZERO, f32::INFINITY).is_err());
    let body = world.add_body(BodyKind::Dynamic, Vector::ZERO, 0.0)?;
    let square = Polygon::rectangle(0.5, 0.5)?;
    let fine = Material { density: 1.0, ..Material::default() };
    for material in [
        Material { density: -1.0, ..fine },
        Material { density: nan, ..fine },
        Material { friction: -0.1, ..fine },
        Material { restitution: nan, ..fine },
    ] {
        let result = world.add_fixture(body, square.clone(), material, Filter::default());
        assert!(result.is_err(), "{material:?}");
    }
    assert!(world.apply_force(body, Vector::new(nan, 0.0)).is_err());
    assert!(world.apply_torque(body, nan).is_err());
    assert!(world.apply_impulse(body, Vector::ZERO, Vector::new(nan, 0.0)).is_err());
    for seconds in [nan, -0.1, f32::INFINITY] {
        assert!(world.step(seconds, 10, 10).is_err());
    }
    let foreign = world.add_body(BodyKind::Static, Vector::ZERO, 0.0)?;
    let mut empty = World::new(Vector::ZERO)?;
    assert_eq!(empty.apply_torque(foreign, 1.0), Err(Error::NoBody { got: 1 }));
    Ok(())
}

#[test]
fn invalid_joints_are_rejected() -> Result<(), Error> {
    let nan = f32::NAN;
    let mut world = World::new(Vector::ZERO)?;
    let body = world.add_body(BodyKind::Dynamic, Vector::ZERO, 0.0)?;
    let other = world.add_body(BodyKind::Dynamic, Vector::new(1.0, 0.0), 0.0)?;
    let joint = RevoluteJoint {
        bodies: [body, other],
        anchors: [Vector::ZERO; 2],
        reference_angle: 0.0,
        motor: None,
        limits: None,
        collide: false,
    };
    let bad_joints = [
        RevoluteJoint { bodies: [body, body], ..joint },
        RevoluteJoint { anchors: [Vector::new(nan, 0.0), Vector::ZERO], ..joint },
        RevoluteJoint { reference_angle: nan, ..joint },
        RevoluteJoint { motor: Some(Motor { speed: nan, max_torque: 1.0 }), ..joint },
        RevoluteJoint { motor: Some(Motor { speed: 1.0, max_torque: -1.0 }), ..joint },
        RevoluteJoint { limits: Some(Limits { lower: 1.0, upper: 0.0 }), ..joint },
        RevoluteJoint { limits: Some(Limits { lower: nan, upper: 0.0 }), ..joint },
    ];
    for bad in &bad_joints {
        assert!(world.add_joint(bad).is_err(), "{bad:?}");
    }
    assert!(world.add_joint(&joint).is_ok());
    Ok(())
}
