//! Two networks in one: the samples of each seat through layers of its own.

use super::{Layers, Outputs};
use crate::batch::{Batch, RunTable};
use tch::{Device, TchError, Tensor};

/// What the layers of each seat say of its samples, in the order of the batch.
pub(super) fn forward(
    layers: &[Layers],
    batch: &Batch,
    table: &mut RunTable,
    device: Device,
) -> Result<Outputs, TchError> {
    let parts = batch.by_seat();
    let used = layers.iter().zip(&parts).filter(|(_, part)| !part.batch.is_empty());
    let outputs =
        used.map(|(layers, part)| layers.forward(&part.batch, table, device)).collect::<Result<Vec<_>, _>>()?;
    let samples = places(parts.iter().flat_map(|part| &part.samples), batch.len(), device)?;
    let actions = batch.action_starts()[batch.len()];
    let actions = places(parts.iter().flat_map(|part| &part.actions), actions, device)?;
    let joined = |what: fn(&Outputs) -> &Tensor, places: &Tensor| {
        let tensors: Vec<&Tensor> = outputs.iter().map(what).collect();
        Tensor::f_cat(&tensors, 0)?.f_index_select(0, places)
    };
    Ok(Outputs {
        action_logits: joined(|of| &of.action_logits, &actions)?,
        wdl_logits: joined(|of| &of.wdl_logits, &samples)?,
        margin: joined(|of| &of.margin, &samples)?,
        log_turns: joined(|of| &of.log_turns, &samples)?,
    })
}

/// For each row of the whole, where it stands among the rows of the parts, which are these.
fn places<'a>(rows: impl Iterator<Item = &'a usize>, count: usize, device: Device) -> Result<Tensor, TchError> {
    let mut places = vec![0i64; count];
    rows.enumerate().for_each(|(place, &row)| places[row] = place as i64);
    Tensor::f_from_slice(&places)?.f_to_device(device)
}
