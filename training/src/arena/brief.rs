//! Agents and scenarios as people read them. What is kept in files and documents has every option of an agent.

use crate::arena::agents::{ArenaGame, agents_of};
use crate::games::{GameVisitor, game_names, with_game};
use dervish_agents::registry::KindDoc;
use dervish_env::encode::PolicyEncoder;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The agents of all games that come with the program, each once.
static KINDS: LazyLock<Vec<KindDoc>> = LazyLock::new(|| {
    let mut kinds: Vec<KindDoc> = Vec::new();
    for kind in game_names().filter_map(|name| with_game(name, Kinds).ok()).flatten() {
        if kinds.iter().all(|known| known.name != kind.name) {
            kinds.push(kind);
        }
    }
    kinds
});

struct Kinds;

impl GameVisitor for Kinds {
    type Output = Vec<KindDoc>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Vec<KindDoc> {
        agents_of(&start, encoder).kinds().copied().collect()
    }
}

/// These specs without the options that have their defaults, in their order. Where two specs would read alike (an older
/// file may lack an option), and where the agent is unknown, all of it is shown.
pub fn brief_specs<'a>(specs: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let specs: Vec<&str> = specs.into_iter().collect();
    let brief = |spec: &str| {
        let name = spec.split_once(':').map_or(spec, |(name, _)| name);
        KINDS.iter().find(|kind| kind.name == name).map_or_else(|| spec.to_string(), |kind| kind.brief(spec))
    };
    let full_of = |wanted: &str| specs.iter().filter(|spec| brief(spec) == wanted).collect::<HashSet<_>>().len();
    let shown = |spec: &&str| Some(brief(spec)).filter(|brief| full_of(brief) == 1).unwrap_or_else(|| spec.to_string());
    specs.iter().map(|spec| readable(&shown(spec))).collect()
}

/// Text from a file, as a terminal may show it: control characters are written out.
pub fn readable(text: &str) -> String {
    let mut readable = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            readable.extend(character.escape_default());
        } else {
            readable.push(character);
        }
    }
    readable
}
