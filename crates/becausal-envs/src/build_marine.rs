//! BuildMarine-v0: the economy of StarCraft II's mini-game Build-Marines, at the paper's level of
//! macro actions.
//!
//! The game itself is not here; this is a simulator of what matters to the paper's six variables.
//!
//! *Taken from what is known of the game*: costs, build times, supply, requirements, the start, and
//! the pace of mining (see `minerals`). *Taken from the paper's program*: what each macro action
//! orders, that counts include buildings under construction, that finished builders and new
//! workers stay idle until the next action sends them back, that an episode ends with the
//! first action that ends after 1600 calls. *Not known and assumed*: that workers begin spread over
//! the fields; that it takes 60 loops to walk to a building site (the sites lie 40 to 80 away);
//! that workers sent back go to the least crowded fields. *Not simulated*: space and collisions, the
//! loss of what a builder was carrying, the game's limit of 200 supply beyond what 28 depots give.
//!
//! The six variables are not the whole state: where each worker is in its cycle, and whether some are
//! idle, is hidden, and shows as noise of some tens in `money` and of two calls in `time`.
//!
//! Calibration, the paper's example: 7 to 11 depots with money 505 to 330, then barracks 1 to 3
//! with 330 to 465, then 3 to 6 with 465 to 430, then 6 marines. From the same counts with 12
//! workers the simulator gives 262, 472 and 413 in the mean over seeds (`tests/build_marine.rs`).

use std::sync::Arc;

use super::build_marine_scene;
use super::minerals::Minerals;
use super::truth::{Parents, Truth};
use becausal_core::Stream;
use becausal_core::env::{Environment, EnvironmentError, StepResult, check_step};
use becausal_core::schema::Schema;

pub(super) const SCHEMA: &str = include_str!("build_marine.toml");

/// Game loops of a call.
const CALL: f64 = 8.0;
/// Calls that every macro action waits.
const REST: usize = 30;
/// Calls after which an episode ends.
const END: usize = 1600;
/// Loops to walk to a building site.
const WALK: f64 = 60.0;
/// Most buildings ordered by one action.
const BUILDERS: usize = 4;

/// Something to build: its cost, its build time in loops, and how many there can be.
struct Product {
    cost: u32,
    loops: f64,
    most: usize,
}

const WORKER: Product = Product { cost: 50, loops: 272.0, most: usize::MAX };
const MARINE: Product = Product { cost: 50, loops: 400.0, most: usize::MAX };
const BARRACKS: Product = Product { cost: 150, loops: 1040.0, most: 8 };
const DEPOT: Product = Product { cost: 100, loops: 480.0, most: 28 };

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
    /// One number a step, whatever the action: two actions meet the same noise.
    noise: Stream,
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
            over: false,
        };
        environment.reset(0);
        environment
    }

    /// Begins at other counts: workers, marines, barracks, depots, money, time. All buildings are
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
        self.minerals.pass(calls as f64 * CALL);
        self.money += self.minerals.take_delivered();
        self.time += calls;
    }

    /// How many more workers and marines the supply allows.
    fn supply_left(&self) -> usize {
        let (centre, depot) = SUPPLY;
        (centre + depot * self.depots).saturating_sub(self.minerals.workers() + self.marines)
    }

    /// Pays for up to `count` of a product as money allows, and gives the number paid for.
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

    /// Orders buildings. An order takes one call, also when there is no money for any.
    fn order_buildings(&mut self, product: &Product, existing: usize, strictly: bool) -> usize {
        let room = product.most.saturating_sub(existing).min(BUILDERS);
        let paid = self.pay(product, room, strictly);
        for _ in 0..paid {
            self.minerals.take_builder(WALK + product.loops);
        }
        paid
    }

    /// Selecting, ordering, sending idle workers back, resting, and waiting until it is done.
    fn act(&mut self, action: usize, stream: &mut Stream) {
        let (mut workers, mut marines) = (0, 0);
        let mut loops_left = 0.0;
        if action != 0 {
            self.pass(1); // select who is to do it
        }
        match action {
            1 if self.supply_left() > 0 && self.money >= WORKER.cost => {
                workers = self.pay(&WORKER, 1, false);
                loops_left = WORKER.loops;
                self.pass(1);
            }
            2 if self.barracks == 0 || self.supply_left() > 0 => {
                let most = self.barracks.min(self.supply_left());
                marines = self.pay(&MARINE, most, false);
                if marines > 0 {
                    loops_left = MARINE.loops;
                }
                self.pass(1);
            }
            3 if self.depots > 0 || self.money <= BARRACKS.cost => {
                let ordered = self.order_buildings(&BARRACKS, self.barracks, true);
                self.barracks += ordered;
                if ordered > 0 {
                    loops_left = WALK + BARRACKS.loops;
                }
                self.pass(1);
            }
            4 => {
                let ordered = self.order_buildings(&DEPOT, self.depots, false);
                self.depots += ordered;
                if ordered > 0 {
                    loops_left = WALK + DEPOT.loops;
                }
                self.pass(1);
            }
            _ => {} // nothing, or nothing that can be had: no time passes for the order
        }
        let ordered_at = self.time - usize::from(loops_left > 0.0);
        if self.minerals.has_idle() {
            self.pass(1);
            self.minerals.send_idle(stream);
            self.pass(1);
        }
        self.pass(REST);
        while (self.time - ordered_at) as f64 * CALL < loops_left {
            self.pass(1);
        }
        for _ in 0..workers {
            self.minerals.add_worker();
        }
        self.marines += marines;
    }

    /// By the rules above. Whether an order can be carried out decides how long an action takes and
    /// what it costs, so its conditions are causes of `time` and `money` too.
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
        Some(build_marine_scene::scene(counts, money, time, END as f64))
    }

    fn step(&mut self, action: &[f64]) -> Result<StepResult<'_>, EnvironmentError> {
        check_step(&self.schema, self.over, action)?;
        let marines = self.marines;
        let mut stream = Stream::new(self.noise.next_u64());
        let choice = (0..5).find(|&index| index as f64 == action[0]).unwrap_or(0);
        self.act(choice, &mut stream);
        self.over = self.time >= END;
        self.show();
        Ok(StepResult {
            state: &self.state,
            outcomes: &[],
            reward: (self.marines - marines) as f64,
            terminated: self.over,
            truncated: false,
        })
    }
}
