//! The way in of one function.

use crate::errors::{Error, Result};
use crate::names::check_name;
use crate::record::{emit, escape, module_line, symbol, Part};
use crate::tokens::{attributes, collect, conditions, documentation, fill, group, is_ident, is_punct, literal, split_commas};
use crate::types::{check, parameter, Known, Place, Taken};
use proc_macro::{Delimiter, Ident, TokenStream, TokenTree};

const MOST_PARAMETERS: usize = 64;

struct Parameter {
    name: String,
    taken: Taken,
    tokens: TokenStream,
}

struct Function {
    ident: Ident,
    name: String,
    parameters: Vec<Parameter>,
    answer: TokenStream,
}

/// The entry point and the record of a `pub fn`, given its tokens.
pub fn export(item: &[TokenTree], module: &str, known: &Known, errors: &mut Vec<Error>) -> TokenStream {
    let (attributes, signature) = attributes(item);
    let function = match parse(signature, known, errors) {
        Ok(Some(function)) => function,
        Ok(None) => return TokenStream::new(),
        Err(error) => {
            errors.push(error);
            return TokenStream::new();
        }
    };
    let symbol = symbol("f", module, &function.name);
    let mut parts = module_line(module, "");
    parts.push(Part::Text(format!("fn\t{}\t{}\t", function.name, symbol)));
    parts.push(Part::Type(function.answer.clone()));
    parts.push(Part::Text(format!("\t{}", escape(&documentation(&attributes)))));
    for each in &function.parameters {
        parts.push(Part::Text(format!("\t{}\t", each.name)));
        parts.push(Part::Type(each.tokens.clone()));
    }
    parts.push(Part::Text("\n".to_owned()));
    emit(parts, module, &symbol, conditions(&attributes), entry(&function, &symbol))
}

fn parse(signature: &[TokenTree], known: &Known, errors: &mut Vec<Error>) -> Result<Option<Function>> {
    let before = errors.len();
    let start = signature.iter().position(|token| is_ident(Some(token), "fn")).unwrap_or(0);
    for token in &signature[..start] {
        if let TokenTree::Ident(ident) = token {
            match &*ident.to_string() {
                "async" => errors.push(Error::new(
                    ident.span(),
                    "an exported function is not `async`: Gossamer waits for its answer; start an executor inside of it",
                )),
                "unsafe" => errors.push(Error::new(
                    ident.span(),
                    "an exported function is not `unsafe`: nothing in Gossamer could keep its promises",
                )),
                "extern" => errors.push(Error::new(
                    ident.span(),
                    "an exported function has the calling convention of Rust: the macro writes the way in",
                )),
                _ => {} // pub, const
            }
        }
    }
    let mut rest = &signature[start + 1..];
    let ident = match rest.first() {
        Some(TokenTree::Ident(ident)) => ident.clone(),
        _ => return Err(Error::over(signature, "a function without a name")),
    };
    let name = check_name(&ident)?;
    rest = &rest[1..];
    if is_punct(rest.first(), '<') {
        return Err(Error::over(
            &rest[..1],
            "an exported function has no type parameters and no lifetimes: Gossamer compiles against one signature",
        ));
    }
    let inside = match group(rest.first(), Delimiter::Parenthesis) {
        Some(inside) => collect(inside.stream()),
        None => return Err(Error::over(signature, "a function without parentheses")),
    };
    rest = &rest[1..];
    let mut parameters = Vec::new();
    for (at, tokens) in split_commas(&inside).into_iter().enumerate() {
        match parse_parameter(at, tokens, known) {
            Ok(parameter) => parameters.push(parameter),
            Err(error) => errors.push(error),
        }
    }
    if parameters.len() > MOST_PARAMETERS {
        errors.push(Error::new(ident.span(), format!("a function of more than {} parameters", MOST_PARAMETERS)));
    }
    let mut answer: TokenStream = TokenTree::Group(proc_macro::Group::new(Delimiter::Parenthesis, TokenStream::new())).into();
    if is_punct(rest.first(), '-') && is_punct(rest.get(1), '>') {
        let end = rest
            .iter()
            .position(|token| group(Some(token), Delimiter::Brace).is_some() || is_ident(Some(token), "where"))
            .unwrap_or(rest.len());
        let tokens = &rest[2..end];
        if let Err(error) = check(tokens, Place::Answer, known, 0) {
            errors.push(error);
        }
        answer = tokens.iter().cloned().collect();
        rest = &rest[end..];
    }
    if is_ident(rest.first(), "where") {
        errors.push(Error::over(&rest[..1], "an exported function has no `where`"));
    }
    Ok(if errors.len() == before { Some(Function { ident, name, parameters, answer }) } else { None })
}

fn parse_parameter(at: usize, tokens: &[TokenTree], known: &Known) -> Result<Parameter> {
    let (attributes, mut rest) = attributes(tokens);
    if let Some(attribute) = attributes.first() {
        return Err(Error::new(attribute.span(), "a parameter of an exported function has no attributes"));
    }
    if rest.iter().take(4).any(|token| is_ident(Some(token), "self")) {
        return Err(Error::over(
            rest,
            "a function of a module has no `self`: take an opaque value as a parameter, `counter: &mut Counter`",
        ));
    }
    if is_ident(rest.first(), "mut") {
        rest = &rest[1..];
    }
    let ident = match rest.first() {
        Some(TokenTree::Ident(ident)) if is_punct(rest.get(1), ':') && !is_punct(rest.get(2), ':') => ident,
        _ => return Err(Error::over(tokens, "a parameter of an exported function is a name and a type, not a pattern")),
    };
    // `_` has no name to be called by, and must not share one with a neighbour.
    let name = if ident.to_string() == "_" { format!("unused_{}", at + 1) } else { check_name(ident)? };
    let (taken, of) = parameter(&rest[2..], known)?;
    Ok(Parameter { name, taken, tokens: of.iter().cloned().collect() })
}

fn entry(function: &Function, symbol: &str) -> TokenStream {
    let mut reads = TokenStream::new();
    let mut values = TokenStream::new();
    for (at, each) in function.parameters.iter().enumerate() {
        let value: TokenStream = format!("__gos_{}", at).parse().expect("a name");
        let holes = [("VALUE", value), ("TYPE", each.tokens.clone())];
        let (read, given) = match each.taken {
            Taken::Value => (
                "let VALUE = <TYPE as ::gossamer_binding::__private::Decode>::decode(__gos_from)?;",
                "VALUE,",
            ),
            Taken::Shared => (
                "let VALUE = <TYPE as ::gossamer_binding::__private::Hold>::hold(__gos_from, __gos_call)?;",
                "<TYPE as ::gossamer_binding::__private::Hold>::get(&VALUE, __gos_taken),",
            ),
            Taken::Exclusive => (
                "let VALUE = <TYPE as ::gossamer_binding::__private::HoldMut>::hold_mut(__gos_from, __gos_call)?;",
                "unsafe { <TYPE as ::gossamer_binding::__private::HoldMut>::get_mut(&VALUE, __gos_taken) },",
            ),
        };
        reads.extend(fill(read, &holes));
        values.extend(fill(given, &holes));
    }
    fill(
        r#"
        #[export_name = SYMBOL]
        pub unsafe extern "C" fn __gos_entry(
            arguments: *const u8,
            length: usize,
            out: *mut ::gossamer_binding::__private::GosBuffer,
        ) -> u32 {
            unsafe { ::gossamer_binding::__private::enter(arguments, length, out, __gos_body) }
        }
        fn __gos_body(
            __gos_from: &mut ::gossamer_binding::__private::Reader,
            __gos_call: &mut ::gossamer_binding::__private::Call,
            __gos_out: &mut ::gossamer_binding::__private::Writer,
        ) -> ::core::result::Result<(), ::gossamer_binding::__private::Failure> {
            READS
            __gos_from.end()?;
            __gos_call.take();
            let __gos_taken = &*__gos_call;
            let __gos_answer: ANSWER = self::FUNCTION(VALUES);
            <ANSWER as ::gossamer_binding::__private::Encode>::encode(__gos_answer, __gos_out);
            ::core::result::Result::Ok(())
        }
        "#,
        &[
            ("SYMBOL", literal(symbol)),
            ("READS", reads),
            ("VALUES", values),
            ("ANSWER", function.answer.clone()),
            ("FUNCTION", TokenTree::Ident(function.ident.clone()).into()),
        ],
    )
}
