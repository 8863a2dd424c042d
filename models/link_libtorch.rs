//! Build script of every package that links a program with libtorch.
//!
//! A run path does not spread from a library to the programs that use it, so each such package names `torch-sys` among
//! its dependencies and this file as its build script. Without the `torch` feature it does nothing.

use std::env;

fn main() {
    println!("cargo::rerun-if-env-changed=DEP_TCH_LIBTORCH_LIB");
    // torch-sys (`links = "tch"`) tells its direct dependents where it found libtorch.
    let Ok(folder) = env::var("DEP_TCH_LIBTORCH_LIB") else { return };
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            // DT_RPATH rather than DT_RUNPATH: it also serves the libraries that libtorch itself depends on.
            println!("cargo::rustc-link-arg=-Wl,--disable-new-dtags,-rpath,{folder}");
            // No symbol of the umbrella library is used, but in a CUDA build it is what brings libtorch_cuda in.
            println!("cargo::rustc-link-arg=-Wl,--push-state,--no-as-needed,-ltorch,--pop-state");
        }
        Ok("macos") => println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}"),
        _ => {}
    }
}
