//! Token trees: walking, splitting, spelling, and filling in templates.

use proc_macro::{Delimiter, Group, Literal, Spacing, Span, TokenStream, TokenTree};

pub fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

pub fn is_ident(token: Option<&TokenTree>, wanted: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident.to_string() == wanted)
}

pub fn group(token: Option<&TokenTree>, wanted: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == wanted => Some(group),
        _ => None,
    }
}

pub fn collect(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

/// Counts angle brackets over a run of tokens; the `>` of `->` closes nothing.
#[derive(Default)]
pub struct Angles {
    depth: usize,
    after_minus: bool,
}

impl Angles {
    /// Takes a token; answers whether it stands outside of all brackets.
    pub fn outside(&mut self, token: &TokenTree) -> bool {
        let mut minus = false;
        let mut outside = self.depth == 0;
        if let TokenTree::Punct(punct) = token {
            match punct.as_char() {
                '<' => {
                    self.depth += 1;
                    outside = false;
                }
                '>' if !self.after_minus => self.depth = self.depth.saturating_sub(1),
                '-' => minus = punct.spacing() == Spacing::Joint,
                _ => {}
            }
        }
        self.after_minus = minus;
        outside
    }
}

/// The parts between commas that stand outside of angle brackets; a trailing comma makes no part.
pub fn split_commas(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let mut parts = Vec::new();
    let mut angles = Angles::default();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        if angles.outside(token) && is_punct(Some(token), ',') {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    if start < tokens.len() {
        parts.push(&tokens[start..]);
    }
    parts
}

/// Tokens as a person would write them: a blank after commas and between words.
pub fn spell(tokens: &[TokenTree]) -> String {
    let mut text = String::new();
    let mut word_before = false;
    for token in tokens {
        let mut word = false;
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                text.push_str(&spell(&collect(group.stream())));
                text.push_str(close);
            }
            TokenTree::Punct(punct) => {
                text.push(punct.as_char());
                if matches!(punct.as_char(), ',' | ';') {
                    text.push(' ');
                }
            }
            other => {
                word = true;
                if word_before {
                    text.push(' ');
                }
                text.push_str(&other.to_string());
            }
        }
        word_before = word;
    }
    text.trim_end().trim_end_matches(',').to_owned()
}

/// The value of a string literal; nothing where the token is none.
pub fn string_value(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Literal(literal)) => unescape(&literal.to_string()),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
            let inner = collect(group.stream());
            if inner.len() == 1 {
                string_value(inner.first())
            } else {
                None
            }
        }
        _ => None,
    }
}

fn unescape(source: &str) -> Option<String> {
    if let Some(raw) = source.strip_prefix('r') {
        let body = raw.trim_start_matches('#');
        let hashes = raw.len() - body.len();
        return Some(body.strip_prefix('"')?.get(..body.len().checked_sub(2 + hashes)?)?.to_owned());
    }
    let body = source.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut rest = body.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match rest.next()? {
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            '0' => text.push('\0'),
            'x' => {
                let digits: String = [rest.next()?, rest.next()?].iter().collect();
                text.push(char::from(u8::from_str_radix(&digits, 16).ok()?));
            }
            'u' => {
                let mut digits = String::new();
                for c in rest.by_ref().skip_while(|c| *c == '{') {
                    if c == '}' {
                        break;
                    }
                    if c != '_' {
                        digits.push(c);
                    }
                }
                text.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
            }
            '\n' => {
                while rest.peek().map_or(false, |c| c.is_whitespace()) {
                    rest.next();
                }
            }
            same => text.push(same),
        }
    }
    Some(text)
}

pub fn literal(text: &str) -> TokenStream {
    TokenTree::Literal(Literal::string(text)).into()
}

/// A template with its holes filled: a word of the template that has the name of a hole becomes its tokens.
pub fn fill(template: &str, holes: &[(&str, TokenStream)]) -> TokenStream {
    let parsed: TokenStream = template.parse().expect("a template is Rust");
    fill_stream(parsed, holes)
}

fn fill_stream(stream: TokenStream, holes: &[(&str, TokenStream)]) -> TokenStream {
    let mut out = TokenStream::new();
    for token in stream {
        match token {
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                match holes.iter().find(|hole| hole.0 == name) {
                    Some(hole) => out.extend(hole.1.clone()),
                    None => out.extend([TokenTree::Ident(ident)]),
                }
            }
            TokenTree::Group(group) => {
                let mut filled = Group::new(group.delimiter(), fill_stream(group.stream(), holes));
                filled.set_span(group.span());
                out.extend([TokenTree::Group(filled)]);
            }
            other => out.extend([other]),
        }
    }
    out
}

/// One attribute: `#` and its brackets.
pub struct Attribute {
    pub tokens: Vec<TokenTree>, // both
    pub inside: Vec<TokenTree>,
}

impl Attribute {
    /// The last word of its path: `gos_opaque` of `#[gossamer_binding::gos_opaque]`.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for token in &self.inside {
            match token {
                TokenTree::Ident(ident) => name = ident.to_string(),
                TokenTree::Punct(punct) if punct.as_char() == ':' => {}
                _ => break,
            }
        }
        name
    }

    /// `name = "value"`.
    pub fn value(&self) -> Option<String> {
        if self.inside.len() == 3 && is_punct(self.inside.get(1), '=') {
            string_value(self.inside.get(2))
        } else {
            None
        }
    }

    /// What stands in the parentheses of `name(...)`.
    pub fn arguments(&self) -> Vec<TokenTree> {
        match group(self.inside.last(), Delimiter::Parenthesis) {
            Some(group) => collect(group.stream()),
            None => Vec::new(),
        }
    }

    pub fn span(&self) -> Span {
        self.tokens.last().map_or_else(Span::call_site, TokenTree::span)
    }
}

/// The outer attributes in front of `tokens`, and what is left.
pub fn attributes(mut tokens: &[TokenTree]) -> (Vec<Attribute>, &[TokenTree]) {
    let mut found = Vec::new();
    while is_punct(tokens.first(), '#') {
        match group(tokens.get(1), Delimiter::Bracket) {
            Some(inside) => {
                found.push(Attribute { tokens: tokens[..2].to_vec(), inside: collect(inside.stream()) });
                tokens = &tokens[2..];
            }
            None => break,
        }
    }
    (found, tokens)
}

/// The inner attributes in front of `tokens`, and what is left.
pub fn inner_attributes(mut tokens: &[TokenTree]) -> (Vec<Attribute>, &[TokenTree]) {
    let mut found = Vec::new();
    while is_punct(tokens.first(), '#') && is_punct(tokens.get(1), '!') {
        match group(tokens.get(2), Delimiter::Bracket) {
            Some(inside) => {
                found.push(Attribute { tokens: tokens[..3].to_vec(), inside: collect(inside.stream()) });
                tokens = &tokens[3..];
            }
            None => break,
        }
    }
    (found, tokens)
}

/// The text of the documentation comments among attributes, without the blank that begins each line.
pub fn documentation(attributes: &[Attribute]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for attribute in attributes.iter().filter(|each| each.name() == "doc") {
        if let Some(text) = attribute.value() {
            lines.extend(text.split('\n').map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()));
        }
    }
    lines.join("\n").trim_matches('\n').to_owned()
}

/// The conditions under which an item is there at all.
pub fn conditions(attributes: &[Attribute]) -> TokenStream {
    attributes.iter().filter(|each| each.name() == "cfg").flat_map(|each| each.tokens.clone()).collect()
}
