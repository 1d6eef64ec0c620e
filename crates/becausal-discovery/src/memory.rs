//! Signs of hidden state: residuals that depend on the past.
//!
//! If the inputs are the whole state, the residual of a row does not depend on any earlier row. If it goes
//! with the residual of the row before, something that is not in the log carries over, and a cause may be
//! found that only stands for it.

use super::discover::Method;
use super::frame::Frame;
use super::student::mean_above_zero;

/// The correlation of neighbouring residuals below which an imperfect model may be the reason. Chosen
/// between BuildMarine, which has hidden state, and the development families.
const MIN_CORRELATION: f64 = 0.1;

/// Of the squared residuals, the share that clipping must leave. Errors of a few rows are the model's.
const MIN_CLIPPED_SHARE: f64 = 0.5;

/// Whether the residuals of neighbouring rows go together. Rows of one unit are in time order.
pub(super) fn is_remembered(frame: &Frame, residuals: &[f64], clip: Option<f64>) -> bool {
    let clip = clip.unwrap_or(f64::INFINITY);
    let units = &frame.units;
    let mut products = vec![0.0; units.count()];
    let (mut total, mut squares, mut plain) = (0.0, 0.0, 0.0);
    for (pair, of_row) in residuals.windows(2).zip(units.of_row.windows(2)) {
        if of_row[0] == of_row[1] {
            let [before, after] = [pair[0], pair[1]].map(|residual| residual.clamp(-clip, clip));
            products[of_row[1] as usize] += before * after;
            total += before * after;
            squares += after * after;
            plain += pair[1] * pair[1];
        }
    }
    products.retain(|&product| product != 0.0);
    squares > 0.0
        && squares >= MIN_CLIPPED_SHARE * plain
        && products.len() as f64 >= frame.thresholds.min_pieces
        && total / squares >= MIN_CORRELATION
        && mean_above_zero(&products) <= Method::Auto.default_eta()
}

#[cfg(test)]
mod tests {
    use super::super::thresholds::Thresholds;
    use super::*;
    use becausal_core::Stream;
    use becausal_core::data::{Row, Transitions};
    use becausal_core::schema::Schema;

    #[test]
    fn noise_that_lasts_is_a_sign_and_fresh_noise_is_not() {
        let text = "name = \"Small\"\n[state]\nx = { kind = \"continuous\" }\n[action]\n\
                    a = { kind = \"boolean\" }\n";
        let mut data = Transitions::new(std::sync::Arc::new(Schema::parse(text).expect("it")));
        let mut stream = Stream::new(8);
        let (mut lasting, mut level) = (Vec::new(), 0.0);
        for row in 0..2000 {
            if row % 50 == 0 {
                data.begin_episode();
                level = stream.normal();
            }
            level = 0.6 * level + stream.normal();
            lasting.push(level);
            data.push(&Row {
                state: &[0.0],
                action: &[0.0],
                outcomes: &[],
                next: &[level],
                reward: 0.0,
                terminated: false,
                truncated: false,
            });
        }
        let frame = Frame::of(&data, 0, Thresholds::default());
        assert!(is_remembered(&frame, &lasting, None));
        let fresh: Vec<f64> = (0..2000).map(|_| stream.normal()).collect();
        assert!(!is_remembered(&frame, &fresh, None));
        assert!(!is_remembered(&frame, &vec![0.0; 2000], None));
    }
}
