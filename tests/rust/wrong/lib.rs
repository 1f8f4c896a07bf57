//! What the macros refuse. Each line that is wrong says in a comment behind `//~` what the compiler answers there;
//! nothing else may be reported.

use gossamer_binding::{gos_module, gos_opaque, GosStruct};

#[gos_module("types")]
pub mod types {
    use gossamer_binding::{gos_opaque, GosStruct};
    use std::collections::HashMap;

    #[derive(GosStruct)]
    pub struct Point {
        pub x: f64,
    }
    #[gos_opaque]
    pub struct Counter {
        value: u32,
    }
    pub struct Plain;

    pub fn narrow(value: u32) {} //~ `u32` is not a type that Gossamer can be given; an integer is an `i64`; supported are
    pub fn float() -> f32 { 0.0 } //~ `f32` is not a type that Gossamer can be given; a float is an `f64`
    pub fn byte(value: u8) {} //~ bytes are a `Vec<u8>`
    pub fn pointer(value: *const i64) {} //~ `*const i64` is not a type that Gossamer can be given
    pub fn boxed(value: Box<i64>) {} //~ `Box<i64>` is not a type that Gossamer can be given
    pub fn inner(value: Vec<Option<usize>>) {} //~ `usize` is not a type that Gossamer can be given
    pub fn array(value: [i64; 3]) {} //~ a sequence is a `Vec<T>`
    pub fn array_reference(value: &[i64; 3]) {} //~ take a `&[T]`
    pub fn borrowed_answer(value: &str) -> &str { value } //~ what is answered is owned
    pub fn nested_reference(value: Vec<&str>) {} //~ a `&` stands only in front of a whole parameter
    pub fn lifetime(value: &'static str) {} //~ a parameter has no lifetime
    pub fn unknown(value: Stranger) {} //~ `Stranger` is not a type that Gossamer can be given
    pub fn plain(value: Plain) {} //~ has neither `#[derive(GosStruct)]`, to be copied, nor `#[gos_opaque]`, to stay in Rust
    pub fn arguments(value: Result<i64>) {} //~ `Result` takes two types
    pub fn nine(value: (i64, i64, i64, i64, i64, i64, i64, i64, i64)) {} //~ a tuple of more than eight
    pub fn key(value: HashMap<f64, i64>) {} //~ an `f64` cannot be a key
    pub fn function(value: fn(i64) -> i64) {} //~ is not a type that Gossamer can be given
    pub fn dynamic(value: impl Clone) {} //~ is not a type that Gossamer can be given
    pub fn moved(counter: Counter) {} //~ is lent to a function: `&Counter` or `&mut Counter`
    pub fn many(counters: Vec<Counter>) {} //~ is lent to a function
    pub fn changed(value: &mut i64) {} //~ `&mut` is for `#[gos_opaque]` types
    pub fn changed_struct(point: &mut Point) {} //~ a `Point` is copied, so a change would be lost
    pub fn reference(value: &i64) {} //~ a `i64` is taken by value, without `&`

    pub fn generic<T>(value: i64) {} //~ no type parameters and no lifetimes
    pub async fn later() {} //~ not `async`
    pub unsafe fn unchecked() {} //~ not `unsafe`
    pub extern "C" fn foreign() {} //~ the calling convention of Rust
    pub fn pattern((a, b): (i64, i64)) {} //~ a name and a type, not a pattern
    pub fn bounded(value: i64) where i64: Copy {} //~ no `where`
    pub fn package() {} //~ `package` is a reserved word in Gossamer
    pub fn r#match() {} //~ `match` is a reserved word in Gossamer
}

#[derive(GosStruct)]
#[gos(module = "structs")]
struct Hidden { //~ it is `pub struct Hidden`
    pub x: f64,
}
#[derive(GosStruct)]
#[gos(module = "structs")]
pub struct Private {
    x: f64, //~ a field of a copied struct is `pub`
}
#[derive(GosStruct)]
#[gos(module = "structs")]
pub struct Narrow {
    pub x: u16, //~ `u16` is not a type that Gossamer can be given
    pub within: Option<Vec<Narrow>>, //~ cannot hold another of its kind
}
#[derive(GosStruct)]
#[gos(module = "structs")]
pub struct Generic<T> { //~ no type parameters
    pub x: T,
}
#[derive(GosStruct)]
#[gos(module = "structs")]
pub struct Tuple(pub i64); //~ has named fields
#[derive(GosStruct)]
#[gos(module = "structs")]
pub enum Either { //~ is for structs
    Left,
}
#[derive(GosStruct)]
pub struct Homeless { //~ stands outside of every `#[gos_module]`
    pub x: f64,
}
#[gos_opaque]
pub struct Nowhere; //~ stands outside of every `#[gos_module]`
#[gos_opaque(module = "structs")]
pub struct HashMap; //~ `HashMap` is a type of Gossamer itself

#[gos_module("std::fs")] //~ `std` is the library of Gossamer itself
pub mod library {}
#[gos_module("a:b")] //~ is not the path of a module
pub mod path {}
#[gos_module("a::fn")] //~ `fn` is a reserved word
pub mod keyword {}
#[gos_module("f")]
pub fn not_a_module() {} //~ is for a module
