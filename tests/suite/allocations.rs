//! What is written again and again allocates nothing once its buffers have grown, and a search takes no more memory than
//! it was given.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

use dervish_agents::agent::Agent;
use dervish_agents::doctrine::evaluation::CampaignEvaluation;
use dervish_agents::evaluation::{Evaluation, PlayToEnd};
use dervish_agents::evaluator::LeafEvaluation;
use dervish_agents::limits::Limits;
use dervish_env::chance::{Dice, SplitMix64, agent_rng};
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::dervish::{Campaign, CampaignEncoder};
use dervish_env::encode::{ActionRows, Encoder, Observation, Parts, PolicyEncoder, Tokens};
use dervish_env::game::{Action, Actor, Position, Seat};
use dervish_env::reference::connect_four::{ConnectFour, ConnectFourColumns, ConnectFourPlanes};
use dervish_env::reference::pig::{Pig, PigGlobals, PigPlayers};
use dervish_search::gumbel::{GumbelSearch, GumbelSettings};
use dervish_search::knowledge::Knowledge;
use dervish_search::leaf_options::LeafOptions;
use dervish_search::mcts::MctsSettings;
use dervish_search::mcts_agent::{Mcts, MctsOptions};
use dervish_search::simulation::SimulationRules;

/// The allocator of the system, with a count for each thread, so that tests beside each other do not disturb it.
struct Counting;

/// What a thread has asked of the allocator since it began.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Use {
    /// Blocks asked for, or made larger or smaller.
    calls: u64,
    /// Bytes in blocks asked for here less those given back here; below 0 where others' blocks are given back.
    live: i64,
    /// The most that `live` has been since [`measure`] began.
    peak: i64,
}

thread_local! {
    static USE: Cell<Use> = const { Cell::new(Use { calls: 0, live: 0, peak: 0 }) };
}

fn book(calls: u64, bytes: i64) {
    // A thread that ends frees memory after its locals are gone.
    let _ = USE.try_with(|cell| {
        let Use { calls: before, live, peak } = cell.get();
        let live = live + bytes;
        cell.set(Use { calls: before + calls, live, peak: peak.max(live) });
    });
}

// SAFETY: every block comes from the system's allocator, with the layout that the caller gave, and goes back to it; the
// counter itself needs no allocation.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        book(1, layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        book(1, layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        book(1, size as i64 - layout.size() as i64);
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        book(0, -(layout.size() as i64));
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What this thread asks of the allocator while it does something: calls, and bytes over what it had, at the most.
fn measure(work: impl FnOnce()) -> (u64, i64) {
    let before = USE.with(|cell| {
        cell.set(Use { peak: cell.get().live, ..cell.get() });
        cell.get()
    });
    work();
    let after = USE.with(Cell::get);
    (after.calls - before.calls, after.peak - before.live)
}

#[test]
fn allocations_are_counted() {
    assert_eq!(measure(|| ()), (0, 0));
    let mut kept = Vec::new();
    let (calls, bytes) = measure(|| kept.extend_from_slice(&[0u8; 1000]));
    assert!(calls == 1 && bytes >= 1000, "{calls} {bytes}");
    assert_eq!(measure(|| kept.clear()), (0, 0));
    // Two blocks, but never both at once.
    let (calls, bytes) = measure(|| (0..2).for_each(|_| drop(std::hint::black_box(vec![1u8; 5000]))));
    assert_eq!((calls, bytes), (2, 5000));
    // Another thread's blocks are its own.
    let large = || drop(std::hint::black_box(vec![1u8; 1 << 20]));
    let (_, bytes) = measure(|| std::thread::scope(|scope| drop(scope.spawn(large).join())));
    assert!(bytes < 1 << 20, "{bytes}");
}

/// Some 200 positions of a random game, from its start to its end.
fn sample<P: Position>(start: &P) -> Vec<P> {
    let (mut dice, mut random, mut legal) = (Dice::new(4), SplitMix64::new(4), Vec::new());
    let mut positions = vec![start.clone()];
    loop {
        let mut position = positions[positions.len() - 1].clone();
        match position.actor() {
            Actor::Finished => break,
            Actor::Chance => position.resolve_possible(dice.roll(&position)),
            Actor::Player(_) => {
                position.legal_actions_into(&mut legal);
                position.apply_legal(legal[random.below(legal.len())]);
            }
        }
        positions.push(position);
    }
    let step = positions.len().div_ceil(200);
    positions.into_iter().step_by(step).collect()
}

fn start(scenario: &str) -> Campaign {
    Campaign::new(Scenario::builtin(scenario).expect("built in"))
}

const SCENARIOS: [&str; 4] = ["souakim", "kordofan", "el-obeid", "khartoum"];

/// Calls of the allocator while a game is played that was played before, with buffers that have grown.
fn calls_of_play<P: Position>(start: &P) -> u64 {
    let (mut dice, mut legal, mut outcomes) = (Dice::new(0), Vec::new(), Vec::new());
    let mut play = || {
        let mut random = SplitMix64::new(9);
        let mut position = start.clone();
        dice.reset(9);
        loop {
            position.chance_outcomes_into(&mut outcomes);
            match position.actor() {
                Actor::Finished => return,
                Actor::Chance => position.resolve_possible(dice.roll(&position)),
                Actor::Player(_) => {
                    position.legal_actions_into(&mut legal);
                    let action = legal[random.below(legal.len())];
                    assert!(position.is_legal(action));
                    position.apply_legal(action);
                }
            }
        }
    };
    play();
    measure(play).0
}

#[test]
fn play_allocates_nothing() {
    assert_eq!(calls_of_play(&ConnectFour::new()), 0);
    assert_eq!(calls_of_play(&Pig::new()), 0);
    for scenario in SCENARIOS {
        assert_eq!(calls_of_play(&start(scenario)), 0, "{scenario}");
    }
}

/// Calls of the allocator while positions of a game are encoded that were encoded before.
fn calls_of_encoder<P: Position, E: Encoder<P>>(start: &P, encoder: &E) -> u64 {
    let positions = sample(start);
    let mut observation = Observation::new(encoder, Parts::ALL);
    let mut encode = || {
        for position in &positions {
            Seat::BOTH.into_iter().for_each(|view| observation.encode(encoder, position, view));
        }
    };
    encode();
    measure(encode).0
}

/// The same with the groups of the tokens and a row for each legal action.
fn calls_of_policy_encoder<P: Position, E: PolicyEncoder<P>>(start: &P, encoder: &E) -> u64 {
    let positions = sample(start);
    let mut tokens = Tokens::new(encoder.layout().token_width());
    let mut rows = ActionRows::new(encoder.action_layout().len());
    let (mut groups, mut legal) = (Vec::new(), Vec::new());
    let mut encode = || {
        for position in &positions {
            position.legal_actions_into(&mut legal);
            for view in Seat::BOTH {
                tokens.clear();
                encoder.encode_tokens(position, view, &mut tokens);
                groups.clear();
                encoder.group_tokens(&tokens, &mut groups);
                rows.clear();
                encoder.encode_actions(position, view, &legal, &mut rows);
            }
        }
    };
    encode();
    measure(encode).0
}

#[test]
fn encoders_allocate_nothing() {
    let four = ConnectFour::new();
    assert_eq!(calls_of_encoder(&four, &ConnectFourPlanes::new()), 0);
    assert_eq!(calls_of_encoder(&four, &ConnectFourColumns::new()), 0);
    assert_eq!(calls_of_policy_encoder(&four, &ConnectFourColumns::new()), 0);
    assert_eq!(calls_of_encoder(&Pig::new(), &PigGlobals::new()), 0);
    assert_eq!(calls_of_encoder(&Pig::new(), &PigPlayers::new()), 0);
    assert_eq!(calls_of_policy_encoder(&Pig::new(), &PigPlayers::new()), 0);
    for scenario in SCENARIOS {
        let (start, encoder) = (start(scenario), CampaignEncoder::new(start(scenario).scenario()));
        assert_eq!(calls_of_encoder(&start, &encoder), 0, "{scenario}");
        assert_eq!(calls_of_policy_encoder(&start, &encoder), 0, "{scenario}");
    }
}

fn kept(name: &str) -> Campaign {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/positions").join(name);
    PositionFile::load(&path).unwrap_or_else(|faults| panic!("{faults:?}")).position
}

/// Calls of the allocator in a choice with few and with many simulations, after one that has let the buffers grow.
fn calls_of_mcts<P: Position, E: Evaluation<P>>(position: &P, evaluation: E, merged: bool) -> [u64; 2] {
    let rules = SimulationRules { merged, ..SimulationRules::default() };
    let settings = MctsSettings { rules, memory: 4, ..MctsSettings::default() };
    let options = MctsOptions { simulations: 2_000, settings, ..MctsOptions::default() };
    let mut agent = Mcts::with_options(Knowledge::new(evaluation), options);
    let mut calls = |simulations| {
        agent.new_game(agent_rng(5, 0, Seat::First));
        let limits = Limits { simulations: Some(simulations), ..Limits::default() };
        measure(|| drop(agent.choose(position, &limits).expect("a choice"))).0
    };
    calls(2_000);
    [calls(100), calls(1_000)]
}

/// Positions with few and with many orders, far from and before a combat.
const SEARCHED: [&str; 4] =
    ["souakim_march_hex.json", "khartoum_march_hex.json", "el_obeid_group_hex.json", "souakim_leader_marching.json"];

#[test]
fn a_choice_of_mcts_allocates_its_report_alone() {
    // The lists of the report: the legal actions and the principal variation.
    const REPORT: u64 = 2;
    assert_eq!(calls_of_mcts(&ConnectFour::new(), PlayToEnd, true), [REPORT; 2]);
    for name in SEARCHED {
        // Each merged distribution of a combat is a list of lists; without them dice cost nothing either.
        assert_eq!(calls_of_mcts(&kept(name), CampaignEvaluation::default(), false), [REPORT; 2], "{name}");
    }
}

/// The tree in use is bounded by `memory`, and lists that grow by doubling take at most twice that. Beside it there are
/// the distribution of a merged combat and the buffers of a rollout.
#[test]
fn a_choice_of_mcts_keeps_to_its_memory() {
    const MIB: i64 = 1 << 20;
    for name in SEARCHED {
        for memory in [1, 2] {
            let settings = MctsSettings { memory, ..MctsSettings::default() };
            let options = MctsOptions {
                simulations: 20_000,
                leaf: LeafOptions { depth: 1, ..LeafOptions::default() },
                settings,
                ..MctsOptions::default()
            };
            let mut agent = Mcts::with_options(Knowledge::new(CampaignEvaluation::default()), options);
            agent.new_game(agent_rng(5, 0, Seat::First));
            let position = kept(name);
            let (_, peak) = measure(|| drop(agent.choose(&position, &Limits::default()).expect("a choice")));
            let memory = MIB * memory as i64;
            assert!(peak > memory, "{name}: the test must fill the tree: {peak}");
            assert!(peak < 2 * memory + MIB / 2, "{name}: {peak} bytes for {memory}");
        }
    }
}

/// Calls of the allocator in a search with few and with many simulations, after some that have let the buffers grow.
fn calls_of_gumbel<P: Position>(position: &P) -> [u64; 2] {
    let mut search = GumbelSearch::new(GumbelSettings { simulations: 400, ..GumbelSettings::default() });
    let policy = vec![0.01; P::ACTIONS];
    let (mut legal, mut counts, mut improved) = (Vec::<Action>::new(), Vec::new(), Vec::new());
    let mut calls = |simulations| {
        let searched = measure(|| {
            search.begin(position, simulations, 3);
            while search.waiting().len() > 0 {
                counts.clear();
                for leaf in search.waiting() {
                    leaf.legal_actions_into(&mut legal);
                    counts.push(legal.len());
                }
                search.supply(counts.iter().map(|&count| LeafEvaluation { policy: &policy[..count], value: 0.1 }));
            }
            assert!(search.best().is_some());
            search.improved_policy_into(&mut improved);
        });
        searched.0
    };
    // Leaves are used again in another order, so it takes some searches until each has met its longest path.
    for _ in 0..8 {
        calls(40);
        calls(400);
    }
    [calls(40), calls(400)]
}

#[test]
fn a_gumbel_search_allocates_nothing() {
    assert_eq!(calls_of_gumbel(&ConnectFour::new()), [0; 2]);
    for name in SEARCHED {
        assert_eq!(calls_of_gumbel(&kept(name)), [0; 2], "{name}");
    }
}
