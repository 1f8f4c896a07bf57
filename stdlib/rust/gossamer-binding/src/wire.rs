//! Values as bytes: what crosses between Gossamer and Rust is copied, little endian, and every length is judged
//! before memory is taken for it.

use crate::types::{Element, Gossamer};
use std::collections::HashMap;
use std::hash::Hash;

/// Why a call did not reach its function.
pub enum Failure {
    /// The bytes are not what the signature says (status 2).
    Malformed(&'static str),
    /// They are, and cannot be served: a handle that was released (status 1).
    Refused(String),
}

/// The arguments of a call, read from the front.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Failure> {
        if length > self.rest.len() {
            return Err(Failure::Malformed("the arguments end too early"));
        }
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Failure> {
        Ok(self.take(1)?[0])
    }

    /// Eight bytes as a number.
    pub fn word(&mut self) -> Result<u64, Failure> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// A count of elements that each take at least `least` bytes of what is left.
    fn count(&mut self, least: usize) -> Result<usize, Failure> {
        let count = self.word()?;
        let most = if least == 0 { MOST_EMPTY } else { (self.rest.len() / least) as u64 };
        if count > most {
            return Err(Failure::Malformed("a count is larger than what follows"));
        }
        Ok(count as usize)
    }

    /// Nothing may be left.
    pub fn end(&self) -> Result<(), Failure> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Failure::Malformed("bytes are left after the last argument"))
        }
    }
}

/// How many elements without bytes a count may promise: they cost time and no bytes.
const MOST_EMPTY: u64 = 1 << 24;

/// The answer of a call.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Everything written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// A number as eight bytes.
    pub fn word(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

/// A value that Rust can answer.
pub trait Encode {
    /// Writes it.
    fn encode(self, out: &mut Writer);
}

/// A value that Rust can take.
pub trait Decode: Sized {
    /// The fewest bytes a value takes.
    const LEAST: usize;
    /// Reads one.
    fn decode(from: &mut Reader) -> Result<Self, Failure>;
}

/// How a `Vec` of these is written: one after the other, and bytes at once.
pub trait EncodeElement: Sized {
    /// Writes the elements, without their count.
    fn encode_all(values: Vec<Self>, out: &mut Writer);
}
impl<T: Gossamer + Encode> EncodeElement for T {
    fn encode_all(values: Vec<Self>, out: &mut Writer) {
        for value in values {
            value.encode(out);
        }
    }
}
impl EncodeElement for u8 {
    fn encode_all(values: Vec<Self>, out: &mut Writer) {
        out.bytes.extend_from_slice(&values);
    }
}

/// How a `Vec` of these is read.
pub trait DecodeElement: Sized {
    /// The fewest bytes an element takes.
    const LEAST_OF_ELEMENT: usize;
    /// Reads so many.
    fn decode_all(count: usize, from: &mut Reader) -> Result<Vec<Self>, Failure>;
}
impl<T: Gossamer + Decode> DecodeElement for T {
    const LEAST_OF_ELEMENT: usize = T::LEAST;
    fn decode_all(count: usize, from: &mut Reader) -> Result<Vec<Self>, Failure> {
        // An element may be far larger in memory than on the wire: only so much is taken on its word.
        let mut values = Vec::with_capacity(count.min(1 << 16));
        for _ in 0..count {
            values.push(T::decode(from)?);
        }
        Ok(values)
    }
}
impl DecodeElement for u8 {
    const LEAST_OF_ELEMENT: usize = 1;
    fn decode_all(count: usize, from: &mut Reader) -> Result<Vec<Self>, Failure> {
        Ok(from.take(count)?.to_vec())
    }
}

impl Encode for bool {
    fn encode(self, out: &mut Writer) {
        out.byte(self as u8);
    }
}
impl Decode for bool {
    const LEAST: usize = 1;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Failure::Malformed("a `bool` that is neither 0 nor 1")),
        }
    }
}

impl Encode for char {
    fn encode(self, out: &mut Writer) {
        out.bytes.extend_from_slice(&(self as u32).to_le_bytes());
    }
}
impl Decode for char {
    const LEAST: usize = 4;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(from.take(4)?);
        char::from_u32(u32::from_le_bytes(bytes)).ok_or(Failure::Malformed("a `char` that is no scalar value"))
    }
}

impl Encode for i64 {
    fn encode(self, out: &mut Writer) {
        out.word(self as u64);
    }
}
impl Decode for i64 {
    const LEAST: usize = 8;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        Ok(from.word()? as i64)
    }
}

impl Encode for f64 {
    fn encode(self, out: &mut Writer) {
        out.word(self.to_bits());
    }
}
impl Decode for f64 {
    const LEAST: usize = 8;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        Ok(f64::from_bits(from.word()?))
    }
}

impl Encode for String {
    fn encode(self, out: &mut Writer) {
        out.text(self.as_bytes());
    }
}
impl Decode for String {
    const LEAST: usize = 8;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        let length = from.count(1)?;
        match std::str::from_utf8(from.take(length)?) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(Failure::Malformed("a `String` that is not UTF-8")),
        }
    }
}

impl<T: Element + EncodeElement> Encode for Vec<T> {
    fn encode(self, out: &mut Writer) {
        out.word(self.len() as u64);
        T::encode_all(self, out);
    }
}
impl<T: Element + DecodeElement> Decode for Vec<T> {
    const LEAST: usize = 8;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        let count = from.count(T::LEAST_OF_ELEMENT)?;
        T::decode_all(count, from)
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(self, out: &mut Writer) {
        match self {
            None => out.byte(0),
            Some(value) => {
                out.byte(1);
                value.encode(out);
            }
        }
    }
}
impl<T: Decode> Decode for Option<T> {
    const LEAST: usize = 1;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        match from.byte()? {
            0 => Ok(None),
            1 => Ok(Some(T::decode(from)?)),
            _ => Err(Failure::Malformed("an `Option` that is neither 0 nor 1")),
        }
    }
}

impl<T: Encode, E: Encode> Encode for Result<T, E> {
    fn encode(self, out: &mut Writer) {
        match self {
            Ok(value) => {
                out.byte(0);
                value.encode(out);
            }
            Err(error) => {
                out.byte(1);
                error.encode(out);
            }
        }
    }
}
impl<T: Decode, E: Decode> Decode for Result<T, E> {
    const LEAST: usize = 1;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        match from.byte()? {
            0 => Ok(Ok(T::decode(from)?)),
            1 => Ok(Err(E::decode(from)?)),
            _ => Err(Failure::Malformed("a `Result` that is neither 0 nor 1")),
        }
    }
}

impl<K: Encode + Eq + Hash, V: Encode> Encode for HashMap<K, V> {
    /// The order of a `HashMap` changes from run to run; that of its bytes does not.
    fn encode(self, out: &mut Writer) {
        let mut entries = Vec::with_capacity(self.len());
        for (key, value) in self {
            let mut bytes = Writer::default();
            key.encode(&mut bytes);
            entries.push((bytes.into_bytes(), value));
        }
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        out.word(entries.len() as u64);
        for (key, value) in entries {
            out.bytes.extend_from_slice(&key);
            value.encode(out);
        }
    }
}
impl<K: Decode + Eq + Hash, V: Decode> Decode for HashMap<K, V> {
    const LEAST: usize = 8;
    fn decode(from: &mut Reader) -> Result<Self, Failure> {
        let count = from.count(K::LEAST.saturating_add(V::LEAST))?;
        let mut map = HashMap::with_capacity(count.min(1 << 16));
        for _ in 0..count {
            let key = K::decode(from)?;
            if map.insert(key, V::decode(from)?).is_some() {
                return Err(Failure::Malformed("a map with one key twice"));
            }
        }
        Ok(map)
    }
}

macro_rules! tuples {
    ($(($($name:ident $field:tt)*))*) => {
        $(
            impl<$($name: Encode),*> Encode for ($($name,)*) {
                fn encode(self, _out: &mut Writer) {
                    $(self.$field.encode(_out);)*
                }
            }
            impl<$($name: Decode),*> Decode for ($($name,)*) {
                const LEAST: usize = 0usize $(.saturating_add($name::LEAST))*;
                fn decode(_from: &mut Reader) -> Result<Self, Failure> {
                    Ok(($($name::decode(_from)?,)*))
                }
            }
        )*
    };
}
tuples! {
    ()
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6)
    (A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: impl Encode) -> Vec<u8> {
        let mut out = Writer::default();
        value.encode(&mut out);
        out.into_bytes()
    }
    fn decode<T: Decode>(bytes: &[u8]) -> Option<T> {
        let mut from = Reader::new(bytes);
        let value = T::decode(&mut from).ok()?;
        from.end().ok()?;
        Some(value)
    }

    #[test]
    fn what_was_written_is_read_back_and_no_shorter_prefix_is() {
        type All = (bool, char, i64, (String, Vec<u8>, Vec<(i64, Option<f64>)>), HashMap<String, Result<i64, String>>);
        let map = HashMap::from([("a".to_owned(), Ok(1)), ("b".to_owned(), Err("no".to_owned()))]);
        let value: All = (true, 'ß', -1, ("é".into(), vec![0, 255], vec![(1, None), (2, Some(0.5))]), map);
        let wire = bytes(value.clone());
        assert_eq!(decode::<All>(&wire), Some(value));
        for end in 0..wire.len() {
            assert_eq!(decode::<All>(&wire[..end]), None, "{}", end);
        }
        let mut longer = wire;
        longer.push(0);
        assert_eq!(decode::<All>(&longer), None);
    }

    #[test]
    fn counts_that_promise_too_much_are_refused_before_memory_is_taken() {
        for count in [u64::MAX, 1 << 60, 2] {
            let mut wire = count.to_le_bytes().to_vec();
            wire.extend_from_slice(&[0; 8]);
            assert_eq!(decode::<Vec<i64>>(&wire), None);
            assert_eq!(decode::<HashMap<i64, i64>>(&wire), None);
        }
        assert_eq!(decode::<Vec<()>>(&u64::MAX.to_le_bytes()), None);
        assert_eq!(decode::<String>(&u64::MAX.to_le_bytes()), None);
        assert_eq!(decode::<Vec<()>>(&3u64.to_le_bytes()), Some(vec![(); 3]));
    }

    #[test]
    fn bytes_that_are_no_value_are_refused() {
        assert_eq!(decode::<bool>(&[2]), None);
        assert_eq!(decode::<Option<bool>>(&[2, 0]), None);
        assert_eq!(decode::<Result<bool, bool>>(&[2, 0]), None);
        assert_eq!(decode::<char>(&0xd800u32.to_le_bytes()), None);
        assert_eq!(decode::<char>(&0x110000u32.to_le_bytes()), None);
        assert_eq!(decode::<String>(b"\x01\0\0\0\0\0\0\0\xff"), None);
        let mut twice = 2u64.to_le_bytes().to_vec();
        twice.extend_from_slice(&[1, 0, 1, 0]);
        assert_eq!(decode::<HashMap<bool, bool>>(&twice), None);
    }

    #[test]
    fn a_map_is_written_the_same_in_every_run() {
        let map: HashMap<String, i64> = (0..100).map(|i| (i.to_string(), i)).collect();
        let again: HashMap<String, i64> = map.clone().into_iter().collect();
        assert_eq!(bytes(map), bytes(again));
    }
}
