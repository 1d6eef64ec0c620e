//! An audit as text and as JSON.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::number::counted;
use super::text::{Alignment, Table};
use becausal_explain::{Audit, Certainty, Group, Line, Measure, Quantity, Scores};

/// An audit as text and as JSON.
pub trait AuditText {
    /// The scores in words and as tables, with the references.
    fn text(&self) -> String;

    /// The scores as JSON.
    fn json(&self) -> Value;
}

/// The measures of the first table.
const MAIN: [Measure; 6] = [
    Measure::Precision,
    Measure::Recall,
    Measure::Direction,
    Measure::Sign,
    Measure::SizeError,
    Measure::BestAction,
];

/// The measures that references have in JSON.
const OF_REFERENCES: [Measure; 5] =
    [Measure::Precision, Measure::Recall, Measure::Sign, Measure::BestAction, Measure::SizeError];

/// How often intervals hold what is real: of all states, drawn in either way.
const OF_INTERVALS: [Measure; 5] = [
    Measure::WorthHeld,
    Measure::ValueHeld,
    Measure::Exact,
    Measure::WorthHeldRaw,
    Measure::ValueHeldRaw,
];

/// The name of a line for people.
pub(super) fn line_name(name: &str) -> &str {
    match name {
        "everything" => "everything changes",
        "direct" => "direct effects only",
        "twin" => "twin: other noise",
        "reachable" => "reachable: the rules, noise that data can show",
        "ideal" => "ideal: the rules, all noise the record shows",
        name => name,
    }
}

/// A score for people: a share with three decimals, an error in percent; a dash where there is none.
pub(super) fn score(scores: &Scores, measure: Measure) -> String {
    let Some(score) = scores.get(measure) else { return "-".to_owned() };
    shown(score.value, measure)
}

fn shown(value: f64, measure: Measure) -> String {
    if measure.is_share() { format!("{value:.3}") } else { format!("{:.1} %", 100.0 * value) }
}

fn heading(measure: Measure) -> &'static str {
    match measure {
        Measure::SizeError | Measure::ChangeError => "error",
        Measure::BestAction => "best",
        measure => measure.key(),
    }
}

fn or_dash(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.3}"))
}

/// What a share is a share of, as a count.
fn whole(scores: &Scores, measure: Measure) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    scores.get(measure).map_or(0, |score| score.whole as usize)
}

impl AuditText for Audit {
    fn text(&self) -> String {
        let cases = counted(self.cases, "case");
        let mut text = format!("{cases} from {}", counted(self.states, "state"));
        if self.cases == 0 {
            text.push_str(
                ". There is nothing to score: no other action could be tried. Actions without bounds have none \
                 to try; low and high in the schema give them some.\n",
            );
            return text;
        }
        let _ = write!(
            text,
            " of {}, drawn evenly over the kinds of states; {} compared.\n\
             A change counts when it is more than {} % of the variable's standard deviation.\n\n",
            counted(self.episodes, "episode"),
            counted(self.horizon, "step"),
            super::words::number(100.0 * self.threshold, 3)
        );
        let lines = || std::iter::once(&self.explanations).chain(&self.references);
        let mut columns = vec![String::new()];
        columns.extend(MAIN.map(|measure| heading(measure).to_owned()));
        let row = |name: &str, scores: &Scores| {
            let mut row = vec![name.to_owned()];
            row.extend(MAIN.map(|measure| score(scores, measure)));
            row
        };
        let mut rows: Vec<Vec<String>> = Vec::new();
        for line in lines() {
            rows.push(row(line_name(line.name), &line.by_kind));
            if line.name == "explanations" {
                let mut interval = vec!["  90 % interval".to_owned()];
                interval.extend(MAIN.map(|measure| interval_text(&line.by_kind, measure)));
                rows.push(interval);
            }
        }
        table(&mut text, &columns, rows);
        text.push_str("\nThe same for states drawn evenly from all steps:\n\n");
        let rows = lines().map(|line| row(line_name(line.name), &line.by_step)).collect();
        table(&mut text, &columns, rows);
        let own = &self.explanations.by_kind;
        let _ = writeln!(
            text,
            "\nprecision, recall, direction: of the changes of variables in every step\n\
             sign, error: of the difference in reward; the sign in the {} where it is not negligible\n\
             best: the action with the most reward, in the {} where actions differ\n\
             reward terms that differ: precision {}, recall {}\n\
             end of the episode: {}\n\
             told because their interval leaves out 0: {} changes, {} of them right, direction and all\n\
             90 % intervals{}: {}\n\
             right signs: {}\n",
            counted(whole(own, Measure::Sign), "case"),
            counted(whole(own, Measure::BestAction), "state"),
            score(own, Measure::TermPrecision),
            score(own, Measure::TermRecall),
            score(own, Measure::Ends),
            whole(own, Measure::Told),
            score(own, Measure::Told),
            widths(self),
            held(&self.all_cases),
            when(own),
        );
        if let Some(far) = &self.far {
            far_text(&mut text, far);
        }
        let mut columns = vec!["variable".to_owned()];
        columns.extend(Measure::OF_VARIABLES.map(|measure| heading(measure).to_owned()));
        let rows = self.by_variable.iter().map(|(name, scores)| {
            let mut row = vec![name.clone()];
            row.extend(Measure::OF_VARIABLES.map(|measure| score(scores, measure)));
            row
        });
        table(&mut text, &columns, rows.collect());
        text.push('\n');
        if self.groups.len() > 1 {
            groups_table(&mut text, &self.groups);
        }
        if !self.influences.is_empty() {
            let columns = ["influences in a state, by", "precision", "recall"].map(str::to_owned);
            let rows = self.influences.iter().map(|line| {
                let name = match line.name {
                    "chains" => "explanations",
                    "attention" => "attention of the networks",
                    "graph" => "all causes of the graph",
                    _ => "every pair",
                };
                let own = [Measure::Precision, Measure::Recall];
                let [precision, recall] = own.map(|measure| score(&line.by_kind, measure));
                vec![name.to_owned(), precision, recall]
            });
            table(&mut text, &columns, rows.collect());
            text.push('\n');
        }
        let columns = ["threshold", "precision", "recall"].map(str::to_owned);
        let rows = self.curve.iter().map(|point| {
            let threshold = format!("{} %", super::words::number(100.0 * point.threshold, 3));
            vec![threshold, or_dash(point.changes.precision()), or_dash(point.changes.recall())]
        });
        table(&mut text, &columns, rows.collect());
        text
    }

    fn json(&self) -> Value {
        let own = &self.explanations.by_kind;
        let value = |measure| own.value(measure);
        let held = values(&self.all_cases, &OF_INTERVALS);
        let direct_and_everything: Map<String, Value> = self
            .references
            .iter()
            .filter(|line| matches!(line.name, "everything" | "direct"))
            .map(|line| (line.name.to_owned(), reference(line)))
            .collect();
        let curve: Vec<Value> = self
            .curve
            .iter()
            .map(|point| {
                json!({
                    "threshold": point.threshold,
                    "precision": point.changes.precision(),
                    "recall": point.changes.recall(),
                })
            })
            .collect();
        let by_variable: Map<String, Value> = self
            .by_variable
            .iter()
            .map(|(name, scores)| (name.clone(), values(scores, &Measure::OF_VARIABLES)))
            .collect();
        let mut score_intervals = intervals(own, &Measure::ALL);
        for measure in OF_INTERVALS {
            score_intervals[measure.key()] =
                intervals(&self.all_cases, &[measure])[measure.key()].clone();
        }
        json!({
            "cases": self.cases,
            "precision": value(Measure::Precision),
            "recall": value(Measure::Recall),
            "direction": value(Measure::Direction),
            "sign": value(Measure::Sign),
            // Under its earlier name too.
            "better_action": value(Measure::BestAction),
            "best_action": value(Measure::BestAction),
            "trivial": direct_and_everything,
            "twin": self.reference("twin").map(reference),
            "reachable": self.reference("reachable").map(reference),
            "ideal": self.reference("ideal").map(reference),
            "states": self.states,
            "episodes": self.episodes,
            "horizon": self.horizon,
            "threshold": self.threshold,
            "sign_cases": whole(own, Measure::Sign),
            "better_action_cases": whole(own, Measure::BestAction),
            "size_error": value(Measure::SizeError),
            "change_error": value(Measure::ChangeError),
            "term_precision": value(Measure::TermPrecision),
            "term_recall": value(Measure::TermRecall),
            "ends": value(Measure::Ends),
            "told": value(Measure::Told),
            "worth_held": held["worth_held"],
            "value_held": held["value_held"],
            "exact": held["exact"],
            "worth_held_raw": held["worth_held_raw"],
            "value_held_raw": held["value_held_raw"],
            "held_by_kind": values(own, &OF_INTERVALS),
            "calibration": calibration(self),
            "certainty": certainty(own),
            "far": self.far.as_deref().map(far),
            "intervals": score_intervals,
            "by_variable": by_variable,
            "influence": influence(self),
            "groups": groups(self),
            "all_steps": all_steps(self),
            "curve": curve,
        })
    }
}

/// The scores of the long run.
fn far_text(text: &mut String, far: &Audit) {
    let scores = &far.explanations.by_kind;
    let _ = writeln!(
        text,
        "The same over {}, in {}:\n\
         sign {}, error {}\n\
         90 % intervals of the reward difference{}: {}\n\
         right signs: {}\n",
        counted(far.horizon, "step"),
        counted(far.states, "state"),
        score(scores, Measure::Sign),
        score(scores, Measure::SizeError),
        widths(far),
        held_of_rewards(&far.all_cases),
        when(scores),
    );
}

/// The scores by the labels and flags of the state, beside the best that data can teach where it is known.
fn groups_table(text: &mut String, groups: &[Group]) {
    let measures = [Measure::Sign, Measure::SizeError, Measure::BestAction];
    let known = groups.iter().any(|group| group.reachable.get(Measure::Sign).is_some());
    let mut columns = vec!["states with", "states", "sign", "error", "best"];
    if known {
        columns.extend(["reachable: sign", "error", "best"]);
    }
    let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
    let rows = groups.iter().map(|group| {
        let mut row = vec![group.name.clone(), group.states.to_string()];
        row.extend(measures.map(|measure| score(&group.explanations, measure)));
        if known {
            row.extend(measures.map(|measure| score(&group.reachable, measure)));
        }
        row
    });
    table(text, &columns, rows.collect());
    text.push('\n');
}

/// How often intervals of the reward difference hold the real one.
fn held_of_rewards(scores: &Scores) -> String {
    let [held, raw] = [Measure::WorthHeld, Measure::WorthHeldRaw].map(|m| score(scores, m));
    match scores.get(Measure::WorthHeld) {
        Some(_) => format!("they hold {held} ({raw} as drawn)"),
        None => "there are none".to_owned(),
    }
}

/// How wide the intervals are: as the audit learned, or as they were drawn.
fn widths(audit: &Audit) -> &'static str {
    if audit.calibration.is_empty() {
        ", as drawn (there are too few to learn how wide they must be)"
    } else {
        ", as wide as other episodes showed they must be"
    }
}

/// How often intervals hold what is real.
fn held(scores: &Scores) -> String {
    let measures = [
        (Measure::WorthHeld, Measure::WorthHeldRaw, "of the reward differences"),
        (Measure::ValueHeld, Measure::ValueHeldRaw, "of the values of numbers"),
    ];
    let known = measures.into_iter().filter(|(measure, ..)| scores.get(*measure).is_some());
    let parts: Vec<String> = known
        .map(|(held, raw, what)| {
            let (held, raw) = (score(scores, held), score(scores, raw));
            format!("{held} {what} ({raw} as drawn)")
        })
        .collect();
    let mut text = match &parts[..] {
        [] => "there are none".to_owned(),
        parts => format!("they hold {}", parts.join(" and ")),
    };
    if scores.get(Measure::Exact).is_some() {
        let (count, share) = (whole(scores, Measure::Exact), score(scores, Measure::Exact));
        let _ = write!(text, "\nnumbers with nothing left open: {count}, {share} of them right");
    }
    text
}

/// The audit of the long run.
fn far(audit: &Audit) -> Value {
    let own = &audit.explanations.by_kind;
    // Over many steps only the factor of the reward difference is used.
    let mut far = values(&audit.all_cases, &[Measure::WorthHeld, Measure::WorthHeldRaw]);
    far["horizon"] = json!(audit.horizon);
    far["states"] = json!(audit.states);
    far["cases"] = json!(audit.cases);
    for measure in [Measure::Sign, Measure::SizeError] {
        far[measure.key()] = json!(own.value(measure));
    }
    far["certainty"] = certainty(own);
    far["factor"] = json!(audit.calibration.known(Quantity::Reward));
    far
}

/// How often the sign is right, by how sure the answer is.
fn certainty(scores: &Scores) -> Value {
    let of = |&certainty: &Certainty| {
        let measure = Measure::when(certainty);
        let of = json!({ "sign": scores.value(measure), "cases": whole(scores, measure) });
        (certainty.word().to_owned(), of)
    };
    Value::Object(Certainty::ALL.iter().map(of).collect())
}

/// By what factors intervals are stretched; null where too few showed it.
fn calibration(audit: &Audit) -> Value {
    let factor = |quantity| json!(audit.calibration.known(quantity));
    let of_effect = |(effect, (name, _)): (usize, &(String, Scores))| {
        (name.clone(), factor(Quantity::Effect(effect)))
    };
    let values: Map<String, Value> = audit.by_variable.iter().enumerate().map(of_effect).collect();
    json!({ "reward": factor(Quantity::Reward), "values": values })
}

/// How often the sign is right in answers that are sure, likely, or a guess.
fn when(scores: &Scores) -> String {
    let words = Certainty::ALL.iter().rev().map(|&certainty| {
        let measure = Measure::when(certainty);
        format!(
            "{} in the {} called {}",
            score(scores, measure),
            counted(whole(scores, measure), "answer"),
            certainty.word()
        )
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The interval of a score.
fn interval_text(scores: &Scores, measure: Measure) -> String {
    let Some([low, high]) = scores.get(measure).and_then(|score| score.interval) else {
        return "-".to_owned();
    };
    if measure.is_share() {
        format!("{low:.2}-{high:.2}")
    } else {
        format!("{:.0}-{:.0} %", 100.0 * low, 100.0 * high)
    }
}

fn reference(line: &Line) -> Value {
    values(&line.by_kind, &OF_REFERENCES)
}

/// The scores by the labels and flags of the state.
fn groups(audit: &Audit) -> Value {
    let group = |group: &Group| {
        let mut found = values(&group.explanations, &Measure::ALL);
        found["states"] = json!(group.states);
        found["reachable"] = values(&group.reachable, &OF_REFERENCES);
        (group.name.clone(), found)
    };
    Value::Object(audit.groups.iter().map(group).collect())
}

/// The audit of single influences; null where the environment cannot be put into a state.
fn influence(audit: &Audit) -> Value {
    let own = [Measure::Precision, Measure::Recall];
    let mut found = Value::Null;
    for line in &audit.influences {
        if line.name == "chains" {
            found = values(&line.by_kind, &own);
            found["intervals"] = intervals(&line.by_kind, &own);
        } else {
            found[line.name] = values(&line.by_kind, &own);
        }
    }
    found
}

/// The same scores in states drawn from all steps, with those of the references.
fn all_steps(audit: &Audit) -> Value {
    let mut all = values(&audit.explanations.by_step, &Measure::ALL);
    all["intervals"] = intervals(&audit.explanations.by_step, &Measure::ALL);
    for line in &audit.references {
        all[line.name] = values(&line.by_step, &OF_REFERENCES);
    }
    all
}

fn values(scores: &Scores, measures: &[Measure]) -> Value {
    let value = |&measure: &Measure| (measure.key().to_owned(), json!(scores.value(measure)));
    Value::Object(measures.iter().map(value).collect())
}

fn intervals(scores: &Scores, measures: &[Measure]) -> Value {
    let ends = |&measure: &Measure| {
        let interval = scores.get(measure).and_then(|score| score.interval);
        (measure.key().to_owned(), json!(interval))
    };
    Value::Object(measures.iter().map(ends).collect())
}

fn table(text: &mut String, columns: &[String], rows: Vec<Vec<String>>) {
    let mut table = Table::new(columns.iter().enumerate().map(|(index, name)| {
        let alignment = if index == 0 { Alignment::Left } else { Alignment::Right };
        (name.clone(), alignment)
    }));
    for row in rows {
        table.push(row);
    }
    text.push_str(&table.lines());
}
