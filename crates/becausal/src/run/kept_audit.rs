//! What an audit that was kept says of the answers of a run.

use becausal_core::Schema;
use becausal_explain::{Audit, Calibration, Track};
use serde_json::Value;

/// What an audit that was kept says of the answers of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptAudit {
    /// How often they were right.
    pub track: Track,
    /// How wide their intervals have to be.
    pub calibration: Calibration,
}

impl KeptAudit {
    /// That of an audit.
    pub(super) fn of(audit: &Audit) -> Self {
        Self { track: Track::of(audit), calibration: audit.calibration.clone() }
    }

    /// From `audit.json`; or what is wrong with it. One that was written before intervals were calibrated has no factors.
    pub(super) fn parse(text: &str, schema: &Schema) -> Result<Self, String> {
        let audit: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let track = track(&audit)?;
        let calibration = factors(&audit["calibration"], schema)?;
        let far = &audit["far"];
        if far.is_null() {
            return Ok(Self { track, calibration });
        }
        let factor = match &far["factor"] {
            Value::Null => None,
            factor => Some(factor.as_f64().unwrap_or(f64::NAN)),
        };
        let track_of_far = self::track(far).map_err(|problem| format!("in `far`, {problem}"))?;
        let calibration = calibration.beyond(track.horizon(), factor);
        let calibration = calibration.ok_or("`far` has a factor that is not from 0.1 to 10")?;
        Ok(Self { track: track.with_far(track_of_far), calibration })
    }
}

/// How often answers were right.
fn track(audit: &Value) -> Result<Track, String> {
    let horizon = audit["horizon"].as_u64().and_then(|steps| usize::try_from(steps).ok());
    let horizon = horizon.ok_or("`horizon` is missing, expected a number of steps")?;
    Ok(Track::of_shares(horizon, |certainty| {
        let found = &audit["certainty"][certainty.word()];
        let share = found["sign"].as_f64().filter(|share| (0.0..=1.0).contains(share))?;
        Some((share, found["cases"].as_f64()?))
    }))
}

/// The factors that were kept, by the names of what they are of.
fn factors(kept: &Value, schema: &Schema) -> Result<Calibration, String> {
    let wrong = || "`calibration` has something that is not a factor from 0.1 to 10".to_owned();
    if kept.is_null() {
        return Ok(Calibration::default());
    }
    let values = kept["values"].as_object().ok_or_else(wrong)?;
    let factor = |value: Option<&Value>| match value {
        None | Some(Value::Null) => Some(None),
        Some(value) => value.as_f64().map(Some),
    };
    let effects = schema.effects();
    if let Some(other) = values.keys().find(|name| !effects.contains(name)) {
        return Err(format!(
            "it is the audit of another run: it has `{other}`, expected {}",
            effects.join(", ")
        ));
    }
    let effects = effects.iter().map(|name| factor(values.get(name))).collect::<Option<Vec<_>>>();
    let reward = factor(kept.get("reward")).ok_or_else(wrong)?;
    effects.and_then(|effects| Calibration::new(reward, effects)).ok_or_else(wrong)
}
