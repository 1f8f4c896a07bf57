//! Records of the section `.gossamer` and the symbols of what is exported.

use crate::tokens::{fill, literal};
use proc_macro::TokenStream;

/// What a record is made of: text, already escaped, and types, which the compiler of the crate names.
pub enum Part {
    Text(String),
    Crate,
    Type(TokenStream),
}

/// A field of a record: no tab, no end of line.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// The `module` line that every record begins with.
pub fn module_line(path: &str, documentation: &str) -> Vec<Part> {
    vec![Part::Text(format!("module\t{}\t", path)), Part::Crate, Part::Text(format!("\t{}\n", escape(documentation)))]
}

/// The symbol of something of this crate: readable, of letters a linker takes, and told apart from every other by its
/// end. The same source always has the same symbols.
pub fn symbol(kind: &str, module: &str, name: &str) -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let whole = format!("{}\0{}\0{}\0{}\0{}", kind, package, version, module, name);
    // FNV-1a: no hash of the standard library promises to stay.
    let hash = whole.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let readable: String = format!("{}_{}_{}", package, module.replace("::", "_"), name)
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .take(200)
        .collect();
    format!("gos1_{}_{}_{:016x}", kind, readable, hash)
}

/// The record as a static of the crate. It is exported, since a linker that collects garbage keeps what is exported and
/// not what a compiler alone thinks is used.
pub fn emit(parts: Vec<Part>, module: &str, symbol: &str, conditions: TokenStream, beside: TokenStream) -> TokenStream {
    let mut list = TokenStream::new();
    for part in parts {
        list.extend(match part {
            Part::Text(text) => fill("::gossamer_binding::__private::Part::Text(TEXT),", &[("TEXT", literal(&text))]),
            Part::Crate => fill("::gossamer_binding::__private::Part::Text(::core::env!(\"CARGO_PKG_NAME\")),", &[]),
            Part::Type(tokens) => fill(
                "::gossamer_binding::__private::Part::Type(&<GIVEN as ::gossamer_binding::__private::Gossamer>::TYPE),",
                &[("GIVEN", tokens)],
            ),
        });
    }
    fill(
        r#"
        CONDITIONS
        #[doc(hidden)]
        #[allow(unsafe_code, unused, missing_docs, deprecated, non_upper_case_globals, clippy::all, clippy::pedantic)]
        const _: () = {
            const __GOS_PARTS: &[::gossamer_binding::__private::Part] = &[LIST];
            const __GOS_LENGTH: usize = ::gossamer_binding::__private::length_of(__GOS_PARTS, MODULE);
            #[used]
            #[export_name = SYMBOL]
            #[cfg_attr(target_os = "linux", link_section = ".gossamer")]
            pub static __GOS_RECORD: [u8; __GOS_LENGTH] = ::gossamer_binding::__private::render(__GOS_PARTS, MODULE);
            BESIDE
        };
        "#,
        &[
            ("CONDITIONS", conditions),
            ("LIST", list),
            ("MODULE", literal(module)),
            ("SYMBOL", literal(&format!("{}_record", symbol))),
            ("BESIDE", beside),
        ],
    )
}
