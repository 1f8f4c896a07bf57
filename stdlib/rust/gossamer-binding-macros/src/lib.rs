//! The macros of `gossamer-binding`. They need no other crate: a binding is a few hundred lines of items that are
//! looked at token by token, and a reader of all of Rust would cost every build more than it gives.
//!
//! `module` takes a `#[gos_module]` apart, `function` writes the way in of one function, `named` what a struct or
//! opaque type needs, `types` judges types, `tokens` and `errors` are what the others stand on.

mod errors;
mod function;
mod module;
mod named;
mod names;
mod record;
mod tokens;
mod types;

use proc_macro::TokenStream;

/// Exports the `pub fn`s of a module to Gossamer: `#[gos_module("stats::fast")] pub mod fast { ... }`.
#[proc_macro_attribute]
pub fn gos_module(arguments: TokenStream, item: TokenStream) -> TokenStream {
    module::expand(arguments, item)
}

/// A struct whose values are copied between Gossamer and Rust, field by field. Outside of a `#[gos_module]` it says
/// where it belongs: `#[gos(module = "stats::fast")]`.
#[proc_macro_derive(GosStruct, attributes(gos))]
pub fn gos_struct(item: TokenStream) -> TokenStream {
    named::expand_struct(item)
}

/// A type whose values stay in Rust; Gossamer holds a handle. Outside of a `#[gos_module]` it says where it belongs:
/// `#[gos_opaque(module = "stats::fast")]`.
#[proc_macro_attribute]
pub fn gos_opaque(arguments: TokenStream, item: TokenStream) -> TokenStream {
    named::expand_opaque(arguments, item)
}
