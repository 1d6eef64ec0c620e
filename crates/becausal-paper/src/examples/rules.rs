//! The rules of Build-Marine that the paper names, and how often they block an order.

/// Slots of variables in a row.
const WORKERS: usize = 0;
const MARINES: usize = 1;
const BUILT_BARRACKS: usize = 2;
pub const DEPOTS: usize = 3;
pub const MONEY: usize = 4;
pub const TIME: usize = 5;
const ORDER: usize = 6;

/// Values of the action: what is ordered.
pub const WORKER: f64 = 1.0;
const MARINE: f64 = 2.0;
pub const BARRACKS: f64 = 3.0;
pub const DEPOT: f64 = 4.0;

/// What an order costs.
const COSTS: [(f64, f64); 4] = [(WORKER, 50.0), (MARINE, 50.0), (BARRACKS, 150.0), (DEPOT, 100.0)];

/// Units that the command centre supplies.
const CENTRE_SUPPLY: f64 = 15.0;

/// Units that each depot supplies in addition.
const DEPOT_SUPPLY: f64 = 8.0;

/// A rule of the game that the paper finds in its chain.
pub struct Rule {
    pub words: &'static str,
    /// The edges that follow from it.
    pub pairs: &'static [(&'static str, &'static str)],
    /// Whether a row has an order that is subject to the rule.
    pub applies: fn(&[f64]) -> bool,
    /// Whether the rule blocks this order.
    pub blocks: fn(&[f64]) -> bool,
}

pub const RULES: [Rule; 4] = [
    Rule {
        words: "Barracks need a supply depot.",
        pairs: &[("depots", "barracks'")],
        applies: |row| row[ORDER] == BARRACKS,
        blocks: |row| row[DEPOTS] == 0.0,
    },
    Rule {
        words: "Marines are built from barracks.",
        pairs: &[("barracks", "marines'")],
        applies: |row| row[ORDER] == MARINE,
        blocks: |row| row[BUILT_BARRACKS] == 0.0,
    },
    Rule {
        words: "Supply depots limit the number of marines.",
        pairs: &[("depots", "marines'")],
        applies: |row| row[ORDER] == MARINE,
        blocks: |row| row[WORKERS] + row[MARINES] >= CENTRE_SUPPLY + DEPOT_SUPPLY * row[DEPOTS],
    },
    Rule {
        words: "Building takes money.",
        pairs: &[
            ("money", "workers'"),
            ("money", "marines'"),
            ("money", "barracks'"),
            ("money", "depots'"),
        ],
        applies: |row| row[ORDER] != 0.0,
        blocks: |row| COSTS.iter().any(|&(order, cost)| row[ORDER] == order && row[MONEY] < cost),
    },
];

#[cfg(test)]
mod tests {
    use becausal::env::find;

    use super::*;

    #[test]
    fn slots_are_those_of_the_schema_and_edges_those_of_the_simulator() {
        let entry = find("BuildMarine-v0").expect("known");
        let schema = entry.schema();
        let names: Vec<&str> = schema.slots().iter().map(|slot| slot.name.as_str()).collect();
        let slots = [WORKERS, MARINES, BUILT_BARRACKS, DEPOTS, MONEY, TIME, ORDER];
        let expected = ["workers", "marines", "barracks", "depots", "money", "time", "build"];
        assert_eq!(slots.map(|slot| names[slot]), expected);
        let labels = schema.variable_of(ORDER).kind.labels();
        assert_eq!(labels, ["none", "worker", "marine", "barracks", "depot"]);
        let truth = entry.truth().expect("known");
        for (cause, effect) in RULES.iter().flat_map(|rule| rule.pairs) {
            assert!(truth.parents(effect).contains(cause), "{cause} -> {effect}");
        }
        let poor = [12.0, 0.0, 0.0, 0.0, 40.0, 0.0, WORKER];
        assert!((RULES[3].applies)(&poor) && (RULES[3].blocks)(&poor));
    }
}
