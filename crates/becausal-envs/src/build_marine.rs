//! BuildMarine-v0: the economy of StarCraft II's mini-game Build-Marines, at the paper's level of
//! macro actions.
//!
//! This is not the game itself but a simulator of the parts that matter to the paper's six
//! variables.
//!
//! *From what is known of the game*: costs, build times, supply, requirements, the start, and the
//! rate of mining (see `minerals`). *From the paper's program*: the orders of each macro action;
//! counts include buildings under construction; finished builders and new workers stay idle until
//! the next action sends them back; an episode ends with the first action that ends after 1600
//! calls. *Assumed*: workers start spread over the fields; walking to a building site takes 60
//! loops (the sites are 40 to 80 away); workers sent back go to the least crowded fields. *Not
//! simulated*: space and collisions, the loss of a builder's load, the game's limit of 200 supply
//! beyond what 28 depots provide.
//!
//! The six variables are not the whole state. Where each worker is in its cycle, and whether some
//! are idle, is hidden. It appears as noise of some tens in `money` and of two calls in `time`.
//!
//! Calibration on the paper's example: 7 to 11 depots with money 505 to 330, then barracks 1 to 3
//! with 330 to 465, then 3 to 6 with 465 to 430, then 6 marines. From the same counts with 12
//! workers the simulator gives 262, 472 and 413 on average over seeds
//! (`tests/suite/build_marine.rs`).

use std::sync::Arc;

use super::build_marine_scene;
use super::minerals::Minerals;
use super::truth::{Parents, Truth};
use becausal_core::Stream;
use becausal_core::env::{Environment, EnvironmentError, Onlooker, StepResult, check_step};
use becausal_core::schema::Schema;

pub(super) const SCHEMA: &str = include_str!("build_marine.toml");

/// Game loops per call.
const CALL_LOOPS: f64 = 8.0;
/// Calls that every macro action waits.
const WAIT_CALLS: usize = 30;
/// Calls after which an episode ends.
const END_CALLS: usize = 1600;
/// Loops to walk to a building site; assumed, see above.
const WALK_LOOPS: f64 = 60.0;
/// Maximum number of buildings ordered by one action.
const MAX_BUILDERS: usize = 4;

/// Something to build: its cost in minerals, its build time in loops, and how many there can be.
struct Product {
    cost: u32,
    loops: f64,
    max_count: usize,
}

const WORKER: Product = Product { cost: 50, loops: 272.0, max_count: usize::MAX };
const MARINE: Product = Product { cost: 50, loops: 400.0, max_count: usize::MAX };
const BARRACKS: Product = Product { cost: 150, loops: 1040.0, max_count: 8 };
const DEPOT: Product = Product { cost: 100, loops: 480.0, max_count: 28 };

/// Supply of the command centre and of a depot.
const SUPPLY: (usize, usize) = (15, 8);

/// A base that builds workers, supply depots, barracks and marines.
#[derive(Debug, Clone)]
pub struct BuildMarine {
    schema: Arc<Schema>,
    minerals: Minerals,
    money: u32,
    marines: usize,
    barracks: usize,
    depots: usize,
    /// Calls since the start.
    time: usize,
    /// workers, marines, barracks, depots, money, time.
    state: [f64; 6],
    /// One number is drawn per step, so that the noise does not depend on the action.
    noise: Stream,
    /// The next step's number is drawn again if it has to send workers: see [`Environment::hide_noise`].
    hidden: bool,
    over: bool,
}

impl BuildMarine {
    /// The environment at the start of episode 0.
    #[must_use]
    pub fn new(schema: Arc<Schema>) -> Self {
        let mut noise = Stream::new(0);
        let mut environment = Self {
            schema,
            minerals: Minerals::new(0, &mut noise),
            money: 0,
            marines: 0,
            barracks: 0,
            depots: 0,
            time: 0,
            state: [0.0; 6],
            noise,
            hidden: false,
            over: false,
        };
        environment.reset(0);
        environment
    }

    /// Starts with other counts: workers, marines, barracks, depots, money, time. All buildings are
    /// finished, and the fields are full.
    pub fn place(&mut self, counts: [u32; 6], seed: u64) {
        self.noise = Stream::new(seed);
        let [workers, marines, barracks, depots, money, time] = counts;
        self.minerals = Minerals::new(workers as usize, &mut self.noise);
        self.marines = marines as usize;
        self.barracks = barracks as usize;
        self.depots = depots as usize;
        self.money = money;
        self.time = time as usize;
        self.over = false;
        self.show();
    }

    fn show(&mut self) {
        let counts = [self.minerals.workers(), self.marines, self.barracks, self.depots];
        let [workers, marines, barracks, depots] = counts.map(|count| count as f64);
        let money = f64::from(self.money);
        self.state = [workers, marines, barracks, depots, money, self.time as f64];
    }

    /// Lets calls pass.
    fn pass(&mut self, calls: usize) {
        self.minerals.pass(calls as f64 * CALL_LOOPS);
        self.money += self.minerals.take_delivered();
        self.time += calls;
    }

    /// How many more workers and marines the supply allows.
    fn supply_left(&self) -> usize {
        let (centre, depot) = SUPPLY;
        (centre + depot * self.depots).saturating_sub(self.minerals.workers() + self.marines)
    }

    /// Pays for up to `count` of a product as money allows, and returns the number paid for. If
    /// `strictly`, the money must exceed the cost.
    fn pay(&mut self, product: &Product, count: usize, strictly: bool) -> usize {
        let mut paid = 0;
        while paid < count
            && (self.money > product.cost || (self.money == product.cost && !strictly))
        {
            self.money -= product.cost;
            paid += 1;
        }
        paid
    }

    /// Orders as many buildings as money, builders and the maximum count allow, and returns their
    /// number.
    fn order_buildings(&mut self, product: &Product, existing: usize, strictly: bool) -> usize {
        let room = product.max_count.saturating_sub(existing).min(MAX_BUILDERS);
        let paid = self.pay(product, room, strictly);
        for _ in 0..paid {
            self.minerals.take_builder(WALK_LOOPS + product.loops);
        }
        paid
    }

    /// Runs a macro action: selects, orders, sends idle workers back, and waits until it is done.
    /// Ordering buildings takes one call, even if there is no money for any.
    fn act(&mut self, action: usize, stream: &mut Stream) {
        let (mut workers, mut marines) = (0, 0);
        let mut loops_left = 0.0;
        if action != 0 {
            self.pass(1); // selects a unit or a building
        }
        match action {
            1 if self.supply_left() > 0 && self.money >= WORKER.cost => {
                workers = self.pay(&WORKER, 1, false);
                loops_left = WORKER.loops;
                self.pass(1);
            }
            2 if self.barracks == 0 || self.supply_left() > 0 => {
                let allowed = self.barracks.min(self.supply_left());
                marines = self.pay(&MARINE, allowed, false);
                if marines > 0 {
                    loops_left = MARINE.loops;
                }
                self.pass(1);
            }
            3 if self.depots > 0 || self.money <= BARRACKS.cost => {
                let ordered = self.order_buildings(&BARRACKS, self.barracks, true);
                self.barracks += ordered;
                if ordered > 0 {
                    loops_left = WALK_LOOPS + BARRACKS.loops;
                }
                self.pass(1);
            }
            4 => {
                let ordered = self.order_buildings(&DEPOT, self.depots, false);
                self.depots += ordered;
                if ordered > 0 {
                    loops_left = WALK_LOOPS + DEPOT.loops;
                }
                self.pass(1);
            }
            _ => {} // no order, or one that is not available: no time passes for it
        }
        let ordered_at = self.time - usize::from(loops_left > 0.0);
        if self.minerals.has_idle() {
            self.pass(1);
            self.minerals.send_idle(stream);
            self.pass(1);
        }
        self.pass(WAIT_CALLS);
        while (self.time - ordered_at) as f64 * CALL_LOOPS < loops_left {
            self.pass(1);
        }
        for _ in 0..workers {
            self.minerals.add_worker();
        }
        self.marines += marines;
    }

    /// Follows from the rules above. Whether an order can be carried out decides how long an action
    /// takes and what it costs, so its conditions also cause `time` and `money`.
    pub(super) fn truth(schema: &Schema) -> Truth {
        const KEEP: [Parents; 4] = [
            ("workers'", &["workers"]),
            ("marines'", &["marines"]),
            ("barracks'", &["barracks"]),
            ("depots'", &["depots"]),
        ];
        let [workers, marines, barracks, depots] = KEEP;
        let none: &[Parents] = &[
            workers,
            marines,
            barracks,
            depots,
            ("money'", &["money", "workers"]),
            ("time'", &["time"]),
        ];
        let worker: &[Parents] = &[
            ("workers'", &["workers", "marines", "depots", "money"]),
            marines,
            barracks,
            depots,
            ("money'", &["money", "workers", "marines", "depots"]),
            ("time'", &["time", "money", "workers", "marines", "depots"]),
        ];
        let marine: &[Parents] = &[
            workers,
            ("marines'", &["marines", "workers", "barracks", "depots", "money"]),
            barracks,
            depots,
            ("money'", &["money", "workers", "marines", "barracks", "depots"]),
            ("time'", &["time", "money", "workers", "marines", "barracks", "depots"]),
        ];
        let build_barracks: &[Parents] = &[
            workers,
            marines,
            ("barracks'", &["barracks", "depots", "money"]),
            depots,
            ("money'", &["money", "workers", "barracks", "depots"]),
            ("time'", &["time", "money", "barracks", "depots"]),
        ];
        let depot: &[Parents] = &[
            workers,
            marines,
            barracks,
            ("depots'", &["depots", "money"]),
            ("money'", &["money", "workers", "depots"]),
            ("time'", &["time", "money", "depots"]),
        ];
        let acted_on = ["workers'", "marines'", "barracks'", "depots'", "money'", "time'"];
        let by_action = [
            ("none", none),
            ("worker", worker),
            ("marine", marine),
            ("barracks", build_barracks),
            ("depot", depot),
        ];
        Truth::new(schema, &acted_on, &by_action)
    }
}

impl Environment for BuildMarine {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn reset(&mut self, seed: u64) {
        self.place([12, 0, 0, 0, 50, 0], seed);
    }

    fn state(&self) -> &[f64] {
        &self.state
    }

    fn scene(&self) -> Option<String> {
        let counts = [self.minerals.workers(), self.depots, self.barracks, self.marines];
        let (money, time) = (f64::from(self.money), self.time as f64);
        Some(build_marine_scene::scene(counts, money, time, END_CALLS as f64))
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        check_step(&self.schema, self.over, action)?;
        let marines = self.marines;
        let mut stream = Stream::new(self.noise.next_u64());
        if std::mem::take(&mut self.hidden) {
            // There is no mean of a field: another one of its own.
            stream = Stream::new(stream.next_u64());
        }
        let choice = (0..5).find(|&index| index as f64 == action[0]).unwrap_or(0);
        self.act(choice, &mut stream);
        self.over = self.time >= END_CALLS;
        self.show();
        Ok(StepResult {
            state: &self.state,
            outcomes: &[],
            reward: (self.marines - marines) as f64,
            terminated: self.over,
            truncated: false,
        })
    }

    fn renew_noise(&mut self, seed: u64) -> bool {
        self.noise = Stream::new(seed);
        true
    }

    /// A step shows its noise, the fields that idle workers go to, if it was recorded: a worker that is idle
    /// is sent under every action. Where each worker is in its cycle counts among the rules, although no
    /// record shows it.
    fn hide_noise(&mut self, recorded: Option<&[f64]>, _onlooker: Onlooker) -> bool {
        self.hidden = recorded.is_none();
        true
    }

    /// Where each worker is in its cycle, and what is being built, stays as it was.
    fn set_state(&mut self, state: &[f64]) -> bool {
        let whole = |&value: &f64| value >= 0.0 && value.fract() == 0.0 && value < 1e6;
        if self.over || state.len() != 6 || !state.iter().all(whole) {
            return false;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let count = |at: usize| state[at] as usize;
        let most = SUPPLY.0 + SUPPLY.1 * DEPOT.max_count;
        if count(0) + count(1) > most
            || count(2) > BARRACKS.max_count
            || count(3) > DEPOT.max_count
            || count(5) >= END_CALLS
        {
            return false;
        }
        self.minerals.set_workers(count(0));
        (self.marines, self.barracks, self.depots) = (count(1), count(2), count(3));
        self.money = u32::try_from(count(4)).unwrap_or(u32::MAX);
        self.time = count(5);
        self.show();
        true
    }
}
