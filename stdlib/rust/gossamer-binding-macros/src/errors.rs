//! What is wrong, and where.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

pub struct Error {
    start: Span,
    end: Span,
    message: String,
    /// `#[cfg]` of the item it is about: an item that is not there is not wrong.
    conditions: TokenStream,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(at: Span, message: impl Into<String>) -> Error {
        Error { start: at, end: at, message: message.into(), conditions: TokenStream::new() }
    }

    /// At all of these tokens; where there are none, at the macro.
    pub fn over(tokens: &[TokenTree], message: impl Into<String>) -> Error {
        let start = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        let end = tokens.last().map_or(start, TokenTree::span);
        Error { start, end, message: message.into(), conditions: TokenStream::new() }
    }

    pub fn under(mut self, conditions: TokenStream) -> Error {
        self.conditions = conditions;
        self
    }

    /// `::core::compile_error! { "..." }`: the compiler underlines from the first to the last token of it.
    pub fn into_tokens(self) -> TokenStream {
        let punct = |c, spacing, span| {
            let mut token = Punct::new(c, spacing);
            token.set_span(span);
            TokenTree::Punct(token)
        };
        let mut message = Literal::string(&self.message);
        message.set_span(self.end);
        let mut group = Group::new(Delimiter::Brace, TokenTree::Literal(message).into());
        group.set_span(self.end);
        let mut out = self.conditions;
        out.extend([
            punct(':', Spacing::Joint, self.start),
            punct(':', Spacing::Alone, self.start),
            TokenTree::Ident(Ident::new("core", self.start)),
            punct(':', Spacing::Joint, self.start),
            punct(':', Spacing::Alone, self.start),
            TokenTree::Ident(Ident::new("compile_error", self.start)),
            punct('!', Spacing::Alone, self.start),
            TokenTree::Group(group),
        ]);
        out
    }
}
