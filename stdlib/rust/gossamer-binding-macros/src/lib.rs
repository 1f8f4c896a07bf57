use proc_macro::TokenStream;
#[proc_macro_attribute] pub fn gos_module(_: TokenStream, i: TokenStream) -> TokenStream { i }
#[proc_macro_attribute] pub fn gos_opaque(_: TokenStream, i: TokenStream) -> TokenStream { i }
#[proc_macro_derive(GosStruct, attributes(gos))] pub fn d(_: TokenStream) -> TokenStream { TokenStream::new() }
