//! The types of the interface, named as Gossamer names them, and the records of the section `.gossamer`.
//!
//! Everything here is computed while the binding crate is compiled: a record is a constant array of bytes, so that
//! the signatures of a library are in its file and nothing has to run to learn them.

use std::collections::HashMap;

/// The name of a type, as a tree of constants.
pub enum Type {
    /// A word of the language: `i64`.
    Word(&'static str),
    /// A word with types in angle brackets: `Vec<f64>`.
    Generic(&'static str, &'static [&'static Type]),
    /// A tuple; the empty one is `()`.
    Tuple(&'static [&'static Type]),
    /// A struct or opaque type, and the Gossamer module in which it stands.
    Named {
        /// The path of the module: `stats::fast`.
        module: &'static str,
        /// The name in the module.
        name: &'static str,
    },
}

/// A type that has a name in Gossamer: `()`, `bool`, `i64`, `f64`, `char`, `String`, `Vec<u8>`, `Vec<T>`, `Option<T>`,
/// `Result<T, E>`, tuples, `HashMap<K, V>`, a struct with `#[derive(GosStruct)]`, a type with `#[gos_opaque]`.
pub trait Gossamer {
    /// Its name.
    const TYPE: Type;
}

/// What may be an element of a `Vec`: every [`Gossamer`] type, and `u8`, which is one nowhere else.
pub trait Element {
    /// The name of the type of an element.
    const ELEMENT: Type;
}
impl<T: Gossamer> Element for T {
    const ELEMENT: Type = T::TYPE;
}
impl Element for u8 {
    const ELEMENT: Type = Type::Word("u8");
}

macro_rules! words {
    ($($type:ty => $word:literal)*) => {
        $(impl Gossamer for $type { const TYPE: Type = Type::Word($word); })*
    };
}
words! {
    bool => "bool"
    i64 => "i64"
    f64 => "f64"
    char => "char"
    String => "String"
}

impl<T: Element> Gossamer for Vec<T> {
    const TYPE: Type = Type::Generic("Vec", &[&T::ELEMENT]);
}
impl<T: Gossamer> Gossamer for Option<T> {
    const TYPE: Type = Type::Generic("Option", &[&T::TYPE]);
}
impl<T: Gossamer, E: Gossamer> Gossamer for Result<T, E> {
    const TYPE: Type = Type::Generic("Result", &[&T::TYPE, &E::TYPE]);
}
impl<K: Gossamer, V: Gossamer> Gossamer for HashMap<K, V> {
    const TYPE: Type = Type::Generic("HashMap", &[&K::TYPE, &V::TYPE]);
}
// As parameters behind a `&`.
impl Gossamer for str {
    const TYPE: Type = Type::Word("String");
}
impl<T: Element> Gossamer for [T] {
    const TYPE: Type = Type::Generic("Vec", &[&T::ELEMENT]);
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {
        $(impl<$($name: Gossamer),*> Gossamer for ($($name,)*) {
            const TYPE: Type = Type::Tuple(&[$(&$name::TYPE),*]);
        })*
    };
}
tuples! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}

/// A piece of a record.
pub enum Part {
    /// Text that is written as it is: the macros escaped it.
    Text(&'static str),
    /// The name of a type, as the module of the record sees it.
    Type(&'static Type),
}

const MAGIC: &[u8] = b"GSB1";

/// The bytes of a record of these parts: magic, length, text.
pub const fn length_of(parts: &[Part], module: &str) -> usize {
    MAGIC.len() + 4 + write::<0>([], 0, parts, module, false).1
}

/// The record itself; `N` is what [`length_of`] says of the same parts.
pub const fn render<const N: usize>(parts: &[Part], module: &str) -> [u8; N] {
    let (out, at) = put([0; N], 0, MAGIC, true);
    let text = N - at - 4;
    assert!(text <= u32::MAX as usize, "a record is longer than its length can say");
    let (out, at) = put(out, at, &(text as u32).to_le_bytes(), true);
    let (out, at) = write(out, at, parts, module, true);
    assert!(at == N, "a record whose length was counted wrong");
    out
}

// Constant functions could not take `&mut` before Rust 1.83: the array goes in and comes out. With `wet` false
// nothing is written and only the end is told.

const fn put<const N: usize>(mut out: [u8; N], at: usize, text: &[u8], wet: bool) -> ([u8; N], usize) {
    let mut i = 0;
    while wet && i < text.len() {
        out[at + i] = text[i];
        i += 1;
    }
    (out, at + text.len())
}

const fn write<const N: usize>(
    mut out: [u8; N],
    mut at: usize,
    parts: &[Part],
    module: &str,
    wet: bool,
) -> ([u8; N], usize) {
    let mut i = 0;
    while i < parts.len() {
        let after = match &parts[i] {
            Part::Text(text) => put(out, at, text.as_bytes(), wet),
            Part::Type(of) => write_type(out, at, of, module, wet),
        };
        out = after.0;
        at = after.1;
        i += 1;
    }
    (out, at)
}

const fn write_type<const N: usize>(
    out: [u8; N],
    at: usize,
    of: &Type,
    from: &str,
    wet: bool,
) -> ([u8; N], usize) {
    match of {
        Type::Word(word) => put(out, at, word.as_bytes(), wet),
        Type::Generic(word, arguments) => {
            let (out, at) = put(out, at, word.as_bytes(), wet);
            let (out, at) = put(out, at, b"<", wet);
            let (out, at) = write_list(out, at, arguments, from, wet);
            put(out, at, b">", wet)
        }
        Type::Tuple(fields) => {
            let (out, at) = put(out, at, b"(", wet);
            let (out, at) = write_list(out, at, fields, from, wet);
            // `(T,)` is a tuple of one, `(T)` is no tuple.
            let (out, at) = put(out, at, if fields.len() == 1 { b"," } else { b"" }, wet);
            put(out, at, b")", wet)
        }
        Type::Named { module, name } => {
            if same(module, from) {
                return put(out, at, name.as_bytes(), wet);
            }
            let (out, at) = put(out, at, module.as_bytes(), wet);
            let (out, at) = put(out, at, b"::", wet);
            put(out, at, name.as_bytes(), wet)
        }
    }
}

const fn write_list<const N: usize>(
    mut out: [u8; N],
    mut at: usize,
    types: &[&Type],
    from: &str,
    wet: bool,
) -> ([u8; N], usize) {
    let mut i = 0;
    while i < types.len() {
        let between = put(out, at, if i > 0 { b", " } else { b"" }, wet);
        let after = write_type(between.0, between.1, types[i], from, wet);
        out = after.0;
        at = after.1;
        i += 1;
    }
    (out, at)
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut i = 0;
    while i < one.len() {
        if one[i] != other[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(of: &'static Type, from: &'static str) -> String {
        // Room enough, since the length is no constant here.
        let (bytes, end) = write_type([0u8; 256], 0, of, from, true);
        String::from_utf8(bytes[..end].to_vec()).unwrap()
    }

    #[test]
    fn types_are_spelled_as_gossamer_spells_them() {
        assert_eq!(text(&<()>::TYPE, ""), "()");
        assert_eq!(text(&<(i64,)>::TYPE, ""), "(i64,)");
        assert_eq!(text(&<HashMap<String, Vec<i64>>>::TYPE, ""), "HashMap<String, Vec<i64>>");
        assert_eq!(text(&<Result<Option<(bool, char)>, f64>>::TYPE, ""), "Result<Option<(bool, char)>, f64>");
        assert_eq!(text(&<Vec<u8>>::TYPE, ""), "Vec<u8>");
        assert_eq!(text(&<[u8]>::TYPE, ""), "Vec<u8>");
        assert_eq!(text(&<str>::TYPE, ""), "String");
    }

    #[test]
    fn a_type_of_another_module_is_spelled_with_its_path() {
        const POINT: Type = Type::Named { module: "a::b", name: "Point" };
        assert_eq!(text(&POINT, "a::b"), "Point");
        assert_eq!(text(&POINT, "a"), "a::b::Point");
        assert_eq!(text(&POINT, "a::c"), "a::b::Point");
    }

    #[test]
    fn a_record_says_how_long_it_is() {
        const PARTS: &[Part] = &[Part::Text("x\t"), Part::Type(&<Option<f64> as Gossamer>::TYPE), Part::Text("\n")];
        const LENGTH: usize = length_of(PARTS, "m");
        static RECORD: [u8; LENGTH] = render(PARTS, "m");
        assert_eq!(&RECORD, b"GSB1\x0e\0\0\0x\tOption<f64>\n");
    }
}
