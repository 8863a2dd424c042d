//! The environments: rewards, ends, refusals, and equal bytes from equal seeds and actions.

use dervish_env::chance::{SplitMix64, episode_seed};
use dervish_env::encode::{Channel, Encoder, Layout, Observation, Parts, Tokens};
use dervish_env::game::{Action, Position, Seat};
use dervish_env::gym::{Env, Reward, StepError, VecEnv, VecStepError};
use dervish_env::reference::connect_four::{ConnectFour, ConnectFourPlanes};
use dervish_env::reference::pig::{HOLD, Pig, PigGlobals, ROLL};
use proptest::prelude::*;

fn connect_four(step_limit: Option<u32>) -> Env<ConnectFour, ConnectFourPlanes> {
    Env::new(ConnectFour::new(), ConnectFourPlanes::new(), Parts::ALL, step_limit)
}

#[test]
fn the_winner_is_rewarded_for_the_winning_action() {
    let mut env = connect_four(None);
    let step = env.reset(1);
    assert_eq!((step.seat, step.terminated, step.mask), (Seat::First, false, &[true; 7][..]));
    // Yellow takes column 1, red column 2; the seventh stone makes four.
    for (ply, column) in [0, 1, 0, 1, 0, 1].into_iter().enumerate() {
        let step = env.step(Action(column)).expect("legal");
        assert_eq!((step.reward, step.terminated, step.truncated), (Reward::default(), false, false));
        assert_eq!(step.seat.index(), (ply + 1) % 2);
        assert_eq!(step.legal.len(), 7);
    }
    let step = env.step(Action(0)).expect("legal");
    assert_eq!(step.reward, Reward { sign: 1.0, margin: 1.0 });
    assert_eq!((step.seat, step.terminated, step.truncated), (Seat::First, true, false));
    assert!(step.legal.is_empty() && !step.mask.contains(&true));
    // Four own stones in the first column, rows from the bottom, and three of red beside them.
    let planes = step.observation.planes();
    assert_eq!((0..6).map(|row| planes[[0, row, 0]]).collect::<Vec<_>>(), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(planes.sum(), 7.0);
    assert_eq!(env.step(Action(1)).err(), Some(StepError::EpisodeOver));
    assert_eq!(env.steps(), 7);
}

#[test]
fn the_step_limit_truncates_and_does_not_terminate() {
    let mut env = connect_four(Some(7));
    env.reset(1);
    for column in [0, 1, 0, 1, 0] {
        env.step(Action(column)).expect("legal");
    }
    assert!(!env.step(Action(1)).expect("legal").truncated);
    let step = env.step(Action(6)).expect("legal");
    assert_eq!((step.terminated, step.truncated, step.reward), (false, true, Reward::default()));
    // The value is open: whose turn it is and what could be played can still be seen.
    assert_eq!((step.seat, step.legal.len()), (Seat::Second, 7));
    assert_eq!(env.step(Action(1)).err(), Some(StepError::EpisodeOver));

    // A win on the last step allowed is a win.
    env.reset(1);
    for column in [0, 1, 0, 1, 0, 1] {
        env.step(Action(column)).expect("legal");
    }
    let step = env.step(Action(0)).expect("legal");
    assert_eq!((step.terminated, step.truncated, step.reward.sign), (true, false, 1.0));
}

#[test]
fn an_illegal_action_is_refused_and_changes_nothing() {
    let mut env = connect_four(None);
    env.reset(1);
    for _ in 0..6 {
        env.step(Action(3)).expect("legal");
    }
    let (position, steps) = (env.position().clone(), env.steps());
    for action in [3, 7, u16::MAX] {
        assert!(matches!(env.step(Action(action)).err(), Some(StepError::Illegal(_))));
        assert_eq!((env.position(), env.steps()), (&position, steps));
    }
}

#[test]
fn the_reward_is_that_of_the_seat_that_acted() {
    let mut env = Env::new(Pig::new(), PigGlobals::new(), Parts::ALL, None);
    let mut signs = Vec::new();
    for seed in 0..50 {
        env.reset(seed);
        let (seat, reward) = loop {
            let seat = env.position().turn_of();
            let step = env.step(HOLD).expect("legal");
            if step.terminated {
                break (seat, step.reward);
            }
            assert_eq!(step.reward, Reward::default());
        };
        // 100 and more points win; the margin is the rest of the loser.
        let score = |seat| f32::from(env.position().banked(seat).min(100));
        assert_eq!(reward.sign, if score(seat) == 100.0 { 1.0 } else { -1.0 });
        assert!((reward.margin - (score(seat) - score(seat.other())) / 100.0).abs() < 1e-6);
        signs.push(reward.sign);
    }
    // Who holds loses if the first throw of the opponent's turn, which is no decision, reaches the target.
    assert!(signs.contains(&1.0) && signs.contains(&-1.0));
}

#[test]
fn chance_is_resolved_inside_and_by_the_seed_alone() {
    let throws = |seed| {
        let mut env = Env::new(Pig::new(), (), Parts::NONE, None);
        env.reset(seed);
        let mut positions = vec![env.position().clone()];
        while !env.step(ROLL).expect("legal").terminated && positions.len() < 200 {
            positions.push(env.position().clone());
        }
        positions
    };
    assert_eq!(throws(8), throws(8));
    assert_ne!(throws(8), throws(9));
}

/// An encoder of pig with as many tokens as the running turn has points, for the ragged part.
#[derive(Clone)]
struct PointTokens(Layout);

impl Encoder<Pig> for PointTokens {
    fn name(&self) -> &'static str {
        "point-tokens"
    }

    fn version(&self) -> u32 {
        1
    }

    fn layout(&self) -> &Layout {
        &self.0
    }

    fn encode_tokens(&self, position: &Pig, _view: Seat, tokens: &mut Tokens) {
        for point in 0..position.running() {
            tokens.push()[1] = f32::from(point);
        }
    }
}

fn point_tokens() -> PointTokens {
    let tokens = Some(vec![Channel::flag("nothing"), Channel::new("point", "points", 0.0, 99.0)]);
    PointTokens(Layout { tokens, ..Layout::default() })
}

#[test]
fn tokens_are_collected_with_their_offsets() {
    let env = VecEnv::new(Pig::new(), point_tokens(), Parts::ALL, None, 5, 3);
    let (mut values, mut offsets) = (vec![9.0], vec![9]);
    env.collect_tokens(&mut values, &mut offsets);
    assert_eq!((offsets.len(), offsets[0]), (6, 0));
    for lane in 0..5 {
        let running = usize::from(env.position(lane).running());
        assert_eq!(offsets[lane + 1] - offsets[lane], running);
        assert_eq!(env.tokens(lane).view().dim(), (running, 2));
        let rows = &values[2 * offsets[lane]..2 * offsets[lane + 1]];
        assert_eq!(rows, (0..running).flat_map(|point| [0.0, point as f32]).collect::<Vec<_>>());
    }
    // What is not asked for is not built.
    let bare = VecEnv::new(Pig::new(), point_tokens(), Parts::NONE, None, 5, 3);
    assert!((0..5).all(|lane| bare.tokens(lane).is_empty()));
}

/// Steps a vector with random legal actions and writes down everything that can be seen.
fn trace(lanes: usize, steps: usize, seed: u64) -> Vec<u8> {
    let mut env = VecEnv::new(Pig::new(), PigGlobals::new(), Parts::ALL, Some(60), lanes, seed);
    let mut random = SplitMix64::new(seed);
    let mut bytes = Vec::new();
    for _ in 0..steps {
        let actions: Vec<Action> =
            (0..lanes).map(|lane| env.legal(lane)[random.below(env.legal(lane).len())]).collect();
        env.step(&actions).expect("legal");
        bytes.extend(env.globals().iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(env.masks().iter().map(|&legal| u8::from(legal)));
        bytes.extend(format!("{:?}", env.lanes()).bytes());
    }
    bytes
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| trace(100, 80, 5))
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(5));
}

/// Every lane of a vector plays what a single environment plays with the seed that the lane reports.
#[test]
fn every_episode_can_be_played_again_alone() {
    let (lanes, seed, limit) = (40, 17, Some(90));
    let mut env = VecEnv::new(Pig::new(), PigGlobals::new(), Parts::ALL, limit, lanes, seed);
    let mut random = SplitMix64::new(2);
    let mut single: Vec<_> = (0..lanes)
        .map(|lane| {
            let mut single = Env::new(Pig::new(), PigGlobals::new(), Parts::ALL, limit);
            single.reset(episode_seed(seed, lane as u64, 0));
            single
        })
        .collect();
    let (mut terminated, mut truncated) = (0, 0);
    let mut last_view = Observation::new(&PigGlobals::new(), Parts::ALL);
    for _ in 0..400 {
        let actions: Vec<Action> = (0..lanes).map(|_| if random.below(8) == 0 { HOLD } else { ROLL }).collect();
        let before: Vec<_> = env.lanes().to_vec();
        env.step(&actions).expect("both actions are always legal");
        for (lane, single) in single.iter_mut().enumerate() {
            let step = single.step(actions[lane]).expect("legal");
            let now = env.lanes()[lane];
            assert_eq!((now.reward, now.terminated, now.truncated), (step.reward, step.terminated, step.truncated));
            if step.terminated || step.truncated {
                terminated += u32::from(step.terminated);
                truncated += u32::from(step.truncated);
                let ended = env.ended(lane).expect("an episode has ended");
                last_view.encode(env.encoder(), &ended.position, ended.seat);
                assert_eq!((&last_view, ended.seat), (step.observation, step.seat));
                assert_eq!(ended.result.is_some(), step.terminated);
                assert_eq!((ended.seed, ended.episode), (before[lane].seed, before[lane].episode));
                assert_eq!(ended.steps, before[lane].steps + 1);
                assert_eq!((now.episode, now.steps), (before[lane].episode + 1, 0));
                assert_eq!(now.seed, episode_seed(seed, lane as u64, now.episode));
                single.reset(now.seed);
            }
            assert_eq!(env.position(lane), single.position());
            assert_eq!((now.seat, now.seed, now.steps), (single.position().turn_of(), single.seed(), single.steps()));
            last_view.encode(single.encoder(), single.position(), now.seat);
            assert_eq!(env.globals().row(lane), last_view.globals);
        }
    }
    assert!(terminated > 20 && truncated > 20, "{terminated} terminated, {truncated} truncated");
}

#[test]
fn a_refused_step_of_a_vector_changes_no_game() {
    let mut env = VecEnv::new(ConnectFour::new(), ConnectFourPlanes::new(), Parts::ALL, None, 20, 1);
    for _ in 0..6 {
        env.step(&[Action(2); 20]).expect("legal");
    }
    let before = env.clone();
    let mut actions = [Action(0); 20];
    actions[7] = Action(2);
    assert!(matches!(env.step(&actions), Err(VecStepError::Refused { lane: 7, source: StepError::Illegal(_) })));
    actions[7] = Action(9);
    assert!(matches!(env.step(&actions), Err(VecStepError::Refused { lane: 7, .. })));
    assert_eq!(env.step(&actions[1..]), Err(VecStepError::Count { expected: 20, found: 19 }));
    assert_eq!((env.lanes(), env.planes(), env.masks()), (before.lanes(), before.planes(), before.masks()));
    assert!((0..20).all(|lane| env.position(lane) == before.position(lane)));
    // The mask says what the game refuses, and the planes show the six stones of the column.
    assert_eq!(env.masks().row(0).to_vec(), [true, true, false, true, true, true, true]);
    assert_eq!(env.planes().dim(), (20, 2, 6, 7));
    assert_eq!(env.planes().sum(), 20.0 * 6.0);
}

#[test]
fn a_vector_is_reset_to_what_it_was() {
    let mut env = VecEnv::new(Pig::new(), PigGlobals::new(), Parts::ALL, None, 30, 6);
    let fresh = env.clone();
    for _ in 0..50 {
        env.step(&[ROLL; 30]).expect("legal");
    }
    env.reset(6);
    assert_eq!((env.lanes(), env.globals(), env.masks()), (fresh.lanes(), fresh.globals(), fresh.masks()));
    assert!((0..30).all(|lane| env.position(lane) == fresh.position(lane) && env.ended(lane).is_none()));
    assert_eq!((env.len(), env.is_empty()), (30, false));
}

proptest! {
    /// Equal seeds and actions give equal observations, and an environment that has played before is no different.
    #[test]
    fn equal_seeds_and_actions_give_equal_bytes(seed: u64, choices in prop::collection::vec(0usize..7, 1..60)) {
        let mut used = connect_four(None);
        used.reset(seed ^ 1);
        used.step(Action(3)).expect("legal");
        let mut fresh = connect_four(None);
        prop_assert_eq!(used.reset(seed), fresh.reset(seed));
        for choice in choices {
            let mut legal = Vec::new();
            fresh.position().legal_actions_into(&mut legal);
            if legal.is_empty() {
                break;
            }
            let action = legal[choice % legal.len()];
            prop_assert_eq!(used.step(action), fresh.step(action));
        }
    }
}
