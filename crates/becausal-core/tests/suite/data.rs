//! Transitions and their files: written data is read back exactly, and wrong data is rejected.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common::{ENDINGS, HOVER, hover, mixed, mixed_schema, numbers};
use becausal_core::data::{
    Column, Problem, ReadOptions, Recording, Row, Spread, Writer, read, write,
};
use becausal_core::schema::Circle;
use becausal_core::trajectory::Step;
use becausal_core::{Schema, Stream, Transitions};
use proptest::prelude::*;

fn reread(transitions: &Transitions, ending: &str) -> Recording {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(format!("data.{ending}"));
    write(&path, transitions).unwrap_or_else(|error| panic!("{error}"));
    read(&path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn written_transitions_are_read_back_exactly() {
    let transitions = mixed(200, 7, 3);
    for ending in ENDINGS {
        let recording = reread(&transitions, ending);
        assert_eq!(recording.transitions, transitions, "{ending}");
        assert!(recording.notes.is_empty(), "{ending}: {:?}", recording.notes);
    }
}

/// The decoder would go over each of them, for seconds to hours.
#[test]
fn a_parquet_footer_that_claims_many_booleans_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.parquet");
    write(&path, &mixed(20, 5, 1)).expect("a file");
    let mut bytes = fs::read(&path).expect("a file");
    let tail = bytes.split_off(bytes.len() - 8);
    let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    // In place of the end of the footer: many unknown lists, each of 2^31 - 1 booleans.
    assert_eq!(bytes.pop(), Some(0), "the end of a structure");
    let list = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];
    bytes.extend(list.repeat(1000));
    bytes.push(0);
    bytes.extend((length + 7000).to_le_bytes());
    bytes.extend(b"PAR1");
    fs::write(&path, &bytes).expect("a file");
    let started = std::time::Instant::now();
    let error = read(&path, &ReadOptions::default()).expect_err("refused").to_string();
    assert!(error.contains("its footer has a list of booleans"), "{error}");
    assert!(started.elapsed().as_secs() < 10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn any_transitions_survive_a_round_trip_in_any_format(rows in 1..300usize, length in 1..50usize, seed in any::<u64>()) {
        let transitions = mixed(rows, length, seed);
        for ending in ENDINGS {
            prop_assert_eq!(&reread(&transitions, ending).transitions, &transitions);
        }
    }
}

#[test]
fn a_file_does_not_depend_on_how_its_rows_are_split_into_pieces() {
    let transitions = mixed(500, 9, 1);
    for ending in ENDINGS {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = folder.path().join(format!("whole.{ending}"));
        write(&whole, &transitions).expect("written");
        let pieces = folder.path().join(format!("pieces.{ending}"));
        let mut writer = Writer::create(&pieces, transitions.schema(), true).expect("begun");
        for episode in 0..transitions.episodes() {
            writer.append(&transitions.slice(transitions.episode(episode))).expect("added");
        }
        assert!(!pieces.exists(), "the file appears only when it is complete");
        writer.finish().expect("finished");
        assert_eq!(
            fs::read(&whole).expect("whole"),
            fs::read(&pieces).expect("pieces"),
            "{ending}"
        );
    }
}

#[test]
fn an_unfinished_file_leaves_nothing_behind() {
    let transitions = mixed(50, 9, 1);
    for ending in ENDINGS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(format!("data.{ending}"));
        let mut writer = Writer::create(&path, transitions.schema(), true).expect("begun");
        writer.append(&transitions).expect("added");
        drop(writer);
        let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
        assert!(left.is_empty(), "{ending}: {left:?}");
    }
}

#[test]
fn slices_and_selections_keep_rows_and_episodes() {
    let transitions = mixed(100, 10, 2);
    assert_eq!(transitions.episodes(), 10);
    assert_eq!(transitions.episode(3), 30..40);
    assert_eq!([0, 9, 10, 99].map(|row| transitions.episode_of(row)), [0, 0, 1, 9]);

    let slice = transitions.slice(35..52);
    assert_eq!(slice.len(), 17);
    assert_eq!(
        (0..slice.episodes()).map(|e| slice.episode(e)).collect::<Vec<_>>(),
        [0..5, 5..15, 15..17]
    );
    assert_eq!(slice.row(0), transitions.row(35));
    assert_eq!(slice.row(16), transitions.row(51));
    assert!(transitions.slice(5..5).is_empty());

    let chosen = transitions.select_episodes(&[7, 2]);
    assert_eq!(chosen.episodes(), 2);
    assert_eq!(chosen.row(0), transitions.row(70));
    assert_eq!(chosen.row(10), transitions.row(20));
    assert_eq!(transitions.rows_of(&[7, 2]), (70..80).chain(20..30).collect::<Vec<_>>());

    let mut joined = transitions.slice(0..20);
    joined.append(&transitions.slice(20..100));
    assert_eq!(joined, transitions);
}

#[test]
fn a_split_puts_every_episode_on_exactly_one_side() {
    let transitions = mixed(1000, 10, 2);
    for (share, seed) in [(0.1, 0), (0.25, 1), (0.5, 2), (0.0, 3), (1.0, 4)] {
        let split = transitions.split_episodes(share, &mut Stream::new(seed));
        let mut all = [split.train.clone(), split.held_out.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>(), "each episode once");
        let rows = transitions.rows_of(&split.held_out).len() as f64;
        assert!((rows / 1000.0 - share).abs() <= 0.01, "{share}: {rows}");
        assert_eq!(split, transitions.split_episodes(share, &mut Stream::new(seed)));
    }
    let two = mixed(20, 10, 2);
    for seed in 0..20 {
        let split = two.split_episodes(0.01, &mut Stream::new(seed));
        assert_eq!((split.train.len(), split.held_out.len()), (1, 1));
    }
}

#[test]
fn samples_are_uniform_and_reproducible() {
    let transitions = mixed(10, 5, 2);
    let rows = transitions.sample(10_000, &mut Stream::new(1));
    assert_eq!(rows, transitions.sample(10_000, &mut Stream::new(1)));
    for row in 0..10 {
        let count = rows.iter().filter(|&&drawn| drawn == row).count();
        assert!((850..1150).contains(&count), "row {row} was drawn {count} times");
    }
}

#[test]
fn statistics_are_accurate_for_large_means_and_constants() {
    let column = Column::Numbers((0..1000).map(|index| 1e9 + f64::from(index % 2)).collect());
    let spread = Spread::of(&column).expect("rows");
    assert_eq!((spread.minimum, spread.maximum, spread.mean), (1e9, 1e9 + 1.0, 1e9 + 0.5));
    assert!((spread.deviation - 0.5).abs() < 1e-9);
    let constant = Spread::of(&Column::Numbers(vec![0.1; 1000])).expect("rows");
    assert_eq!((constant.mean, constant.deviation), (0.1, 0.0));
    assert!(constant.is_constant());
    assert_eq!(Spread::of(&Column::Numbers(Vec::new())), None);
}

#[test]
fn statistics_of_a_circle_do_not_see_where_it_is_cut() {
    let headings = Column::Numbers(vec![170.0, -170.0, 190.0]);
    let spread = Spread::on_circle(&headings, Circle::centred(360.0)).expect("rows");
    assert_eq!([spread.minimum, spread.maximum], [-170.0, 170.0]);
    assert!((spread.deviation - (800.0_f64 / 9.0).sqrt()).abs() < 1e-6, "{spread:?}");
    assert!((spread.mean + 176.666_666).abs() < 1e-3, "{spread:?}");
}

/// A log of a compass that is written from 0 to 360, where the schema says from -180 to 180.
#[test]
fn recorded_angles_are_put_on_their_circle() {
    let text = "name = \"Compass\"\n[state]\nheading = { kind = \"circular\", period = 360 }\n[action]\n\
                left = { kind = \"boolean\" }\n[reward]\nsouth = \"abs(heading')\"\n";
    let schema = Arc::new(Schema::parse(text).expect("a valid schema"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.csv");
    std::fs::write(&path, "heading,left,heading'\n0.1,0,350\n-10,0,270\n630,1,180\n")
        .expect("written");
    let options = ReadOptions { schema: Some(Arc::clone(&schema)), ..ReadOptions::default() };
    let read = read(&path, &options).expect("a log").transitions;
    assert_eq!(numbers(&read, "heading"), [0.1, -10.0, -90.0]);
    assert_eq!(numbers(&read, "heading'"), [-10.0, -90.0, -180.0]);
    assert_eq!(read.total_reward(), [10.0, 90.0, 180.0]);
    assert_eq!(read.episodes(), 1, "a heading of 350 is one of -10");

    let mut pushed = Transitions::new(Arc::clone(&schema));
    pushed.push(&Row {
        state: &[0.1],
        action: &[0.0],
        outcomes: &[],
        next: &[350.0],
        reward: 10.0,
        terminated: false,
        truncated: false,
    });
    assert_eq!(numbers(&pushed, "heading'"), [-10.0]);
    let step = Step::new(&schema, [&[0.1], &[0.0], &[], &[350.0]], None);
    assert_eq!((&step.next[..], &step.rewards[..]), (&[-10.0][..], &[10.0][..]));
}

#[test]
fn expressions_are_evaluated_over_all_rows() {
    let transitions = mixed(100_000, 100, 2);
    let schema = transitions.schema();
    let sums = transitions.evaluate(&schema.rewards()[0].expression);
    for row in [0, 1, 32_767, 32_768, 99_999] {
        let whole = transitions.row(row);
        assert_eq!(sums[row], schema.rewards()[0].expression.value(&whole));
    }
}

// ---- logs without next states -------------------------------------------------------------

#[test]
fn in_a_sequential_log_the_next_row_contains_the_next_state() {
    let log = "episode,height,on,engine,reward\n\
        a,1,0,up,0.5\na,2,1,off,0.25\na,3,0,up,9\n\
        b,10,true,up,1\nb,200,false,off,2\n";
    let recording = hover(log).expect("a log");
    let transitions = &recording.transitions;
    assert_eq!(transitions.len(), 3);
    assert_eq!((0..2).map(|e| transitions.episode(e)).collect::<Vec<_>>(), [0..2, 2..3]);
    assert_eq!(numbers(transitions, "height"), [1.0, 2.0, 10.0]);
    assert_eq!(numbers(transitions, "height'"), [2.0, 3.0, 200.0]);
    assert_eq!(numbers(transitions, "on'"), [1.0, 0.0, 0.0]);
    assert_eq!(numbers(transitions, "engine"), [1.0, 0.0, 1.0]);
    assert_eq!(transitions.reward(), Some(&[0.5, 0.25, 1.0][..]));
    // The schema says which episodes terminated; the others are truncated.
    assert_eq!(transitions.terminated(), [false, false, true]);
    assert_eq!(transitions.truncated(), [false, true, false]);
    let notes = recording.notes.join("\n");
    assert!(notes.contains("the last row of each of 2 episodes gives none"), "{notes}");
    assert!(notes.contains("no column `terminated`"), "{notes}");
}

#[test]
fn the_last_row_of_an_episode_may_contain_only_a_state() {
    let log = "episode,height,on,engine,reward,terminated\n\
        0,1,0,up,1,0\n0,2,1,,,1\n1,5,0,up,1,0\n1,6,0,off,,0\n";
    let transitions = hover(log).expect("a log").transitions;
    assert_eq!(numbers(&transitions, "height'"), [2.0, 6.0]);
    assert_eq!(transitions.terminated(), [true, false]);
    assert_eq!(transitions.truncated(), [false, true]);
    let inner = hover(&log.replace("0,1,0,up", "0,1,0,")).expect_err("a hole");
    let words = "cells are empty or NaN, the first in row 1 (index 0); by column: engine 1";
    assert!(inner.contains(words), "{inner}");
}

#[test]
fn a_sequential_log_may_mark_ends_instead_of_numbering_episodes() {
    let log = "height,on,engine,terminated\n1,0,up,0\n2,0,up,1\n7,0,up,0\n8,0,off,0\n";
    let transitions = hover(log).expect("a log").transitions;
    assert_eq!(numbers(&transitions, "height'"), [2.0, 8.0]);
    assert_eq!(transitions.episodes(), 2);
    let bare = hover("height,on,engine\n1,0,up\n2,0,up\n").expect_err("no boundaries");
    assert!(bare.contains("cannot tell which rows follow each other"), "{bare}");
    let lonely = hover("episode,height,on,engine\n1,1,0,up\n2,2,0,up\n").expect_err("no steps");
    assert!(lonely.contains("every episode has a single row"), "{lonely}");
}

#[test]
fn without_an_episode_column_a_jump_in_the_state_starts_an_episode() {
    let log = "height,on,engine,height',on'\n1,0,up,2,0\n2,0,up,3,0\n7,0,up,8,1\n8,1,off,9,0\n";
    let recording = hover(log).expect("a log");
    assert_eq!(recording.transitions.episodes(), 2);
    assert_eq!(recording.transitions.episode(0), 0..2);
    assert!(recording.notes[0].starts_with("no column `episode`: found 2 episodes"));
}

#[test]
fn labels_indices_and_several_spellings_are_accepted() {
    let log = "episode,height,on,engine,height',on'\n\
        0, 1.5 ,TRUE,1,2e0,False\n0,2,0,off,+3,1.0\n";
    let transitions = hover(log).expect("a log").transitions;
    assert_eq!(numbers(&transitions, "engine"), [1.0, 0.0]);
    assert_eq!(numbers(&transitions, "on"), [1.0, 0.0]);
    assert_eq!(numbers(&transitions, "on'"), [0.0, 1.0]);
    assert_eq!(numbers(&transitions, "height'"), [2.0, 3.0]);
    // Excel starts a file with a byte order mark.
    assert!(hover(&format!("\u{feff}{log}")).is_ok());
}

#[test]
fn wrong_logs_are_rejected_with_row_and_column() {
    let head = "episode,height,on,engine,height',on'\n";
    let row = "0,1,0,up,2,0\n";
    let cases: [(String, &str); 22] = [
        (String::new(), "the file is empty"),
        (head.into(), "the file has no rows of data"),
        (
            format!("{head}{row}0,NaN,0,up,2,0\n"),
            "cells are empty or NaN, the first in row 2 (index 1); by column: height 1",
        ),
        (
            format!("{head}{row}0,1,0,up,-inf,0\n"),
            "row 2 (line 3), column `height'`: -inf is not a finite number",
        ),
        (
            format!("{head}0,high,0,up,2,0\n"),
            "row 1 (line 2), column `height`: expected a number, got the text \"high\"",
        ),
        (
            format!("{head}0,,0,up,,0\n0,,0,up,2,0\n"),
            "cells are empty or NaN, the first in row 1 (index 0); by column: height 2, height' 1",
        ),
        (format!("{head}0,1,2,up,2,0\n"), "column `on`: expected true or false (1 or 0), got 2"),
        (
            format!("{head}0,1,yes,up,2,0\n"),
            "column `on`: expected true or false (1 or 0), got the text \"yes\"",
        ),
        (
            format!("{head}0,1,0,upp,2,0\n"),
            "column `engine`: unknown label \"upp\" (did you mean `up`?)",
        ),
        (
            format!("{head}0,1,0,2,2,0\n"),
            "column `engine`: 2 is not the index of a label: expected 0 to 1, or a label: off, up",
        ),
        (format!("{head}0,1,0,up,2\n"), "line 2 has 5 fields, expected 6"),
        (format!("{head}0,1,0,up,2,0,9\n"), "line 2 has 7 fields, expected 6"),
        (
            head.replace("height'", "heihgt'") + row,
            "column `heihgt'` is not in the schema (did you mean `height'`?)",
        ),
        (
            head.replace("height'", "heihgt'") + row,
            "column `height'` is missing (continuous state, after the step)",
        ),
        (
            head.replace("episode", "timestamp") + row,
            "column `timestamp` is not in the schema (remove it or ignore it)",
        ),
        (head.replace("on'", "height") + row, "column `height` appears twice (columns 2 and 6)"),
        (head.replace("engine", "on'") + row, "column `engine` is missing (categorical action)"),
        (head.replace(',', ";") + row, "the columns are separated by ';': expected commas"),
        (
            format!("{head}{row}1,1,0,up,2,0\n{row}"),
            "row 3 (line 4), column `episode`: the rows of episode 0 are not contiguous",
        ),
        (
            head.replace("on'", "on',terminated") + "0,1,0,up,2,0,1\n0,2,0,up,3,0,0\n",
            "row 1 (index 0): `terminated` is set, but the episode continues",
        ),
        ("\u{0}\u{1}\u{2}".into(), "column `\\u{0}\\u{1}\\u{2}` is not in the schema"),
        (
            format!("{head}0,1,0,{},2,0\n", "x".repeat(500)),
            "unknown label \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\"",
        ),
    ];
    for (text, expected) in cases {
        let got = hover(&text).expect_err(expected);
        assert!(got.contains(expected), "expected: {expected}\n     got: {got}");
    }
}

#[test]
fn columns_can_be_ignored_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.csv");
    let text = "when,height,on,engine,height',on'\nnoon,1,0,up,2,0\n";
    fs::write(&path, text).expect("written");
    let schema = Some(Arc::new(Schema::parse(HOVER).expect("a valid schema")));
    let options = ReadOptions { schema, ignore: vec!["when".into()], ..ReadOptions::default() };
    assert_eq!(read(&path, &options).expect("a log").transitions.len(), 1);
    let options = ReadOptions { ignore: vec!["wen".into(), "when".into()], ..options };
    let error = read(&path, &options).expect_err("no such column").to_string();
    assert!(error.contains("there is no column `wen` to ignore"), "{error}");
}

// ---- damaged files ------------------------------------------------------------------------

fn read_bytes(path: &Path, bytes: &[u8]) -> Result<Recording, String> {
    fs::write(path, bytes).expect("written");
    let schema = Some(mixed_schema());
    read(path, &ReadOptions { schema, ..ReadOptions::default() }).map_err(|error| error.to_string())
}

#[test]
fn every_truncated_file_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    for ending in ["parquet", "npz"] {
        let path = folder.path().join(format!("data.{ending}"));
        write(&path, &mixed(40, 9, 1)).expect("written");
        let bytes = fs::read(&path).expect("read");
        for length in (0..bytes.len()).step_by(37).chain(bytes.len() - 40..bytes.len()) {
            let error = read_bytes(&path, &bytes[..length]).expect_err("cut off");
            assert!(error.contains("damaged or not a"), "{ending} at {length}: {error}");
        }
    }
}

#[test]
fn a_flipped_byte_never_causes_a_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    for ending in ENDINGS {
        let path = folder.path().join(format!("data.{ending}"));
        write(&path, &mixed(30, 9, 1)).expect("written");
        let bytes = fs::read(&path).expect("read");
        let mut stream = Stream::new(11);
        for _ in 0..1500 {
            let mut damaged = bytes.clone();
            for _ in 0..=stream.below(3) {
                let at = stream.below(damaged.len());
                damaged[at] = stream.next_u32().to_le_bytes()[0];
            }
            let _ = read_bytes(&path, &damaged);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn random_bytes_are_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let folder = tempfile::tempdir().expect("a folder");
        for ending in ENDINGS {
            let path = folder.path().join(format!("data.{ending}"));
            prop_assert!(read_bytes(&path, &bytes).is_err());
            // With the magic bytes of the format around them.
            let framed = [b"PAR1".as_slice(), &bytes, b"\x10\x00\x00\x00PAR1"].concat();
            prop_assert!(read_bytes(&path, &framed).is_err());
            let framed = [b"PK\x03\x04".as_slice(), &bytes].concat();
            prop_assert!(read_bytes(&path, &framed).is_err());
        }
    }
}

/// The bytes of an NPY file with this header and content.
fn array(header: &str, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len() + 1).expect("short");
    [b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes(), header.as_bytes(), b"\n", content]
        .concat()
}

fn archive(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).expect("begun");
        std::io::Write::write_all(&mut archive, bytes).expect("written");
    }
    archive.finish().expect("finished").into_inner()
}

#[test]
fn wrong_arrays_are_rejected_before_anything_is_allocated() {
    let plain = |shape: &str, kind: &str, bytes: usize| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        array(&header, &vec![0; bytes])
    };
    let height = || ("height", plain("(2,)", "<f8", 16));
    let on = || ("on", plain("(2,)", "|b1", 2));
    let engine = || ("engine", plain("(2,)", "<i4", 8));
    let episode = || ("episode", plain("(2,)", ">u2", 4));
    let read_archive = |arrays: &[(&str, Vec<u8>)]| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log.npz");
        fs::write(&path, archive(arrays)).expect("written");
        let schema = Some(Arc::new(Schema::parse(HOVER).expect("a valid schema")));
        read(&path, &ReadOptions { schema, ..ReadOptions::default() }).map_err(|e| e.to_string())
    };
    let good = read_archive(&[height(), on(), engine(), episode()]).expect("valid arrays");
    assert_eq!(good.transitions.len(), 1);
    let cases = [
        (plain("(1000000000000,)", "<f8", 16), "needs 8000000000000 bytes, but 16 are there"),
        (plain("(18446744073709551615, 9)", "<f8", 16), "needs too many bytes"),
        (plain("(3,)", "<f8", 24), "`on` has 2 rows, but `height` has 3"),
        (plain("(2, 2)", "<f8", 32), "`height` has the shape [2, 2], expected [rows]"),
        (plain("()", "<f8", 8), "`height` has the shape [], expected [rows]"),
        (
            plain("(2,)", "|O", 16),
            "elements of type '|O' are not supported (loading Python objects would run code",
        ),
        (plain("(2,)", "<c16", 32), "elements of type '<c16' are not supported"),
        (plain("(2,)", "<f2", 4), "save it as float64"),
        (plain("(2,)", "<U4", 32), "the first in row 1 (index 0); by column: height 2"),
        (plain("(-2,)", "<f8", 16), "`-2` is not the size of an array"),
        (
            array("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", &[0; 16]),
            "array of records",
        ),
        (array("{}", &[]), "the array's header has no descr"),
        (b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "unknown version 9"),
        (b"hello".to_vec(), "header is cut off"),
        (b"hello, this is no array at all".to_vec(), "not an array in NumPy's format"),
    ];
    for (bytes, expected) in cases {
        let arrays = [("height", bytes), on(), engine(), episode()];
        let got = read_archive(&arrays).expect_err(expected);
        assert!(got.contains(expected), "expected: {expected}\n     got: {got}");
    }
    // The same name twice; NumPy never writes that, but other programs can.
    let bytes =
        archive(&[height(), on(), engine(), episode(), ("episodf", plain("(2,)", ">u2", 4))]);
    let position = |needle: &[u8], from: usize| {
        from + bytes[from..].windows(needle.len()).position(|part| part == needle).expect("there")
    };
    let mut twice = bytes.clone();
    let first = position(b"episodf", 0);
    let second = position(b"episodf", first + 1);
    for at in [first, second] {
        twice[at..at + 7].copy_from_slice(b"episode");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.npz");
    fs::write(&path, twice).expect("written");
    let schema = Some(Arc::new(Schema::parse(HOVER).expect("a valid schema")));
    let error = read(&path, &ReadOptions { schema, ..ReadOptions::default() }).expect_err("twice");
    assert!(error.to_string().contains("two arrays have the same name"), "{error}");
}

#[test]
fn an_altered_array_is_rejected_by_its_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.npz");
    write(&path, &mixed(40, 10, 3)).unwrap();
    let whole = fs::read(&path).unwrap();
    assert!(read_bytes(&path, &whole).is_ok());
    // The last byte of the first number of `x`: 64 or 128 bytes of header before it.
    let at = whole.windows(6).position(|bytes| bytes == b"x.npyX" || bytes.starts_with(b"x.npy"));
    let numbers = at.unwrap() + 5 + 128;
    let mut altered = 0;
    for place in numbers..numbers + 16 {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        let error = read_bytes(&path, &bytes).expect_err("altered");
        altered += usize::from(error.contains("altered or is damaged"));
    }
    assert!(altered > 0);
}

#[test]
fn a_file_that_claims_more_than_may_be_used_is_rejected_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let transitions = mixed(4000, 50, 7);
    for ending in ENDINGS {
        let path = folder.path().join(format!("log.{ending}"));
        write(&path, &transitions).unwrap();
        let with = |bytes: u64| ReadOptions {
            memory: becausal_core::MemoryLimit::new(bytes),
            ..ReadOptions::default()
        };
        let error = read(&path, &with(1000)).expect_err("too large").to_string();
        assert!(error.contains("4,000 rows or more are too many: about "), "{error}");
        assert!(read(&path, &with(100_000_000)).is_ok());
    }
}

#[test]
fn row_major_and_column_major_arrays_are_read() {
    let schema = Schema::parse(
        "name = \"V\"\n[state]\nv = { kind = \"continuous\", size = 2 }\n[action]\na = { kind = \"boolean\" }\n",
    );
    let schema = Some(Arc::new(schema.expect("a valid schema")));
    for (order, bytes) in [("False", [1.0, 2.0, 3.0, 4.0_f32]), ("True", [1.0, 3.0, 2.0, 4.0])] {
        let header = format!("{{'descr': '>f4', 'fortran_order': {order}, 'shape': (2, 2), }}");
        let content: Vec<u8> = bytes.iter().flat_map(|value| value.to_be_bytes()).collect();
        let flags = array("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", &[1, 0]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log.npz");
        let vectors = array(&header, &content);
        fs::write(&path, archive(&[("v", vectors.clone()), ("v'", vectors), ("a", flags)]))
            .expect("written");
        let transitions =
            read(&path, &ReadOptions { schema: schema.clone(), ..ReadOptions::default() })
                .expect("a valid file")
                .transitions;
        assert_eq!(transitions.row(0), [1.0, 2.0, 1.0, 1.0, 2.0], "{order}");
        assert_eq!(transitions.row(1), [3.0, 4.0, 0.0, 3.0, 4.0], "{order}");
    }
}

#[test]
fn a_missing_file_and_an_unknown_extension_give_different_errors() {
    let missing = read(Path::new("/no/such/data.csv"), &ReadOptions::default()).expect_err("none");
    assert!(matches!(missing.problem, Problem::System { action: "open", .. }), "{missing}");
    let ending = read(Path::new("data.xlsx"), &ReadOptions::default()).expect_err("unknown");
    assert_eq!(
        ending.to_string(),
        "data.xlsx: unknown format: expected a name that ends in .csv, .parquet or .npz"
    );
}

#[test]
fn the_error_for_a_missing_schema_says_where_to_save_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.csv");
    fs::write(&path, "x\n1\n").expect("written");
    let error = read(&path, &ReadOptions::default()).expect_err("none").to_string();
    assert!(
        error.contains("the file contains no schema: give one, or save it beside the file"),
        "{error}"
    );
    assert!(error.contains("data.schema.toml"), "{error}");
}
