//! Structs that are copied and types that stay in Rust.

use crate::errors::{Error, Result};
use crate::names::{check_name, check_path, check_type_name};
use crate::record::{emit, escape, module_line, symbol, Part};
use crate::tokens::{
    attributes, collect, conditions, documentation, fill, group, is_ident, is_punct, literal, split_commas, string_value,
};
use crate::types::{check, Known, Place};
use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

const MOST_FIELDS: usize = 256;

pub fn expand_struct(item: TokenStream) -> TokenStream {
    let tokens = collect(item);
    let mut errors = Vec::new();
    let out = match derive(&tokens, &mut errors) {
        Ok(out) => out,
        Err(error) => {
            errors.push(error);
            TokenStream::new()
        }
    };
    if errors.is_empty() {
        return out;
    }
    errors.into_iter().map(Error::into_tokens).collect()
}

struct Field {
    ident: Ident,
    name: String,
    tokens: TokenStream,
}

/// `module = "stats::fast"`.
fn module_argument(tokens: &[TokenTree], at: Span) -> Result<String> {
    match (tokens.len(), string_value(tokens.get(2))) {
        (3, Some(path)) if is_ident(tokens.first(), "module") && is_punct(tokens.get(1), '=') => {
            check_path(&path, tokens[2].span())?;
            Ok(path)
        }
        _ => Err(Error::new(at, "the argument is `module = \"...\"`, the path of a `#[gos_module]`")),
    }
}

/// The declaration behind attributes and visibility: its keyword, name, and what follows; not generic.
fn declaration<'a>(tokens: &'a [TokenTree], what: &str) -> Result<(String, &'a Ident, &'a [TokenTree])> {
    let mut rest = tokens;
    if is_ident(rest.first(), "pub") {
        rest = &rest[1..];
        if group(rest.first(), Delimiter::Parenthesis).is_some() {
            rest = &rest[1..];
        }
    }
    match (rest.first(), rest.get(1)) {
        (Some(TokenTree::Ident(keyword)), Some(TokenTree::Ident(name))) => {
            let after = &rest[2..];
            if is_punct(after.first(), '<') {
                return Err(Error::over(
                    &after[..1],
                    format!("{} has no type parameters and no lifetimes: Gossamer knows it as one type", what),
                ));
            }
            Ok((keyword.to_string(), name, after))
        }
        _ => Err(Error::over(tokens, format!("{} is a type with a name", what))),
    }
}

fn derive(item: &[TokenTree], errors: &mut Vec<Error>) -> Result<TokenStream> {
    let (attributes, rest) = attributes(item);
    let (keyword, ident, after) = declaration(rest, "a struct with `#[derive(GosStruct)]`")?;
    if keyword != "struct" {
        return Err(Error::over(
            rest,
            format!("`#[derive(GosStruct)]` is for structs; an `{}` can stay in Rust with `#[gos_opaque]`", keyword),
        ));
    }
    let name = check_type_name(ident)?;
    if !is_ident(rest.first(), "pub") || group(rest.get(1), Delimiter::Parenthesis).is_some() {
        return Err(Error::new(ident.span(), format!("Gossamer sees the struct, so it is `pub struct {}`", name)));
    }
    let body = match group(after.first(), Delimiter::Brace) {
        Some(body) => collect(body.stream()),
        None => {
            return Err(Error::new(
                ident.span(),
                "a struct with `#[derive(GosStruct)]` has named fields: `pub struct Point { pub x: f64, pub y: f64 }`",
            ));
        }
    };
    let mut fields = Vec::new();
    for tokens in split_commas(&body) {
        match field(tokens, &name) {
            Ok(field) => fields.push(field),
            Err(error) => errors.push(error),
        }
    }
    if fields.len() > MOST_FIELDS {
        errors.push(Error::new(ident.span(), format!("a struct of more than {} fields", MOST_FIELDS)));
    }
    let module = match attributes.iter().find(|each| each.name() == "gos") {
        Some(attribute) => module_argument(&attribute.arguments(), attribute.span())?,
        None => return Err(homeless(ident, &name, "#[gos(module = \"...\")]")),
    };
    let symbol = symbol("s", &module, &name);
    let mut parts = module_line(&module, "");
    parts.push(Part::Text(format!("struct\t{}\t{}", name, escape(&documentation(&attributes)))));
    let (mut writes, mut reads, mut least) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    for each in &fields {
        parts.push(Part::Text(format!("\t{}\t", each.name)));
        parts.push(Part::Type(each.tokens.clone()));
        let holes = [("FIELD", TokenTree::Ident(each.ident.clone()).into()), ("TYPE", each.tokens.clone())];
        writes.extend(fill("<TYPE as ::gossamer_binding::__private::Encode>::encode(self.FIELD, __gos_out);", &holes));
        reads.extend(fill("FIELD: <TYPE as ::gossamer_binding::__private::Decode>::decode(__gos_from)?,", &holes));
        least.extend(fill(".saturating_add(<TYPE as ::gossamer_binding::__private::Decode>::LEAST)", &holes));
    }
    parts.push(Part::Text("\n".to_owned()));
    let mut out = fill(
        r#"
        CONDITIONS
        #[allow(unused, deprecated, clippy::all, clippy::pedantic)]
        const _: () = {
            impl ::gossamer_binding::__private::Gossamer for NAME {
                const TYPE: ::gossamer_binding::__private::Type =
                    ::gossamer_binding::__private::Type::Named { module: MODULE, name: TEXT };
            }
            impl ::gossamer_binding::__private::Encode for NAME {
                fn encode(self, __gos_out: &mut ::gossamer_binding::__private::Writer) {
                    WRITES
                }
            }
            impl ::gossamer_binding::__private::Decode for NAME {
                const LEAST: usize = 0usize LEAST_BYTES;
                fn decode(
                    __gos_from: &mut ::gossamer_binding::__private::Reader,
                ) -> ::core::result::Result<Self, ::gossamer_binding::__private::Failure> {
                    ::core::result::Result::Ok(NAME { READS })
                }
            }
            impl ::gossamer_binding::__private::Hold for NAME {
                type Held = Self;
                fn hold(
                    __gos_from: &mut ::gossamer_binding::__private::Reader,
                    _: &mut ::gossamer_binding::__private::Call,
                ) -> ::core::result::Result<Self, ::gossamer_binding::__private::Failure> {
                    <NAME as ::gossamer_binding::__private::Decode>::decode(__gos_from)
                }
                fn get<'a>(held: &'a Self, _: &'a ::gossamer_binding::__private::Call) -> &'a Self {
                    held
                }
            }
        };
        "#,
        &[
            ("CONDITIONS", conditions(&attributes)),
            ("NAME", TokenTree::Ident(ident.clone()).into()),
            ("MODULE", literal(&module)),
            ("TEXT", literal(&name)),
            ("WRITES", writes),
            ("READS", reads),
            ("LEAST_BYTES", least),
        ],
    );
    out.extend(emit(parts, &module, &symbol, conditions(&attributes), TokenStream::new()));
    Ok(out)
}

/// A type of no module; `#[gos_module]` says it for those inside.
fn homeless(ident: &Ident, name: &str, remedy: &str) -> Error {
    Error::new(
        ident.span(),
        format!(
            "`{}` stands outside of every `#[gos_module]`: move it into one, or say where it belongs with `{}`",
            name, remedy
        ),
    )
}

fn field(tokens: &[TokenTree], of: &str) -> Result<Field> {
    let (attributes, rest) = attributes(tokens);
    if let Some(condition) = attributes.iter().find(|each| each.name() == "cfg") {
        return Err(Error::new(condition.span(), "a field that is not always there cannot be copied"));
    }
    if !is_ident(rest.first(), "pub") || group(rest.get(1), Delimiter::Parenthesis).is_some() {
        return Err(Error::over(
            rest,
            "a field of a copied struct is `pub`: Gossamer sees it; a type with secrets stays in Rust with `#[gos_opaque]`",
        ));
    }
    let ident = match rest.get(1) {
        Some(TokenTree::Ident(ident)) if is_punct(rest.get(2), ':') => ident.clone(),
        _ => return Err(Error::over(rest, "a field is `pub name: Type`")),
    };
    let name = check_name(&ident)?;
    let of_field = &rest[3..];
    check(of_field, Place::Field, &Known::nothing(), 0)?;
    if mentions(of_field, of) {
        return Err(Error::over(of_field, "a copied struct cannot hold another of its kind; `#[gos_opaque]` types can"));
    }
    Ok(Field { ident, name, tokens: of_field.iter().cloned().collect() })
}

fn mentions(tokens: &[TokenTree], name: &str) -> bool {
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => mentions(&collect(group.stream()), name),
        // `other::Name` is another type.
        token => is_ident(Some(token), name) && (at == 0 || !is_punct(tokens.get(at - 1), ':')),
    })
}

pub fn expand_opaque(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = collect(arguments);
    let tokens = collect(item.clone());
    let mut out = item;
    out.extend(match opaque(&arguments, &tokens) {
        Ok(more) => more,
        Err(error) => error.into_tokens(),
    });
    out
}

fn opaque(arguments: &[TokenTree], item: &[TokenTree]) -> Result<TokenStream> {
    let (attributes, rest) = attributes(item);
    let (keyword, ident, _) = declaration(rest, "a type with `#[gos_opaque]`")?;
    if !matches!(&*keyword, "struct" | "enum" | "union") {
        return Err(Error::over(rest, "`#[gos_opaque]` is for structs and enums"));
    }
    let name = check_type_name(ident)?;
    let module = if arguments.is_empty() {
        return Err(homeless(ident, &name, "#[gos_opaque(module = \"...\")]"));
    } else {
        module_argument(arguments, arguments[0].span())?
    };
    let symbol = symbol("o", &module, &name);
    let mut parts = module_line(&module, "");
    parts.push(Part::Text(format!("opaque\t{}\t{}\n", name, escape(&documentation(&attributes)))));
    let mut out = fill(
        r#"
        CONDITIONS
        #[allow(unsafe_code, unused, deprecated, clippy::all, clippy::pedantic)]
        const _: () = {
            impl ::gossamer_binding::__private::Gossamer for NAME {
                const TYPE: ::gossamer_binding::__private::Type =
                    ::gossamer_binding::__private::Type::Named { module: MODULE, name: TEXT };
            }
            impl ::gossamer_binding::__private::Opaque for NAME {
                const NAME_IN_GOSSAMER: &'static str = TEXT;
            }
            impl ::gossamer_binding::__private::Encode for NAME {
                fn encode(self, out: &mut ::gossamer_binding::__private::Writer) {
                    ::gossamer_binding::__private::keep(self, out)
                }
            }
            impl ::gossamer_binding::__private::Hold for NAME {
                type Held = ::gossamer_binding::__private::Kept;
                fn hold(
                    from: &mut ::gossamer_binding::__private::Reader,
                    call: &mut ::gossamer_binding::__private::Call,
                ) -> ::core::result::Result<Self::Held, ::gossamer_binding::__private::Failure> {
                    ::gossamer_binding::__private::Kept::read::<NAME>(from, call, false)
                }
                fn get<'a>(held: &'a Self::Held, call: &'a ::gossamer_binding::__private::Call) -> &'a Self {
                    held.shared::<NAME>(call)
                }
            }
            impl ::gossamer_binding::__private::HoldMut for NAME {
                fn hold_mut(
                    from: &mut ::gossamer_binding::__private::Reader,
                    call: &mut ::gossamer_binding::__private::Call,
                ) -> ::core::result::Result<Self::Held, ::gossamer_binding::__private::Failure> {
                    ::gossamer_binding::__private::Kept::read::<NAME>(from, call, true)
                }
                unsafe fn get_mut<'a>(
                    held: &'a Self::Held,
                    call: &'a ::gossamer_binding::__private::Call,
                ) -> &'a mut Self {
                    unsafe { held.exclusive::<NAME>(call) }
                }
            }
        };
        "#,
        &[
            ("CONDITIONS", conditions(&attributes)),
            ("NAME", TokenTree::Ident(ident.clone()).into()),
            ("MODULE", literal(&module)),
            ("TEXT", literal(&name)),
        ],
    );
    out.extend(emit(parts, &module, &symbol, conditions(&attributes), TokenStream::new()));
    Ok(out)
}
