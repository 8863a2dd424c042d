//! Whole games between agents of each kind end by the rules, and their records prove it.

use dervish_agents::agent::{Agent, Event};
use dervish_agents::limits::Limits;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance::{Dice, agent_rng};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, Side};
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position, Seat};
use dervish_env::record::{Ply, Record, Replay};
use dervish_training::arena::agents::ArenaGame;
use rayon::prelude::*;

/// A game of an agent against itself; the last position and the record.
fn game(start: &Campaign, factory: &AgentFactory<Campaign>, seed: u64) -> (Campaign, Record) {
    let mut agents: [Box<dyn Agent<Campaign>>; 2] = Seat::BOTH.map(|seat| {
        let mut agent = factory.make();
        agent.new_game(agent_rng(seed, 0, seat));
        agent
    });
    let mut dice = Dice::new(seed);
    let mut record = Record::begin(start, seed, [factory.spec(); 2]);
    let mut position = *start;
    let mut decisions = 0;
    loop {
        let event = match position.actor() {
            Actor::Finished => break,
            Actor::Chance => {
                let outcome = dice.roll(&position);
                record.push_roll(&position, outcome);
                position.resolve(outcome).expect("a possible roll");
                Event::Rolled(outcome)
            }
            Actor::Player(seat) => {
                let choice = agents[seat.index()].choose(&position, &Limits::default()).expect("a choice");
                record.push_action(&position, choice.action);
                position.apply(choice.action).expect("a legal choice");
                decisions += 1;
                assert!(decisions <= Campaign::MAX_DECISIONS, "no end");
                Event::Played(seat, choice.action)
            }
        };
        agents.iter_mut().for_each(|agent| agent.observe(event));
    }
    record.finish(&position);
    (position, record)
}

/// Whether a side controls the place.
fn holds(position: &Campaign, side: Side, place: &str) -> bool {
    let place = position.scenario().board.place_named(place).expect("a place of the scenario");
    position.controller(place) == Some(side)
}

/// Checks how a game has ended, by the rules that say when and for whom (14).
fn check_end(name: &str, position: &Campaign, record: &Record) {
    let result = position.result().expect("a finished game has a result");
    // 14.4: a margin in [-1, 1], as the Egyptian player sees it, that says the same as the result.
    let sign = match result.winner {
        Some(Seat::First) => 1.0,
        Some(Seat::Second) => -1.0,
        None => 0.0,
    };
    assert!((-1.0..=1.0).contains(&result.margin), "{result:?}");
    assert!(result.margin * sign > 0.0 || (sign == 0.0 && result.margin == 0.0), "{result:?}");

    // Each player turn begins with its event roll (4.1).
    let is_event = |ply: &&Ply| matches!(ply, Ply::Roll { kind, .. } if kind == "roll_event");
    let player_turns = record.plies().iter().filter(is_event).count();
    let game_turns = usize::from(position.game_turn()) + 1;
    let scenario = position.scenario();
    let early = match name {
        // 14.1: Khartoum Mahdist at the end of any game turn.
        "el-obeid" => holds(position, Side::Mahdist, "Khartoum"),
        // 14.2: the turn in which the Withdraw event strikes.
        "khartoum" => position.events().withdraw,
        // 14.3: Souakim taken ends the game at once.
        "souakim" => holds(position, Side::Mahdist, "Souakim"),
        // 14.3: the end alone counts.
        _ => false,
    };
    if name == "souakim" && early {
        assert!(player_turns == 2 * game_turns || player_turns == 2 * game_turns - 1, "{player_turns} {game_turns}");
    } else {
        assert_eq!(player_turns, 2 * game_turns, "both player turns of every month (3.1)");
    }
    assert!(early || game_turns == usize::from(scenario.turns), "over after {game_turns} of {} turns", scenario.turns);

    let first = result.winner == Some(Seat::First);
    match name {
        "el-obeid" if early => assert_eq!(result.winner, Some(Seat::Second)),
        "el-obeid" => assert_eq!(first, holds(position, Side::Egyptian, "El Obeid")),
        // Strength 2: a British unit in good order or two disrupted ones; guns have no melee factor (2.1).
        "khartoum" => {
            let board = &scenario.board;
            let hex = board.places[usize::from(board.place_named("Khartoum").expect("a place").0)].hex;
            let british = position.units().at(hex).iter().filter(|c| BRITISH_COMBAT.has(c.kind()));
            let halves = british.map(|c| {
                let melee = u32::from(scenario.catalogue.of(c.kind()).melee);
                u32::from(c.count()) * melee * if c.disrupted() { 1 } else { 2 }
            });
            assert_eq!((first, result.winner.is_some()), (halves.sum::<u32>() >= 4, true));
        }
        "souakim" if early => assert_eq!((result.winner, result.margin), (Some(Seat::Second), -1.0)),
        "kordofan" => {
            assert_eq!((first, result.winner.is_some()), (!holds(position, Side::Mahdist, "El Obeid"), true));
        }
        _ => {}
    }
}

/// Plays games of an agent in every scenario and checks how they end.
fn ends(spec: &str, games: u64) {
    let factory = Campaign::agents().factory(spec).expect("a spec");
    let names = ["el-obeid", "khartoum", "souakim", "kordofan"];
    let tasks: Vec<(&str, u64)> = names.into_iter().flat_map(|name| (0..games).map(move |seed| (name, seed))).collect();
    tasks.into_par_iter().for_each(|(name, seed)| {
        let start = Campaign::new(Scenario::builtin(name).expect("built in"));
        let (position, record) = game(&start, &factory, seed);
        let read = Record::parse(&record.to_string()).expect("as written");
        let replayed = Replay::new(read, start).expect("of this scenario").verify();
        assert_eq!(replayed.expect("by the rules"), position.result(), "{spec} {name} {seed}");
        check_end(name, &position, &record);
    });
}

#[test]
fn games_of_random_players_end_by_the_rules() {
    ends("random", 24);
}

#[test]
fn games_of_the_doctrine_end_by_the_rules() {
    ends("doctrine", 8);
}

#[test]
fn games_of_a_search_end_by_the_rules() {
    ends("mcts:sims=4,depth=4", 3);
}
