//! Writes a schema as TOML in a canonical form; reading it back gives the same schema.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use super::circle::Circle;
use super::factorisation::Schema;
use super::variable::{Bounds, Kind, Role, Variable};

impl Schema {
    /// The schema as the text of a `schema.toml`.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut document = DocumentMut::new();
        document["name"] = value(&self.name);
        if let Some(description) = &self.description {
            document["description"] = value(description);
        }
        for role in [Role::State, Role::Action, Role::Outcome] {
            let mut table = Table::new();
            for variable in self.of_role(role) {
                table[&variable.name] = Item::Value(Value::InlineTable(inline(variable)));
            }
            if !table.is_empty() {
                document[role.table()] = Item::Table(table);
            }
        }
        if !self.rewards.is_empty() {
            let mut table = Table::new();
            for reward in &self.rewards {
                table[&reward.name] = value(reward.expression.source());
            }
            document["reward"] = Item::Table(table);
        }
        if let Some(when) = &self.termination {
            let mut table = Table::new();
            table["when"] = value(when.source());
            document["termination"] = Item::Table(table);
        }
        document.to_string()
    }
}

fn inline(variable: &Variable) -> InlineTable {
    let mut table = InlineTable::new();
    table.insert("kind", variable.kind.word().into());
    if let Some(size) = variable.size {
        table.insert("size", i64::try_from(size).unwrap_or(i64::MAX).into());
    }
    match &variable.kind {
        Kind::Categorical(labels) => {
            table.insert("labels", labels.iter().collect::<Array>().into());
        }
        Kind::Continuous(Bounds { low, high }) | Kind::Integer(Bounds { low, high }) => {
            for (key, bound) in [("low", low), ("high", high)] {
                if let Some(bound) = *bound {
                    table.insert(key, bound.into());
                }
            }
        }
        Kind::Circular(circle) => {
            if circle.period != Circle::default().period {
                table.insert("period", circle.period.into());
            }
            if *circle != Circle::centred(circle.period) {
                table.insert("low", circle.low.into());
            }
        }
        Kind::Boolean => {}
    }
    if let Some(better) = variable.better {
        table.insert("better", better.word().into());
    }
    for (key, text) in [("unit", &variable.unit), ("label", &variable.label)] {
        if let Some(text) = text {
            table.insert(key, text.into());
        }
    }
    table
}
