//! A hand-written build order for BuildMarine-v0, as a baseline for learned policies.

use std::sync::Arc;

use crate::find;
use becausal_core::Policy;
use becausal_core::Stream;
use becausal_core::schema::Schema;

/// Builds depots when supply runs short, then barracks, then workers up to 18, then marines.
#[derive(Debug, Clone)]
pub struct BuildOrder {
    schema: Arc<Schema>,
}

/// The macro actions, in the order of the schema's labels.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    None,
    Worker,
    Marine,
    Barracks,
    Depot,
}

impl BuildOrder {
    /// The environment that it plays.
    pub const ENVIRONMENT: &'static str = "BuildMarine-v0";

    /// The build order, if the schema is that of BuildMarine-v0.
    #[must_use]
    pub fn of(schema: &Arc<Schema>) -> Option<Self> {
        let known = find(Self::ENVIRONMENT).ok()?.schema();
        (*known == **schema).then(|| Self { schema: Arc::clone(schema) })
    }
}

/// The order for a state: workers, marines, barracks, depots, money, time.
fn order(state: &[f64]) -> Order {
    let &[workers, marines, barracks, depots, money, ..] = state else { return Order::None };
    let supply = 15.0 + 8.0 * depots - workers - marines;
    let (wanted, price) = if depots == 0.0 || supply < barracks.max(1.0) {
        (Order::Depot, 100.0)
    } else if barracks == 0.0 || (barracks < 8.0 && money > 300.0) {
        (Order::Barracks, 151.0)
    } else if workers < 18.0 && money >= 50.0 {
        (Order::Worker, 50.0)
    } else {
        (Order::Marine, 50.0 * barracks)
    };
    if money >= price { wanted } else { Order::None }
}

impl Policy for BuildOrder {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn mode(&self, state: &[f64]) -> Vec<f64> {
        vec![f64::from(order(state) as u8)]
    }

    fn sample(&self, state: &[f64], _stream: &mut Stream) -> Vec<f64> {
        self.mode(state)
    }
}
