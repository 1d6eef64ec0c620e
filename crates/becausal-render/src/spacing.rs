//! Places items on a line, as near to their wishes as their sizes allow.

/// The wish of an item for its position on a line.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    /// The position of its middle.
    pub middle: f64,
    /// Its length.
    pub length: f64,
    /// The weight of the wish, above 0.
    pub weight: f64,
}

/// The middles nearest to the wishes (weighted least squares) that keep the items in order with at
/// least `gap` between them.
///
/// After lengths and gaps are subtracted, the positions only have to be in order. This is an isotonic
/// regression, solved exactly by pooling adjacent violators.
#[must_use]
pub fn settle(wishes: &[Wish], gap: f64) -> Vec<f64> {
    let mut offsets = Vec::with_capacity(wishes.len());
    let mut offset = 0.0;
    for (index, wish) in wishes.iter().enumerate() {
        if index > 0 {
            offset += f64::midpoint(wishes[index - 1].length, wish.length) + gap;
        }
        offsets.push(offset);
    }
    // Pools of neighbours that share one value: mean, weight, members.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (wish, offset) in wishes.iter().zip(&offsets) {
        let mut pool = (wish.middle - offset, wish.weight, 1);
        while let Some(&(mean, weight, members)) = pools.last() {
            if mean <= pool.0 {
                break;
            }
            let total = weight + pool.1;
            pool = ((mean * weight + pool.0 * pool.1) / total, total, members + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    let values = pools.iter().flat_map(|&(mean, _, members)| std::iter::repeat_n(mean, members));
    values.zip(offsets).map(|(value, offset)| value + offset).collect()
}

/// Like [`settle`], but between `from` and `to`; items that do not fit begin at `from`.
#[must_use]
pub fn settle_between(wishes: &[Wish], gap: f64, from: f64, to: f64) -> Vec<f64> {
    let total: f64 = wishes.iter().map(|wish| wish.length + gap).sum::<f64>()
        - if wishes.is_empty() { 0.0 } else { gap };
    let slack = (to - from - total).max(0.0);
    let mut before = 0.0;
    let mut places = settle(wishes, gap);
    for (place, wish) in places.iter_mut().zip(wishes) {
        let first = from + before + wish.length / 2.0;
        *place = place.clamp(first, first + slack);
        before += wish.length + gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(middle: f64) -> Wish {
        Wish { middle, length: 10.0, weight: 1.0 }
    }

    #[test]
    fn items_with_enough_space_get_their_wish() {
        assert_eq!(settle(&[wish(5.0), wish(40.0)], 2.0), [5.0, 40.0]);
    }

    #[test]
    fn crowded_items_share_the_distance() {
        assert_eq!(settle(&[wish(20.0), wish(20.0)], 2.0), [14.0, 26.0]);
        assert_eq!(settle(&[wish(30.0), wish(10.0)], 2.0), [14.0, 26.0]);
    }

    #[test]
    fn items_stay_within_the_bounds() {
        let wishes = [wish(-50.0), wish(90.0), wish(95.0)];
        assert_eq!(settle_between(&wishes, 0.0, 0.0, 100.0), [5.0, 85.0, 95.0]);
    }
}
