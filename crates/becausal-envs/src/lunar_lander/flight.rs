//! The flight: engines, wind, contacts, and Gymnasium's observation and reward.

use becausal_physics::{BodyId, Error, Placement, Rotation, Transform, Vector, World};

use super::functions::{hyperbolic_tangent, sine, sine_cosine};
use super::world::{
    HEIGHT, LEG_DOWN, SCALE, TERRAIN_POINTS, WIDTH, add_ground, add_hull, add_leg, narrow, terrain,
};
use becausal_core::Stream;

// All constants are Gymnasium's. Lengths are in pixels, see `SCALE`.

const STEPS_PER_SECOND: f64 = 50.0;
const VELOCITY_ITERATIONS: usize = 6 * 30;
const POSITION_ITERATIONS: usize = 2 * 30;

/// Height above the ground, in metres, up to which a craft stands on it whatever its contacts say. Shapes touch when
/// their skins do, 0.02 m apart, and a craft that stands may lift a leg by as much again without ever flying.
const NEAR_GROUND: f64 = 0.04;

const MAIN_POWER: f64 = 13.0;
const SIDE_POWER: f64 = 0.6;
const MAIN_HEIGHT: f64 = 4.0;
const SIDE_DISTANCE: f64 = 12.0;
/// Height of the side engines, along y and along x. The two differ, so the point of the craft at
/// which they push depends on its angle.
const SIDE_HEIGHT: f64 = 14.0;
const SIDE_HEIGHT_ACROSS: f64 = 17.0;
/// Cost in reward of one step of the main engine at full power.
const MAIN_FUEL: f64 = 0.3;
/// Cost in reward of one step of a side engine at full power.
const SIDE_FUEL: f64 = 0.03;
/// Maximum of the random force on the hull at the start, along x and along y.
const INITIAL_FORCE: f64 = 1000.0;

/// The options of the environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LunarLanderOptions {
    /// Gravity along y, strictly between -12 and 0.
    pub gravity: f64,
    /// Whether there is wind.
    pub enable_wind: bool,
    /// The maximum force of the wind; Gymnasium recommends 0 to 20.
    pub wind_power: f64,
    /// The maximum torque of the wind; Gymnasium recommends 0 to 2.
    pub turbulence_power: f64,
}

impl Default for LunarLanderOptions {
    fn default() -> Self {
        Self { gravity: -10.0, enable_wind: false, wind_power: 15.0, turbulence_power: 1.5 }
    }
}

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Gymnasium's reward.
    pub reward: f64,
    /// The cost of the fuel burnt, not negative.
    pub fuel: f64,
    /// The hull has touched the ground, or the craft has left the view sideways.
    pub crash: bool,
    /// The craft has come to rest.
    pub rest: bool,
}

/// The power of the engines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Thrust {
    /// 0, or 0.5 to 1.
    pub main: f64,
    /// 0, or 0.5 to 1.
    pub side: f64,
    /// -1 for the left engine, 1 for the right one.
    pub direction: f64,
}

/// The engines whose dispersion acts in a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Shown {
    /// All of them.
    #[default]
    All,
    /// Those that run with this thrust.
    Of(Thrust),
}

impl Shown {
    fn main(self) -> bool {
        match self {
            Self::All => true,
            Self::Of(thrust) => thrust.main > 0.0,
        }
    }

    /// The engine on one side.
    fn side(self, direction: f64) -> bool {
        match self {
            Self::All => true,
            Self::Of(thrust) => thrust.side > 0.0 && thrust.direction == direction,
        }
    }
}

/// A craft in flight. A clone continues exactly as the original would.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    options: LunarLanderOptions,
    world: World,
    random: Stream,
    hull: BodyId,
    legs: [BodyId; 2],
    leg_contacts: [bool; 2],
    crashed: bool,
    shaping: Option<f64>,
    wind_index: f64,
    torque_index: f64,
    pub(super) terrain: [(f64, f64); TERRAIN_POINTS],
    pub(super) thrust: Thrust,
    /// The dispersion of which engines acts in the next step.
    shown: Shown,
    state: [f32; 8],
}

impl Flight {
    /// x, y, velocity along x and y, angle, angular velocity, left and right leg on the ground.
    pub(super) fn state(&self) -> [f32; 8] {
        self.state
    }

    /// Where the hull and the legs are.
    pub(super) fn placements(&self) -> [&Transform; 3] {
        [self.hull, self.legs[0], self.legs[1]].map(|body| self.world.body(body).transform())
    }

    /// The corners of the hull and of each leg, in their own frames.
    pub(super) fn outlines(&self) -> [&[Vector]; 3] {
        let fixtures = self.world.fixtures();
        [3, 2, 1].map(|back| fixtures[fixtures.len() - back].shape().vertices())
    }

    /// Whether each leg stands on the ground.
    pub(super) fn leg_contacts(&self) -> [bool; 2] {
        self.leg_contacts
    }

    /// Starts the episode of a seed, including the idle step that Gymnasium makes first.
    pub(super) fn start(options: LunarLanderOptions, seed: u64) -> Result<Self, Error> {
        let mut random = Stream::new(seed);
        let mut world = World::new(Vector::new(0.0, options.gravity as f32))?;
        let terrain = terrain(&mut random);
        add_ground(&mut world, &terrain)?;
        let hull = add_hull(&mut world)?;
        let force_x = random.uniform(-INITIAL_FORCE, INITIAL_FORCE);
        let force_y = random.uniform(-INITIAL_FORCE, INITIAL_FORCE);
        world.apply_force(hull, narrow(force_x, force_y))?;
        // numpy: integers(-9999, 9999)
        let mut index =
            || if options.enable_wind { random.below(19_998) as f64 - 9999.0 } else { 0.0 };
        let (wind_index, torque_index) = (index(), index());
        let legs = [add_leg(&mut world, hull, -1.0)?, add_leg(&mut world, hull, 1.0)?];
        let mut lander = Self {
            options,
            world,
            random,
            hull,
            legs,
            leg_contacts: [false; 2],
            crashed: false,
            shaping: None,
            wind_index,
            torque_index,
            terrain,
            thrust: Thrust::default(),
            shown: Shown::All,
            state: [0.0; 8],
        };
        lander.advance(Thrust::default())?;
        Ok(lander)
    }

    /// Draws the dispersion of the engines from another stream.
    pub(super) fn renew_noise(&mut self, seed: u64) {
        self.random = Stream::new(seed);
    }

    /// Hides the dispersion of the other engines in the next step.
    pub(super) fn hide_noise(&mut self, shown: Shown) {
        self.shown = shown;
    }

    /// Moves the craft into another state of the air: hull and legs together, as they hang on each other,
    /// and in the same motion relative to the hull. Refuses states [on the ground or in it](NEAR_GROUND), and leaves one
    /// from there.
    pub(super) fn move_to(&mut self, state: &[f64; 8]) -> bool {
        let grounded = self.leg_contacts.contains(&true) || state[6] != 0.0 || state[7] != 0.0;
        if grounded || self.crashed {
            return false;
        }
        let pad = HEIGHT / 4.0 + LEG_DOWN / SCALE;
        let position = narrow((state[0] + 1.0) * (WIDTH / 2.0), state[1] * (HEIGHT / 2.0) + pad);
        let velocity = narrow(
            state[2] * STEPS_PER_SECOND / (WIDTH / 2.0),
            state[3] * STEPS_PER_SECOND / (HEIGHT / 2.0),
        );
        let (angle, spin) = (state[4] as f32, (state[5] * STEPS_PER_SECOND / 20.0) as f32);
        let hull = self.world.body(self.hull);
        let frame = *hull.transform();
        let (turn, hull_spin) = (angle - hull.angle(), hull.angular_velocity());
        let (hull_centre, hull_velocity) = (hull.centre(), hull.velocity());
        let moved = Transform { shift: position, rotation: Rotation::new(angle) };
        let centre = moved.apply(frame.undo(hull_centre));
        let mut placements =
            vec![(self.hull, Placement { position, angle, velocity, angular_velocity: spin })];
        for leg in self.legs {
            let body = self.world.body(leg);
            let about = |spin: f32, arm: Vector| Vector::new(-spin * arm.y, spin * arm.x);
            let drift =
                body.velocity() - hull_velocity - about(hull_spin, body.centre() - hull_centre);
            let arm = moved.apply(frame.undo(body.centre())) - centre;
            placements.push((
                leg,
                Placement {
                    position: moved.apply(frame.undo(body.position())),
                    angle: body.angle() + turn,
                    velocity: velocity
                        + about(spin, arm)
                        + moved.rotation.apply(frame.rotation.undo(drift)),
                    angular_velocity: spin + body.angular_velocity() - hull_spin,
                },
            ));
        }
        for ((_, placement), outline) in placements.iter().zip(self.outlines()) {
            let frame =
                Transform { shift: placement.position, rotation: Rotation::new(placement.angle) };
            if outline.iter().any(|&corner| self.is_in_ground(frame.apply(corner))) {
                return false;
            }
        }
        for (body, placement) in &placements {
            if self.world.place(*body, placement).is_err() {
                return false;
            }
        }
        let state = self.measure();
        self.state = state.map(|value| value as f32);
        self.shaping = Some(shaping(&state));
        true
    }

    /// Whether a point is below the hills or [as good as on them](NEAR_GROUND), or beside the view.
    fn is_in_ground(&self, point: Vector) -> bool {
        let (x, y) = (f64::from(point.x), f64::from(point.y));
        let edge = self.terrain.windows(2).find(|ends| ends[0].0 <= x && x <= ends[1].0);
        edge.is_none_or(|ends| {
            let along = (x - ends[0].0) / (ends[1].0 - ends[0].0);
            y <= ends[0].1 + along * (ends[1].1 - ends[0].1) + NEAR_GROUND
        })
    }

    /// Advances by one step, a fiftieth of a second.
    pub(super) fn advance(&mut self, thrust: Thrust) -> Result<Outcome, Error> {
        self.thrust = thrust;
        self.blow()?;
        self.burn(thrust)?;
        self.world.step(
            (1.0 / STEPS_PER_SECOND) as f32,
            VELOCITY_ITERATIONS,
            POSITION_ITERATIONS,
        )?;
        self.update_contacts();

        let state = self.measure();
        self.state = state.map(|value| value as f32);
        let shaping = shaping(&state);
        let mut reward = self.shaping.map_or(0.0, |before| shaping - before);
        self.shaping = Some(shaping);
        reward -= thrust.main * MAIN_FUEL;
        reward -= thrust.side * SIDE_FUEL;

        let crash = self.crashed || state[0].abs() >= 1.0;
        let rest = !self.world.body(self.hull).is_awake();
        if crash {
            reward = -100.0;
        }
        if rest {
            reward = 100.0;
        }
        let fuel = thrust.main * MAIN_FUEL + thrust.side * SIDE_FUEL;
        Ok(Outcome { reward, fuel, crash, rest })
    }

    /// Applies the wind of this step. There is none while a leg stands on the ground.
    fn blow(&mut self) -> Result<(), Error> {
        if !self.options.enable_wind || self.leg_contacts.contains(&true) {
            return Ok(());
        }
        let force = gust(self.wind_index) * self.options.wind_power;
        self.wind_index += 1.0;
        self.world.apply_force(self.hull, narrow(force, 0.0))?;
        let torque = gust(self.torque_index) * self.options.turbulence_power;
        self.torque_index += 1.0;
        self.world.apply_torque(self.hull, torque as f32)?;
        Ok(())
    }

    /// Applies the impulses of the engines, with random noise.
    fn burn(&mut self, thrust: Thrust) -> Result<(), Error> {
        let drawn = [(); 2].map(|()| self.random.uniform(-1.0, 1.0) / SCALE);
        let shown = std::mem::take(&mut self.shown);
        let noise_if = |shown: bool| if shown { drawn } else { [0.0; 2] };
        let (sine, cosine) = sine_cosine(f64::from(self.world.body(self.hull).angle()));
        let (tip, across_tip) = ((sine, cosine), (-cosine, sine));
        if thrust.main > 0.0 {
            let noise = noise_if(shown.main());
            let along = MAIN_HEIGHT / SCALE + 2.0 * noise[0];
            let x = tip.0 * along + across_tip.0 * noise[1];
            let y = -tip.1 * along - across_tip.1 * noise[1];
            let position = self.world.body(self.hull).position();
            let point = narrow(f64::from(position.x) + x, f64::from(position.y) + y);
            let impulse = narrow(-x * MAIN_POWER * thrust.main, -y * MAIN_POWER * thrust.main);
            self.world.apply_impulse(self.hull, impulse, point)?;
        }
        if thrust.side > 0.0 {
            let noise = noise_if(shown.side(thrust.direction));
            let across = 3.0 * noise[1] + thrust.direction * SIDE_DISTANCE / SCALE;
            let x = tip.0 * noise[0] + across_tip.0 * across;
            let y = -tip.1 * noise[0] - across_tip.1 * across;
            let position = self.world.body(self.hull).position();
            let point = narrow(
                f64::from(position.x) + x - tip.0 * SIDE_HEIGHT_ACROSS / SCALE,
                f64::from(position.y) + y + tip.1 * SIDE_HEIGHT / SCALE,
            );
            let impulse = narrow(-x * SIDE_POWER * thrust.side, -y * SIDE_POWER * thrust.side);
            self.world.apply_impulse(self.hull, impulse, point)?;
        }
        Ok(())
    }

    /// Updates the crash and the leg contacts from the events of the step. As in Gymnasium, a leg
    /// that leaves one edge of the ground counts as lifted even if it touches another.
    fn update_contacts(&mut self) {
        for event in self.world.events() {
            if event.begins && event.bodies.contains(&self.hull) {
                self.crashed = true;
            }
            for (leg, touches) in self.legs.iter().zip(&mut self.leg_contacts) {
                if event.bodies.contains(leg) {
                    *touches = event.begins;
                }
            }
        }
    }

    /// The state before it is rounded to 32 bits.
    fn measure(&self) -> [f64; 8] {
        let body = self.world.body(self.hull);
        let (position, velocity) = (body.position(), body.velocity());
        let pad = HEIGHT / 4.0 + LEG_DOWN / SCALE;
        let touching = self.leg_contacts.map(|touches| if touches { 1.0 } else { 0.0 });
        [
            (f64::from(position.x) - WIDTH / 2.0) / (WIDTH / 2.0),
            (f64::from(position.y) - pad) / (HEIGHT / 2.0),
            f64::from(velocity.x) * (WIDTH / 2.0) / STEPS_PER_SECOND,
            f64::from(velocity.y) * (HEIGHT / 2.0) / STEPS_PER_SECOND,
            f64::from(body.angle()),
            20.0 * f64::from(body.angular_velocity()) / STEPS_PER_SECOND,
            touching[0],
            touching[1],
        ]
    }
}

impl Thrust {
    /// Whether any engine runs.
    pub(super) fn is_on(self) -> bool {
        self.main > 0.0 || self.side > 0.0
    }

    /// The thrust of an action: two throttles, or one of four choices.
    pub(super) fn of_action(action: &[f64]) -> Self {
        match *action {
            [main, side] => Self::of_throttles(main, side),
            [choice, ..] => Self::of_choice(choice),
            [] => Self::default(),
        }
    }

    /// The thrust of one of Gymnasium's four choices: none, left, main or right engine.
    fn of_choice(choice: f64) -> Self {
        let idle = Self::default();
        match choice {
            1.0 => Self { side: 1.0, direction: -1.0, ..idle },
            2.0 => Self { main: 1.0, ..idle },
            3.0 => Self { side: 1.0, direction: 1.0, ..idle },
            _ => idle,
        }
    }

    /// The thrust of two throttles. The main engine runs above 0, a side engine below -0.5 or above
    /// 0.5; each runs at half its power or more.
    fn of_throttles(main: f64, side: f64) -> Self {
        let mut thrust = Self::default();
        if main > 0.0 {
            thrust.main = (main + 1.0) * 0.5;
        }
        if side.abs() > 0.5 {
            thrust.side = side.abs();
            thrust.direction = side.signum();
        }
        thrust
    }
}

/// Gymnasium's measure of a state; its changes are rewards.
fn shaping(state: &[f64; 8]) -> f64 {
    -100.0 * (state[0] * state[0] + state[1] * state[1]).sqrt()
        - 100.0 * (state[2] * state[2] + state[3] * state[3]).sqrt()
        - 100.0 * state[4].abs()
        + 10.0 * state[6]
        + 10.0 * state[7]
}

/// The strength of the wind, between -1 and 1. It is not periodic.
fn gust(index: f64) -> f64 {
    hyperbolic_tangent(sine(0.02 * index) + sine(std::f64::consts::PI * 0.01 * index))
}
