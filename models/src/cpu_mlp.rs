//! The token MLP on a CPU, without libtorch.
//!
//! For the small layers of this network libtorch spends more time on handing tensors around than on arithmetic, above all in
//! the small batches of a search; and it multiplies by zeros, which most features are. Here a layer adds up the weights of those
//! of its inputs that are not zero, sample by sample. So what is said of a sample does not depend on the others of its batch
//! either. The figures differ from libtorch's in the last bits, since they are added up in another order.

use crate::batch::{Batch, BatchSample, TOKENS_PER_ACTION};
use crate::evaluator::RawOutputs;
use crate::network::{Architecture, InputSizes, Network, NetworkConfig, VALUES};
use pulp::{Arch, Simd, WithSimd};
use std::collections::HashMap;
use std::iter::repeat_n;
use tch::{Device, TchError, Tensor};

/// The weights of a [`Architecture::TokenMlp`] and room for what its layers say of one sample.
#[derive(Debug)]
pub(crate) struct CpuMlp {
    arch: Arch,
    /// One for both seats, or one for each.
    seats: Vec<Layers>,
    room: Room,
}

/// All widths are padded to a multiple of [`LANES`], with weights of zero.
#[derive(Debug)]
struct Layers {
    inputs: InputSizes,
    /// Padded width of the embeddings of tokens and actions.
    hidden: usize,
    token_in: Layer,
    token_out: Layer,
    trunk_in: Layer,
    trunk_out: Layer,
    value: Layer,
    action_features: Layer,
    action_trunk: Layer,
    /// For each token that an action names.
    action_tokens: [Layer; TOKENS_PER_ACTION],
    action_logit: Vec<f32>,
    action_logit_bias: f32,
    /// Embedding of the row that stands for no token.
    no_token: Vec<f32>,
}

/// A dense layer, its weights by input: those of one input for all outputs lie side by side.
#[derive(Debug)]
struct Layer {
    width: usize,
    /// `[inputs, width]`, from `first` on.
    weights: Vec<f32>,
    /// Where the weights begin: on a boundary of cache lines, which no vector then crosses.
    first: usize,
    bias: Vec<f32>,
}

/// The most lanes of 32 bits that a vector of any processor has here, and those of a cache line.
const LANES: usize = 16;
/// Bytes of a cache line.
const LINE: usize = LANES * size_of::<f32>();

/// Memory of one sample's way through the layers.
#[derive(Debug, Default)]
struct Room {
    inputs: Inputs,
    token: Vec<f32>,
    /// `[1 + T, hidden]`
    tokens: Vec<f32>,
    /// Tokens of each group.
    counts: Vec<f32>,
    /// Mean, then maximum, of each group's tokens: `[2, token_groups, hidden]`.
    pooled: Vec<f32>,
    trunk_in: Vec<f32>,
    trunk: Vec<f32>,
    values: Vec<f32>,
    /// What all actions of the sample share.
    context: Vec<f32>,
    action: Vec<f32>,
    /// What the tokens give to actions that name them, as far as it is known: `[1 + T, hidden]` for each place.
    named: [Vec<f32>; TOKENS_PER_ACTION],
    known: [Vec<bool>; TOKENS_PER_ACTION],
}

/// Inputs of a layer that are not zero.
#[derive(Debug, Default)]
struct Inputs {
    len: usize,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl CpuMlp {
    /// The layers of a token MLP on the CPU; `None` for any other network.
    ///
    /// # Errors
    /// What libtorch said when the weights were read.
    pub fn of(net: &Network) -> Result<Option<CpuMlp>, TchError> {
        let NetworkConfig { inputs, architecture, .. } = net.config();
        let (&Architecture::TokenMlp { hidden, trunk }, Device::Cpu) = (architecture, net.device()) else {
            return Ok(None);
        };
        let weights = net.store().variables();
        let layers = |prefix: &String| Layers::read(&Variables { weights: &weights, prefix }, inputs, hidden, trunk);
        let seats = net.prefixes().iter().map(layers).collect::<Result<_, _>>()?;
        Ok(Some(CpuMlp { arch: Arch::new(), seats, room: Room::default() }))
    }

    /// Appends what the network says of all samples of a batch that was made for it.
    pub fn evaluate(&mut self, batch: &Batch, outputs: &mut RawOutputs) {
        let CpuMlp { arch, seats, room } = self;
        arch.dispatch(Pass { seats, room, batch, outputs });
    }
}

/// A batch on its way through the layers, compiled for each kind of vectors.
struct Pass<'p> {
    seats: &'p [Layers],
    room: &'p mut Room,
    batch: &'p Batch,
    outputs: &'p mut RawOutputs,
}

impl WithSimd for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for sample in self.batch.samples() {
            let layers = match self.seats {
                [first, second] => [first, second][usize::from(sample.second_seat)],
                shared => &shared[0],
            };
            layers.embed_tokens(simd, &sample, self.room);
            layers.judge(simd, &sample, self.room, self.outputs);
            layers.score_actions(simd, &sample, self.room, self.outputs);
        }
    }
}

impl Layers {
    fn read(variables: &Variables<'_>, inputs: &InputSizes, hidden: usize, trunk: usize) -> Result<Layers, TchError> {
        let InputSizes { token_features, token_groups, global_features, action_features, .. } = *inputs;
        let padded = |first: usize, width: usize| {
            let padding = width.next_multiple_of(LANES) - width;
            (first..first + width).map(Some).chain(repeat_n(None, padding))
        };
        let features = |count: usize| (0..count).map(Some);
        let pools = 2 * token_groups;
        let pooled = (0..pools).flat_map(|pool| padded(pool * hidden, hidden));
        let globals = (pools * hidden..pools * hidden + global_features).map(Some);
        let mut layers = Layers {
            inputs: inputs.clone(),
            hidden: hidden.next_multiple_of(LANES),
            token_in: variables.layer("token_in", hidden, features(token_features))?,
            token_out: variables.layer("token_out", hidden, padded(0, hidden))?,
            trunk_in: variables.layer("trunk_in", trunk, pooled.chain(globals))?,
            trunk_out: variables.layer("trunk_out", trunk, padded(0, trunk))?,
            value: variables.layer("value", VALUES, padded(0, trunk))?,
            action_features: variables.layer("action_features", hidden, features(action_features))?,
            action_trunk: variables.layer("action_trunk", hidden, padded(0, trunk))?,
            action_tokens: [
                variables.layer("action_tokens", hidden, padded(0, hidden))?,
                variables.layer("action_tokens", hidden, padded(hidden, hidden))?,
            ],
            action_logit: variables.read("action_logit.weight")?,
            action_logit_bias: variables.read("action_logit.bias")?[0],
            no_token: Vec::new(),
        };
        layers.action_logit.resize(layers.hidden, 0.0);
        layers.no_token = layers.embed_no_token();
        Ok(layers)
    }

    /// The row for no token has no feature.
    fn embed_no_token(&self) -> Vec<f32> {
        let mut inputs = Inputs::default();
        let mut token = self.token_in.bias.clone();
        relu(&mut token);
        inputs.append(0, &token);
        let mut embedded = self.token_out.bias.clone();
        self.token_out.add(pulp::Scalar::new(), &inputs, &mut embedded);
        relu(&mut embedded);
        embedded
    }

    #[inline(always)]
    fn embed_tokens<S: Simd>(&self, simd: S, sample: &BatchSample<'_>, room: &mut Room) {
        let Room { inputs, token, tokens, .. } = room;
        tokens.clear();
        tokens.extend_from_slice(&self.no_token);
        for features in sample.tokens.chunks_exact(self.inputs.token_features) {
            inputs.set(features);
            self.token_in.say(simd, inputs, token);
            relu(token);
            inputs.set(token);
            let first = tokens.len();
            tokens.extend_from_slice(&self.token_out.bias);
            let embedded = &mut tokens[first..];
            self.token_out.add(simd, inputs, embedded);
            relu(embedded);
        }
    }

    /// Pools the tokens and says the values.
    #[inline(always)]
    fn judge<S: Simd>(&self, simd: S, sample: &BatchSample<'_>, room: &mut Room, outputs: &mut RawOutputs) {
        let Room { inputs, tokens, counts, pooled, trunk_in, trunk, values, context, .. } = room;
        let (groups, hidden) = (self.inputs.token_groups, self.hidden);
        counts.clear();
        counts.resize(groups, 0.0);
        pooled.clear();
        pooled.resize(2 * groups * hidden, 0.0);
        let (means, maxima) = pooled.split_at_mut(groups * hidden);
        for (token, group) in tokens.chunks_exact(hidden).skip(1).zip(sample.groups()) {
            counts[group] += 1.0;
            let place = group * hidden..(group + 1) * hidden;
            let pools = means[place.clone()].iter_mut().zip(&mut maxima[place]);
            for ((mean, maximum), &value) in pools.zip(token) {
                *mean += value;
                // What comes out of a rectifier is at least 0, where the maximum begins.
                *maximum = if value > *maximum { value } else { *maximum };
            }
        }
        for (group, &count) in counts.iter().enumerate() {
            let place = group * hidden..(group + 1) * hidden;
            if count > 0.0 {
                means[place].iter_mut().for_each(|mean| *mean /= count);
            } else {
                maxima[place].copy_from_slice(&self.no_token);
            }
        }
        inputs.set(pooled);
        inputs.append(pooled.len(), sample.globals);
        self.trunk_in.say(simd, inputs, trunk_in);
        relu(trunk_in);
        inputs.set(trunk_in);
        self.trunk_out.say(simd, inputs, trunk);
        relu(trunk);
        inputs.set(trunk);
        self.value.say(simd, inputs, values);
        outputs.push_values(values.first_chunk::<VALUES>().unwrap_or_else(|| unreachable!("padded to more")));
        self.action_features.bias.clone_into(context);
        self.action_trunk.add(simd, inputs, context);
    }

    /// Says a logit for each legal action.
    #[inline(always)]
    fn score_actions<S: Simd>(&self, simd: S, sample: &BatchSample<'_>, room: &mut Room, outputs: &mut RawOutputs) {
        let Room { inputs, tokens, context, action, named, known, .. } = room;
        let hidden = self.hidden;
        for (named, known) in named.iter_mut().zip(&mut *known) {
            named.resize(tokens.len(), 0.0);
            known.clear();
            known.resize(tokens.len() / hidden, false);
        }
        for (features, names) in sample.actions.chunks_exact(self.inputs.action_features).zip(sample.named()) {
            context.clone_into(action);
            for (place, token) in names.into_iter().enumerate() {
                let row = token * hidden..(token + 1) * hidden;
                let given = &mut named[place][row.clone()];
                // Many actions name the same token.
                if !std::mem::replace(&mut known[place][token], true) {
                    given.fill(0.0);
                    inputs.set(&tokens[row]);
                    self.action_tokens[place].add(simd, inputs, given);
                }
                action.iter_mut().zip(given).for_each(|(sum, given)| *sum += *given);
            }
            inputs.set(features);
            self.action_features.add(simd, inputs, action);
            relu(action);
            outputs.action_logits.push(self.action_logit_bias + dot(action, &self.action_logit));
        }
    }
}

impl Layer {
    /// From `[outputs, ...]` weights: the inputs of the layer are these columns, `None` for an input that is always zero.
    fn new(weights: &[f32], bias: &[f32], outputs: usize, columns: impl Iterator<Item = Option<usize>>) -> Layer {
        let width = outputs.next_multiple_of(LANES);
        let columns: Vec<_> = columns.collect();
        let mut packed = vec![0.0; columns.len() * width + LANES];
        // Where alignment cannot be told, vectors may cross lines, which is slower and no less right.
        let first = packed.as_ptr().align_offset(LINE).min(LANES);
        let per_output = weights.len() / outputs;
        for (row, column) in packed[first..].chunks_exact_mut(width).zip(columns) {
            if let Some(column) = column {
                let of_input = weights.iter().skip(column).step_by(per_output);
                row.iter_mut().zip(of_input).for_each(|(to, from)| *to = *from);
            }
        }
        let bias = bias.iter().copied().chain(repeat_n(0.0, width - bias.len())).collect();
        Layer { width, weights: packed, first, bias }
    }

    /// What the layer says of these inputs.
    #[inline(always)]
    fn say<S: Simd>(&self, simd: S, inputs: &Inputs, outputs: &mut Vec<f32>) {
        self.bias.clone_into(outputs);
        self.add(simd, inputs, outputs);
    }

    /// Adds weights times inputs to the outputs, `[width]`.
    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, inputs: &Inputs, outputs: &mut [f32]) {
        // As many sums as fit the registers of every processor, twice over.
        const AT_ONCE: usize = 4;
        let (weights, _) = S::as_simd_f32s(&self.weights[self.first..]);
        let (outputs, _) = S::as_mut_simd_f32s(outputs);
        let vectors = self.width / (size_of::<S::f32s>() / size_of::<f32>());
        let (many, few) = outputs.split_at_mut(vectors / AT_ONCE * AT_ONCE);
        for (part, outputs) in many.as_chunks_mut::<AT_ONCE>().0.iter_mut().enumerate() {
            add_part(simd, weights, vectors, part * AT_ONCE, inputs, outputs);
        }
        for (part, outputs) in few.as_chunks_mut::<1>().0.iter_mut().enumerate() {
            add_part(simd, weights, vectors, vectors / AT_ONCE * AT_ONCE + part, inputs, outputs);
        }
    }
}

/// Adds weights times inputs to `N` vectors of outputs, of `vectors` in all, the first of which is `first`.
#[inline(always)]
fn add_part<S: Simd, const N: usize>(
    simd: S,
    weights: &[S::f32s],
    vectors: usize,
    first: usize,
    inputs: &Inputs,
    outputs: &mut [S::f32s; N],
) {
    let row = |index: u32| {
        let start = index as usize * vectors + first;
        weights[start..start + N].first_chunk::<N>().unwrap_or_else(|| unreachable!("N vectors"))
    };
    // Two sums for each vector: the processor need not wait for one addition to begin the next.
    let mut sums = *outputs;
    let mut others = [simd.splat_f32s(0.0); N];
    let (indices, last_index) = inputs.indices[..inputs.len].as_chunks::<2>();
    let (values, last_value) = inputs.values[..inputs.len].as_chunks::<2>();
    for (indices, values) in indices.iter().zip(values) {
        let (row, other) = (row(indices[0]), row(indices[1]));
        let (value, other_value) = (simd.splat_f32s(values[0]), simd.splat_f32s(values[1]));
        for k in 0..N {
            sums[k] = simd.mul_add_f32s(row[k], value, sums[k]);
            others[k] = simd.mul_add_f32s(other[k], other_value, others[k]);
        }
    }
    for (&index, &value) in last_index.iter().zip(last_value) {
        let (row, value) = (row(index), simd.splat_f32s(value));
        for k in 0..N {
            sums[k] = simd.mul_add_f32s(row[k], value, sums[k]);
        }
    }
    for k in 0..N {
        outputs[k] = simd.add_f32s(sums[k], others[k]);
    }
}

impl Inputs {
    #[inline(always)]
    fn set(&mut self, values: &[f32]) {
        self.len = 0;
        self.append(0, values);
    }

    /// Adds those of `values` that are not zero; the first of them is the input `first`.
    #[inline(always)]
    fn append(&mut self, first: usize, values: &[f32]) {
        const CHUNK: usize = 8;
        // Every value is written and those that are zero are written over: that is faster than to ask.
        let room = self.len + values.len() + CHUNK;
        if self.indices.len() < room {
            self.indices.resize(room, 0);
            self.values.resize(room, 0.0);
        }
        let mut len = self.len;
        for (chunk, values) in values.chunks(CHUNK).enumerate() {
            if values.iter().fold(0, |bits, value| bits | value.to_bits()) == 0 {
                continue;
            }
            let first = (first + chunk * CHUNK) as u32;
            let (indices, kept) = (&mut self.indices[len..len + CHUNK], &mut self.values[len..len + CHUNK]);
            let mut count = 0;
            for (index, &value) in (first..).zip(values) {
                (indices[count], kept[count]) = (index, value);
                count += usize::from(value != 0.0);
            }
            len += count;
        }
        self.len = len;
    }
}

/// Keeps what is not a number, so that damaged weights show.
#[inline(always)]
fn relu(values: &mut [f32]) {
    for value in values {
        *value = if *value < 0.0 { 0.0 } else { *value };
    }
}

/// The sum of products, in [`LANES`] parts.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for k in 0..LANES {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum()
}

/// The weights of one seat.
struct Variables<'v> {
    weights: &'v HashMap<String, Tensor>,
    prefix: &'v str,
}

impl Variables<'_> {
    fn read(&self, name: &str) -> Result<Vec<f32>, TchError> {
        let name = format!("{}{name}", self.prefix);
        let missing = || TchError::TensorNameNotFound(name.clone(), "the network".to_string());
        let tensor = self.weights.get(&name).ok_or_else(missing)?;
        let mut values = vec![0.0; tensor.numel()];
        tensor.f_contiguous()?.f_copy_data(&mut values, tensor.numel())?;
        Ok(values)
    }

    fn layer(
        &self,
        name: &str,
        outputs: usize,
        columns: impl Iterator<Item = Option<usize>>,
    ) -> Result<Layer, TchError> {
        let bias = format!("{name}.bias");
        let has_bias = self.weights.contains_key(&format!("{}{bias}", self.prefix));
        let bias = if has_bias { self.read(&bias)? } else { Vec::new() };
        Ok(Layer::new(&self.read(&format!("{name}.weight"))?, &bias, outputs, columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Sample;
    use crate::evaluator::{Evaluations, NetEvaluator};
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const INPUTS: InputSizes =
        InputSizes { token_features: 37, token_groups: 3, global_features: 21, action_features: 29, planes: [0; 3] };

    fn config(hidden: usize, trunk: usize, by_seat: bool) -> NetworkConfig {
        NetworkConfig { inputs: INPUTS, architecture: Architecture::TokenMlp { hidden, trunk }, by_seat }
    }

    /// A network whose outputs are far from even, as they are not at first.
    fn net(config: NetworkConfig, seed: i64) -> Network {
        let net = Network::new(config, seed, Device::Cpu).expect("sizes in range");
        for (name, mut weights) in net.store().variables() {
            if name.contains("value") || name.contains("logit") {
                tch::no_grad(|| _ = weights.f_mul_scalar_(100.0).expect("weights"));
            }
        }
        net
    }

    /// Samples of all sizes whose features are mostly zero; some without tokens, without actions, or with empty groups.
    fn batches(config: &NetworkConfig) -> (Batch, Vec<Batch>) {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut all, mut alone) = (Batch::new(config), Vec::new());
        for (tokens, actions) in [(30, 20), (0, 7), (5, 0), (1, 1), (0, 0), (12, 3), (2, 40), (33, 9)] {
            let mut features = |count: usize| -> Vec<f32> {
                (0..count).map(|_| if rng.random_bool(0.2) { rng.random_range(-2.0..2.0) } else { 0.0 }).collect()
            };
            let globals = features(INPUTS.global_features);
            let token_features = features(tokens * INPUTS.token_features);
            let action_features = features(actions * INPUTS.action_features);
            let groups: Vec<u8> = (0..tokens).map(|_| (rng.next_u32() % 3) as u8).collect();
            let mut named = || (tokens > 0 && rng.random_bool(0.7)).then(|| rng.random_range(0..tokens as u32));
            let action_tokens: Vec<_> = (0..actions).map(|_| [named(), named()]).collect();
            let mut only = all.empty_like();
            for batch in [&mut all, &mut only] {
                let sample = Sample {
                    second_seat: actions % 2 == 1,
                    globals: &globals,
                    tokens: &token_features,
                    groups: &groups,
                    planes: &[],
                    cells: &[],
                    actions: &action_features,
                    action_tokens: &action_tokens,
                };
                batch.push(&sample).expect("a valid sample");
            }
            alone.push(only);
        }
        (all, alone)
    }

    fn evaluate(mut evaluator: NetEvaluator, batch: &Batch) -> Evaluations {
        let mut evaluations = Evaluations::default();
        evaluator.evaluate(batch, &mut evaluations).expect("finite");
        evaluations
    }

    /// What is said of a sample, its policy first.
    fn said(evaluations: &Evaluations, sample: usize) -> Vec<f32> {
        let mut all = evaluations.policy(sample).to_vec();
        all.extend(evaluations.wdl(sample));
        all.extend([evaluations.margin(sample), evaluations.turns_left(sample)]);
        all
    }

    #[test]
    fn it_says_what_libtorch_says() {
        for (hidden, trunk) in [(1, 1), (16, 32), (24, 40), (64, 128), (80, 272)] {
            for by_seat in [false, true] {
                let config = config(hidden, trunk, by_seat);
                assert!(CpuMlp::of(&net(config.clone(), 5)).expect("weights").is_some());
                let (all, _) = batches(&config);
                let own = evaluate(NetEvaluator::new(net(config.clone(), 5)), &all);
                let libtorch = evaluate(NetEvaluator::of_libtorch(net(config, 5)), &all);
                for sample in 0..all.len() {
                    for (own, libtorch) in said(&own, sample).into_iter().zip(said(&libtorch, sample)) {
                        let off = (own - libtorch).abs() / (1.0 + libtorch.abs());
                        assert!(off < 1e-5, "{hidden}/{trunk}, sample {sample}: {own} instead of {libtorch}");
                    }
                }
            }
        }
    }

    /// Bit by bit, which libtorch does not promise.
    #[test]
    fn what_is_said_of_a_sample_does_not_depend_on_its_batch() {
        for by_seat in [false, true] {
            let config = config(24, 40, by_seat);
            let (all, alone) = batches(&config);
            let together = evaluate(NetEvaluator::new(net(config.clone(), 5)), &all);
            for (sample, batch) in alone.iter().enumerate() {
                let alone = evaluate(NetEvaluator::new(net(config.clone(), 5)), batch);
                assert_eq!(said(&together, sample), said(&alone, 0), "sample {sample}");
            }
        }
    }

    #[test]
    fn new_weights_count_from_the_next_batch() {
        let config = config(16, 16, false);
        let (all, _) = batches(&config);
        let mut evaluator = NetEvaluator::new(net(config.clone(), 5));
        let mut evaluations = Evaluations::default();
        evaluator.evaluate(&all, &mut evaluations).expect("finite");
        let other = net(config, 6);
        evaluator.set_weights(&other).expect("the same sizes");
        let new = evaluate(evaluator, &all);
        assert_ne!(said(&new, 0), said(&evaluations, 0));
        assert_eq!(said(&new, 0), said(&evaluate(NetEvaluator::new(other), &all), 0));
    }

    #[test]
    fn damaged_weights_show() {
        let config = config(16, 16, false);
        let (all, _) = batches(&config);
        for name in ["token_in.bias", "token_out.weight", "trunk_in.weight", "action_tokens.weight", "value.bias"] {
            let net = net(config.clone(), 5);
            let mut weights = net.store().variables().remove(name).expect("weights of this name");
            tch::no_grad(|| _ = weights.f_fill_(f64::NAN).expect("weights"));
            let mut evaluations = Evaluations::default();
            assert!(NetEvaluator::new(net).evaluate(&all, &mut evaluations).is_err(), "{name}");
        }
    }
}
