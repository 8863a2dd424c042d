//! Named tensors in the safetensors format.

use super::CheckpointFault;
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use std::collections::BTreeMap;
use tch::{Device, Kind, Tensor};

/// The tensors, of `f32` or `i64`, as a file.
pub fn tensors_to_bytes(tensors: &BTreeMap<String, Tensor>) -> Result<Vec<u8>, CheckpointFault> {
    let mut contents = BTreeMap::new();
    for (name, tensor) in tensors {
        let (dtype, width) = dtype_of(name, tensor)?;
        let mut bytes = vec![0; tensor.numel() * width];
        tensor.f_to_device(Device::Cpu)?.f_contiguous()?.f_copy_data_u8(&mut bytes, tensor.numel())?;
        // The format is little-endian.
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        let shape: Vec<usize> = tensor.size().iter().map(|&length| length as usize).collect();
        contents.insert(name, (dtype, shape, bytes));
    }
    let views = contents
        .iter()
        .map(|(name, (dtype, shape, bytes))| Ok((name, TensorView::new(*dtype, shape.clone(), bytes)?)))
        .collect::<Result<Vec<_>, SafeTensorError>>()?;
    Ok(safetensors::serialize(views, None)?)
}

/// Copies the contents of a file into `tensors`, which are those that it must have, of the same kinds and shapes.
pub fn read_tensors(bytes: &[u8], mut tensors: BTreeMap<String, Tensor>) -> Result<(), CheckpointFault> {
    let file = SafeTensors::deserialize(bytes)?;
    let _no_grad = tch::no_grad_guard();
    for (name, view) in file.iter() {
        let fault = |problem| CheckpointFault::Tensor { name: name.to_owned(), problem };
        let mut tensor = tensors.remove(name).ok_or_else(|| fault("is unknown to the network"))?;
        let shape: Vec<i64> = view.shape().iter().map(|&length| length as i64).collect();
        if view.dtype() != dtype_of(name, &tensor)?.0 || shape != tensor.size() {
            return Err(fault("has another type or shape than in the network"));
        }
        let values = match view.dtype() {
            Dtype::I64 => {
                let bytes = view.data().as_chunks::<8>().0;
                Tensor::f_from_slice(&bytes.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect::<Vec<_>>())?
            }
            _ => {
                let bytes = view.data().as_chunks::<4>().0;
                let values: Vec<f32> = bytes.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
                if !values.iter().all(|value| value.is_finite()) {
                    return Err(fault("has values that are not finite"));
                }
                Tensor::f_from_slice(&values)?
            }
        };
        tensor.f_copy_(&values.f_view(shape.as_slice())?)?;
    }
    match tensors.into_keys().next() {
        Some(name) => Err(CheckpointFault::Tensor { name, problem: "is missing" }),
        None => Ok(()),
    }
}

/// Type in the file and bytes of an element.
fn dtype_of(name: &str, tensor: &Tensor) -> Result<(Dtype, usize), CheckpointFault> {
    match tensor.f_kind()? {
        Kind::Float => Ok((Dtype::F32, 4)),
        Kind::Int64 => Ok((Dtype::I64, 8)),
        _ => Err(CheckpointFault::Tensor { name: name.to_owned(), problem: "is neither of f32 nor of i64" }),
    }
}
