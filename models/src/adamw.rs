//! AdamW (Loshchilov and Hutter 2019) with a state that can be saved and put back.

use std::collections::BTreeMap;
use tch::{TchError, Tensor};

/// Decay of the first moments, the means of the gradients, for each step.
const FIRST_DECAY: f64 = 0.9;
/// Decay of the second moments, the means of the squared gradients, for each step.
const SECOND_DECAY: f64 = 0.999;
/// Keeps a weight whose gradient has always been near 0 from steps of full length.
const EPSILON: f64 = 1e-8;

/// Moves named weights by their gradients.
///
/// Weights decay towards 0 apart from their gradients, but for those of fewer than two dimensions: biases and gains. A
/// weight that the loss did not depend on has gradient 0.
#[derive(Debug)]
pub struct AdamW {
    /// By name, so that no sum depends on a hash's order.
    weights: Vec<Weight>,
    weight_decay: f64,
    steps: u64,
}

#[derive(Debug)]
struct Weight {
    name: String,
    value: Tensor,
    moments: Moments,
    scratch: Tensor,
}

/// Running means of a weight's gradient, each of the weight's shape.
#[derive(Debug)]
pub struct Moments {
    /// Of the gradient.
    pub first: Tensor,
    /// Of its square.
    pub second: Tensor,
}

/// All that [`AdamW`] remembers from step to step.
#[derive(Debug, Default)]
pub struct AdamWState {
    /// Steps that the moments have gathered.
    pub steps: u64,
    /// The moments of each weight by its name.
    pub moments: BTreeMap<String, Moments>,
}

/// Why a state was not taken; nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The state belongs to other weights.
    #[error("the optimiser's state does not fit weight {0}")]
    Weight(String),
    /// libtorch refused, for example for want of memory.
    #[error("libtorch: {0}")]
    Torch(#[from] TchError),
}

impl AdamW {
    /// An optimiser of these weights, which are shared, not copied; `weight_decay` is the part of a weight that a step of
    /// size 1 would take away.
    ///
    /// # Errors
    /// What libtorch said.
    pub fn new(weights: impl IntoIterator<Item = (String, Tensor)>, weight_decay: f64) -> Result<AdamW, TchError> {
        let _no_grad = tch::no_grad_guard();
        let weights: BTreeMap<String, Tensor> = weights.into_iter().collect();
        let weights = weights.into_iter().map(|(name, value)| {
            let moments = Moments { first: value.f_zeros_like()?, second: value.f_zeros_like()? };
            Ok(Weight { scratch: value.f_zeros_like()?, name, value, moments })
        });
        Ok(AdamW { weights: weights.collect::<Result<_, TchError>>()?, weight_decay, steps: 0 })
    }

    /// Sets all gradients to 0; a backward pass adds to them.
    pub fn zero_gradients(&mut self) {
        let _no_grad = tch::no_grad_guard();
        for weight in &mut self.weights {
            weight.value.zero_grad();
        }
    }

    /// Multiplies all gradients.
    ///
    /// # Errors
    /// What libtorch said; a part of the gradients may be multiplied then.
    pub fn scale_gradients(&mut self, factor: f64) -> Result<(), TchError> {
        let _no_grad = tch::no_grad_guard();
        for mut gradient in self.gradients() {
            let _ = gradient.f_mul_scalar_(factor)?;
        }
        Ok(())
    }

    /// Scales the gradients down so that the norm of all together is at most `most`, and returns the norm that they had.
    /// Gradients whose norm is not finite stay as they are.
    ///
    /// # Errors
    /// What libtorch said.
    pub fn clip_gradients(&mut self, most: f64) -> Result<f64, TchError> {
        let _no_grad = tch::no_grad_guard();
        let norms = self.gradients().map(|gradient| gradient.f_norm()).collect::<Result<Vec<_>, _>>()?;
        if norms.is_empty() {
            return Ok(0.0);
        }
        let norm = f64::try_from(Tensor::f_stack(&norms, 0)?.f_norm()?)?;
        if norm.is_finite() && norm > most {
            self.scale_gradients(most / norm)?;
        }
        Ok(norm)
    }

    fn gradients(&self) -> impl Iterator<Item = Tensor> {
        self.weights.iter().map(|weight| weight.value.grad()).filter(Tensor::defined)
    }

    /// Moves the weights by one step of size `learning_rate`.
    ///
    /// # Errors
    /// What libtorch said; a part of the weights may have moved then.
    pub fn step(&mut self, learning_rate: f64) -> Result<(), TchError> {
        let _no_grad = tch::no_grad_guard();
        self.steps += 1;
        // The moments began at 0 and are that much too small.
        let gathered = |decay: f64| 1.0 - decay.powf(self.steps as f64);
        let (first_part, second_part) = (gathered(FIRST_DECAY), gathered(SECOND_DECAY));
        for Weight { value, moments: Moments { first, second }, scratch, .. } in &mut self.weights {
            let mut gradient = value.grad();
            if !gradient.defined() {
                gradient = value.f_zeros_like()?;
            }
            let _ = first.f_lerp_(&gradient, 1.0 - FIRST_DECAY)?;
            let _ = second.f_lerp_(&gradient.f_square_out(scratch)?, 1.0 - SECOND_DECAY)?;
            let mut divisor = second.f_sqrt_out(scratch)?;
            let _ = divisor.f_mul_scalar_(1.0 / second_part.sqrt())?.f_add_scalar_(EPSILON)?;
            let mut change = first.f_div_out(scratch, &divisor)?;
            let _ = change.f_mul_scalar_(learning_rate / first_part)?;
            if value.dim() >= 2 {
                let _ = value.f_mul_scalar_(1.0 - learning_rate * self.weight_decay)?;
            }
            let _ = value.f_sub_(&change)?;
        }
        Ok(())
    }

    /// A copy of the state.
    ///
    /// # Errors
    /// What libtorch said.
    pub fn state(&self) -> Result<AdamWState, TchError> {
        let _no_grad = tch::no_grad_guard();
        let copy = |tensor: &Tensor| {
            let mut copy = tensor.f_zeros_like()?;
            copy.f_copy_(tensor)?;
            Ok::<Tensor, TchError>(copy)
        };
        let moments = self.weights.iter().map(|Weight { name, moments, .. }| {
            Ok((name.clone(), Moments { first: copy(&moments.first)?, second: copy(&moments.second)? }))
        });
        Ok(AdamWState { steps: self.steps, moments: moments.collect::<Result<_, TchError>>()? })
    }

    /// Goes on from `state`, which is that of an optimiser of weights with the same names and shapes.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn set_state(&mut self, state: &AdamWState) -> Result<(), StateError> {
        let _no_grad = tch::no_grad_guard();
        for Weight { name, value, .. } in &self.weights {
            let fits = |tensor: &Tensor| tensor.size() == value.size() && tensor.kind() == value.kind();
            if !state.moments.get(name).is_some_and(|moments| fits(&moments.first) && fits(&moments.second)) {
                return Err(StateError::Weight(name.clone()));
            }
        }
        let known = |name: &&String| self.weights.iter().any(|weight| weight.name == **name);
        if let Some(name) = state.moments.keys().find(|name| !known(name)) {
            return Err(StateError::Weight(name.clone()));
        }
        for Weight { name, moments, .. } in &mut self.weights {
            let source = &state.moments[name];
            moments.first.f_copy_(&source.first)?;
            moments.second.f_copy_(&source.second)?;
        }
        self.steps = state.steps;
        Ok(())
    }
}
