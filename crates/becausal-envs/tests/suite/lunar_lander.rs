//! LunarLander equals Gymnasium's bit for bit and can be cloned in mid-flight.
//!
//! `.ci/run` runs this file three times: like the other tests, in the release profile, and in the
//! release profile with all instructions of the processor (`target-cpu=native`).

use std::path::{Path, PathBuf};

use becausal_core::env::{AnyEnvironment, EnvironmentError, Options};
use becausal_core::{Environment, Stream};
use becausal_envs::find;

/// A recorded step; numbers as their bits.
struct Recorded {
    action: Vec<f64>,
    state: [u32; 8],
    reward: u64,
    terminated: bool,
}

struct Episode {
    seed: u64,
    first: [u32; 8],
    steps: Vec<Recorded>,
}

/// The recorded variants: the file, the id, whether there is wind.
const VARIANTS: [(&str, &str, bool); 4] = [
    ("discrete", "LunarLander-v3", false),
    ("continuous", "LunarLanderContinuous-v3", false),
    ("discrete_wind", "LunarLander-v3", true),
    ("continuous_wind", "LunarLanderContinuous-v3", true),
];

fn make(id: &str, options: &[(&str, &str)]) -> Result<AnyEnvironment, EnvironmentError> {
    let mut chosen = Options::default();
    for (name, value) in options {
        chosen.set(*name, *value);
    }
    find(id)?.make_endless(&chosen)
}

fn lander(id: &str, wind: bool) -> AnyEnvironment {
    make(id, &[("enable_wind", if wind { "true" } else { "false" })]).expect("valid options")
}

/// Takes numbers off the front of a recording, least significant byte first.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, tail) = self.0.split_first_chunk::<N>().expect("a complete recording");
        self.0 = tail;
        *head
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn state(&mut self) -> [u32; 8] {
        std::array::from_fn(|_| self.word())
    }

    fn step(&mut self, continuous: bool) -> Recorded {
        let action = if continuous {
            (0..2).map(|_| f64::from(f32::from_bits(self.word()))).collect()
        } else {
            vec![f64::from(self.take::<1>()[0])]
        };
        Recorded {
            action,
            state: self.state(),
            reward: u64::from_le_bytes(self.take()),
            terminated: self.take::<1>()[0] != 0,
        }
    }
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The number of episodes (u32); of each its seed (u32), its number of steps (u32) and first state
/// (8 f32); of each step the action (u8, or 2 f32), the state (8 f32), the reward (f64), and whether
/// the episode ended (u8).
fn episodes(file: &str) -> Vec<Episode> {
    let path = golden().join(format!("lunarlander_{file}.bin"));
    let bytes = std::fs::read(&path).expect("a recording");
    let mut reader = Reader(&bytes);
    let count = reader.word();
    let episodes = (0..count)
        .map(|_| {
            let seed = u64::from(reader.word());
            let length = reader.word();
            let first = reader.state();
            let steps = (0..length).map(|_| reader.step(file.starts_with("continuous"))).collect();
            Episode { seed, first, steps }
        })
        .collect();
    assert!(reader.0.is_empty(), "{} has more than its episodes", path.display());
    episodes
}

#[expect(clippy::cast_possible_truncation, reason = "the state is in single precision")]
fn bits(state: &[f64]) -> [u32; 8] {
    std::array::from_fn(|slot| {
        let single = state[slot] as f32;
        assert_eq!(f64::from(single), state[slot], "a state in single precision");
        single.to_bits()
    })
}

fn play(lander: &mut AnyEnvironment, steps: &[Recorded], place: &str) {
    for (index, recorded) in steps.iter().enumerate() {
        let step = lander.step(&recorded.action).expect("a step");
        assert_eq!(bits(step.state), recorded.state, "state of {place}, step {index}");
        assert_eq!(step.reward.to_bits(), recorded.reward, "reward of {place}, step {index}");
        assert_eq!(step.terminated, recorded.terminated, "end of {place}, step {index}");
        let [_, crash, rest] = step.outcomes else { panic!("three outcomes") };
        assert_eq!(step.terminated, *crash != 0.0 || *rest != 0.0, "cause of the end of {place}");
    }
}

#[test]
fn every_recorded_episode_equals_gymnasiums_bit_for_bit() {
    let mut steps = 0;
    for (file, id, wind) in VARIANTS {
        let mut lander = lander(id, wind);
        let recorded = episodes(file);
        assert_eq!(recorded.len(), 15);
        for episode in recorded {
            let place = format!("{file}, seed {}", episode.seed);
            lander.reset(episode.seed);
            assert_eq!(bits(lander.state()), episode.first, "first state of {place}");
            play(&mut lander, &episode.steps, &place);
            steps += episode.steps.len();
        }
    }
    assert_eq!(steps, 7351);
}

#[test]
fn a_clone_taken_at_any_step_continues_identically() {
    let mut stream = Stream::new(5);
    let (mut clones, mut touching) = (0, 0);
    for (file, id, wind) in VARIANTS {
        let mut lander = lander(id, wind);
        for episode in episodes(file) {
            lander.reset(episode.seed);
            for (index, recorded) in episode.steps.iter().enumerate() {
                let touches = lander.state()[6] + lander.state()[7] > 0.0;
                if stream.unit() < if touches { 0.3 } else { 0.02 } {
                    let mut clone = lander.clone();
                    let end = episode.steps.len().min(index + 60);
                    let place = format!("clone of {file}, seed {}", episode.seed);
                    play(&mut clone, &episode.steps[index..end], &place);
                    clones += 1;
                    touching += u32::from(touches);
                }
                lander.step(&recorded.action).expect("a step");
            }
        }
    }
    assert!(clones > 100 && touching > 50, "{clones} clones, {touching} on the ground");
}

#[test]
fn the_schema_distinguishes_the_recorded_landings_and_crashes() {
    let (mut crashes, mut rests) = (0, 0);
    for (file, id, wind) in VARIANTS {
        let mut lander = lander(id, wind);
        let schema = std::sync::Arc::clone(lander.schema());
        for episode in episodes(file) {
            lander.reset(episode.seed);
            for recorded in &episode.steps {
                let before = lander.state().to_vec();
                let step = lander.step(&recorded.action).expect("a step");
                let row = [&before, &recorded.action, step.outcomes, step.state].concat();
                let terms: Vec<f64> =
                    schema.rewards().iter().map(|reward| reward.expression.value(&row)).collect();
                let [_, crash, rest] = step.outcomes else { panic!("three outcomes") };
                crashes += u32::from(*crash != 0.0);
                rests += u32::from(*rest != 0.0);
                assert_eq!(terms[5..], [100.0 * rest, -100.0 * crash]);
                if !step.terminated {
                    // The same as Gymnasium's, which computes in double precision throughout.
                    let total: f64 = terms.iter().sum();
                    assert!((total - step.reward).abs() < 1e-4, "{total} {}", step.reward);
                }
            }
        }
    }
    assert!(crashes > 20 && rests > 5, "{crashes} crashes, {rests} rests");
}

#[test]
fn fuel_is_proportional_to_the_power_of_the_engines() {
    let mut lander = lander("LunarLander-v3", false);
    for (action, fuel) in [(0.0, 0.0), (1.0, 0.03), (2.0, 0.3), (3.0, 0.03)] {
        assert_eq!(lander.step(&[action]).expect("a step").outcomes[0], fuel);
    }
    let mut lander = self::lander("LunarLanderContinuous-v3", false);
    let cases: [(f64, f64); 5] = [(-1.0, 0.5), (0.0, 0.2), (0.5, 0.0), (1.0, 1.0), (0.3, -0.6)];
    for (main, side) in cases {
        let fuel = lander.step(&[main, side]).expect("a step").outcomes[0];
        let main_fuel = if main > 0.0 { 0.3 * (main + 1.0) / 2.0 } else { 0.0 };
        let side_fuel = if side.abs() > 0.5 { 0.03 * side.abs() } else { 0.0 };
        assert!((fuel - main_fuel - side_fuel).abs() < 1e-15);
    }
}

#[test]
fn options_out_of_range_are_rejected() {
    let cases = [
        ("gravity", "-12", "expected a number between -12 and 0 (both excluded), got -12"),
        ("gravity", "0", "expected a number between -12 and 0"),
        ("gravity", "heavy", "expected a number, got `heavy`"),
        ("gravity", "NaN", "expected a number, got `NaN`"),
        ("wind_power", "1e300", "expected a number from -1000000 to 1000000"),
        ("enable_wnd", "true", "there is no such option (did you mean `enable_wind`?)"),
        ("enable_wind", "strong", "expected true or false, got `strong`"),
    ];
    for (name, value, expected) in cases {
        let error = make("LunarLander-v3", &[(name, value)]).err().expect(expected).to_string();
        assert!(error.contains(&format!("option `{name}`")) && error.contains(expected), "{error}");
    }
    for gravity in ["-11.99", "-0.01"] {
        assert!(make("LunarLander-v3", &[("gravity", gravity)]).is_ok());
    }
}

#[test]
fn the_scene_shows_the_flames_of_the_last_action() {
    // The colour of a flame appears twice, for its area and for its outline.
    let flames =
        |lander: &AnyEnvironment| lander.scene().expect("a scene").matches("#ff7a1a").count();
    let mut lander = lander("LunarLanderContinuous-v3", false);
    assert_eq!(flames(&lander), 0);
    for (action, expected) in [([1.0, 0.0], 2), ([0.0, 1.0], 2), ([1.0, -1.0], 4), ([0.0; 2], 0)] {
        lander.step(&action).expect("a step");
        assert_eq!(flames(&lander), expected, "{action:?}");
    }
}

/// `UPDATE_GOLDEN=1 cargo test` redraws it; look at it then.
#[test]
fn the_scene_equals_the_golden_picture() {
    let mut lander = lander("LunarLander-v3", false);
    lander.reset(7);
    for action in [2.0, 2.0, 3.0, 0.0].into_iter().cycle().take(50).chain([2.0]) {
        lander.step(&[action]).expect("a step");
    }
    let path = golden().join("lunarlander_scene.svg");
    let scene = lander.scene().expect("a scene");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &scene).expect("written");
    }
    assert_eq!(scene, std::fs::read_to_string(&path).expect("a picture"));
}
