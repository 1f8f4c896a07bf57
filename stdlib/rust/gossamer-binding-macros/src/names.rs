//! Names that Gossamer can say.

use crate::errors::{Error, Result};
use proc_macro::{Ident, Span};

/// The reserved words of Gossamer (its lexer has the same table; a test compares them).
pub const KEYWORDS: &[&str] = &[
    "as", "async", "await", "break", "const", "continue", "crate", "else", "enum", "extern", "false", "fn", "for", "if", "impl",
    "in", "let", "loop", "match", "mod", "mut", "package", "pub", "return", "self", "Self", "static", "struct", "super",
    "trait", "true", "type", "unsafe", "use", "where", "while", "yield",
];

/// Types of the language, which no type of a crate may stand in for.
pub const TYPES: &[&str] = &[
    "bool", "char", "str", "String", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32",
    "f64", "Vec", "Map", "Set", "BTreeMap", "BTreeSet", "HashMap", "HashSet", "Option", "Result", "Box", "Rc", "Arc",
];

/// As long as a name or path may be.
const LONGEST: usize = 255;

pub fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let starts = characters.next().map_or(false, |c| c == '_' || c.is_alphabetic());
    starts && text != "_" && characters.all(|c| c == '_' || c.is_alphanumeric())
}

/// The name of a function, parameter or field as Gossamer will know it.
pub fn check_name(ident: &Ident) -> Result<String> {
    let text = ident.to_string();
    let bare = text.strip_prefix("r#").unwrap_or(&text);
    if KEYWORDS.contains(&bare) || bare.len() != text.len() {
        return Err(Error::new(
            ident.span(),
            format!("`{}` is a reserved word in Gossamer, which has no raw names: choose another name", bare),
        ));
    }
    if text.len() > LONGEST {
        return Err(Error::new(ident.span(), format!("a name of {} bytes: the longest has {}", text.len(), LONGEST)));
    }
    Ok(text)
}

/// The name of a struct or opaque type.
pub fn check_type_name(ident: &Ident) -> Result<String> {
    let name = check_name(ident)?;
    if TYPES.contains(&&*name) {
        return Err(Error::new(
            ident.span(),
            format!("`{}` is a type of Gossamer itself: choose another name", name),
        ));
    }
    Ok(name)
}

/// The path of a module.
pub fn check_path(path: &str, at: Span) -> Result<()> {
    let parts: Vec<&str> = path.split("::").collect();
    if path.len() > LONGEST || parts.len() > 16 {
        return Err(Error::new(at, "a module path of more than 16 names or 255 bytes"));
    }
    for part in &parts {
        if !is_name(part) {
            return Err(Error::new(
                at,
                format!("`{}` is not the path of a module: names with `::` between them, like `\"stats::fast\"`", path),
            ));
        }
        if KEYWORDS.contains(part) {
            return Err(Error::new(at, format!("`{}` is a reserved word in Gossamer and cannot name a module", part)));
        }
    }
    if parts[0] == "std" {
        return Err(Error::new(at, "`std` is the library of Gossamer itself: choose another path"));
    }
    Ok(())
}
