//! The types of the interface: what may stand in a signature, judged where it is written.

use crate::errors::{Error, Result};
use crate::tokens::{collect, group, is_ident, is_punct, spell, split_commas};
use proc_macro::{Delimiter, TokenTree};
use std::collections::HashSet;

const SUPPORTED: &str = "supported are `()`, `bool`, `i64`, `f64`, `char`, `String`, `Vec<u8>`, `Vec<T>`, `Option<T>`, \
     `Result<T, E>`, tuples, `HashMap<K, V>`, structs with `#[derive(GosStruct)]` and types with `#[gos_opaque]`";

/// As deep as types may stand in one another.
const DEEPEST: usize = 32;

/// The types that a module declares. Of others the compiler of the crate decides.
#[derive(Default)]
pub struct Known {
    pub structs: HashSet<String>,
    pub opaques: HashSet<String>,
    /// Declared and neither.
    pub plain: HashSet<String>,
    /// Brought in by name: `use`, `type`.
    pub imported: HashSet<String>,
    /// A glob or a macro may bring in any name.
    pub any: bool,
}

impl Known {
    /// Outside of a module nothing is known.
    pub fn nothing() -> Known {
        Known { any: true, ..Known::default() }
    }
}

/// Where a type stands.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Parameter,
    Answer,
    Field,
    Key,
}

/// How a parameter is taken.
#[derive(Clone, Copy, PartialEq)]
pub enum Taken {
    Value,
    Shared,
    Exclusive,
}

/// A parameter's type: how it is taken, and the type behind the `&`.
pub fn parameter<'a>(tokens: &'a [TokenTree], known: &Known) -> Result<(Taken, &'a [TokenTree])> {
    if !is_punct(tokens.first(), '&') {
        check(tokens, Place::Parameter, known, 0)?;
        return Ok((Taken::Value, tokens));
    }
    let mut inner = &tokens[1..];
    if is_punct(inner.first(), '\'') {
        return Err(Error::over(tokens, "a parameter has no lifetime: what it refers to lives as long as the call"));
    }
    let mut taken = Taken::Shared;
    if is_ident(inner.first(), "mut") {
        taken = Taken::Exclusive;
        inner = &inner[1..];
    }
    if taken == Taken::Shared && inner.len() == 1 {
        if let Some(slice) = group(inner.first(), Delimiter::Bracket) {
            let element = collect(slice.stream());
            if element.iter().any(|token| is_punct(Some(token), ';')) {
                return Err(unsupported(tokens, "an array has no length of its own in Gossamer: take a `&[T]`"));
            }
            check_element(&element, Place::Parameter, known, 1)?;
            return Ok((taken, inner));
        }
        if is_ident(inner.first(), "str") {
            return Ok((taken, inner));
        }
    }
    match Path::parse(inner) {
        Some(path) if path.arguments.is_none() => {
            let name = path.name();
            let local = path.is_local();
            if local && (known.opaques.contains(&name) || (taken == Taken::Shared && known.structs.contains(&name))) {
                return Ok((taken, inner));
            }
            if taken == Taken::Exclusive && (is_word(&name) || (local && known.structs.contains(&name))) {
                return Err(Error::over(
                    tokens,
                    format!(
                        "`&mut` is for `#[gos_opaque]` types: a `{}` is copied, so a change would be lost; answer the changed value",
                        name
                    ),
                ));
            }
            if taken == Taken::Shared && name != "String" && is_word(&name) {
                return Err(Error::over(tokens, format!("a `{}` is taken by value, without `&`", name)));
            }
            check(inner, Place::Answer, known, 0)?; // opaque types of other modules among them
            Ok((taken, inner))
        }
        Some(path) if taken == Taken::Shared && matches!(&*path.name(), "Vec" | "HashMap") => {
            check(inner, Place::Parameter, known, 0)?;
            Ok((taken, inner))
        }
        _ if taken == Taken::Exclusive => {
            Err(Error::over(tokens, "`&mut` is for `#[gos_opaque]` types: everything else is copied"))
        }
        _ => Err(unsupported(tokens, "behind a `&` stand `str`, `[T]`, structs and opaque types")),
    }
}

/// A type by value.
pub fn check(tokens: &[TokenTree], place: Place, known: &Known, depth: usize) -> Result<()> {
    if depth > DEEPEST {
        return Err(Error::over(tokens, "types that stand more than 32 deep in one another"));
    }
    if tokens.len() == 1 {
        // A type that came through `macro_rules!`.
        if let Some(whole) = group(tokens.first(), Delimiter::None) {
            return check(&collect(whole.stream()), place, known, depth + 1);
        }
        if let Some(tuple) = group(tokens.first(), Delimiter::Parenthesis) {
            let inside = collect(tuple.stream());
            let fields = split_commas(&inside);
            if fields.len() > 8 {
                return Err(Error::over(tokens, "a tuple of more than eight: make it a struct with `#[derive(GosStruct)]`"));
            }
            return fields.iter().try_for_each(|field| check(field, place, known, depth + 1));
        }
        if group(tokens.first(), Delimiter::Bracket).is_some() {
            return Err(unsupported(tokens, "a sequence is a `Vec<T>`"));
        }
    }
    if is_punct(tokens.first(), '&') {
        return Err(match place {
            Place::Answer => unsupported(tokens, "what is answered is owned: `String`, `Vec<T>`"),
            Place::Field => unsupported(tokens, "a field is owned: `String`, `Vec<T>`"),
            _ => unsupported(tokens, "a `&` stands only in front of a whole parameter"),
        });
    }
    let path = match Path::parse(tokens) {
        Some(path) => path,
        None => return Err(unsupported(tokens, "")),
    };
    let name = path.name();
    match &path.arguments {
        Some(arguments) => match (&*name, arguments.len()) {
            ("Vec", 1) => {
                key_only(tokens, place, "a `Vec`")?;
                check_element(arguments[0], place, known, depth + 1)
            }
            ("Option", 1) => check(arguments[0], place, known, depth + 1),
            ("Result", 2) => {
                key_only(tokens, place, "a `Result`")?;
                check(arguments[0], place, known, depth + 1)?;
                check(arguments[1], place, known, depth + 1)
            }
            ("HashMap", 2) => {
                key_only(tokens, place, "a `HashMap`")?;
                check(arguments[0], Place::Key, known, depth + 1)?;
                check(arguments[1], place, known, depth + 1)
            }
            ("Vec", _) | ("Option", _) => Err(Error::over(tokens, format!("`{}` takes one type", name))),
            ("Result", _) => Err(Error::over(tokens, "`Result` takes two types: that of the value and that of the error")),
            ("HashMap", _) => Err(Error::over(tokens, "`HashMap` takes two types: that of the keys and that of the values")),
            _ => Err(unsupported(tokens, "")),
        },
        None => check_word(tokens, &name, path.is_local(), place, known),
    }
}

fn check_word(tokens: &[TokenTree], name: &str, local: bool, place: Place, known: &Known) -> Result<()> {
    match name {
        "f64" => return key_only(tokens, place, "an `f64`"),
        "bool" | "i64" | "char" | "String" => return Ok(()),
        "i8" | "i16" | "i32" | "i128" | "isize" | "u16" | "u32" | "u64" | "u128" | "usize" => {
            return Err(unsupported(tokens, "an integer is an `i64`"));
        }
        "u8" => return Err(unsupported(tokens, "an integer is an `i64`, bytes are a `Vec<u8>`")),
        "f32" => return Err(unsupported(tokens, "a float is an `f64`")),
        "str" => return Err(unsupported(tokens, "text is a `String`, or as a parameter a `&str`")),
        "Vec" | "Option" => return Err(Error::over(tokens, format!("`{}` takes one type", name))),
        "HashMap" => return Err(Error::over(tokens, "`HashMap` takes two types: that of the keys and that of the values")),
        "Result" => {
            return Err(Error::over(tokens, "`Result` takes two types: that of the value and that of the error"));
        }
        "PathBuf" | "OsString" | "Path" | "OsStr" => return Err(unsupported(tokens, "a path is a `String`")),
        "Self" => return Err(unsupported(tokens, "")),
        _ => {}
    }
    if !local {
        return Ok(());
    }
    if known.opaques.contains(name) {
        return match place {
            Place::Answer => Ok(()),
            Place::Parameter => Err(Error::over(
                tokens,
                format!("an opaque value stays in Rust and is lent to a function: `&{0}` or `&mut {0}`, not in another type", name),
            )),
            Place::Field => Err(Error::over(tokens, "an opaque value stays in Rust and cannot be a field of a copied struct")),
            Place::Key => Err(Error::over(tokens, "an opaque value stays in Rust and cannot be a key")),
        };
    }
    if known.structs.contains(name) || known.imported.contains(name) {
        return Ok(());
    }
    if known.plain.contains(name) {
        return Err(Error::over(
            tokens,
            format!(
                "`{}` has neither `#[derive(GosStruct)]`, to be copied, nor `#[gos_opaque]`, to stay in Rust",
                name
            ),
        ));
    }
    if known.any {
        return Ok(());
    }
    Err(unsupported(tokens, ""))
}

fn check_element(tokens: &[TokenTree], place: Place, known: &Known, depth: usize) -> Result<()> {
    if tokens.len() == 1 && is_ident(tokens.first(), "u8") {
        return Ok(());
    }
    check(tokens, place, known, depth)
}

fn key_only(tokens: &[TokenTree], place: Place, what: &str) -> Result<()> {
    if place == Place::Key {
        return Err(Error::over(
            tokens,
            format!("{} cannot be a key: keys are `bool`, `i64`, `char`, `String`, and options, tuples and structs of these", what),
        ));
    }
    Ok(())
}

fn is_word(name: &str) -> bool {
    matches!(name, "bool" | "i64" | "f64" | "char" | "String")
}

fn unsupported(tokens: &[TokenTree], advice: &str) -> Error {
    let gap = if advice.is_empty() { "" } else { "; " };
    Error::over(tokens, format!("`{}` is not a type that Gossamer can be given{}{}; {}", spell(tokens), gap, advice, SUPPORTED))
}

/// `std::collections::HashMap<String, i64>`: names, and types behind the last.
struct Path<'a> {
    names: Vec<String>,
    arguments: Option<Vec<&'a [TokenTree]>>,
}

impl<'a> Path<'a> {
    fn parse(mut tokens: &'a [TokenTree]) -> Option<Path<'a>> {
        let mut names = Vec::new();
        if is_punct(tokens.first(), ':') {
            tokens = tokens.get(2..)?;
            names.push(String::new()); // not local
        }
        loop {
            match tokens.first()? {
                TokenTree::Ident(ident) => names.push(ident.to_string()),
                _ => return None,
            }
            if matches!(&**names.last()?, "dyn" | "impl" | "fn" | "unsafe" | "extern" | "for" | "mut" | "const") {
                return None;
            }
            tokens = &tokens[1..];
            if tokens.is_empty() {
                return Some(Path { names, arguments: None });
            }
            if is_punct(tokens.first(), ':') && is_punct(tokens.get(1), ':') {
                tokens = &tokens[2..];
                if !is_punct(tokens.first(), '<') {
                    continue;
                }
            }
            if !is_punct(tokens.first(), '<') || !is_punct(tokens.last(), '>') || tokens.len() < 2 {
                return None;
            }
            let inside = &tokens[1..tokens.len() - 1];
            return Some(Path { names, arguments: Some(split_commas(inside)) });
        }
    }

    fn name(&self) -> String {
        self.names.last().cloned().unwrap_or_default()
    }

    /// Is it a name of the module itself?
    fn is_local(&self) -> bool {
        self.names.len() == 1 || (self.names.len() == 2 && self.names[0] == "self")
    }
}
