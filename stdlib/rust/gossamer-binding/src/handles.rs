//! Values that stay in Rust: a table of handles, and the one call that uses each at a time.
//!
//! A handle is a number that is never 0 and never given twice, so one that was released is told from every other.
//! A call first asks for all the handles among its arguments, then takes them at once: nothing waits while it holds
//! something, so calls that name the same values in any order cannot wait for each other forever. A value is with one
//! call at a time, so an opaque type has to be `Send` and need not be `Sync`.

use crate::call::quietly;
use crate::types::{Element, Gossamer};
use crate::wire::{Decode, Failure, Reader, Writer};
use std::any::{Any, TypeId};
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// A type with `#[gos_opaque]`.
pub trait Opaque: Gossamer + Send + Sized + 'static {
    /// Its name, for messages.
    const NAME_IN_GOSSAMER: &'static str;
}

struct Slot {
    of: TypeId,
    name: &'static str,
    /// Taken out when the slot dies; otherwise only touched by the call for which `busy` is set.
    value: UnsafeCell<Option<Box<dyn Any + Send>>>,
}
// Safety: `value` is touched by one call at a time, which holds the slot in `Table::busy`, and is `Send`.
unsafe impl Sync for Slot {}

impl Drop for Slot {
    fn drop(&mut self) {
        let value = self.value.get_mut().take();
        // The drop of the user's type may panic, also while another panic is on its way.
        quietly(move || drop(value));
    }
}

#[derive(Default)]
struct Table {
    last: u64,
    slots: HashMap<u64, Arc<Slot>>,
    busy: HashSet<u64>,
}

static TABLE: Mutex<Option<Table>> = Mutex::new(None);
static FREED: Condvar = Condvar::new();

/// No code of the user runs while the table is locked, so what a poisoned lock guards is whole.
fn lock() -> MutexGuard<'static, Option<Table>> {
    match TABLE.lock() {
        Ok(table) => table,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// Gives a value to the table.
fn keep<T: Opaque>(value: T) -> u64 {
    let slot = Arc::new(Slot {
        of: TypeId::of::<T>(),
        name: T::NAME_IN_GOSSAMER,
        value: UnsafeCell::new(Some(Box::new(value))),
    });
    let mut locked = lock();
    let table = locked.get_or_insert_with(Table::default);
    table.last += 1;
    let handle = table.last;
    table.slots.insert(handle, slot);
    handle
}

/// Writes an opaque value as the answer of a call: what the macro's `Encode` is made of.
pub fn encode<T: Opaque>(value: T, out: &mut Writer) {
    out.word(keep(value));
}

/// How many values are in the table.
pub fn count() -> usize {
    lock().as_ref().map_or(0, |table| table.slots.len())
}

/// Lets go of a value; of a handle that is not there nothing happens. A call that uses it ends first.
#[no_mangle]
pub extern "C" fn gossamer_binding_release_1(handle: u64) {
    let slot = lock().as_mut().and_then(|table| table.slots.remove(&handle));
    drop(slot); // outside of the lock
}

struct Request {
    handle: u64,
    slot: Arc<Slot>,
    exclusive: bool,
}

/// The values that one call uses.
#[derive(Default)]
pub struct Call {
    requests: Vec<Request>,
    taken: bool,
}

impl Call {
    fn request<T: Opaque>(&mut self, handle: u64, exclusive: bool) -> Result<usize, Failure> {
        let found = lock().as_ref().and_then(|table| table.slots.get(&handle).cloned());
        let slot = match found {
            Some(slot) => slot,
            None => {
                return Err(Failure::Refused(format!("the `{}` that was given is not there any more", T::NAME_IN_GOSSAMER)));
            }
        };
        if slot.of != TypeId::of::<T>() {
            return Err(Failure::Refused(format!("a `{}` was given where a `{}` belongs", slot.name, T::NAME_IN_GOSSAMER)));
        }
        for other in &self.requests {
            if other.handle == handle && (other.exclusive || exclusive) {
                return Err(Failure::Refused(format!(
                    "the same `{}` was given twice to a function that changes it",
                    T::NAME_IN_GOSSAMER
                )));
            }
        }
        self.requests.push(Request { handle, slot, exclusive });
        Ok(self.requests.len() - 1)
    }

    /// Waits until no other call uses any of the values, then takes all of them.
    pub fn take(&mut self) {
        if self.requests.is_empty() {
            return;
        }
        let mut locked = lock();
        loop {
            let table = locked.get_or_insert_with(Table::default);
            if !self.requests.iter().any(|each| table.busy.contains(&each.handle)) {
                table.busy.extend(self.requests.iter().map(|each| each.handle));
                break;
            }
            locked = match FREED.wait(locked) {
                Ok(locked) => locked,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
        self.taken = true;
    }

    fn pointer(&self, index: usize) -> *mut Option<Box<dyn Any + Send>> {
        assert!(self.taken, "a value that was not taken");
        self.requests[index].slot.value.get()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.taken {
            if let Some(table) = lock().as_mut() {
                for each in &self.requests {
                    table.busy.remove(&each.handle);
                }
            }
            FREED.notify_all();
        }
        // The slots go now: those that were released meanwhile end here, outside of the lock.
    }
}

/// What stands for a `&T` parameter until the function is called.
pub trait Hold {
    /// It.
    type Held;
    /// Reads it.
    fn hold(from: &mut Reader, call: &mut Call) -> Result<Self::Held, Failure>;
    /// The reference that the function gets.
    fn get<'a>(held: &'a Self::Held, call: &'a Call) -> &'a Self;
}

/// What stands for a `&mut T` parameter; only opaque types have it.
pub trait HoldMut: Hold {
    /// Reads it.
    fn hold_mut(from: &mut Reader, call: &mut Call) -> Result<Self::Held, Failure>;
    /// The reference that the function gets.
    ///
    /// # Safety
    /// Asked once for each held value.
    unsafe fn get_mut<'a>(held: &'a Self::Held, call: &'a Call) -> &'a mut Self;
}

/// A requested handle.
pub struct Kept {
    index: usize,
}

impl Kept {
    /// Reads a handle and asks for its value.
    pub fn read<T: Opaque>(from: &mut Reader, call: &mut Call, exclusive: bool) -> Result<Kept, Failure> {
        let handle = from.word()?;
        Ok(Kept { index: call.request::<T>(handle, exclusive)? })
    }
    /// The value.
    pub fn shared<'a, T: Opaque>(&'a self, call: &'a Call) -> &'a T {
        // Safety: this call has the slot, and every request of it within the call is shared.
        let value = unsafe { &*call.pointer(self.index) };
        value.as_ref().and_then(|value| value.downcast_ref()).expect("a slot holds what it says")
    }
    /// The value, to be changed.
    ///
    /// # Safety
    /// Asked once, of a request that was exclusive.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn exclusive<'a, T: Opaque>(&'a self, call: &'a Call) -> &'a mut T {
        assert!(call.requests[self.index].exclusive, "a value that was not asked for to be changed");
        let value = &mut *call.pointer(self.index);
        value.as_mut().and_then(|value| value.downcast_mut()).expect("a slot holds what it says")
    }
}

impl Hold for str {
    type Held = String;
    fn hold(from: &mut Reader, _: &mut Call) -> Result<String, Failure> {
        String::decode(from)
    }
    fn get<'a>(held: &'a String, _: &'a Call) -> &'a str {
        held
    }
}
impl<T> Hold for [T]
where
    T: Element,
    Vec<T>: Decode,
{
    type Held = Vec<T>;
    fn hold(from: &mut Reader, _: &mut Call) -> Result<Vec<T>, Failure> {
        Vec::decode(from)
    }
    fn get<'a>(held: &'a Vec<T>, _: &'a Call) -> &'a [T] {
        held
    }
}

impl Hold for String {
    type Held = Self;
    fn hold(from: &mut Reader, _: &mut Call) -> Result<Self, Failure> {
        Self::decode(from)
    }
    fn get<'a>(held: &'a Self, _: &'a Call) -> &'a Self {
        held
    }
}
impl<T> Hold for Vec<T>
where
    Vec<T>: Decode,
{
    type Held = Self;
    fn hold(from: &mut Reader, _: &mut Call) -> Result<Self, Failure> {
        Self::decode(from)
    }
    fn get<'a>(held: &'a Self, _: &'a Call) -> &'a Self {
        held
    }
}
impl<K, V> Hold for HashMap<K, V>
where
    K: Decode + Eq + Hash,
    V: Decode,
{
    type Held = Self;
    fn hold(from: &mut Reader, _: &mut Call) -> Result<Self, Failure> {
        Self::decode(from)
    }
    fn get<'a>(held: &'a Self, _: &'a Call) -> &'a Self {
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Type;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Counter(i64);
    impl Drop for Counter {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
            if self.0 == 13 {
                panic!("a drop that panics");
            }
        }
    }
    impl Gossamer for Counter {
        const TYPE: Type = Type::Named { module: "m", name: "Counter" };
    }
    impl Opaque for Counter {
        const NAME_IN_GOSSAMER: &'static str = "Counter";
    }
    struct Other;
    impl Gossamer for Other {
        const TYPE: Type = Type::Named { module: "m", name: "Other" };
    }
    impl Opaque for Other {
        const NAME_IN_GOSSAMER: &'static str = "Other";
    }

    fn refusal(result: Result<usize, Failure>) -> String {
        match result {
            Err(Failure::Refused(message)) => message,
            _ => String::new(),
        }
    }

    #[test]
    fn handles_are_judged_by_type_and_by_life() {
        let handle = keep(Counter(1));
        assert_ne!(handle, 0);
        assert_eq!(refusal(Call::default().request::<Other>(handle, false)), "a `Counter` was given where a `Other` belongs");
        assert_ne!(refusal(Call::default().request::<Counter>(0, false)), "");
        assert_ne!(refusal(Call::default().request::<Counter>(u64::MAX, false)), "");
        let mut call = Call::default();
        let kept = Kept { index: call.request::<Counter>(handle, true).ok().unwrap() };
        assert_ne!(refusal(call.request::<Counter>(handle, false)), "");
        call.take();
        unsafe { kept.exclusive::<Counter>(&call) }.0 += 1;
        let before = DROPPED.load(Ordering::SeqCst);
        gossamer_binding_release_1(handle); // in the middle of a call: the value lives as long as the call
        assert_eq!(DROPPED.load(Ordering::SeqCst), before);
        assert_eq!(kept.shared::<Counter>(&call).0, 2);
        drop(call);
        assert_eq!(DROPPED.load(Ordering::SeqCst), before + 1);
        assert_ne!(refusal(Call::default().request::<Counter>(handle, false)), "");
        gossamer_binding_release_1(handle);
        gossamer_binding_release_1(keep(Counter(13)));
        assert_ne!(keep(Other), handle);
    }

    #[test]
    fn calls_that_name_the_same_values_in_any_order_all_end() {
        let (one, two) = (keep(Counter(0)), keep(Counter(0)));
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                std::thread::spawn(move || {
                    for _ in 0..200 {
                        let mut call = Call::default();
                        let (first, second) = if thread % 2 == 0 { (one, two) } else { (two, one) };
                        let first = Kept { index: call.request::<Counter>(first, true).ok().unwrap() };
                        let second = Kept { index: call.request::<Counter>(second, true).ok().unwrap() };
                        call.take();
                        unsafe { first.exclusive::<Counter>(&call) }.0 += 1;
                        unsafe { second.exclusive::<Counter>(&call) }.0 += 1;
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let mut call = Call::default();
        let kept = Kept { index: call.request::<Counter>(one, false).ok().unwrap() };
        call.take();
        assert_eq!(kept.shared::<Counter>(&call).0, 800);
    }
}
