//! The rules of Build-Marine that the paper names, and how often they stand in the way.

/// Places of variables in a row.
const WORKERS: usize = 0;
const MARINES: usize = 1;
const BUILT_BARRACKS: usize = 2;
pub const DEPOTS: usize = 3;
pub const MONEY: usize = 4;
pub const TIME: usize = 5;
const ORDER: usize = 6;

/// Orders, as the action has them.
pub const WORKER: f64 = 1.0;
const MARINE: f64 = 2.0;
pub const BARRACKS: f64 = 3.0;
pub const DEPOT: f64 = 4.0;

/// What an order costs.
const COSTS: [(f64, f64); 4] = [(WORKER, 50.0), (MARINE, 50.0), (BARRACKS, 150.0), (DEPOT, 100.0)];

/// Supply of the command centre and of a depot.
const SUPPLY: (f64, f64) = (15.0, 8.0);

/// A rule of the game that the paper sees reflected in its chain.
pub struct Rule {
    pub words: &'static str,
    /// The edges that it makes.
    pub pairs: &'static [(&'static str, &'static str)],
    /// Whether a row has an order that the rule is about.
    pub applies: fn(&[f64]) -> bool,
    /// Whether it then stands in the way.
    pub binds: fn(&[f64]) -> bool,
}

pub const RULES: [Rule; 4] = [
    Rule {
        words: "Barracks need a supply depot.",
        pairs: &[("depots", "barracks'")],
        applies: |row| row[ORDER] == BARRACKS,
        binds: |row| row[DEPOTS] == 0.0,
    },
    Rule {
        words: "Marines are built from barracks.",
        pairs: &[("barracks", "marines'")],
        applies: |row| row[ORDER] == MARINE,
        binds: |row| row[BUILT_BARRACKS] == 0.0,
    },
    Rule {
        words: "Supply depots limit the number of marines.",
        pairs: &[("depots", "marines'")],
        applies: |row| row[ORDER] == MARINE,
        binds: |row| row[WORKERS] + row[MARINES] >= SUPPLY.0 + SUPPLY.1 * row[DEPOTS],
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
        binds: |row| COSTS.iter().any(|&(order, cost)| row[ORDER] == order && row[MONEY] < cost),
    },
];

#[cfg(test)]
mod tests {
    use becausal::env::find;

    use super::*;

    #[test]
    fn the_places_are_those_of_the_schema_and_the_edges_those_of_the_rules() {
        let entry = find("BuildMarine-v0").expect("known");
        let schema = entry.schema();
        let names: Vec<&str> = schema.slots().iter().map(|slot| slot.name.as_str()).collect();
        let places = [WORKERS, MARINES, BUILT_BARRACKS, DEPOTS, MONEY, TIME, ORDER];
        let expected = ["workers", "marines", "barracks", "depots", "money", "time", "build"];
        assert_eq!(places.map(|place| names[place]), expected);
        let labels = schema.variable_of(ORDER).kind.labels();
        assert_eq!(labels, ["none", "worker", "marine", "barracks", "depot"]);
        let truth = entry.truth().expect("known");
        for (cause, effect) in RULES.iter().flat_map(|rule| rule.pairs) {
            assert!(truth.parents(effect).contains(cause), "{cause} -> {effect}");
        }
        let poor = [12.0, 0.0, 0.0, 0.0, 40.0, 0.0, WORKER];
        assert!((RULES[3].applies)(&poor) && (RULES[3].binds)(&poor));
    }
}
