//! Random streams: NumPy's `SeedSequence` and `PCG64`, bit for bit.
//!
//! All of becausal uses this one generator. It is the one behind `numpy.random.default_rng(seed)`,
//! so an environment seeded here starts exactly like the same environment in Gymnasium. It is small
//! and `Clone`. Its seed sequence derives independent streams from a seed and a key, so that
//! results of parallel work do not depend on the number of threads.

/// A seeded stream of random numbers.
///
/// `Stream::new(seed)` draws what NumPy's `default_rng(seed)` draws. A clone continues identically.
///
/// ```
/// use becausal_core::Stream;
/// let mut stream = Stream::new(0);
/// assert_eq!(stream.uniform(-0.05, 0.05), 0.013696168732145436);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    state: u128,
    increment: u128,
    /// The upper half of a 64-bit draw whose lower half was used; NumPy keeps it too.
    spare: Option<u32>,
}

impl Stream {
    /// The stream of NumPy's `default_rng(seed)`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::keyed(seed, &[])
    }

    /// An independent stream for each key: NumPy's `SeedSequence(seed, spawn_key=key)`.
    ///
    /// A stream depends on its key alone: episode 7 draws the same numbers whichever thread runs
    /// it, and whether or not episode 6 ran before.
    #[must_use]
    pub fn keyed(seed: u64, key: &[u32]) -> Self {
        let words = generate_state(&mix(&entropy(seed, key)));
        let start = (u128::from(words[0]) << 64) | u128::from(words[1]);
        let sequence = (u128::from(words[2]) << 64) | u128::from(words[3]);
        let mut stream = Self { state: 0, increment: (sequence << 1) | 1, spare: None };
        stream.advance();
        stream.state = stream.state.wrapping_add(start);
        stream.advance();
        stream
    }

    fn advance(&mut self) {
        const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    /// The next 64 bits (PCG64, output function XSL-RR).
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves of the state, by definition"
    )]
    pub fn next_u64(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// The next 32 bits: the lower half of a 64-bit draw, then its upper half.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of a draw, by definition")]
    pub fn next_u32(&mut self) -> u32 {
        if let Some(upper) = self.spare.take() {
            return upper;
        }
        let draw = self.next_u64();
        self.spare = Some((draw >> 32) as u32);
        draw as u32
    }

    /// A number in [0, 1) with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn unit(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / 9_007_199_254_740_992.0; // 2^-53
        (self.next_u64() >> 11) as f64 * SCALE
    }

    /// A number in [low, high): NumPy's `Generator.uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number in [0, count), without bias: NumPy's `Generator.integers(count)`.
    ///
    /// # Panics
    /// When `count` is 0 or does not fit 32 bits.
    pub fn below(&mut self, count: usize) -> usize {
        let count = u32::try_from(count).expect("count must be at most 2^32 - 1");
        assert!(count > 0, "count must be positive");
        if count == 1 {
            return 0; // like NumPy, without using up a draw
        }
        // Lemire's multiplication method.
        let threshold = count.wrapping_neg() % count;
        loop {
            let product = u64::from(self.next_u32()) * u64::from(count);
            if product & 0xFFFF_FFFF >= u64::from(threshold) {
                return usize::try_from(product >> 32).expect("the result is below count");
            }
        }
    }

    /// A draw from the standard normal distribution.
    ///
    /// It takes exactly one uniform number, through the inverse of the distribution function. So
    /// two streams in the same state stay aligned whatever is drawn from them.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn normal(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / 9_007_199_254_740_992.0; // 2^-53
        normal_quantile(((self.next_u64() >> 11) as f64 + 0.5) * SCALE)
    }

    /// A random order of `0..count` (Fisher-Yates shuffle).
    ///
    /// # Panics
    /// When `count` does not fit 32 bits.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// The words that a seed and a key are mixed from, padded as NumPy pads them.
#[expect(clippy::cast_possible_truncation, reason = "the two halves of the seed")]
fn entropy(seed: u64, key: &[u32]) -> Vec<u32> {
    let mut words = vec![seed as u32];
    if seed >> 32 != 0 {
        words.push((seed >> 32) as u32);
    }
    if !key.is_empty() {
        words.resize(4, 0);
        words.extend_from_slice(key);
    }
    words
}

/// `SeedSequence`'s pool of four words.
fn mix(entropy: &[u32]) -> [u32; 4] {
    let mut constant: u32 = 0x43B0_D7E5;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931E_8875);
        let value = value.wrapping_mul(constant);
        value ^ (value >> 16)
    };
    let combine = |x: u32, y: u32| {
        let mixed = x.wrapping_mul(0xCA01_F9DD).wrapping_sub(y.wrapping_mul(0x4973_F715));
        mixed ^ (mixed >> 16)
    };
    let mut pool = [0; 4];
    for (index, word) in pool.iter_mut().enumerate() {
        *word = hash(entropy.get(index).copied().unwrap_or(0));
    }
    for source in 0..4 {
        for target in 0..4 {
            if source != target {
                pool[target] = combine(pool[target], hash(pool[source]));
            }
        }
    }
    for &word in entropy.iter().skip(4) {
        for slot in &mut pool {
            *slot = combine(*slot, hash(word));
        }
    }
    pool
}

/// `SeedSequence.generate_state(4, uint64)`.
fn generate_state(pool: &[u32; 4]) -> [u64; 4] {
    let mut constant: u32 = 0x8B51_F9DD;
    let mut words = pool.iter().cycle().map(|&word| {
        let word = word ^ constant;
        constant = constant.wrapping_mul(0x58F3_8DED);
        let word = word.wrapping_mul(constant);
        u64::from(word ^ (word >> 16))
    });
    std::array::from_fn(|_| {
        let low = words.next().unwrap_or_default();
        low | (words.next().unwrap_or_default() << 32)
    })
}

/// The value below which a standard normal variable lies with probability `p` in (0, 1).
///
/// Wichura's algorithm AS 241 (PPND16), exact to about 16 digits.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    const CENTRE: ([f64; 8], [f64; 8]) = (
        [
            3.387_132_872_796_366_5,
            133.141_667_891_784_38,
            1_971.590_950_306_551_3,
            13_731.693_765_509_46,
            45_921.953_931_549_87,
            67_265.770_927_008_7,
            33_430.575_583_588_13,
            2_509.080_928_730_122_7,
        ],
        [
            1.0,
            42.313_330_701_600_91,
            687.187_007_492_057_9,
            5_394.196_021_424_751,
            21_213.794_301_586_597,
            39_307.895_800_092_71,
            28_729.085_735_721_943,
            5_226.495_278_852_854,
        ],
    );
    const MIDDLE: ([f64; 8], [f64; 8]) = (
        [
            1.423_437_110_749_683_5,
            4.630_337_846_156_546,
            5.769_497_221_460_691,
            3.647_848_324_763_204_5,
            1.270_458_252_452_368_4,
            0.241_780_725_177_450_6,
            0.022_723_844_989_269_184,
            7.745_450_142_783_414e-4,
        ],
        [
            1.0,
            2.053_191_626_637_759,
            1.676_384_830_183_803_8,
            0.689_767_334_985_1,
            0.148_103_976_427_480_08,
            0.015_198_666_563_616_457,
            5.475_938_084_995_345e-4,
            1.050_750_071_644_416_9e-9,
        ],
    );
    const TAIL: ([f64; 8], [f64; 8]) = (
        [
            6.657_904_643_501_103,
            5.463_784_911_164_114,
            1.784_826_539_917_291_3,
            0.296_560_571_828_504_87,
            0.026_532_189_526_576_124,
            0.001_242_660_947_388_078_4,
            2.711_555_568_743_487_6e-5,
            2.010_334_399_292_288_1e-7,
        ],
        [
            1.0,
            0.599_832_206_555_888,
            0.136_929_880_922_735_8,
            0.014_875_361_290_850_615,
            7.868_691_311_456_133e-4,
            1.846_318_317_510_054_8e-5,
            1.421_511_758_316_445_8e-7,
            2.044_263_103_389_939_8e-15,
        ],
    );
    let ratio = |(above, below): ([f64; 8], [f64; 8]), at: f64| {
        let polynomial =
            |terms: [f64; 8]| terms.iter().rev().fold(0.0, |sum, term| sum * at + term);
        polynomial(above) / polynomial(below)
    };
    let centred = p - 0.5;
    if centred.abs() <= 0.425 {
        return centred * ratio(CENTRE, 0.180_625 - centred * centred);
    }
    let distance = (-p.min(1.0 - p).ln()).sqrt();
    let magnitude =
        if distance <= 5.0 { ratio(MIDDLE, distance - 1.6) } else { ratio(TAIL, distance - 5.0) };
    magnitude.copysign(centred)
}

/// A quantile of Student's t distribution: exact with one and two degrees of freedom, beyond by the expansion of Cornish
/// and Fisher (within 1 % from 2.5 to 97.5 %, within 4 % at 99.5 %).
#[must_use]
pub fn student_quantile(share: f64, freedom: usize) -> f64 {
    match freedom {
        1 => (std::f64::consts::PI * (share - 0.5)).tan(),
        2 => (2.0 * share - 1.0) / (2.0 * share * (1.0 - share)).sqrt(),
        _ => {
            let (z, n) = (normal_quantile(share), freedom as f64);
            let first = (z.powi(3) + z) / 4.0;
            let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
            let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
            z + first / n + second / (n * n) + third / (n * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_draws_equal_numpys() {
        let cases: [(u64, [u64; 3]); 4] = [
            (0, [0xa30f_ebcf_d9c2_825f, 0x4510_bdf8_82d9_d721, 0x0a7d_3da9_4ecd_e8b8]),
            (1, [0x8306_bdf3_7922_e4ff, 0xf351_96bb_c152_a866, 0x24e7_a4f6_08ec_18cd]),
            (
                123_456_789_012_345_678,
                [0x06eb_45f8_c176_452d, 0xd0f8_4b13_39cf_accc, 0x99f6_a8be_5cdc_5ea2],
            ),
            (u64::MAX, [0xae16_3a7a_8c47_568f, 0xd866_59f5_f338_2359, 0x01e5_2b19_5bc2_d24a]),
        ];
        for (seed, expected) in cases {
            let mut stream = Stream::new(seed);
            assert_eq!(std::array::from_fn(|_| stream.next_u64()), expected, "seed {seed}");
        }
    }

    #[test]
    fn keyed_streams_equal_numpys_spawned_streams() {
        let mut stream = Stream::keyed(42, &[7, 3]);
        let expected = [0x71df_8659_76bb_01ce, 0x25eb_4fed_3817_b874, 0xfaf5_5e47_3d41_2784];
        assert_eq!(std::array::from_fn(|_| stream.next_u64()), expected);
    }

    #[test]
    fn two_whole_numbers_share_a_64_bit_draw_as_in_numpy() {
        let mut stream = Stream::new(5);
        assert_eq!(std::array::from_fn(|_| stream.below(10)), [6, 8, 0, 8, 4]);
        assert_eq!(stream.unit(), 0.285_801_380_088_141_6);
        // numpy: integers(-9999, 9999)
        let offset = std::array::from_fn(|_| stream.below(19_998));
        assert_eq!(offset, [306 + 9_999, 9_589 + 9_999, 9_999 - 8_921]);
        // A count that makes Lemire's method reject about a third of its draws.
        let expected =
            [833_771_209, 1_713_553_148, 1_225_419_615, 393_182_838, 135_825_581, 1_957_107_334];
        assert_eq!(std::array::from_fn(|_| stream.below(3_000_000_000)), expected);
    }

    #[test]
    fn quantiles_agree_with_pythons_statistics_module() {
        let cases = [
            (0.5, 0.0),
            (0.3, -0.524_400_512_708_040_7),
            (0.975, 1.959_963_984_540_053_6),
            (0.01, -2.326_347_874_040_840_8),
            (1e-5, -4.264_890_793_922_825_6),
            (1e-12, -7.034_483_825_301_132),
            (1e-300, -37.047_096_299_361_2),
        ];
        for (p, expected) in cases {
            let got = normal_quantile(p);
            assert!((got - expected).abs() <= 1e-14 * expected.abs(), "{p}: {got} != {expected}");
        }
    }

    #[test]
    fn normal_draws_have_the_moments_of_the_normal_distribution() {
        let mut stream = Stream::new(1);
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        let moment = |power| draws.iter().map(|x| x.powi(power)).sum::<f64>() / 1e5;
        assert!(moment(1).abs() < 0.01);
        assert!((moment(2) - 1.0).abs() < 0.015);
        assert!((moment(4) - 3.0).abs() < 0.1);
    }

    #[test]
    fn a_permutation_contains_each_index_once() {
        let mut order = Stream::new(3).permutation(1000);
        assert_ne!(order, (0..1000).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn the_quantiles_are_those_of_students_distribution() {
        for (freedom, expected) in [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262)] {
            let found = student_quantile(0.975, freedom);
            assert!((found / expected - 1.0).abs() < 0.011, "{freedom}: {found}");
            assert_eq!(student_quantile(0.5, freedom), 0.0);
        }
        for (freedom, expected) in [(2, 9.925), (3, 5.841), (4, 4.604)] {
            let found = student_quantile(0.995, freedom);
            assert!((found / expected - 1.0).abs() < 0.04, "{freedom}: {found}");
        }
    }
}
