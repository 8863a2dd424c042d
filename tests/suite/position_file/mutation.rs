//! Position files changed at random: most are refused, and what is accepted plays on without a fault.

use dervish_env::chance::SplitMix64;
use dervish_env::dervish::position_file::PositionFile;
use serde_json::Value;

use super::{SCENARIOS, play_one, read, start};

/// Words that a changed file may get where it had others.
const WORDS: [&str; 24] = [
    "march",
    "event",
    "supply",
    "recovery",
    "egyptian",
    "mahdist",
    "march_hex",
    "group_order",
    "event_hex",
    "roll_escape",
    "roll_gunboat",
    "vessel_load",
    "advance",
    "fought",
    "marched",
    "flag",
    "fleet",
    "civilian",
    "boat",
    "gunboat",
    "ethiopia_peace",
    "desertion",
    "Souakim",
    "Khartoum",
];

/// Changes one thing somewhere in a value: leaves it out, doubles it, moves it, or gives it another value.
fn mutate(value: &mut Value, random: &mut SplitMix64) {
    match value {
        Value::Object(fields) if !fields.is_empty() && random.below(8) > 0 => {
            let key = fields.keys().nth(random.below(fields.len())).expect("a field").clone();
            if random.below(12) == 0 {
                fields.remove(&key);
            } else {
                mutate(&mut fields[&key], random);
            }
        }
        Value::Array(items) if !items.is_empty() && random.below(8) > 0 => {
            let (i, j) = (random.below(items.len()), random.below(items.len()));
            match random.below(10) {
                0 => drop(items.remove(i)),
                1 => items.push(items[i].clone()),
                2 => items.swap(i, j),
                _ => mutate(&mut items[i], random),
            }
        }
        Value::Number(number) => {
            let old = number.as_i64().expect("files hold integers");
            let new = [old + 1, old - 1, 0, 255, random.below(13) as i64, random.below(70) as i64];
            *value = new[random.below(new.len())].into();
        }
        Value::Bool(flag) => *flag = !*flag,
        other => *other = WORDS[random.below(WORDS.len())].into(),
    }
}

#[test]
fn what_is_accepted_plays_on() {
    let mut random = SplitMix64::new(20);
    let (mut refused, mut accepted) = (0, 0);
    // Fields of positions met so far, to be put into others.
    let mut fields: Vec<(String, Value)> = Vec::new();
    for scenario in SCENARIOS {
        let mut position = start(scenario);
        for ply in 0.. {
            if ply % 4 == 0 {
                let file = PositionFile { scenario: scenario.to_owned(), position };
                let sound: Value = serde_json::from_str(&file.text()).expect("JSON");
                fields.extend(sound.as_object().expect("an object").clone());
                fields.drain(..fields.len().saturating_sub(1_000));
                for _ in 0..6 {
                    let mut changed = sound.clone();
                    for _ in 0..=random.below(3) {
                        match (random.below(4), changed.as_object_mut()) {
                            (0, Some(object)) => {
                                let (field, value) = fields[random.below(fields.len())].clone();
                                object.insert(field, value);
                            }
                            _ => mutate(&mut changed, &mut random),
                        }
                    }
                    let text = changed.to_string();
                    let Ok(file) = read(&text) else {
                        refused += 1;
                        continue;
                    };
                    accepted += 1;
                    assert_eq!(file.position.faults(), Vec::<String>::new(), "{text}");
                    assert_eq!(read(&file.text()).as_ref(), Ok(&file), "{text}");
                    let mut changed = file.position;
                    for _ in 0..200 {
                        if !play_one(&mut changed, &mut random) {
                            break;
                        }
                    }
                }
            }
            if !play_one(&mut position, &mut random) {
                break;
            }
        }
    }
    assert!(accepted > 300 && refused > accepted, "{accepted} accepted, {refused} refused");
}
