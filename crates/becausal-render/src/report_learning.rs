//! The learning curves in a report.

use super::curves::{Chart, Series, SeriesPoint};
use super::html::{escaped, picture};
use super::text::thousands;
use super::words::{counted, minus, number};

/// The curves of a training run over its real steps.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportLearning {
    /// The number of epochs.
    pub epochs: usize,
    /// Curves of mean returns with their names; the first one has the evaluations.
    pub returns: Vec<(String, Vec<(f64, f64)>)>,
    /// The mean log-likelihood of new transitions under the world model.
    pub likelihood: Vec<(f64, f64)>,
    /// The number of edges in the causal graph.
    pub edges: Vec<(f64, f64)>,
}

/// The section about learning.
#[must_use]
pub fn learning_html(learning: &ReportLearning) -> String {
    let single = |name: &str, points: &[(f64, f64)]| vec![(name.to_owned(), points.to_vec())];
    let charts = [
        chart("Mean return", "mean return", &learning.returns),
        chart(
            "Log-likelihood of new transitions, before the model learned from them",
            "nats per transition",
            &single("world model", &learning.likelihood),
        ),
        chart("Edges of the causal graph", "edges", &single("edges", &learning.edges)),
    ];
    let pictures: String = charts.into_iter().flatten().collect();
    format!(
        "<section id=\"learning\" aria-labelledby=\"learning-title\">\n<h2 id=\"learning-title\">How it \
         learned</h2>\n<p>{}</p>\n<div class=\"charts\">{pictures}</div>\n</section>\n",
        escaped(&summary(learning))
    )
}

/// `6 epochs. The best evaluation was 200, after 422 real steps; the last was 187.`
fn summary(learning: &ReportLearning) -> String {
    let epochs = counted(learning.epochs, "epoch");
    let evaluations = learning.returns.first().map_or(&[][..], |(_, points)| points);
    let best =
        evaluations.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best });
    match (best, evaluations.last()) {
        (Some((steps, best)), Some((_, last))) => format!(
            "{epochs}. The best evaluation was {}, after {} real steps; the last was {}. Returns of \
             evaluations are the environment's own; returns while learning are by the schema's reward terms.",
            minus(&number(best, 4)),
            thousands(whole(steps)),
            minus(&number(*last, 4))
        ),
        _ => format!("{epochs}, and no evaluation yet."),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn whole(count: f64) -> usize {
    count as usize
}

/// A chart of the curves with at least two points; `None` if there are none.
fn chart(title: &str, label: &str, curves: &[(String, Vec<(f64, f64)>)]) -> Option<String> {
    let series: Vec<Series> = curves
        .iter()
        .filter(|(_, points)| points.len() > 1)
        .map(|(name, points)| Series { name: name.clone(), points: ascending(points) })
        .collect();
    if series.is_empty() {
        return None;
    }
    let chart = Chart::new(title, "real steps", label, series).ok()?;
    Some(picture(&chart.drawing()))
}

/// Points without a spread. An epoch without real steps replaces the one before it.
fn ascending(points: &[(f64, f64)]) -> Vec<SeriesPoint> {
    let mut ascending: Vec<SeriesPoint> = Vec::new();
    for &(x, mean) in points {
        let point = SeriesPoint { x, mean, low: mean, high: mean };
        match ascending.last_mut() {
            Some(last) if last.x >= x => *last = SeriesPoint { x: last.x, ..point },
            _ => ascending.push(point),
        }
    }
    ascending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_drawn_where_there_are_points() {
        let learning = ReportLearning {
            epochs: 3,
            returns: vec![
                ("evaluations".to_owned(), vec![(400.0, 12.0), (800.0, 200.0), (900.0, 187.0)]),
                ("while learning".to_owned(), vec![(400.0, 20.0)]),
            ],
            likelihood: Vec::new(),
            edges: vec![(400.0, 9.0), (400.0, 10.0), (800.0, 11.0)],
        };
        let html = learning_html(&learning);
        assert!(
            html.contains(
                "3 epochs. The best evaluation was 200, after 800 real steps; the last was 187."
            ),
            "{html}"
        );
        assert_eq!(html.matches("<svg ").count(), 2, "no likelihood, no chart of it");
        let none = ReportLearning { returns: Vec::new(), edges: Vec::new(), ..learning };
        assert!(learning_html(&none).contains("no evaluation yet"));
    }
}
