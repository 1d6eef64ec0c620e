//! Answers about moments that can be found again in the environment: the other course is not predicted, it is tried.

use becausal::data::Origin;
use becausal::env::{Options, action_text, find, record_at_random};
use becausal::explain::{Certainty, Change, Contrast};
use becausal::{Ask, FitParams, Log, Moment, Run, Source, Worth};

/// A run on random transitions whose seed is known, with a model that has hardly learned anything.
fn ignorant(id: &str, rows: usize, seed: u64) -> Run {
    let environment = find(id).and_then(|entry| entry.make(&Options::default())).expect("built in");
    let data = record_at_random(&environment, rows, seed).expect("recorded");
    let origin = Origin { environment: id.to_owned(), seed: Some(seed), ..Origin::default() };
    let params = FitParams::default().members(2).steps(30);
    becausal::fit(&Log::new(data, Some(origin)), &params).expect("a run")
}

fn another(run: &Run, moment: &Moment) -> String {
    let actions = run.usual_actions();
    let other = actions.iter().find(|action| action[..] != *moment.action());
    action_text(run.schema(), other.expect("another action"))
}

fn contrast(run: &Run, moment: &Moment, ask: &Ask) -> Contrast {
    let answer = run.why_not(moment, &another(run, moment), ask).expect("an answer");
    answer.contrast().expect("two courses").clone()
}

#[test]
fn the_other_course_is_what_the_environment_does() {
    let run = ignorant("AimTest-v0", 400, 5);
    let ask = Ask::default().horizon(4);
    let (mut wrong_signs, mut wrong_sizes) = (0, 0);
    for (episode, step) in (0..3).flat_map(|episode| [0, 3, 6, 9].map(|step| (episode, step))) {
        let moment = run.recorded(episode, step).expect("a moment");
        let other = another(&run, &moment);
        let change = Change::parse(run.schema(), &other, moment.action()).expect("an action");
        let real = run.real_course(Source::Recorded(episode), step, &change, 4).expect("replayed");
        let answer = run.why_not(&moment, &other, &ask).expect("an answer");
        let contrast = answer.contrast().expect("two courses");
        assert!(contrast.is_tried());
        assert_eq!(contrast.courses[1].steps(), real.trajectory.steps());
        assert_eq!(contrast.courses[0].steps(), &moment.record().steps()[..4]);
        assert_eq!(contrast.certainty(), Certainty::Sure);
        let difference = contrast.credit.difference();
        let [low, high] = contrast.worth(None).expect("an interval");
        assert!(high - low < 1e-9 && (low..=high).contains(&difference), "nothing is left open");
        let text = answer.text();
        assert!(text.contains("How sure: certain. The other course was tried"), "{text}");
        assert!(!text.contains("y the model"), "{text}");
        assert_eq!(answer.json()["certainty"]["tried"], true);

        let alone = run.why_not(&moment, &other, &ask.clone().model_only(true)).expect("an answer");
        let predicted = alone.contrast().expect("two courses");
        assert!(!predicted.is_tried() && !alone.text().contains("was tried"));
        let said = contrast.predicted.expect("what the model says").difference;
        assert_eq!(said, predicted.credit.difference());
        let [low, high] = predicted.worth(None).expect("an interval");
        // A hundredth of the standard deviation of a step's reward does not count.
        let outside = (low - difference).max(difference - high);
        if said * difference > 0.0 && outside.abs() > 1.0 {
            assert_eq!(text.contains("the wrong size"), outside > 0.0, "{text}");
            wrong_sizes += usize::from(outside > 0.0);
        }
        // What is negligible on one side has no sign.
        if said.abs().min(difference.abs()) > 1.0 {
            assert_eq!(text.contains("the wrong sign"), said * difference < 0.0, "{text}");
            wrong_signs += usize::from(said * difference < 0.0);
        }
    }
    assert!(wrong_signs > 0 && wrong_sizes > 0, "an ignorant model is sometimes wrong");
}

#[test]
fn another_state_is_tried_where_the_environment_can_be_put_into_it() {
    let run = ignorant("CartPole-v1", 300, 2);
    let moment = run.recorded(1, 3).expect("a moment");
    let answer = run.what_if(&moment, "angle=0.1", &Ask::default().horizon(3)).expect("an answer");
    let contrast = answer.contrast().expect("two courses");
    assert!(contrast.is_tried());
    assert!((contrast.courses[1].steps()[0].state[2] - 0.1).abs() < 1e-6);
    // The rules of CartPole: an angle moves by a fiftieth of its velocity.
    let step = &contrast.courses[1].steps()[0];
    assert!((step.next[2] - (0.1 + 0.02 * step.state[3])).abs() < 1e-6);
}

#[test]
fn a_moment_that_is_not_found_again_is_predicted() {
    let run = ignorant("Vacuum-v0", 300, 7);
    let ask = Ask::default().horizon(3);
    let moment = run.recorded(2, 1).expect("a moment");
    assert!(contrast(&run, &moment, &ask).is_tried());
    let imagined =
        Moment::imagined(run.schema(), moment.state().to_vec(), moment.action().to_vec());
    assert!(!contrast(&run, &imagined.expect("a moment"), &ask).is_tried());
    let elsewhere = Moment::recorded(run.data(), 2, 1).expect("a moment");
    assert!(!contrast(&run, &elsewhere, &ask).is_tried(), "it may be of other data");
    // The same variables, and in a world of eight states often the same state, but another recording.
    let other = ignorant("Vacuum-v0", 300, 8);
    let tried = (0..20).filter(|&episode| {
        let moment = other.recorded(episode, 0).expect("a moment");
        contrast(&run, &moment, &ask).is_tried()
    });
    assert_eq!(tried.count(), 0);
    // Where the seed of the recording is not known, it cannot be replayed.
    let unknown =
        becausal::fit(&run.data().clone().into(), &FitParams::default().members(1).steps(5));
    let unknown = unknown.expect("a run");
    let moment = unknown.recorded(2, 1).expect("a moment");
    assert!(!contrast(&unknown, &moment, &ask).is_tried());
}

#[test]
fn what_the_environment_denies_is_no_mistake() {
    let run = ignorant("AimTest-v0", 400, 5);
    let found = run.find(Worth::Mistakes, 40, &Ask::default().horizon(2)).expect("decisions");
    assert!(!found.is_empty());
    for pair in found.windows(2) {
        assert!(pair[0].found.amount >= pair[1].found.amount);
    }
    for decision in found {
        assert!(decision.tried && decision.found.amount > 0.0);
        let (episode, step) = (decision.found.episode, decision.found.step);
        let rival = decision.found.rival.clone().expect("another action");
        let real = run.replay((episode, step), &rival, 2).expect("replayed").discounted(1.0);
        let taken = run.recorded(episode, step).expect("a moment").action().to_vec();
        let own = run.replay((episode, step), &taken, 2).expect("replayed").discounted(1.0);
        assert!((real - own - decision.found.amount).abs() < 1e-9);
        assert!(
            decision.sentence.starts_with("This was not the best choice"),
            "{}",
            decision.sentence
        );
    }
}

#[test]
fn a_record_that_was_cut_goes_on_for_both_courses() {
    // The last episode of a recording ends where the recording does, not where the environment would.
    let run = ignorant("CartPole-v1", 300, 2);
    let last = run.data().episodes() - 1;
    let length = run.data().episode(last).len();
    assert_eq!(run.data().truncated().last(), Some(&true), "another seed");
    let moment = run.recorded(last, length - 1).expect("a moment");
    // Nobody knows what random actions would have come next: both courses end with the record.
    let cut = contrast(&run, &moment, &Ask::default().horizon(4));
    assert_eq!(cut.courses.each_ref().map(becausal::trajectory::Trajectory::len), [1, 1]);
    let policy = becausal::RandomPolicy::new(run.schema().clone()).expect("a policy");
    let run = run.with_policy(std::sync::Arc::new(policy)).expect("a run");
    let goes_on = contrast(&run, &moment, &Ask::default().horizon(4));
    assert!(goes_on.is_tried());
    let lengths = goes_on.courses.each_ref().map(|course| (course.len(), course.terminated()));
    assert!(lengths.iter().all(|(length, ended)| *length == 4 || *ended), "{lengths:?}");
}

#[test]
fn the_paper_predicts() {
    let run = ignorant("Vacuum-v0", 300, 7);
    let moment = run.recorded(2, 1).expect("a moment");
    let ask = Ask::default().horizon(3).preset(becausal::Preset::Paper);
    assert!(!contrast(&run, &moment, &ask).is_tried());
}
