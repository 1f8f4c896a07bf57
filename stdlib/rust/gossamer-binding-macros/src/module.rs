//! `#[gos_module("path")] pub mod name { ... }`: every item passes through, and each `pub fn` gets a way in.

use crate::errors::{Error, Result};
use crate::function::export;
use crate::names::check_path;
use crate::record::{emit, module_line, symbol};
use crate::tokens::{
    attributes, collect, conditions, documentation, fill, group, inner_attributes, is_ident, is_punct, literal, string_value, Angles,
    Attribute,
};
use crate::types::Known;
use proc_macro::{Delimiter, Group, Spacing, TokenStream, TokenTree};

pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = collect(arguments);
    let tokens = collect(item.clone());
    let mut errors = Vec::new();
    let mut out = match rewrite(&arguments, &tokens, &mut errors) {
        Ok(out) => out,
        Err(error) => {
            errors.push(error);
            item
        }
    };
    out.extend(errors.into_iter().map(Error::into_tokens));
    out
}

/// One item of the module, with its attributes.
struct Item<'a> {
    attributes: Vec<Attribute>,
    tokens: &'a [TokenTree], // attributes included
    bare: &'a [TokenTree],
    kind: Kind,
}

#[derive(PartialEq)]
enum Kind {
    Function,
    Type,
    Use,
    Alias,
    Value,
    MacroCall,
    Other,
}

fn rewrite(arguments: &[TokenTree], item: &[TokenTree], errors: &mut Vec<Error>) -> Result<TokenStream> {
    let path = match (arguments.len(), string_value(arguments.first())) {
        (1, Some(path)) => path,
        _ => {
            return Err(Error::over(
                arguments,
                "`#[gos_module]` takes the path that Gossamer programs use: `#[gos_module(\"stats::fast\")]`",
            ));
        }
    };
    check_path(&path, arguments[0].span())?;
    let (outer, rest) = attributes(item);
    let body = match (rest.iter().position(|token| is_ident(Some(token), "mod")), rest.last()) {
        (Some(_), Some(TokenTree::Group(body))) if body.delimiter() == Delimiter::Brace => body,
        (Some(_), _) => {
            return Err(Error::over(
                rest,
                "the items of a `#[gos_module]` stand in its braces: `pub mod name { ... }`, not in another file",
            ));
        }
        _ => return Err(Error::over(rest, "`#[gos_module]` is for a module: `pub mod name { ... }`")),
    };
    let inside = collect(body.stream());
    let (inner, items) = inner_attributes(&inside);
    let items = split_items(items);
    let known = survey(&items);

    let mut out: TokenStream = inner.iter().flat_map(|each| each.tokens.clone()).collect();
    for each in &items {
        match each.kind {
            Kind::Type => out.extend(at_home(each, &path)),
            _ => out.extend(each.tokens.iter().cloned()),
        }
        let exported = is_ident(each.bare.first(), "pub") && group(each.bare.get(1), Delimiter::Parenthesis).is_none();
        if each.kind == Kind::Function && exported {
            let mut wrong = Vec::new();
            out.extend(export(each.tokens, &path, &known, &mut wrong));
            let wrong = wrong.into_iter().map(|error| error.under(conditions(&each.attributes)));
            errors.extend(wrong);
        }
    }
    let text = [documentation(&outer), documentation(&inner)].join("\n");
    out.extend(emit(
        module_line(&path, text.trim_matches('\n')),
        &path,
        &symbol("m", &path, ""),
        conditions(&outer),
        TokenStream::new(),
    ));

    let mut filled = Group::new(Delimiter::Brace, out);
    filled.set_span(body.span());
    let mut whole: TokenStream = item[..item.len() - 1].iter().cloned().collect();
    whole.extend([TokenTree::Group(filled)]);
    Ok(whole)
}

/// A struct or opaque type, told in which module it stands.
fn at_home(item: &Item, path: &str) -> TokenStream {
    let mut out = TokenStream::new();
    for attribute in &item.attributes {
        let plain = attribute.arguments().is_empty();
        if attribute.name() == "gos_opaque" && plain {
            let inside: TokenStream = attribute.inside.iter().cloned().collect();
            out.extend(fill("#[PATH(module = TEXT)]", &[("PATH", inside), ("TEXT", literal(path))]));
            continue;
        }
        out.extend(attribute.tokens.iter().cloned());
    }
    if derives_struct(&item.attributes) && !item.attributes.iter().any(|each| each.name() == "gos") {
        out.extend(fill("#[gos(module = TEXT)]", &[("TEXT", literal(path))]));
    }
    out.extend(item.bare.iter().cloned());
    out
}

fn derives_struct(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .filter(|each| each.name() == "derive")
        .any(|each| each.arguments().iter().any(|token| is_ident(Some(token), "GosStruct")))
}

fn split_items(mut tokens: &[TokenTree]) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    while !tokens.is_empty() {
        let (attributes, bare) = attributes(tokens);
        let kind = kind_of(bare);
        let length = length_of(bare, &kind);
        let taken = tokens.len() - bare.len() + length;
        items.push(Item { attributes, tokens: &tokens[..taken], bare: &bare[..length], kind });
        tokens = &tokens[taken..];
    }
    items
}

fn kind_of(bare: &[TokenTree]) -> Kind {
    let mut at = 0;
    if is_ident(bare.first(), "pub") {
        at = if group(bare.get(1), Delimiter::Parenthesis).is_some() { 2 } else { 1 };
    }
    let mut ahead = at;
    loop {
        match bare.get(ahead) {
            Some(TokenTree::Ident(ident)) => match &*ident.to_string() {
                "fn" => return Kind::Function,
                "const" | "async" | "unsafe" | "extern" | "safe" => ahead += 1,
                _ => break,
            },
            Some(TokenTree::Literal(_)) if ahead > at => ahead += 1, // of extern "C"
            _ => break,
        }
    }
    match bare.get(at) {
        Some(TokenTree::Ident(ident)) => match &*ident.to_string() {
            "struct" | "enum" | "union" => Kind::Type,
            "use" => Kind::Use,
            "const" | "static" => Kind::Value,
            "type" => Kind::Alias,
            _ if is_punct(bare.get(at + 1), '!') => Kind::MacroCall,
            "mod" | "impl" | "trait" | "unsafe" | "extern" | "macro" => Kind::Other,
            _ => Kind::MacroCall, // a macro with a path
        },
        _ => Kind::Other,
    }
}

/// How many tokens the item has: up to a `;`, or to its braces where nothing may follow them.
fn length_of(bare: &[TokenTree], kind: &Kind) -> usize {
    let through_braces = !matches!(kind, Kind::Use | Kind::Alias | Kind::Value);
    let mut angles = Angles::default();
    for (at, token) in bare.iter().enumerate() {
        // What stands in the value of a constant is no type: its `<` are comparisons.
        let outside = !through_braces || angles.outside(token);
        if is_punct(Some(token), ';') {
            return at + 1;
        }
        if through_braces && outside && group(Some(token), Delimiter::Brace).is_some() {
            return at + 1;
        }
    }
    bare.len()
}

fn survey(items: &[Item]) -> Known {
    let mut known = Known::default();
    for item in items {
        let position = item.bare.iter().position(|token| {
            ["struct", "enum", "union", "type"].iter().any(|word| is_ident(Some(token), word))
        });
        let name = match position.and_then(|at| item.bare.get(at + 1)) {
            Some(TokenTree::Ident(ident)) => ident.to_string(),
            _ => String::new(),
        };
        match item.kind {
            Kind::Type if item.attributes.iter().any(|each| each.name() == "gos_opaque") => {
                known.opaques.insert(name);
            }
            Kind::Type if derives_struct(&item.attributes) => {
                known.structs.insert(name);
            }
            // Another macro may say for it what ours would.
            Kind::Type if item.attributes.iter().any(|each| each.name() == "cfg_attr") => {
                known.imported.insert(name);
            }
            Kind::Type => {
                known.plain.insert(name);
            }
            Kind::Alias => {
                known.imported.insert(name);
            }
            Kind::Use => imported(item.bare, &mut known),
            Kind::MacroCall => known.any = true,
            _ => {}
        }
    }
    known
}

fn imported(tokens: &[TokenTree], known: &mut Known) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                known.imported.insert(ident.to_string());
            }
            TokenTree::Punct(punct) if punct.as_char() == '*' && punct.spacing() == Spacing::Alone => known.any = true,
            TokenTree::Group(group) => imported(&collect(group.stream()), known),
            _ => {}
        }
    }
}
