//! The scripted agent of the campaign: its weights can be read, and what it answers is legal and the same every time.

use dervish_agents::agent::Agent;
use dervish_agents::doctrine::Doctrine;
use dervish_agents::doctrine::weights::Weights;
use dervish_agents::limits::Limits;
use dervish_env::chance::{Dice, SplitMix64, agent_rng};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position};

#[test]
fn the_weights_of_the_program_can_be_read() {
    let _ = Weights::builtin();
}

#[test]
fn answers_are_legal_and_repeatable_wherever_random_play_leads() {
    for name in ["souakim", "kordofan", "khartoum", "el-obeid"] {
        let mut position = Campaign::new(Scenario::builtin(name).expect("built in"));
        let (mut dice, mut random, mut legal) = (Dice::new(3), SplitMix64::new(3), Vec::new());
        let mut asked = 0;
        while asked < 300 {
            match position.actor() {
                Actor::Finished => break,
                Actor::Chance => {
                    let outcome = dice.roll(&position);
                    position.resolve(outcome).expect("a roll that was listed");
                }
                Actor::Player(seat) => {
                    let answers = [(); 2].map(|()| {
                        let mut doctrine = Doctrine::default();
                        doctrine.new_game(agent_rng(1, asked, seat));
                        doctrine.choose(&position, &Limits::default()).expect("an answer").action
                    });
                    assert_eq!(answers[0], answers[1], "{name}: {}", position.pending_text());
                    assert!(position.is_legal(answers[0]), "{name}: {:?} to {}", answers[0], position.pending_text());
                    asked += 1;
                    position.legal_actions_into(&mut legal);
                    position.apply(legal[random.below(legal.len())]).expect("an action that was listed");
                }
            }
        }
        assert!(asked > 30, "{name}: asked {asked} times only");
    }
}
