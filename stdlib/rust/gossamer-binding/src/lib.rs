//! What a Rust crate is written against that Gossamer programs call.
//!
//! ```
//! use gossamer_binding::gos_module;
//!
//! #[gos_module("stats::fast")]
//! pub mod fast {
//!     /// The mean, or `None` of nothing.
//!     pub fn mean(values: Vec<f64>) -> Option<f64> {
//!         if values.is_empty() {
//!             return None;
//!         }
//!         Some(values.iter().sum::<f64>() / values.len() as f64)
//!     }
//! }
//! ```
//!
//! Every `pub fn` of the module becomes a function of the Gossamer module `stats::fast`. Values are copied, a panic
//! becomes a panic of Gossamer, and what the library offers is data in the ELF section `.gossamer`, so that a compiler
//! can read it without running anything. The format is written down in `README.md` of `stdlib/rust`.
//!
//! In this crate: [`types`] names types, [`wire`] copies values, [`handles`] keeps what stays in Rust, [`call`] is the
//! way in and out.

#![deny(missing_docs)]

#[cfg(all(panic = "abort", not(doc), not(test)))]
compile_error!(
    "a Rust panic has to be caught before it reaches Gossamer, so bindings cannot be built with `panic = \"abort\"`: \
     take the setting out of the profile"
);

pub mod call;
pub mod handles;
pub mod types;
pub mod wire;

pub use gossamer_binding_macros::{gos_module, gos_opaque, GosStruct};

/// What the macros write; nothing here is meant to be named by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::call::{enter, GosBuffer};
    pub use crate::handles::{encode as keep, Call, Hold, HoldMut, Kept, Opaque};
    pub use crate::types::{length_of, render, Gossamer, Part, Type};
    pub use crate::wire::{Decode, Encode, Failure, Reader, Writer};
}
