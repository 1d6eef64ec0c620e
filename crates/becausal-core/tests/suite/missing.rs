//! Logs with empty cells: counted, dropped, ended or held, and never joined.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use crate::common::{hover, hover_with, numbers};
use becausal_core::Schema;
use becausal_core::data::{Missing, ReadOptions, Recording, read};
use proptest::prelude::*;

/// Height of each transition before and after, episode by episode.
fn courses(recording: &Recording) -> Vec<Vec<(f64, f64)>> {
    let transitions = &recording.transitions;
    let (now, next) = (numbers(transitions, "height"), numbers(transitions, "height'"));
    let course = |episode| transitions.episode(episode).map(|row| (now[row], next[row])).collect();
    (0..transitions.episodes()).map(course).collect()
}

#[test]
fn empty_cells_of_a_sequential_log_are_dropped_end_the_episode_or_are_held() {
    let log = "episode,height,on,engine\n0,1,0,up\n0,2,0,up\n0,,0,up\n0,4,0,\n0,5,0,up\n0,6,0,up\n0,7,0,\n\
               1,nan,0,up\n1,11,0,up\n1,12,0,up\n";
    let read = |missing| hover_with(log, missing).expect("a log");
    let refused = hover(log).expect_err("cells are empty");
    assert!(
        refused.contains("the first in row 3 (index 2); by column: height 2, engine 1"),
        "{refused}"
    );
    // Row 3 has no height: neither the step into it nor the one from it is known. Row 4 has no action.
    let dropped = read(Missing::Drop);
    let parts = [vec![(1.0, 2.0)], vec![(5.0, 6.0), (6.0, 7.0)], vec![(11.0, 12.0)]];
    assert_eq!(courses(&dropped), parts);
    assert_eq!(dropped.transitions.truncated(), [true, false, true, true]);
    let note = &dropped.notes[0];
    assert!(
        note.starts_with("3 cells empty or NaN (height 2, engine 1): 4 transitions left out"),
        "{note}"
    );
    let ended = read(Missing::Episode);
    assert_eq!(courses(&ended), [vec![(1.0, 2.0)]]);
    // The first row of episode 1 has nothing to hold: it is not taken from episode 0.
    let held = read(Missing::Hold);
    let whole = vec![(1.0, 2.0), (2.0, 2.0), (2.0, 4.0), (4.0, 5.0), (5.0, 6.0), (6.0, 7.0)];
    assert_eq!(courses(&held), [whole, vec![(11.0, 12.0)]]);
    assert_eq!(numbers(&held.transitions, "engine")[3], 1.0, "the last action before");
}

#[test]
fn empty_cells_of_a_log_with_next_states_are_dropped_end_the_episode_or_are_held() {
    for episodes in [true, false] {
        let mut log = "episode,height,on,engine,height',on'\n0,1,0,up,2,0\n0,2,0,up,,0\n0,3,0,up,4,0\n0,,0,up,5,0\n\
                       1,7,0,up,8,0\n"
            .to_owned();
        if !episodes {
            log = log
                .lines()
                .map(|line| line.split_once(',').expect("columns").1.to_owned() + "\n")
                .collect();
        }
        let read = |missing| courses(&hover_with(&log, missing).expect("a log"));
        assert_eq!(read(Missing::Drop), [vec![(1.0, 2.0)], vec![(3.0, 4.0)], vec![(7.0, 8.0)]]);
        let held = read(Missing::Hold);
        if episodes {
            assert_eq!(read(Missing::Episode), [vec![(1.0, 2.0)], vec![(7.0, 8.0)]]);
            // The row after says what the next state was, and the row before what the state was.
            let whole = vec![(1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 5.0)];
            assert_eq!(held, [whole, vec![(7.0, 8.0)]]);
        } else {
            // Where the next state or the state is unknown, so is whether the episode continues.
            assert_eq!(held, [vec![(1.0, 2.0), (2.0, 2.0)], vec![(3.0, 4.0)], vec![(7.0, 8.0)]]);
        }
    }
}

#[test]
fn an_unknown_end_does_not_join_two_episodes() {
    let log = "height,on,engine,terminated\n1,0,up,0\n2,0,up,\n7,0,up,0\n8,0,up,0\n";
    for missing in [Missing::Drop, Missing::Hold] {
        let courses = courses(&hover_with(log, missing).expect("a log"));
        assert_eq!(courses, [vec![(1.0, 2.0)], vec![(7.0, 8.0)]], "{missing}");
    }
}

#[test]
fn a_log_of_empty_cells_only_is_refused_in_words_and_a_label_may_be_called_nan() {
    let error =
        hover_with("episode,height,on,engine\n0,,,\n0,,,\n", Missing::Drop).expect_err("nothing");
    assert!(error.contains("nothing is left"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.csv");
    fs::write(&path, "episode,x,a\n0,nan,nan\n0,b,nan\n").expect("written");
    let text = "name = \"N\"\n[state]\nx = { kind = \"categorical\", labels = [\"nan\", \"b\"] }\n\
                [action]\na = { kind = \"categorical\", labels = [\"nan\", \"up\"] }\n[reward]\n\"x\" = \"1\"\n";
    let schema = Some(Arc::new(Schema::parse(text).expect("a schema")));
    let log = read(&path, &ReadOptions { schema, ..ReadOptions::default() }).expect("a log");
    assert_eq!(numbers(&log.transitions, "x'"), [1.0]);
}

proptest! {
    /// Whatever is missing: two rows that did not follow each other never become neighbours.
    #[test]
    fn dropping_rows_never_joins_what_did_not_follow(
        gaps in proptest::collection::vec(proptest::bool::weighted(0.2), 30),
        ends in proptest::collection::vec(proptest::bool::weighted(0.1), 30),
    ) {
        let mut log = "episode,height,on,engine\n".to_owned();
        let mut episode = 0;
        for row in 0..30 {
            let height = if gaps[row] { String::new() } else { row.to_string() };
            let _ = writeln!(log, "{episode},{height},0,up");
            episode += usize::from(ends[row]);
        }
        for missing in [Missing::Drop, Missing::Episode] {
            let Ok(recording) = hover_with(&log, missing) else { continue };
            for course in courses(&recording) {
                for window in course.windows(2) {
                    prop_assert_eq!(window[0].1, window[1].0);
                }
                prop_assert!(course.iter().all(|(now, next)| next - now == 1.0));
            }
        }
    }
}
