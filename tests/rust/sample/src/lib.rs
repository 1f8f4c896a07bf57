//! Every type of the interface, in and out.

#![deny(warnings)]

use gossamer_binding::{gos_module, gos_opaque, GosStruct};

/// A type of the crate that its modules share.
#[derive(GosStruct, Clone, Debug, PartialEq)]
#[gos(module = "sample::shapes")]
pub struct Point {
    /// Eastwards.
    pub x: f64,
    pub y: f64,
}

/// A tally outside of every module.
#[gos_opaque(module = "sample::shapes")]
pub struct Tally {
    total: i64,
}

/// Values as they are.
///
/// A second paragraph, with a	tab and a \ in it.
#[gos_module("sample")]
pub mod values {
    use std::collections::HashMap;

    /// Nothing in, nothing out.
    pub fn nothing() {}
    pub fn not(value: bool) -> bool {
        !value
    }
    /// Adds.
    pub fn add(one: i64, other: i64) -> i64 {
        one + other
    }
    pub fn half(value: f64) -> f64 {
        value / 2.0
    }
    pub fn next_char(c: char) -> char {
        char::from_u32(c as u32 + 1).unwrap_or('?')
    }
    pub fn shout(mut text: String) -> String {
        text.push('!');
        text
    }
    pub fn length(text: &str) -> i64 {
        text.len() as i64
    }
    pub fn reversed(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.reverse();
        bytes
    }
    pub fn byte_sum(bytes: &[u8]) -> i64 {
        bytes.iter().map(|byte| i64::from(*byte)).sum()
    }
    pub fn sum(values: &[i64]) -> i64 {
        values.iter().sum()
    }
    pub fn mean(values: Vec<f64>) -> Option<f64> {
        if values.is_empty() {
            None
        } else {
            Some(values.iter().sum::<f64>() / values.len() as f64)
        }
    }
    pub fn parse(text: &str) -> Result<i64, String> {
        text.parse().map_err(|error| format!("{error}"))
    }
    pub fn swap(pair: (i64, String)) -> (String, i64) {
        (pair.1, pair.0)
    }
    pub fn alone(one: (i64,)) -> (i64,) {
        one
    }
    pub fn lengths(of: HashMap<String, Vec<i64>>) -> HashMap<String, i64> {
        of.into_iter().map(|(key, list)| (key, list.len() as i64)).collect()
    }
    pub fn deep(value: Vec<Option<Result<(bool, Vec<String>), HashMap<i64, char>>>>) -> i64 {
        value.len() as i64
    }
    pub fn _unnamed(_: i64, _: i64, type_of: std::string::String) -> std::string::String {
        type_of
    }
    #[cfg(any())]
    pub fn never(_: NotEvenAType) {}
    pub fn fail(message: String) -> i64 {
        panic!("{}", message)
    }
    pub fn fail_on_a_thread() -> String {
        let ended = std::thread::spawn(|| std::panic::resume_unwind(Box::new("there"))).join();
        match ended {
            Ok(()) => "fine".to_owned(),
            Err(_) => "caught".to_owned(),
        }
    }
    /// A function that is not exported passes through, whatever it is.
    #[allow(dead_code)]
    fn private<'a, T>(value: &'a [T]) -> impl Iterator<Item = T> + 'a
    where
        T: Clone + 'a,
    {
        value.iter().cloned()
    }
    #[allow(dead_code)]
    pub(crate) fn within(value: u32) -> u32 {
        value
    }
    pub const LIMIT: usize = {
        let three = 3;
        1 << three
    };
    pub mod deeper {
        pub fn not_exported(value: u8) -> u8 {
            value
        }
    }
}

/// Shapes, which stay in Rust or are copied.
#[gos_module("sample::shapes")]
pub mod shapes {
    use super::{Point, Tally};
    use gossamer_binding::{gos_opaque, GosStruct};

    #[derive(GosStruct)]
    pub struct Line {
        pub from: Point,
        pub to: Point,
        pub name: Option<String>,
    }

    pub fn length(line: Line) -> f64 {
        ((line.to.x - line.from.x).powi(2) + (line.to.y - line.from.y).powi(2)).sqrt()
    }
    pub fn start_of(line: &Line) -> Point {
        line.from.clone()
    }
    pub fn named(line: Line, name: &str) -> Line {
        Line { name: Some(name.to_owned()), ..line }
    }

    /// Counts.
    #[gos_opaque]
    pub struct Counter {
        value: i64,
    }
    impl Drop for Counter {
        fn drop(&mut self) {
            super::ENDED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    }
    pub fn counter(start: i64) -> Counter {
        Counter { value: start }
    }
    pub fn checked_counter(start: i64) -> Result<Counter, String> {
        if start < 0 {
            Err("below zero".to_owned())
        } else {
            Ok(Counter { value: start })
        }
    }
    pub fn next(counter: &mut Counter) -> i64 {
        counter.value += 1;
        counter.value
    }
    pub fn peek(counter: &Counter) -> i64 {
        counter.value
    }
    pub fn both(one: &Counter, other: &Counter) -> i64 {
        one.value + other.value
    }
    pub fn pour(from: &mut Counter, into: &mut Counter) {
        into.value += std::mem::take(&mut from.value);
    }
    pub fn break_it(counter: &mut Counter) {
        counter.value = -1;
        panic!("in the middle");
    }
    pub fn ended() -> i64 {
        super::ENDED.load(std::sync::atomic::Ordering::SeqCst)
    }
    pub fn tally() -> Tally {
        Tally { total: 0 }
    }
    pub fn count(tally: &mut Tally, by: i64) -> i64 {
        tally.total += by;
        tally.total
    }
}

/// A module that names a type of another.
#[gos_module("sample::maps")]
pub mod maps {
    use super::Point;

    pub fn mirrored(points: Vec<Point>) -> Vec<Point> {
        points.into_iter().map(|p| Point { x: -p.x, y: p.y }).collect()
    }
}

static ENDED: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);
